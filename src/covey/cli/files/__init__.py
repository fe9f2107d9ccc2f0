"""Tables in files: what is in them, block by block, and back into files. Needs the extra `cli`."""

from covey.cli.files.block import Block, name_of
from covey.cli.files.formats import FORMATS, STANDARD, format_of, has_names
from covey.cli.files.reading import blocks, read
from covey.cli.files.writing import TYPED, Writer, beside, check_output, may_write, write, writer

__all__ = [
    "FORMATS",
    "STANDARD",
    "TYPED",
    "Block",
    "Writer",
    "beside",
    "blocks",
    "check_output",
    "format_of",
    "has_names",
    "may_write",
    "name_of",
    "read",
    "write",
    "writer",
]
