"""Tables in files: what is in them, block by block, and back into files. Needs the extra `cli`."""

from covey.files._formats import FORMATS, format_of
from covey.files._reading import Block, blocks, place, read
from covey.files._writing import Writer, may_write, write, writer

__all__ = ["FORMATS", "Block", "Writer", "blocks", "format_of", "may_write", "place", "read", "write", "writer"]
