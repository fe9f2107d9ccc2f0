"""Confusion matrices and the largest confusions, made of records of a small problem."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

import covey
from covey.displays.cards import Card
from covey.displays.confusion import LARGEST
from covey.experiments import confusions
from covey.experiments.specs import Results
from tests.experiments.iris import FEW, IRIS, iris, run

SHOWN = {"iris": replace(IRIS["iris"], card=lambda row: Card(str(row.tolist())))}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    found = run(tmp_path_factory.mktemp("records"), SHOWN, {"CRS-k5": FEW["CRS-k5"]}, seeds=[0, 1])
    assert any(r.mistaken for r in found)
    return found


def model(split, seed):
    return covey.NearestPrototypeClassifier(covey.CRS(5, random_state=seed)).fit(split.X, split.y)


def test_confusion_counts_every_query(records):
    expected = sum(
        confusion_matrix(split.truth, model(split, seed).predict(split.queries))
        for seed, split in enumerate(iris(seed, None) for seed in (0, 1))
    )
    labels, counts = confusions.confusion(records)
    assert labels == ["0", "1", "2"]
    np.testing.assert_array_equal(counts, expected)
    (matrix,) = confusions.confusion_matrices(Results(records, SHOWN, None))
    np.testing.assert_array_equal(matrix.counts, expected)


def test_examples_are_queries_that_the_shown_representative_has_decided_wrongly(records):
    (found,) = confusions.largest_confusions(Results(records, SHOWN, lambda name, seed: SHOWN[name].split(seed)))
    fitted = [(split, model(split, seed)) for seed, split in enumerate(iris(seed, None) for seed in (0, 1))]
    decided = {
        (str(split.queries[at].tolist()), str(split.truth[at])): (str(split.X[row].tolist()), str(split.y[row]))
        for split, own in fitted
        for at, row in enumerate(own.nearest_prototypes(split.queries, n=1)[0][:, 0])
    }
    assert found.found
    for confusion in found.found:
        assert confusion.examples
        for example in confusion.examples:
            assert decided[example.asked.title, confusion.label] == (example.decided.title, confusion.given)


def test_the_largest_confusion_is_told_first_with_its_numbers(records):
    (found,) = confusions.largest_confusions(Results(records, SHOWN, lambda name, seed: SHOWN[name].split(seed)))
    _, counts = confusions.confusion(records)
    wrong = counts - np.diag(np.diag(counts))
    row, column = np.unravel_index(np.argmax(wrong), wrong.shape)
    times, n = wrong[row, column], counts[row].sum()
    assert found.found[0].sentence.startswith(f"{times} of {n} objects ({100 * times / n:.1f} %) of {row} w")
    assert found.found[0].sentence.endswith(f" taken for {column}.")
    assert len(found.found) == min((wrong > 0).sum(), LARGEST)


def test_a_label_that_is_only_an_answer_is_counted_too(records):
    odd = [replace(r, predicted={"3": 1, **r.predicted}) for r in records]
    labels, counts = confusions.confusion(odd)
    assert labels == ["0", "1", "2", "3"]
    assert counts[:, 3].tolist() == [2, 2, 2, 0]


def test_nothing_is_told_of_answers_that_are_all_right(records):
    right = [replace(r, predicted={r.cluster: 20}, mistaken={}) for r in records]
    results = Results(right, SHOWN, None)
    assert list(confusions.confusion_matrices(results)) == list(confusions.largest_confusions(results)) == []


def test_records_without_examples_are_told_without_them(records):
    """Files of older versions list no examples."""
    old = [replace(r, mistaken={}) for r in records]
    (found,) = confusions.largest_confusions(Results(old, SHOWN, None))
    assert all(not own.examples for own in found.found)
