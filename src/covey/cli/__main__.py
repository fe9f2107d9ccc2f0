"""``python -m covey.cli`` is the command `covey`."""

from covey.cli.app import main

if __name__ == "__main__":
    main()
