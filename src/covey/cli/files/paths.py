"""The paths that a user names: what must be there, and what must not be replaced.

These checks come before the work, and before any library is imported that takes time.
"""

from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path

from covey.cli.files.block import STANDARD
from covey.cli.files.formats import Format, format_of
from covey.storage.atomic import check_target
from covey.storage.compression import PACKED

OPTION = "--out-format"
"""The option that names the format of an output whose path does not say it."""


def check_there(path: str) -> None:
    """Refuse a path that is neither a file, a folder, standard input nor a pattern that some file matches."""
    if path == STANDARD or Path(path).exists():
        return
    if not has_magic(path):
        raise FileNotFoundError(f"{path}: no such file.")
    if not glob(path):
        raise FileNotFoundError(f"{path}: no file has such a name.")


def expanded(given: Sequence[str]) -> list[str]:
    """Return the files that the user means. A folder stands for the tables in it, and a pattern for what it matches.

    Most patterns are expanded by the shell, but not those in quotes.
    """
    return [path for text in given for path in _expanded(text)]


def _expanded(text: str) -> list[str]:
    path = Path(text)
    if path.is_dir():
        return _tables_in(path)
    if text != STANDARD and has_magic(text) and not path.exists():
        found = sorted(glob(text))
        if not found:
            raise FileNotFoundError(f"{text}: no file has such a name.")
        return found
    check_there(text)
    return [text]


def _tables_in(folder: Path) -> list[str]:
    """Return the files of a folder that are tables, in the order of their names; all must have the same format."""
    suffixes = [suffix for kind in Format if kind.traits.is_table for suffix in kind.traits.suffixes]
    endings = tuple(f"{suffix}{packed}" for suffix in suffixes for packed in ("", *PACKED))
    names = sorted(file.name for file in folder.iterdir() if file.name[0] not in "._" and file.is_file())
    found = [name for name in names if name.lower().endswith(endings)]
    if not found:
        raise FileNotFoundError(f"{folder} is a folder without tables ({', '.join(suffixes)}); name the files.")
    kinds = {format_of(name): name for name in reversed(found)}
    if len(kinds) > 1:
        raise FileNotFoundError(
            f"{folder} is a folder of files in several formats, such as {' and '.join(sorted(kinds.values())[:2])}; "
            f"name the files, or pass a pattern such as '{folder}/*{Path(found[0]).suffix}'."
        )
    return [str(folder / name) for name in found]


def check_model(path: str) -> None:
    """Refuse a model that is neither a file nor standard input."""
    if path != STANDARD and not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file.")


def may_write(path: str, *, force: bool) -> None:
    """Refuse, before any work is done, what could not be written, or must not be replaced."""
    if path == STANDARD:
        return
    if not force and Path(path).exists():
        raise FileExistsError(f"{path} exists; choose another name, or pass --force to replace it.")
    check_target(path)


def names_one_file_twice(paths: Sequence[str]) -> bool:
    """Return whether two of the paths are one file. Standard output is not a file."""
    files = [Path(path).resolve() for path in paths if path != STANDARD]
    return len(set(files)) < len(files)


def check_output(path: str, form: str | None, *, as_table: bool, force: bool) -> Format:
    """Return the format of an output; refuse one that cannot be written, or that cannot hold a table if it must."""
    kind = format_of(path, form, OPTION)
    if not kind.traits.is_written:
        raise ValueError(f"{path}: {kind} files are read, but not written; write another format, such as CSV or .npz.")
    may_write(path, force=force)
    if as_table and not kind.traits.is_table:
        raise ValueError(f"{path}: rows of a table are written as CSV, TSV, JSON Lines or Parquet, not as {kind}.")
    if path == STANDARD and not (kind.traits.is_table and kind.traits.is_text):
        raise ValueError(f"{kind} cannot be written to standard output; pass a file.")
    return kind
