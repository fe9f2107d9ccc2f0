"""Damaged copies of the files that people bring: every reader must read them or refuse them by name.

A case is a number. It decides which kind of file is built, how its bytes are damaged and so what the reader sees; a
case that goes wrong can be seen again by `run_case(number, folder)`.
"""

import io
import json
import re
import tempfile
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from covey.cli.files.reading import blocks, read
from covey.datasets import read_hosts
from covey.exceptions import FileFormatError
from covey.storage.compression import PACKED, open_packed

READ, REFUSED, WRONG = "read", "refused", "WRONG"
TOKENS = [b"\x00", b"\xff\xfe", b"\n", b'"', b",", b"\t", b"{", b"[" * 2000, b"9" * 5000, b"-1", b"nan", b"1e999"]
TOKENS += [
    b"3000000000:1 ",
    b"#separator",
    b"#fields",
    b"\\ud800",
    b"null",
    "é".encode(),
    b"\r",
    b"\r\n",
    b"\xef\xbb\xbf",
]
TOKENS += [b"x" * 200_000, b"'", b"0x10", b"1_000", b"-0", b"inf", b'"\n"', b"}", b"]", b":", b"(" * 3000, b"C1" * 3000]
TOKENS += [b"[" * 60, b'{"a":' * 60, b"0" * 5000 + b"1", b"1e-400", b"1" * 400, b"2262-04-12", b"[H]" * 50, b"%" * 9]
"""Pieces that have a meaning to some reader."""
HOSTILE = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b2J",
    "\u202eright to left",
    "zero\u200bwidth",
    "[red]markup[/]",
    "[/]",
]
HOSTILE += [
    "<script>alert(1)</script>",
    "\x00",
    "\x08\x08",
    "a\rb",
    "\ufeff",
    "\U000e0041",
    "${HOME}",
    "=cmd()",
    "{0}%s",
]
TOKENS += [text.encode() for text in HOSTILE]
"""Pieces that have a meaning to a terminal, a page or a library that prints."""


def attack(rng: np.random.Generator, n_cases: int) -> Counter[str]:
    """Read so many damaged files and count the outcomes: read, refused, or WRONG with the type of the error.

    Faults with the same first line are counted together; the lines below it describe the first of them.
    """
    outcomes: Counter[str] = Counter()
    known: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in rng.integers(2**62, size=n_cases).tolist():
            outcome = run_case(number, Path(folder))
            outcomes[known.setdefault(outcome.partition("\n")[0], outcome)] += 1
    return outcomes


def run_case(number: int, folder: Path) -> str:
    """Build the file of this case, read it, and say what came of it."""
    rng = np.random.default_rng(number)
    name = list(BUILDERS)[rng.integers(len(BUILDERS))]
    path = folder / name
    content = BUILDERS[name](rng)
    if rng.random() < 0.5:  # within the packing, where checksums do not see it
        write_packed(path, mutate_members(rng, content) if name.endswith((".npz", ".xlsx")) else mutate(rng, content))
    else:
        write_packed(path, content)
        path.write_bytes(mutate(rng, path.read_bytes()))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _look_at(path)
    except FileFormatError as error:
        if str(path) in str(error):
            return REFUSED
        return f"{WRONG}: the message does not name the file\ntables.run_case({number}, folder), {name}: {error}"
    except Exception as error:  # whatever it is, it must be counted
        return f"{WRONG}: {type(error).__name__}\ntables.run_case({number}, folder), {name}: {error}"
    return READ


def mutate(rng: np.random.Generator, content: bytes) -> bytes:
    """The bytes after one to three damages, each of a random kind at a random place."""
    for _ in range(rng.integers(1, 4)):
        content = MUTATIONS[rng.integers(len(MUTATIONS))](rng, content)
    return content


def _place(rng: np.random.Generator, content: bytes) -> tuple[int, int]:
    """The two ends of a piece of at most 100 bytes."""
    start = int(rng.integers(len(content) + 1))
    return start, start + int(rng.integers(101))


def _flip(rng: np.random.Generator, content: bytes) -> bytes:
    damaged = bytearray(content)
    for at in rng.integers(max(len(content), 1), size=rng.integers(1, 9)).tolist() if content else []:
        damaged[at] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def _cut_end(rng: np.random.Generator, content: bytes) -> bytes:
    return content[: rng.integers(len(content) + 1)]


def _cut_piece(rng: np.random.Generator, content: bytes) -> bytes:
    start, end = _place(rng, content)
    return content[:start] + content[end:]


def _insert(rng: np.random.Generator, content: bytes) -> bytes:
    at, _ = _place(rng, content)
    piece = TOKENS[rng.integers(len(TOKENS))] if rng.random() < 0.5 else rng.bytes(int(rng.integers(1, 20)))
    return content[:at] + piece + content[at:]


def _duplicate(rng: np.random.Generator, content: bytes) -> bytes:
    start, end = _place(rng, content)
    return content[:end] + content[start:]


def _splice(rng: np.random.Generator, content: bytes) -> bytes:
    """A piece is replaced by another one of the same file."""
    start, end = _place(rng, content)
    other, other_end = _place(rng, content)
    return content[:start] + content[other:other_end] + content[end:]


def _replace_word(rng: np.random.Generator, content: bytes) -> bytes:
    """A word, such as a name, a number or a label, is replaced everywhere or once."""
    words = WORD.findall(content)
    if not words:
        return content
    piece = TOKENS[rng.integers(len(TOKENS))]
    return content.replace(words[rng.integers(len(words))], piece, -1 if rng.random() < 0.2 else 1)


def _declare(rng: np.random.Generator, content: bytes) -> bytes:
    """The header of an array declares another shape or type; its length stays."""
    shape = b"(%d, %d)" % tuple(rng.choice([0, 1, 3, -1, 20, 2**31, 2**40, 2**62], size=2).tolist())
    changed = SHAPE.sub(b"'shape': " + shape, content, count=1)
    if rng.random() < 0.5:
        changed = TYPE.sub(b"'descr': '" + TYPES[rng.integers(len(TYPES))] + b"'", changed, count=1)
    end = changed.find(b"\n")
    grown = len(changed) - len(content)
    return changed if end < 0 else (changed[:end].rstrip() + b" " * max(-grown, 0) + changed[end:])


WORD = re.compile(rb"[A-Za-z0-9._-]+")
SHAPE, TYPE = re.compile(rb"'shape': \([^)]*\)"), re.compile(rb"'descr': '[^']*'")
TYPES = (b"<f4", b">f8", b"|O", b"<U3", b"|S8", b"|V8", b"<c16", b"<M8[D]", b"|b1", b"<f16", b"<U1000000", b"|S0")
MUTATIONS = (_flip, _cut_end, _cut_piece, _insert, _duplicate, _splice, _replace_word, _declare)


def _frame(rng: np.random.Generator) -> pd.DataFrame:
    n = int(rng.integers(1, 30))
    numbers = {f"x{at}": rng.normal(size=n).round(3) for at in range(rng.integers(1, 5))}
    return pd.DataFrame(numbers | {"kind": rng.choice(["a", "b,c", 'say "é"'], size=n), "n": rng.integers(9, size=n)})


def _text_table(separator: str):
    return lambda rng: _frame(rng).to_csv(index=False, sep=separator).encode()


def _json_lines(rng: np.random.Generator) -> bytes:
    return _frame(rng).to_json(orient="records", lines=True).encode()


def _parquet(rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    frame = _frame(rng)
    frame["seen"] = [["a"] * (at % 3) for at in range(len(frame))]
    frame.to_parquet(buffer, compression=rng.choice(["snappy", "gzip", "zstd", "none"]))
    return buffer.getvalue()


def _dense(save):
    def build(rng: np.random.Generator) -> bytes:
        buffer = io.BytesIO()
        save(buffer, X=rng.normal(size=(20, 3)), y=rng.choice(["left", "right"], size=20))
        return buffer.getvalue()

    return build


def _sparse(rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    sp.save_npz(buffer, sp.random_array((20, 8), density=0.3, format=rng.choice(["csr", "csc"]), rng=rng))
    return buffer.getvalue()


def _array(rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, rng.normal(size=(20, 3)) if rng.random() < 0.5 else rng.integers(9, size=(20, 4, 4)))
    return buffer.getvalue()


def _json_array(rng: np.random.Generator) -> bytes:
    rows = [json.loads(line) for line in _json_lines(rng).splitlines()]
    return json.dumps(rows if rng.random() < 0.5 else [list(row.values()) for row in rows]).encode()


def _workbook(rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"a": rng.normal(size=9), "kind": rng.choice(["x", "y"], size=9)}).to_excel(buffer, index=False)
    return buffer.getvalue()


def _svmlight(rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    dump_svmlight_file(sp.csr_matrix(sp.random_array((10, 6), density=0.4, rng=rng)), rng.integers(3, size=10), buffer)
    return buffer.getvalue()


def _contacts(rng: np.random.Generator) -> list[tuple[float, str, str, int]]:
    return [(float(at), f"10.0.0.{at % 4}", f"srv{rng.integers(3)}", 443) for at in range(int(rng.integers(1, 30)))]


def _zeek(rng: np.random.Generator) -> bytes:
    head = ["#separator \\x09", "#set_separator\t,", "#path\tconn", "#fields\tts\tid.orig_h\tid.resp_h\tid.resp_p"]
    return "\n".join([*head, *("\t".join(map(str, row)) for row in _contacts(rng)), ""]).encode()


def _zeek_json(rng: np.random.Generator) -> bytes:
    keys = ("ts", "id.orig_h", "id.resp_h", "id.resp_p")
    return "\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in _contacts(rng)).encode()


def _flows(rng: np.random.Generator) -> bytes:
    return "\n".join(["time,src,dst,dport", *(",".join(map(str, row)) for row in _contacts(rng))]).encode()


PLAIN = {
    "table.csv": _text_table(","),
    "table.tsv": _text_table("\t"),
    "table.jsonl": _json_lines,
    "table.json": _json_array,
    "table.svmlight": _svmlight,
    "zeek.log": _zeek,
    "zeek-json.log": _zeek_json,
    "flows.log": _flows,
}
BINARY = {
    "table.parquet": _parquet,
    "table.xlsx": _workbook,
    "dense.npy": _array,
    "dense.npz": _dense(np.savez),
    "packed.npz": _dense(np.savez_compressed),
    "sparse.npz": _sparse,
}
MATRICES = [name for name in BINARY if name.endswith((".npy", ".npz"))]
BUILDERS = PLAIN | BINARY | {f"{name}{suffix}": build for name, build in PLAIN.items() for suffix in PACKED}
"""What builds the bytes of a whole file, by its name; the name says how the bytes are packed on the way to the disk."""


def write_packed(path: Path, content: bytes) -> None:
    with open_packed(path, "wb") as file:
        file.write(content)


def mutate_members(rng: np.random.Generator, content: bytes) -> bytes:
    """An archive with correct checksums, one of whose members is damaged."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as whole, zipfile.ZipFile(buffer, "w") as damaged:
        chosen = rng.choice(whole.namelist())
        for name in whole.namelist():
            member = whole.read(name)
            damaged.writestr(name, mutate(rng, member) if name == chosen else member)
    return buffer.getvalue()


def _look_at(path: Path) -> None:
    """Read the file in every way there is, and look at what was read."""
    if ".log" in path.name:
        hosts = read_hosts(path)
        assert len(hosts.data) == len(hosts.ids)
        return
    whole = read(str(path))
    assert sum(len(block) for block in blocks(str(path), most_rows=7)) == len(whole)
    if whole.frame is not None:
        whole.frame.astype(str).to_csv()
        return
    whole.matrix.T @ np.ones(len(whole))
    if whole.labels is not None:
        whole.labels.astype(str).tolist()
