"""The page that describes model files says what the code does, and is enough to read a file."""

import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

import covey
from covey.persistence import format as container
from covey.persistence.estimators import MOST_BITS, MOST_JOBS, WRAPPING, saved_constraints
from covey.persistence.old import UPGRADES
from covey.persistence.records import RECORDS
from covey.persistence.values import ARRAYS, DEEPEST, FORMS, MOST_EQUAL_HASHES
from covey.runtime.wording import LONGEST_ERROR
from covey.selectors.base import Selector
from covey.similarity.similarity import CONVERSIONS
from covey.storage import limits
from covey.storage.archive import MOST_HEADER

PAGE = (Path(__file__).parents[2] / "docs" / "file-format.md").read_text()


def rows(title):
    """The cells of the table whose first column has this title."""
    lines = iter(PAGE.splitlines())
    next(line for line in lines if line.startswith(f"| {title} |"))
    next(lines)
    found = []
    for line in lines:
        if not line.startswith("|"):
            return found
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def quoted(text):
    """What stands in code marks."""
    return re.findall(r"`([^`]+)`", text)


def test_the_outermost_keys_and_the_format_are_those_of_the_code():
    assert {key for [cell, _] in rows("key") for key in quoted(cell)} == container.KEYS
    assert f"The number of the present format is {container.FORMAT}." in PAGE
    assert quoted(rows("member")[0][0]) == [container.JSON]
    for number in UPGRADES:
        assert f"\nFormat {number} differs from format {number + 1} in these ways:\n" in PAGE


def test_every_tag_and_every_record_is_described():
    assert [tag for [cell, _] in rows("tag") for tag in quoted(cell)] == list(FORMS)
    described = {quoted(name)[0]: quoted(keys) for [name, keys] in rows("record")}
    assert described == {cls.__name__: list(record.fields) for cls, record in RECORDS.items()}
    assert f"`{ARRAYS}`" in PAGE


def test_the_wrapping_of_functions_is_described():
    [line] = re.findall(r"The wrapping of a function has the keys (.*?)\. The key", PAGE, re.DOTALL)
    assert [name for name in quoted(line) if name in WRAPPING] == list(WRAPPING)
    [words] = [meaning for [form, meaning] in rows("form") if "from_distance" in form]
    assert set(quoted(words)) == set(CONVERSIONS)


def test_the_state_of_every_estimator_is_described():
    described = {name: set(quoted(cell)) for [names, cell] in rows("class") for name in quoted(names) or [names]}
    shared = described.pop("every selector")
    for name, own in described.items():
        cls = getattr(covey, name)
        wanted = {attribute: constraint.required for attribute, constraint in saved_constraints(cls).items()}
        assert own | (shared if issubclass(cls, Selector) else set()) == wanted.keys(), name
    optional = {name for row in rows("class") for name in re.findall(r"\[`([^`]+)`\]", row[1])}
    rules = [rule for name in described for rule in saved_constraints(getattr(covey, name)).items()]
    assert optional == {attribute for attribute, rule in rules if not rule.required}
    exported = {name for name in dir(covey) if isinstance(getattr(covey, name), type)}
    estimators = {name for name in exported if hasattr(getattr(covey, name), "_fitted_state")}
    assert described.keys() == estimators - {"Selector"}


def test_the_limits_are_those_of_the_code():
    megabytes = f"{limits.FREE // 2**20} MiB"
    assert [value for [_, value] in rows("limit")] == [
        megabytes,
        f"{limits.MOST_RATIO} times the size of the file",
        f"{container.JSON_FREE // 2**20} MiB",
        f"{container.JSON_RATIO} times the size of the file",
        f"{MOST_HEADER} bytes",
        f"{DEEPEST}",
        f"{container.DEEPEST_ESTIMATOR}",
        f"{MOST_EQUAL_HASHES}",
        f"{megabytes}, or {limits.MOST_RATIO} times the bytes of that",
        f"{MOST_JOBS} in magnitude",
        f"{MOST_BITS} bits",
    ]
    assert f"at most about {LONGEST_ERROR} characters" in PAGE


@pytest.mark.parametrize("labels", [np.repeat([0, 1, 2], 6), np.repeat(["a", "b", "c"], 6)])
def test_the_page_is_enough_to_classify_without_covey(labels):
    """What follows the call of save uses no code of covey, only what the page says."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(np.repeat([0, 1, 2], 6)[:, None], 0.3, (18, 4))) + 0.1
    model = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=covey.from_distance("manhattan"))).fit(X, labels)
    file = io.BytesIO()
    covey.save(model, file)

    archive = zipfile.ZipFile(file)
    whole = json.loads(archive.read("covey.json"))
    state = whole["content"]["NearestPrototypeClassifier"]["state"]

    def array(value):
        return np.load(io.BytesIO(archive.read(f"{value['array']}.npy")))

    [(_, selector)] = state["selector_"].items()
    assert selector["parameters"]["similarity"] == {"from_distance": ["manhattan", "inverse"]}
    label_of = {
        row: entry["Prototype"]["label"]
        for _, entry in selector["state"]["prototypes_"]["dict"]
        for row in array(entry["Prototype"]["indices"]).tolist()
    }
    queries = np.abs(rng.normal(1, 1, (50, 4)))
    distances = np.abs(queries[:, None] - array(state["representatives_"])).sum(axis=2)
    nearest = array(state["_rows"])[np.argmax(1 / (1 + distances), axis=1)]
    assert [label_of[row] for row in nearest.tolist()] == model.predict(queries).tolist()
