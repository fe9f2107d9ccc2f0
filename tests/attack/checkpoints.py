"""Checkpoints that somebody has tampered with: a fit goes on with them, or refuses them in the way that is documented.

`attack` takes the files of small runs of every kind, changes them at random and lets the same run go on with them. Some
changes are made to the bytes of a file, where checksums find most of them. The others are made to blocks, which get new
checksums, so that only covey itself can notice. A run that goes on must end with a result like any other, and the file
that it leaves must serve a third run, which comes to the same result.
"""

import json
import resource
import struct
import tempfile
import traceback
import warnings
import zlib
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from covey.exceptions import FileFormatError
from covey.similarity.checkpoint import ABOUT, OBJECTS, PAIR, PAIRS, RESULT, RUN
from covey.storage.journal import CHECKSUM, HEADER, MARK, SIGNATURE
from covey.storage.serialization import LENGTH
from tests.attack._checkpoint_runs import RUNS
from tests.attack._model_changes import NUMBERS, pick, walk, with_other_bytes, with_other_json
from tests.attack.models import Slow, limited

SECONDS = 20
"""A case that takes longer hangs: the slowest that works takes a fraction of one."""
MEGABYTES = 100
"""A case that takes more memory is wrong: no file of some kilobytes needs it."""
REFUSED = "checkpoint must be of the same "
"""How the error begins that refuses a checkpoint of other data, of another similarity or of another run."""

LONGEST = 1000
"""A message of more characters is nothing that a human being reads."""

TEXTS = [
    b"",
    b"{}",
    b"[]",
    b"null",
    b"1",
    b"nan",
    b'"x"',
    b"{" * 9,
    b"[" * 500,
    b"[" * 10**5,
    b'{"a":' * 900,
    b"\xff\xfe",
]
TEXTS += [b"9" * 5000, b"1e999", b"\x00" * 40, '{"a": 1}'.encode("utf-16"), b'{"a": "\\ud800"}', b'{"a": 1, "a": 2}']
TEXTS += [b'{"a":' + b"[" * depth + b"]" * depth + b"}" for depth in (90, 300, 480, 900)]
JSON = [10**400, 1e400, "9" * 5000, "\x1b[2J", "x" * 10**5, ["x"] * 1000, {"array": "indices"}, {"array": ["x"]}, "<i4"]
JSON += ["|O", ">f8", [[]], [2**62, 4], [0, 2**40], [-1], [1] * 70, "unchanged", 2**32 - 1]
KEYS = ["x", "label", "members", "indices", "covered_by", "random_state", "format", "estimated_recall"]


def attack(rng: np.random.Generator, n_cases: int) -> Counter:
    """How many of so many cases went on, were refused, or went wrong; below a fault stands its first example."""
    outcomes, first = Counter(), {}
    for seed in rng.integers(2**32, size=n_cases).tolist():
        title, _, example = outcome(seed).partition("\n")
        outcomes[first.setdefault(title, f"{title}\nseed {seed}\n{example}" if example else title)] += 1
    return outcomes


def outcome(seed: int) -> str:
    """What happens to a run with the file of this seed."""
    rng = np.random.default_rng(seed)
    name = pick(rng, list(RUNS))
    content = tampered(rng, files()[name])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with warnings.catch_warnings(), limited(SECONDS), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            found = go_on(content, name, Path(folder) / "file")
    except (Exception, Slow) as error:
        return f"WRONG: {type(error).__name__}, {name}\n{traceback.format_exc()}"
    taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return found if taken < MEGABYTES else f"WRONG: memory, {name}\n{taken:.0f} MB"


def go_on(content, name, path):
    """Let a run go on with a file, and one more with the file that it leaves.

    Only some of the kept pairs are evaluated again, so that the second run may notice a false one that the first has
    not noticed.
    """
    path.write_bytes(content)
    try:
        answers = RUNS[name](path)
    except ValueError as error:
        return refusal(error)
    try:
        np.testing.assert_equal(RUNS[name](path), answers)
    except ValueError as error:
        if not str(error).startswith(f"{REFUSED}similarity"):
            raise
        return "went on, and the next run has noticed a false pair"
    return "went on"


def refusal(error):
    """How a run has refused its file. Any other error is raised again."""
    damaged, message = isinstance(error, FileFormatError), str(error)
    if len(message) > LONGEST or not (damaged or message.startswith(REFUSED)):
        raise error
    return "refused as damaged" if damaged else "refused as that of another run"


def tampered(rng, content):
    """The bytes of a changed file."""
    if rng.random() < 0.25:
        return with_other_bytes(rng, content)
    blocks = split(content)
    for _ in range(rng.integers(1, 3)):
        place = int(rng.integers(len(blocks)))
        if rng.random() < 0.7:
            kind, part = blocks[place]
            blocks[place] = kind, with_other_content(rng, kind, part)
        else:
            blocks = with_other_blocks(rng, blocks, place)
    content = SIGNATURE + b"".join(block(kind, part) for kind, part in blocks)
    return with_other_header(rng, content) if rng.random() < 0.1 else content


def split(content):
    """The kind and the content of each block of an intact file."""
    blocks, start = [], len(SIGNATURE)
    while start < len(content):
        _, kind, length, _ = HEADER.unpack_from(content, start)
        start += HEADER.size + CHECKSUM.size + length
        blocks.append((kind, content[start - length : start]))
    return blocks


def block(kind, content, length=None):
    header = HEADER.pack(MARK, kind, len(content) if length is None else length, zlib.crc32(content))
    return header + CHECKSUM.pack(zlib.crc32(header)) + content


def with_other_blocks(rng, blocks, place):
    """Blocks of other kinds, in another order, or another number of them."""
    kind, part = blocks[place]
    other = int(rng.integers(len(blocks)))
    middle = int(rng.integers(len(part) + 1))
    changed = {
        "kind": [*blocks[:place], (pick(rng, [0, 6, 2**32 - 1, *range(1, 6)]), part), *blocks[place + 1 :]],
        "drop": blocks[:place] + blocks[place + 1 :],
        "cut": blocks[:place],
        "twice": [*blocks[:place], blocks[other], *blocks[place:]],
        "order": [
            blocks[place] if at == other else blocks[other] if at == place else blocks[at] for at in range(len(blocks))
        ],
        "split": [*blocks[:place], (kind, part[:middle]), (kind, part[middle:]), *blocks[place + 1 :]],
        "empty": [*blocks[:place], *[(pick(rng, [OBJECTS, PAIRS, RESULT, RUN, ABOUT]), b"")] * 3, *blocks[place:]],
        "foreign": [*blocks[:place], pick(rng, split(pick(rng, list(files().values())))), *blocks[place:]],
    }
    return changed[pick(rng, list(changed))] or blocks


def with_other_header(rng, content):
    """A block at the end whose header says something else than its content, or a file in which headers lie."""
    part = rng.bytes(int(rng.integers(40)))
    length = pick(rng, [len(part) + 1, max(len(part) - 1, 0), 2**63, 2**64 - 1, 2**32, 10**9])
    lying = block(int(rng.integers(1, 6)), part, length)
    return pick(rng, [content + lying, content[:-1] + lying, content + lying * 300, content + MARK * 300])


def with_other_content(rng, kind, part):
    """The content of a block changed in a way that its kind makes sense of."""
    change = pick(rng, ["bytes", "shorter", "longer", "meaning", "meaning", "meaning", "meaning"])
    if change == "bytes" and part:
        return with_other_bytes(rng, part)
    if change == "shorter":
        return part[:-1]
    if change == "longer":
        return part + rng.bytes(int(rng.integers(1, 20)))
    return {ABOUT: with_other_text, RUN: with_other_text, OBJECTS: with_other_objects}.get(
        kind, with_other_pairs if kind == PAIRS else with_other_result
    )(rng, part)


def with_other_text(rng, part):
    """Other JSON, or no JSON at all."""
    try:
        whole = json.loads(part)
        places = list(walk(whole))
    except (ValueError, RecursionError):
        places = []
    if not places or rng.random() < 0.15:
        return pick(rng, TEXTS)
    if rng.random() < 0.5:
        return with_other_json(rng, part)
    holder, key = pick(rng, places)
    value = holder[key]
    near = (
        [value + 1, float(value), -value]
        if type(value) is int and abs(value) < 2**70
        else [None, True, str(value)[:99]]
    )
    if isinstance(holder, dict) and rng.random() < 0.2:
        key = pick(rng, KEYS)
    holder[key] = pick(rng, [*near, *near, *near, *JSON])
    return json.dumps(whole).encode()


def with_other_objects(rng, part):
    hashes = np.frombuffer(part[: len(part) // 8 * 8], "<u8").copy()
    if not hashes.size:
        return part
    place = rng.integers(hashes.size)
    changed = {
        "other": np.where(np.arange(hashes.size) == place, rng.integers(2**63), hashes),
        "same": np.where(np.arange(hashes.size) == place, hashes[0], hashes),
        "order": rng.permutation(hashes),
        "fewer": hashes[:place],
        "more": np.append(hashes, rng.integers(2**63)),
    }
    return changed[pick(rng, list(changed))].astype("<u8").tobytes()


def with_other_pairs(rng, part):
    pairs = np.frombuffer(part[: len(part) // PAIR.itemsize * PAIR.itemsize], PAIR).copy()
    if not pairs.size:
        return part
    some = rng.random(pairs.size) < pick(rng, [0.02, 0.3, 1.1])
    field = pick(rng, ["first", "second", "similarity", "similarity", "swap", "order"])
    if field == "similarity":
        pairs[field][some] = pick(rng, [np.nan, np.inf, -np.inf, 1e308, -1e308, 9e149, -9e149, 5e-324, 0.0, -0.0, 0.5])
    elif field == "swap":
        pairs["first"][some], pairs["second"][some] = pairs["second"][some], pairs["first"][some]
    elif field == "order":
        pairs = rng.permutation(pairs)
    else:
        pairs[field][some] = pick(rng, [0, 1, 14, 15, 16, 2**31, 2**32 - 1])
    return pairs.tobytes()


def with_other_result(rng, part):
    """The name, the record or an array of a finished part changed."""
    try:
        end = 4 + int.from_bytes(part[:4], "little")
        name, content = part[4:end], part[end:]
        start = LENGTH.size + LENGTH.unpack_from(content)[0]
        text, data = content[LENGTH.size : start], content[start:]
        listed = json.loads(text)["arrays"]
    except (ValueError, KeyError, TypeError, struct.error, RecursionError):  # it was changed before
        return part + b"x"
    change = pick(rng, ["name", "text", "text", "numbers", "numbers", "numbers", "lengths"])
    if change == "name":
        name = pick(rng, [b"", b"cluster 1", b"cluster 2", b"neighbor graph", b"\xff", b"x" * 5000])
    elif change == "text":
        text = with_other_text(rng, text)
    elif change == "numbers":
        text, data = with_other_numbers(rng, json.loads(text), listed, data)
    named = pick(rng, [len(name) + 1, len(name) - 1, 2**32 - 1]) if change == "lengths" else len(name)
    length = pick(rng, [len(text), len(text) + 1, 0, 2**32 - 1]) if change == "lengths" else len(text)
    return (named % 2**32).to_bytes(4, "little") + name + LENGTH.pack(length) + text + data


def with_other_numbers(rng, whole, listed, data):
    """One array of a finished part with other numbers, of another type or of another shape; the text fits it."""
    try:
        places = range(len(listed)) if rng.random() < 0.2 else [int(rng.integers(len(listed)))]
        arrays, start = [], 0
        for dtype, shape in listed:
            arrays.append(np.frombuffer(data, dtype, int(np.prod(shape)), start).reshape(shape).copy())
            start += arrays[-1].nbytes
    except (ValueError, TypeError):  # it was changed before
        return json.dumps(whole).encode(), data
    change = pick(rng, ["number", "number", "number", "type", "shape", "shorter", "longer", "order", "row"])
    for place in places:
        arrays[place] = with_other_array(rng, arrays[place], change)
    whole["arrays"] = [[made.dtype.str, made.shape] for made in arrays]
    return json.dumps(whole).encode(), b"".join(made.tobytes() for made in arrays)


@np.errstate(all="ignore")
def with_other_array(rng, array, change):
    if change == "number" and array.size:
        near = [*NUMBERS, *range(16)] if array.dtype.kind == "f" else [0, 1, -1, 7, 14, 15, 59, 60, 10**8, 2**31 - 1]
        array.flat[rng.integers(array.size)] = pick(rng, near)
    elif change == "type":
        array = array.astype(pick(rng, ["<i4", "<i8", "<f8"]))
    elif change == "shape":
        array = array.reshape(pick(rng, [(-1,), (1, -1), (-1, 1), (1, 1, -1)]) if array.size else (0, 5))
    elif change in ("shorter", "longer"):
        array = array[:-1] if change == "shorter" else np.concatenate([array, array[:1]])
    elif array.ndim:
        array = rng.permutation(array, axis=0) if change == "order" else np.repeat(array[:1], len(array), axis=0)
    return array


@cache
def files():
    """The bytes of a checkpoint of each run."""
    made = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in RUNS.items():
            path = Path(folder) / "file"
            run(path)
            made[name] = path.read_bytes()
            path.unlink()
    return made
