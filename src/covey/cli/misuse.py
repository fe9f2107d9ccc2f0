"""What the commands do, each in a file of its own; `covey.cli` only parses. Needs the extra `cli`."""


class MisuseError(ValueError):
    """Options that make no sense, whatever the input is."""
