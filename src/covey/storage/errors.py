"""The error that a broken file raises."""


class FileFormatError(ValueError):
    """A file is damaged, is not what it is said to be, or holds what no version of covey has written.

    The message names the file and says what is wrong with it.
    """
