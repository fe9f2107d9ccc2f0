"""Messages between two processes of the same user: pickled values, each behind its length."""

import pickle
import struct
from typing import Any, BinaryIO

LENGTH = struct.Struct("<Q")
"""How the length of a message is written."""


def write_message(stream: BinaryIO, message: Any) -> None:
    """Write a message, and leave nothing of it in this process."""
    content = pickle.dumps(message)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def read_message(stream: BinaryIO) -> Any:
    """Read a message. Raise EOFError if the other side has ended."""
    header = stream.read(LENGTH.size)
    content = stream.read(LENGTH.unpack(header)[0]) if len(header) == LENGTH.size else b""
    if len(header) < LENGTH.size or len(content) < LENGTH.unpack(header)[0]:
        raise EOFError
    return pickle.loads(content)
