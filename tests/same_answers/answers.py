"""Any result as JSON, such that equal JSON means the same bits."""

import dataclasses
import hashlib
import io
import json
import re
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

LONGEST = 300_000
"""How many letters of a text file are compared as they are. Of a longer one the digest is."""

SEED = re.compile(rb'"seed": \d+')
"""What a new checkpoint draws for itself. The checksums of its blocks depend on it."""


def plain(value):
    """Return a value as JSON has it. Floats are written in full, and arrays with their type."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, np.generic):
        return {value.dtype.str: repr(value.item())}
    if isinstance(value, bytes):
        return file_content("", value)
    if isinstance(value, np.ndarray):
        return {
            "type": value.dtype.str,
            "shape": list(value.shape),
            "values": [plain(v) for v in value.ravel().tolist()],
        }
    if sp.issparse(value):
        matrix = value.tocsr()
        parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
        return {"shape": list(value.shape), **{name: plain(part) for name, part in parts.items()}}
    if isinstance(value, pd.DataFrame | pd.Series | pl.DataFrame):
        return {type(value).__name__: value.to_csv() if hasattr(value, "to_csv") else value.write_csv()}
    if isinstance(value, dict):
        return {f"{type(key).__name__} {key}": plain(content) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return [plain(content) for content in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "get_params"):
        return {type(value).__name__: state(value)}
    return type(value).__name__


def state(estimator):
    """Return all public attributes that a fit has set."""
    names = sorted(name for name in vars(estimator) if name.endswith("_") and not name.startswith("_"))
    return {name: plain(getattr(estimator, name)) for name in names}


def file_content(name, content):
    """Return the content of a file: that of each member of an archive, text as lines, and else a digest."""
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {member: file_content(member, archive.read(member)) for member in archive.namelist()}
    if content.startswith(b"covey journal"):
        return f"checkpoint of {len(SEED.sub(b'', content))} bytes beside its seed"
    if name.endswith(".json"):
        try:
            return json.loads(content, parse_constant=str)
        except ValueError:
            pass
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = None
    if text is None or len(text) > LONGEST:
        return f"{len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()[:16]}"
    return text.splitlines()
