"""Changes to model files: to their bytes, and to their JSON part, arrays and members, with all checksums made anew."""

import copy
import io
import json
import warnings
import zipfile
from contextlib import suppress

import numpy as np

from covey.persistence.values import FORMS
from covey.similarity.measures import DISTANCES, NAMED
from covey.similarity.similarity import CONVERSIONS
from tests.attack._model_archives import ARCHIVES
from tests.attack._model_kinds import kinds

JSON = "covey.json"
VALUES = [None, True, False, 0, 1, -1, 2, 10**8, 2**63, -(2**70), 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "x"]
VALUES += ["cosine", "precomputed", "threshold", "predict", "\ud800", [], [[]], {}, {"a": 1, "b": 2}, {"array": 0}]
VALUES += [{"array": -1}, {"array": 10**9}, {"callable": {}}, {"dict": [[[], 1]]}, {"set": [[1]]}, {"tuple": "abc"}]
VALUES += [{"scalar": ["|O", "00" * 8]}, {"scalar": ["<f8", "00"]}, {"from_distance": ["euclidean", "inverse"]}]
VALUES += [{"objects": [[2, -1], [1, 2]]}, {"csr": [[2, 10**9], {"array": 0}, {"array": 0}, {"array": 0}]}, {"CRS": {}}]
VALUES += [
    "a" * 10**5,
    "\x00\x1b[2J\n",
    "../../x",
    "%s%n{0}",
    10**400,
    -1e-320,
    {"int": "0x" + "f" * 10**4},
    {"int": "z"},
]
VALUES += [{"scalar": ["<M8[D]", "00" * 7 + "80"]}, {"scalar": ["<c16", "00" * 16]}, {"scalar": ["<f2", "007e"]}]
VALUES += [{"complex": [1.0, float("nan")]}, {"str": "eda080"}, {"bytes": "zz"}, {"str_": "a\x00"}, {"Recall": {}}]
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
KEYS += [*FORMS, "Prototype", "NeighborGraph", "MixedRows", "Recall", "named", "from_distance", "callable", "state"]
CLASSES = [
    "CRS",
    "KeepAll",
    "RandomSelector",
    "DS3",
    "DeltaMedoids",
    "Sharpened",
    "NearestPrototypeClassifier",
    "FirstOfAll",
]
CLASSES += ["Selector", "Prototype", "load", "dask", "os", "BaseEstimator", "no such class", ""]
SIMILARITIES = [*NAMED, *({"named": name} for name in NAMED)]
SIMILARITIES += [{"from_distance": [name, how]} for name in [*DISTANCES, "precomputed", "dot"] for how in CONVERSIONS]
SIMILARITIES += [
    {"callable": {"symmetric": symmetric, "kind": kind, "conversion": how, "batch_size": size}}
    for symmetric in (True, False)
    for kind in ("objects", "batches", "rows")
    for how in (None, *CONVERSIONS, "none")
    for size in (1, 2, 2**70)
]
FORMATS = [0, 1, 2, 3, -1, 1.0, "2", 10**30, None, True]
PARAMETERS = {
    "reject": ["calibrated", "threshold", None, 0.5, -1e308, 7, True],
    "rejection_rate": [0.3, 0.05, 1e-300, 1],
    "unknown_label": [-1, 0, "none", 1.5, None, {"tuple": []}],
    "n_jobs": [None, 1, 2, -1, -4096, 4096, 3.0],
    "verbose": [0, 1, 5, -1, 2**62],
    "n_neighbors": [None, 1, "auto", 2**62, 0],
    "threshold": [None, "homogeneity", 0.5, float("nan"), -1e300],
    "random_state": [None, 0, 2**32, -1],
    "size": [None, 0.5, 3, 2**62],
}
NUMBERS = [0, 1, -1, -2, 7, 10**8, 2**31, 2**62, 2**63 - 1, -(2**63), np.nan, np.inf, -np.inf, 1e308, 1e-320, 1e149]
TYPES = ["<i4", ">i8", ">i4", "u8", "u1", "i1", "f4", ">f8", ">f4", "f2", "c16", "?", "M8[ns]", "m8", "S4", "U4", ">U2"]
TYPES += ["g", "i2", "f8,i4", "V8"]
SHAPES = [
    "()",
    "(0,)",
    "(-1,)",
    "(2**62, 4)",
    "(1, 1, 1, 1)",
    "(10**30,)",
    "(True,)",
    "(1.0,)",
    "4",
    "(3, -3)",
    "(0, 2**62)",
]
DESCRIPTIONS = ["'|O'", "'<f8'", "'|V0'", "'|S0'", "[('a', '<f8'), ('b', '|O')]", "('<f8', (2,))", "'<M8[7s]'", "'U3'"]
DESCRIPTIONS += ["'" + "f8," * 500 + "f8'", "-" * 5000 + "1", "(" * 150 + ")" * 150, "'>i4'", "{'a': 1}", "b'f8'"]


def tampered(rng):
    """A kind of model, and the bytes of a changed file of it."""
    kind = pick(rng, kinds())
    if kind.queries is None:
        kind = pick(rng, kinds())  # more can go wrong in a classifier, so that most files hold one
    way = rng.random()
    if way < 0.2:
        return kind, with_other_bytes(rng, kind.content)
    parts = parts_of(kind.content)
    if way < 0.35:
        return kind, pick(rng, ARCHIVES)(rng, parts, parts_of(pick(rng, kinds()).content))
    for _ in range(rng.integers(1, 4)):
        name = JSON if rng.random() < 0.6 or len(parts) == 1 else list(parts)[rng.integers(len(parts))]
        change = with_other_json if name == JSON else with_other_array
        parts[name] = change(rng, parts[name])
    return kind, packed(parts)


def parts_of(content):
    """The bytes of each member of a file, by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def with_other_bytes(rng, content):
    """A few bytes of a file or of a member changed; half of the changes are made to the directory at the end."""
    content = bytearray(content)
    start = int(rng.integers(len(content)))
    if rng.random() < 0.5:
        start = max(len(content) - 1 - int(rng.integers(400)), 0)
    length = int(rng.integers(1, 30))
    noise, field = rng.bytes(length), pick(rng, [b"\0", b"\xff", b"\x7f"]) * int(pick(rng, [1, 2, 4, 8]))
    changed = {
        "flip": content[:start] + bytes([content[start] ^ (1 << int(rng.integers(8)))]) + content[start + 1 :],
        "cut": content[:start],
        "drop": content[:start] + content[start + length :],
        "insert": content[:start] + noise + content[start:],
        "overwrite": content[:start] + noise + content[start + length :],
        "field": content[:start] + field + content[start + len(field) :],
        "repeat": content[:start] + content[start : start + length] * 2 + content[start + length :],
        "turn": content[start:] + content[:start],
    }
    return bytes(changed[pick(rng, list(changed))])


def with_other_json(rng, part):
    """One value of the JSON part deleted, replaced, renamed, nested or moved, or its text changed."""
    if rng.random() < 0.05:
        return with_other_text(rng, part)
    try:
        whole = json.loads(part)
        places = list(walk(whole))
        pick(rng, JSON_CHANGES)(rng, whole, places)
        return json.dumps(whole).encode()
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
        return part  # an earlier change has left nothing to which this one could be made


def with_other_text(rng, part):
    """Text that JSON does not allow, or in another encoding, or with a key that is there twice."""
    text = part.decode(errors="replace")
    changes = [
        lambda: with_other_bytes(rng, part),
        lambda: text.encode(pick(rng, ["utf-16", "utf-32", "utf-8-sig", "utf-16-le"])),
        lambda: text.replace("{", '{"format": 1, ', 1).encode(),
        lambda: text.replace("}", ', "state": {}}', 1).encode(),
        lambda: text.replace(": 0", ": " + "9" * 5000).encode(),
        lambda: text.replace("null", pick(rng, ["NaN", "-Infinity", "1e999", "[" * 5000, '{"a":' * 3000])).encode(),
        lambda: b"[" * 10**5,
    ]
    return pick(rng, changes)()


def walk(value):
    """Where each value within this one stands: the list or dict that holds it, and under which key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from walk(value[key])


def _replace(rng, whole, places):
    holder, key = pick(rng, places)
    holder[key] = copy.deepcopy(pick(rng, VALUES))


def _delete(rng, whole, places):
    holder, key = pick(rng, places)
    del holder[key]


def _rename(rng, whole, places):
    holder, key = pick(rng, [place for place in places if isinstance(place[0], dict)])
    holder[pick(rng, [*KEYS, *CLASSES])] = holder.pop(key)


def _add(rng, whole, places):
    holder, _ = pick(rng, [place for place in places if isinstance(place[0], dict)])
    holder[pick(rng, KEYS)] = copy.deepcopy(pick(rng, VALUES))


def _splice(rng, whole, places):
    (holder, key), (other, other_key) = pick(rng, places), pick(rng, places)
    holder[key] = copy.deepcopy(other[other_key])


def _nest(rng, whole, places):
    holder, key = pick(rng, places)
    tag = pick(rng, [None, "tuple", "set", "frozenset"])
    for _ in range(rng.choice([1, 2, 90, 110, 400])):
        holder[key] = [holder[key]] if tag is None else {tag: [holder[key]]}


def _count(rng, whole, places):
    """Change a number, in one place or wherever it stands, so that checks of one number against another still hold."""
    numbers = [place for place in places if type(place[0][place[1]]) in (int, float)]
    holder, key = pick(rng, numbers)
    old = holder[key]
    new = type(old)(pick(rng, [old + 1, -old if old == old else 0, min(old, 1e9) * 10, 0, 2**31, 2**31 - 1, 2**40]))
    everywhere = rng.random() < 0.5
    for place, name in numbers if everywhere else [(holder, key)]:
        if place[name] == old:
            place[name] = new


def _form(rng, whole, places):
    """Put a value under the tag of another form."""
    holder, key = pick(rng, places)
    holder[key] = {pick(rng, list(FORMS)): holder[key]}


def _class(rng, whole, places):
    """Give an estimator the name of another class."""
    inside = [(holder, key) for holder, key in places if isinstance(holder[key], dict) and "state" in holder[key]]
    holder, key = pick(rng, inside)
    holder[pick(rng, CLASSES)] = holder.pop(key)


def _parameter(rng, whole, places):
    """Set a parameter to a value that some estimator takes; if it is the similarity, then of all estimators."""
    inside = [holder[key] for holder, key in places if key == "parameters" and isinstance(holder[key], dict)]
    if rng.random() < 0.4:
        name, value = "similarity", pick(rng, SIMILARITIES)
    else:
        name = pick(rng, list(PARAMETERS))
        value = pick(rng, PARAMETERS[name])
    for parameters in inside:
        if name in parameters:
            parameters[name] = copy.deepcopy(value)
    if name == "similarity" and rng.random() < 0.8:
        whole["callable"] = "alike" if isinstance(value, dict) and "callable" in value else None


def _format(rng, whole, places):
    whole["format"] = pick(rng, FORMATS)


def _estimators_within_estimators(rng, whole, places):
    """A selector within selectors that look as if they were fitted, many levels deep."""
    [(name, content)] = whole["content"].items()
    part, key = (content["parameters"], "selector") if rng.random() < 0.5 else (content["state"], "selector_")
    inner = part.get(key) or {"CRS": {"parameters": {}, "state": {}}}
    [state] = [fitted["state"] for fitted in (content["state"].get("selector_") or {name: content}).values()]
    further = {"sharpened_": True, "temperature_": 1.0, "losses_": state.get("sample_indices_")}
    for _ in range(rng.choice([1, 5, 50, 300])):
        fitted = {"parameters": {}, "state": state | further | {"selector_": inner}}
        inner = {"Sharpened": fitted if key == "selector_" else {"parameters": {"selector": inner}, "state": {}}}
    part[key] = inner


JSON_CHANGES = [_replace, _replace, _delete, _rename, _add, _splice, _splice, _nest, _count, _count, _count, _form]
JSON_CHANGES += [_class, _parameter, _parameter, _format, _estimators_within_estimators]


IMPOSSIBLE = (ValueError, TypeError, OverflowError, IndexError, RuntimeError)
"""What NumPy raises if an array cannot be changed in the way that was drawn."""


def with_other_array(rng, part):
    """Content, type, shape or header of one array changed."""
    if rng.random() < 0.2:
        return with_other_header(rng, part)
    try:
        array = np.lib.format.read_array(io.BytesIO(part))
    except Exception:  # an earlier change has left no array
        return part
    with (
        np.errstate(all="ignore"),
        warnings.catch_warnings(),
        suppress(*IMPOSSIBLE),
    ):
        warnings.simplefilter("ignore")
        array = pick(rng, ARRAY_CHANGES)(rng, array.copy())
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def with_other_header(rng, part):
    """The header of an array says another shape, type, order or version, or its bytes are changed."""
    shape, fortran, content = pick(rng, SHAPES), pick(rng, ["False", "True", "1", "None"]), part[128:]
    changes = [
        lambda: with_other_bytes(rng, part),
        lambda: _npy(header("'<f8'", "False", shape), content),
        lambda: _npy(header(pick(rng, DESCRIPTIONS), "False", "(2,)"), content),
        lambda: _npy(header("'<i8'", fortran, f"({len(content) // 8},)"), content),
        lambda: part[:6] + bytes([int(rng.integers(5)), int(rng.integers(2))]) + part[8:],
        lambda: part.replace(b"'fortran_order': False", b"'fortran_order': True "),
        lambda: part + b"\0" * 8,
    ]
    return pick(rng, changes)()


def header(kind, fortran, shape):
    return f"{{'descr': {kind}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


def _npy(text, content):
    padded = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + content


def _number(rng, array):
    array.flat[rng.integers(array.size)] = pick(rng, NUMBERS)
    return array


def _near(rng, array):
    """A number changed by a little, so that it often still makes sense."""
    array.flat[rng.integers(array.size)] += pick(rng, [1, -1, 2])
    return array


def _row(rng, array):
    array[rng.integers(len(array))] = array[rng.integers(len(array))]
    return array


def _as_type(rng, array):
    return array.astype(pick(rng, TYPES))


def _as_shape(rng, array):
    return array.reshape(pick(rng, [(-1,), (1, -1), (-1, 1), (-1, 2), (1, 1, -1)]))


ARRAY_CHANGES = [_number, _number, _number, _near, _near, _row, _as_type, _as_type, _as_shape]
ARRAY_CHANGES += [
    lambda rng, array: array[:-1],
    lambda rng, array: array[..., :0],
    lambda rng, array: np.concatenate([array, array[:1]]),
    lambda rng, array: rng.permutation(array, axis=0),
    lambda rng, array: np.asfortranarray(array),
    lambda rng, array: array[::-1],
    lambda rng, array: array.astype(array.dtype.newbyteorder()),
    lambda rng, array: array * pick(rng, [0, -1, 1e-200, 1e200, 1e140, np.nan]),
    lambda rng, array: np.zeros(pick(rng, [(10**6,), (1000, 1000)]), dtype=array.dtype),
]


def pick(rng, values):
    return values[rng.integers(len(values))]
