"""Model files that somebody has tampered with: they are refused, or they work like any other.

`attack` takes small files of every kind of estimator, changes them at random and uses what `covey.load` makes of them.
Some changes are made to the bytes of a file, where checksums find most of them. The others are made to the JSON part or
to an array, and the archive is written anew, so that only covey itself can notice.
"""

import copy
import io
import json
import resource
import signal
import tempfile
import traceback
import warnings
import zipfile
from collections import Counter
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import covey
from covey.persistence.loading import ModelFile
from covey.similarity.named import resolve

SECONDS = 20
"""A case that takes longer hangs: the slowest that works takes a fraction of one."""
MEGABYTES = 200
"""A case that takes more memory is wrong: no file of a few kilobytes needs it."""

VALUES = [None, True, False, 0, 1, -1, 2, 10**8, 2**63, -(2**70), 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "x"]
VALUES += ["cosine", "precomputed", "threshold", "predict", "\ud800", [], [[]], {}, {"a": 1, "b": 2}, {"array": 0}]
VALUES += [{"array": -1}, {"array": 10**9}, {"callable": {}}, {"dict": [[[], 1]]}, {"set": [[1]]}, {"tuple": "abc"}]
VALUES += [{"scalar": ["|O", "00" * 8]}, {"scalar": ["<f8", "00"]}, {"from_distance": ["euclidean", "inverse"]}]
VALUES += [{"objects": [[2, -1], [1, 2]]}, {"csr": [[2, 10**9], {"array": 0}, {"array": 0}, {"array": 0}]}, {"CRS": {}}]
KEYS = [
    "predict",
    "__class__",
    "__dict__",
    "_rows",
    "fit",
    "n_jobs",
    "selector_",
    "prototypes_",
    "CRS",
    "tuple",
    "array",
]
NUMBERS = [0, 1, -1, -2, 7, 10**8, 2**31, 2**62, 2**63 - 1, -(2**63), np.nan, np.inf, -np.inf, 1e308, 1e-320]
TYPES = ["<i4", ">i8", "u8", "i1", "f4", ">f8", "f2", "c16", "?", "M8[ns]", "S4", "U4", "g"]


class Slow(BaseException):
    """The time of a case is up; no `except Exception` may catch it."""


def attack(rng: np.random.Generator, n_cases: int) -> Counter:
    """How many of so many cases worked, were refused, or went wrong; below a fault stands its first example."""
    outcomes, first = Counter(), {}
    for seed in rng.integers(2**32, size=n_cases).tolist():
        title, _, example = outcome(seed).partition("\n")
        outcomes[first.setdefault(title, f"{title}\nseed {seed}\n{example}" if example else title)] += 1
    return outcomes


def outcome(seed: int) -> str:
    """What happens to the file of this seed."""
    content, similarity = tampered(np.random.default_rng(seed))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with warnings.catch_warnings(), limited(SECONDS), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            found = use(content, similarity, Path(folder))
    except (Exception, Slow) as error:
        return f"WRONG: {type(error).__name__}\n{traceback.format_exc()}"
    taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return found if taken < MEGABYTES else f"WRONG: memory\n{taken:.0f} MB"


@contextmanager
def limited(seconds):
    def stop(*_):
        raise Slow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def use(content, similarity, folder):
    """Load a file, do all that can be done with what it holds, save that, and load it once more."""
    path = folder / "model"
    path.write_bytes(content)
    try:
        ModelFile(path).notes()
        loaded = covey.load(path, similarity)
    except covey.FileFormatError:
        return "refused"
    except ValueError as error:
        if "passed to load" not in str(error):  # the file may say that it does, or does not, need a similarity
            raise
        return "refused"
    answers = work(loaded)
    covey.save(loaded, path)
    np.testing.assert_equal(work(covey.load(path, similarity)), answers)
    return "works"


def work(loaded):
    selector = loaded if hasattr(loaded, "prototypes_") else loaded.selector_
    found = [(repr(prototype), prototype.stands_for) for prototype in selector.prototypes_.values()]
    found.append(selector.sample_indices_)
    if selector is loaded:
        return found
    queries = loaded.representatives_
    if resolve(selector.similarity).kind == "matrix":
        queries = np.zeros((2, loaded.n_features_in_))
    explained = loaded.explain(queries)
    return [*found, loaded.predict(queries), *loaded.nearest_prototypes(queries), *vars(explained).values()]


def tampered(rng):
    """The bytes of a changed file, and the similarity to load it with."""
    content, similarity = files()[rng.integers(len(files()))]
    if rng.random() < 0.3:
        return with_other_bytes(rng, content), similarity
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.integers(1, 3)):
        name = "covey.json" if rng.random() < 0.6 else list(parts)[rng.integers(len(parts))]
        change = with_other_json if name == "covey.json" else with_other_array
        parts[name] = change(rng, parts[name])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue(), similarity


def with_other_bytes(rng, content):
    content = bytearray(content)
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 30))
    noise = rng.bytes(length)
    changed = {
        "flip": content[:start] + bytes([content[start] ^ (1 << int(rng.integers(8)))]) + content[start + 1 :],
        "cut": content[:start],
        "drop": content[:start] + content[start + length :],
        "insert": content[:start] + noise + content[start:],
        "overwrite": content[:start] + noise + content[start + length :],
    }
    return bytes(changed[pick(rng, list(changed))])


def with_other_json(rng, part):
    """One value of the JSON part deleted, replaced, renamed, nested or moved."""
    whole = json.loads(part)
    places = list(walk(whole))
    holder, key = pick(rng, places)
    other_holder, other_key = pick(rng, places)
    change = pick(rng, ["replace", "replace", "splice", "delete", "rename", "add", "nest", "number"])
    if change == "delete":
        del holder[key]
    elif change in ("rename", "add") and isinstance(holder, dict):
        holder[pick(rng, KEYS)] = holder.pop(key) if change == "rename" else copy.deepcopy(pick(rng, VALUES))
    elif change == "splice":
        holder[key] = copy.deepcopy(other_holder[other_key])
    elif change == "nest":
        for _ in range(rng.choice([1, 2, 90, 400])):
            holder[key] = [holder[key]]
    elif change == "number" and type(holder[key]) in (int, float):
        holder[key] = type(holder[key])(pick(rng, [holder[key] + 1, -holder[key], holder[key] * 10, 0]))
    else:
        holder[key] = copy.deepcopy(pick(rng, VALUES))
    return json.dumps(whole).encode()


def walk(value):
    """Where each value within this one stands: the list or dict that holds it, and under which key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from walk(value[key])


def with_other_array(rng, part):
    """Content, type or shape of one array changed."""
    array = np.lib.format.read_array(io.BytesIO(part))
    change = pick(rng, ["number", "number", "number", "type", "shape", "shorter", "longer", "order", "empty"])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            array = with_other_content(rng, array.copy(), change)
        except (ValueError, TypeError, OverflowError, RuntimeError):  # the array cannot be changed in this way
            array = array[:0]
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def with_other_content(rng, array, change):
    if change == "number":
        array.flat[rng.integers(array.size)] = pick(rng, NUMBERS)
        return array
    if change == "order":
        return rng.permutation(array, axis=0)
    if change == "longer":
        return np.concatenate([array, array[:1]])
    changed = {
        "type": lambda: array.astype(pick(rng, TYPES)),
        "shape": lambda: array.reshape(pick(rng, [(-1,), (1, -1), (-1, 1), (-1, 2), (1, 1, -1)])),
        "shorter": lambda: array[:-1],
        "empty": lambda: array[..., :0],
    }
    return changed[change]()


def pick(rng, values):
    return values[rng.integers(len(values))]


def alike(a, b):
    """A similarity of any two objects, whatever a file has made of them."""
    return 1 / (1 + abs(len(repr(a)) - len(repr(b))))


WORDS = [
    *("cat", "cart", "care", "cast", "car"),
    *("dog", "dodge", "lodge", "doe", "do"),
    *("bird", "brd", "bride", "b", "bd"),
]


@cache
def files():
    """The bytes of a file of each kind of model, with the similarity that is passed to load it."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 5)
    X = np.abs(rng.normal(y[:, None], 0.3, (15, 4))) + 0.1
    sparse = sp.csr_array(np.where(X > 1, X, 0.0))
    profiles = [{letter: float(len(word)) for letter in word} for word in WORDS]
    fixed_bar = {"reject": 0.5, "unknown_label": "none"}
    nested = [(1, {"a": [word]}, word.encode()) for word in WORDS]
    models = [
        (covey.CRS(2), X, y, {"reject": "threshold"}),
        (covey.CRS(2), X, y, {"reject": "calibrated", "rejection_rate": 0.3}),
        (covey.CRS(2, similarity="euclidean"), X.astype(np.float32), np.array(["a", "b", "c"])[y], fixed_bar),
        (covey.CRS(2, similarity="ruzicka"), sparse, y, {}),
        (covey.CRS(2, similarity="jaccard"), [set(word) for word in WORDS], y, {}),
        (covey.CRS(2), profiles, y, {}),
        (covey.CRS(2, similarity="precomputed"), X @ X.T, y, {}),
        (covey.CRS(2, similarity=covey.from_distance("precomputed")), np.abs(X[:, :1] - X[:, 0]), y, {}),
        (covey.CRS(2, graph=covey.neighbor_graph(X, 14)), X, y, {}),
        (covey.CRS(2, graph=covey.neighbor_graph(X, 14).to_csr()), X, y, {}),
        (covey.CRS(2, similarity=alike), WORDS, y, {}),
        (covey.CRS(2, similarity=covey.from_distance(alike, symmetric=False)), nested, y, {}),
        (covey.KeepAll(similarity=alike), [np.arange(len(word)) for word in WORDS], y, {}),
        (covey.KeepAll(similarity=alike), sparse, y, {}),
        (covey.DeltaMedoids(similarity="dot"), X, y.astype("M8[D]"), {}),
        (covey.DS3(2, outliers=True), X, y == 1, {}),
        (covey.Sharpened(covey.CRS(2), size=6, random_state=0), X, y, {}),
        (covey.Sharpened(covey.CRS(2, similarity=alike), size=6, random_state=0), WORDS, y, {}),
        (covey.KeepAll(similarity="hamming"), (X > 1).astype(np.int8), y, {}),
        (covey.RandomSelector(n={0: 1, 1: 2, 2: 3}, random_state=0), X, y, {}),
    ]
    made = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for selector, objects, labels, options in models:
            model = covey.NearestPrototypeClassifier(selector, **options).fit(objects, labels)
            for estimator in (model, model.selector_):
                covey.save(estimator, path, {"columns": ["a"], "weights": np.arange(3.0)})
                needed = ModelFile(path).missing_callable
                made.append((path.read_bytes(), None if needed is None else alike))
    return made
