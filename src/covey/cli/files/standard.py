"""Standard input and output: the name that the user writes for them, and the one that messages use."""

STANDARD = "-"
"""The name of standard input and standard output."""


def name_of(path: str) -> str:
    """Return what messages call a file."""
    return "standard input" if path == STANDARD else path
