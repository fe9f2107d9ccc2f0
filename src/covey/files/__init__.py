"""Tables in files: what is in them, block by block, and back into files. Needs the extra `cli`."""

from covey.files._block import Block, name_of
from covey.files._formats import FORMATS, STANDARD, format_of, has_names
from covey.files._reading import blocks, read
from covey.files._writing import TYPED, Writer, beside, check_output, may_write, write, writer

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
