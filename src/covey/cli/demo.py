"""`covey demo`: a first look."""


def demo() -> None:
    """See covey at work on handwritten digits and on mistyped names, in a few seconds, and get a page to open."""
    from covey.demo import main

    main()
