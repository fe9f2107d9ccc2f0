"""What a classifier answers for rejected objects if nobody has said it: -1 among numbers, "unknown" among texts."""

from pathlib import Path

import numpy as np
import pytest

import covey

FAR = [[1.0, 1.0]]


def fitted(labels, **parameters):
    return covey.NearestPrototypeClassifier(covey.KeepAll(), reject=0.9, **parameters).fit(np.eye(2), labels)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], -1),
        ([1.0, 2.0], -1),
        (np.array([0, 200], dtype=np.uint8), -1),
        (["a", "b"], "unknown"),
        (np.array(["a", "b"]), "unknown"),
        (np.array(["a", "b"], dtype=object), "unknown"),
        (np.array(["a", "a longer name"]), "unknown"),
    ],
)
def test_the_default_has_the_type_of_the_labels(labels, expected):
    model = fitted(labels)
    assert model.get_params()["unknown_label"] == -1
    answers = [*model.predict(FAR).tolist(), *model.explain(FAR).labels.tolist()]
    assert answers == [expected, expected]
    assert type(answers[0]) is type(expected) or isinstance(labels[0], float)
    assert model.explain(FAR).rejected.tolist() == [True]
    assert model.predict(np.eye(2)).tolist() == list(labels)


def test_a_text_that_is_taken_must_be_replaced():
    message = r"unknown_label must be given if 'unknown' is a class, got the default -1.* choose another string"
    with pytest.raises(ValueError, match=message):
        fitted(["known", "unknown"])
    assert fitted(["known", "unknown"], unknown_label="neither").predict(FAR).tolist() == ["neither"]


def test_truth_values_need_an_answer_and_get_none_in_silence():
    with pytest.raises(TypeError, match="unknown_label must be of the labels' type, got -1"):
        fitted([True, False])


@pytest.mark.parametrize("unknown", [-2, -1.0, True, None])
def test_only_the_default_stands_for_a_text(unknown):
    with pytest.raises(TypeError, match="unknown_label must be of the labels' type"):
        fitted(["a", "b"], unknown_label=unknown)


def test_the_default_is_kept_in_files(tmp_path):
    covey.save(fitted(["a", "b"]), tmp_path / "m")
    again = covey.load(tmp_path / "m")
    assert again.unknown_label == -1
    assert again.predict(FAR).tolist() == ["unknown"]


def test_files_of_earlier_versions_answer_unknown():
    model = covey.load(Path(__file__).parent / "files" / "command-line" / "strings.covey")
    assert (model.unknown_label, model.classes_.dtype.kind) == (-1, "U")
    answers = model.set_params(reject=1e9).predict(model.representatives_)
    assert set(answers.tolist()) == {"unknown"}
