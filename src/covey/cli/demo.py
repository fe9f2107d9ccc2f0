"""`covey demo`: a first look."""


def demo() -> None:
    """See covey at work on handwritten digits and on town names, in a few seconds."""
    from covey.demo import main

    main()
