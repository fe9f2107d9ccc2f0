"""The error of options that make no sense."""


class MisuseError(ValueError):
    """Options contradict each other or cannot have the values given, whatever the input is. The exit code is 2."""
