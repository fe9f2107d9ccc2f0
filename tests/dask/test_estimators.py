"""The contract of the estimators: copies, pickles, refusals, clusters that change, and the memory of the driver."""

import copy
import os
import pickle
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

pytest.importorskip("distributed", reason="needs the extra dask")

import dask
import dask.array as da
import dask.bag as db
from distributed import Client, LocalCluster

import covey
import covey.dask
from tests.dask import driver_memory, measures
from tests.dask.measures import assert_same_state

ROWS = np.random.default_rng(0).normal(size=(120, 4))
LABELS = np.repeat(["a", "b"], [80, 40])


def test_what_works_in_one_process_names_the_way_there():
    with pytest.raises(TypeError, match=r"covey\.dask\.NearestPrototypeClassifier, whose method to_local\(\)"):
        covey.NearestPrototypeClassifier(covey.dask.CRS(2)).fit(ROWS, LABELS)
    with pytest.raises(TypeError, match=r"works on a Dask cluster; pass a covey\.CRS"):
        covey.Sharpened(covey.dask.CRS(2)).fit(ROWS, LABELS)


def in_parts(X, n=40):
    return da.from_array(X, chunks=(n, *X.shape[1:]))


ALONE = """
import sys, covey
covey.CRS(2).fit([[1, 0], [1, 1], [0, 1]])
print({"dask", "distributed"} & {*sys.modules})
import covey.dask
print(covey.dask.CRS(3), covey.dask.NearestPrototypeClassifier())
"""


def test_covey_alone_imports_no_dask_and_the_estimators_need_no_cluster_before_fit():
    out = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True).stdout
    assert out == "set()\nCRS(n_neighbors=3) NearestPrototypeClassifier()\n"


def test_parameters_are_those_of_one_process_but_three_and_two_more():
    ours, plain = covey.dask.CRS().get_params(), covey.CRS().get_params()
    for name in ("size", "on_error", "timeout"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            covey.dask.CRS(**{name: plain.pop(name)})
    assert {name: ours[name] for name in plain} == plain
    assert set(ours) - set(plain) == {"client", "shard_size"}
    assert repr(covey.dask.CRS(5, shard_size=7)) == "CRS(n_neighbors=5, shard_size=7)"
    selector = covey.dask.CRS().set_params(shard_size=9, n_neighbors=4, checkpoint="folder")
    assert (selector.shard_size, selector.n_neighbors, selector.checkpoint) == (9, 4, "folder")
    with pytest.raises(ValueError, match="shard"):
        covey.dask.CRS().set_params(shards=3)


def test_a_clone_shares_the_client(client):
    selector = covey.dask.CRS(3, client=client, shard_size=50, random_state=1)
    copy = clone(selector)
    assert copy.client is client
    assert copy.get_params() == selector.get_params()
    selector.fit(in_parts(ROWS))
    assert not hasattr(clone(selector), "prototypes_")
    classifier = clone(covey.dask.NearestPrototypeClassifier(selector))
    assert classifier.selector.client is client
    assert classifier.selector is not selector


def test_a_pickle_has_no_client(client):
    selector = covey.dask.CRS(3, client=client, shard_size=50, random_state=1)
    unfitted = pickle.loads(pickle.dumps(selector))
    assert unfitted.client is None
    assert selector.client is client
    assert unfitted.get_params() == {**selector.get_params(), "client": None}
    selector.fit(in_parts(ROWS), LABELS)
    fitted = pickle.loads(pickle.dumps(selector))
    assert fitted.client is None
    assert fitted.sample_indices_.tolist() == selector.sample_indices_.tolist()
    assert_same_state(unfitted.fit(in_parts(ROWS), LABELS).to_local(), selector.to_local())
    assert_same_state(fitted.to_local(), selector.to_local())
    for label, prototype in selector.to_local().prototypes_.items():
        assert type(fitted.prototypes_[label]) is covey.Prototype
        assert fitted.prototypes_[label].stands_for.tolist() == prototype.stands_for.tolist()


def test_a_pickle_of_a_fitted_selector_works_without_a_cluster(client, tmp_path):
    selector = covey.dask.CRS(3, shard_size=50, random_state=1).fit(in_parts(ROWS), LABELS)
    path = tmp_path / "selector.pickle"
    path.write_bytes(pickle.dumps(selector))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).to_local().sample_indices_.tolist())"
    out = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout
    assert out == f"{selector.sample_indices_.tolist()}\n"


def test_a_local_selector_is_saved_and_loaded(client, tmp_path):
    selector = covey.dask.CRS(3, shard_size=50, random_state=1).fit(in_parts(ROWS), LABELS)
    local = selector.to_local()
    assert type(local) is covey.CRS
    shared = {name: selector.get_params()[name] for name in local.get_params().keys() & selector.get_params().keys()}
    assert local.get_params() == covey.CRS().get_params() | shared
    covey.save(local, tmp_path / "selector.covey")
    assert_same_state(covey.load(tmp_path / "selector.covey"), local)
    with pytest.raises(NotFittedError):
        covey.dask.CRS().to_local()


def test_the_long_lists_of_a_prototype_are_lazy(client):
    found = covey.dask.CRS(3, shard_size=50, random_state=1).fit(in_parts(ROWS), LABELS)
    for label, n in (("a", 80), ("b", 40)):
        prototype = found.prototypes_[label]
        for name in ("members", "covered_by"):
            assert isinstance(getattr(prototype, name), da.Array)
            assert getattr(prototype, name).shape == (n,)
            assert getattr(prototype, name).compute().shape == (n,)
        assert isinstance(prototype.indices, np.ndarray)
        assert f"{label!r}: {prototype.indices.size} of {n} objects" in repr(prototype)


def test_without_a_cluster_one_sentence_says_how_to_start_one():
    for estimator in (covey.dask.CRS(3), covey.dask.NearestPrototypeClassifier(covey.dask.CRS(3))):
        with pytest.raises(ValueError, match=r"no Dask cluster to work on; start one by dask\.distributed\.Client\(\)"):
            estimator.fit(ROWS, LABELS)


def test_a_client_that_is_none_is_refused(client):
    with pytest.raises(TypeError, match=r"client must be a dask\.distributed\.Client or None, got str"):
        covey.dask.CRS(3, client="tcp://127.0.0.1:8786").fit(ROWS)


def test_an_asynchronous_client_is_refused(cluster):
    import asyncio

    async def fit():
        async with Client(cluster.scheduler_address, asynchronous=True) as client:
            covey.dask.CRS(3, client=client).fit(ROWS)

    with pytest.raises(TypeError, match="client must not be asynchronous"):
        asyncio.run(fit())


REFUSED = {
    "a matrix": (lambda: (ROWS @ ROWS.T, None), {"similarity": "precomputed"}, "'precomputed' needs the whole matrix"),
    "a graph": (lambda: (ROWS, None), {"graph": covey.neighbor_graph(ROWS, 3)}, "use covey.CRS"),
    "a sparse graph": (lambda: (ROWS, None), {"graph": covey.neighbor_graph(ROWS, 3).to_csr()}, "use covey.CRS"),
    "refinement of shards": (lambda: (ROWS, None), {"refine": True}, "pass refine=False, or a shard_size of at least"),
    "other parts of y": (lambda: (in_parts(ROWS), in_parts(LABELS, 60)), {}, "y must have as many parts as X"),
    "other cuts of y": (
        lambda: (in_parts(ROWS), [dask.delayed(LABELS[:39]), dask.delayed(LABELS[39:80]), dask.delayed(LABELS[80:])]),
        {},
        "In part [01] of y.*one label for each",
    ),
    "labels of an empty part": (
        lambda: ([dask.delayed(ROWS), dask.delayed(ROWS[:0])], [dask.delayed(LABELS), dask.delayed(LABELS[:2])]),
        {},
        "In part 1 of y.*one label for each of the 0 objects of X, got 2",
    ),
    "delayed and local parts": (lambda: ([dask.delayed(ROWS), ROWS], None), {}, "got ndarray at position 1; pass dask"),
    "a number as a part": (lambda: ([dask.delayed(5)], None), {}, "In part 0 of X.*must be a sequence of objects"),
    "too few labels": (lambda: (in_parts(ROWS), LABELS[:100]), {}, "100"),
    "other columns": (
        lambda: ([dask.delayed(ROWS), dask.delayed(ROWS[:, :3])], None),
        {},
        "All parts of X must have the same columns, but part 0 has 4 columns and part 1 has 3 columns",
    ),
    "nothing": (lambda: ([dask.delayed(ROWS[:0])], None), {}, "at least one object"),
    "an empty array": (lambda: (ROWS[:0], None), {}, "0 sample|at least one|minimum of 1|empty"),
    "an empty list": (lambda: ([], None), {"similarity": measures.close}, "at least one|empty|0 sample"),
    "words without a function": (lambda: (db.from_sequence(["a", "b"]), None), {}, "In part [01] of X.*got strings"),
    "a shard size of 0": (lambda: (ROWS, None), {"shard_size": 0}, "shard_size"),
    "a checkpoint that is no folder": (lambda: (ROWS, None), {"checkpoint": 3}, "checkpoint"),
    "all above the threshold": (lambda: (ROWS, None), {"n_neighbors": None}, "n_neighbors must be a number or 'auto'"),
    "no coverage": (lambda: (ROWS, None), {"coverage": 0.0}, "coverage"),
    "labels that cannot be sorted": (
        lambda: (in_parts(ROWS), [1, "a", *LABELS[2:].tolist()]),
        {},
        "y must",
    ),
    "missing labels": (
        lambda: (in_parts(ROWS), in_parts(np.where(np.arange(120) == 50, np.nan, 1.0))),
        {},
        "In part 1 of y.*finite labels",
    ),
}


@pytest.mark.parametrize("wish", [{"sample_weight": np.ones(120)}, {"include": [0]}])
def test_weights_and_rows_to_include_are_refused_on_a_cluster(client, wish):
    with pytest.raises(TypeError, match=f"{next(iter(wish))} is not possible on a cluster"):
        covey.dask.CRS(3).fit(ROWS, **wish)
    with pytest.raises(TypeError, match=f"{next(iter(wish))} is not possible on a cluster"):
        covey.dask.NearestPrototypeClassifier(covey.dask.CRS(3)).fit(ROWS, LABELS, **wish)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_refused_in_one_sentence(client, case):
    make, parameters, message = REFUSED[case]
    selector = covey.dask.CRS(**{"n_neighbors": 3, "shard_size": 50, **parameters})
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        selector.fit(*make())
    assert not hasattr(selector, "prototypes_")
    text = str(caught.value)
    assert "Traceback" not in text
    assert "distributed" not in text


def test_a_failed_fit_leaves_the_selector_as_it_was(client):
    selector = covey.dask.CRS(3, shard_size=50, random_state=0).fit(in_parts(ROWS), LABELS)
    before = selector.to_local()
    with pytest.raises(ValueError, match="at least one"):
        selector.fit([dask.delayed(ROWS[:0])])
    assert_same_state(selector.to_local(), before)


@pytest.mark.parametrize("kind", ["pairs", "precise dates"])
def test_labels_of_the_selected_objects_are_those_of_one_process(client, kind):
    labels = np.empty(120, dtype=object)
    labels[:] = [("a", 1) if label == "a" else ("b", 2) for label in LABELS]
    if kind == "precise dates":
        labels = np.where(LABELS == "a", np.datetime64("2020-01-02", "ns"), np.datetime64("2019-05-05", "ns"))
    arguments = {"n_neighbors": 3, "random_state": 0}
    found = covey.dask.CRS(**arguments).fit_resample(in_parts(ROWS), labels)[1]
    expected = covey.CRS(**arguments).fit_resample(ROWS, labels)[1]
    assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
    model = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(**arguments)).fit(in_parts(ROWS), labels)
    plain = covey.NearestPrototypeClassifier(covey.CRS(**arguments)).fit(ROWS, labels)
    assert (model.classes_.dtype, model.classes_.tolist()) == (plain.classes_.dtype, plain.classes_.tolist())


def test_refinement_works_for_small_clusters(client):
    arguments = {"n_neighbors": 3, "refine": True, "random_state": 0}
    found = covey.dask.CRS(**arguments).fit(in_parts(ROWS), LABELS)
    assert_same_state(found.to_local(), covey.CRS(**arguments).fit(ROWS, LABELS))


def test_columns_of_an_earlier_fit_are_forgotten(client):
    selector = covey.dask.CRS(3, similarity=measures.close).fit(in_parts(ROWS[:, 0]))
    assert not hasattr(selector, "n_features_in_")
    selector.set_params(similarity="cosine").fit(in_parts(ROWS))
    assert selector.n_features_in_ == 4


@pytest.mark.parametrize("n_workers", [1, 3])
def test_the_answer_does_not_depend_on_the_number_of_workers(client, n_workers):
    """Here workers are threads of this process, which start quickly; with three, one may hold no data at all."""
    arguments = {"n_neighbors": 3, "graph": "nn-descent", "shard_size": 50, "random_state": 0}
    expected = covey.dask.CRS(**arguments, client=client).fit(in_parts(ROWS, 100), LABELS).to_local()
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0") as other,
        Client(other, set_as_default=False) as another,
    ):
        found = covey.dask.CRS(**arguments, client=another).fit(in_parts(ROWS, 100), LABELS)
        assert_same_state(found.to_local(), expected)


def test_workers_may_join_late(client, tmp_path):
    """The first worker comes when the fit has begun, and the second when the first is at work."""
    X, arguments = list(range(150)), {"n_neighbors": 3, "graph": "exact", "shard_size": 40, "random_state": 0}
    expected = covey.dask.CRS(similarity=measures.close, **arguments, client=client).fit(X).to_local()
    with LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=":0") as other:
        first = threading.Timer(0.5, other.scale, [1])
        second = threading.Timer(1.0, other.scale, [2])
        first.start()
        second.start()
        with Client(other, set_as_default=False) as another:
            similarity = measures.Written(tmp_path, seconds=0.0001)
            found = covey.dask.CRS(similarity=similarity, **arguments, client=another).fit(X)
            assert_same_state(found.to_local(), expected)
        first.join()
        second.join()


def test_a_fit_may_run_inside_a_task(client):
    """A program that runs on a worker finds the cluster that it runs on."""
    expected = covey.CRS(3, random_state=0).fit(ROWS, LABELS)
    found = client.submit(_fit_inside).result(timeout=60)
    assert_same_state(found, expected)


def _fit_inside():
    from distributed import worker_client

    with worker_client():
        return covey.dask.CRS(3, random_state=0).fit(in_parts(ROWS), LABELS).to_local()


def test_progress_ends_with_the_fit(client, capsys):
    covey.dask.CRS(3, shard_size=50, random_state=0, verbose=1).fit(in_parts(ROWS), LABELS)
    assert capsys.readouterr().out == ""


def test_a_notebook_shows_each_step_once(client, monkeypatch):
    """The rounds of coverage are many, and are one step."""
    shown = []
    monkeypatch.setattr("covey.dask.engine._in_notebook", lambda: True)
    monkeypatch.setattr("distributed.progress", lambda futures, notebook: shown.append((len(futures), notebook)))
    monkeypatch.setattr("covey.coverage.rounds.FIRST_EDGES", 10)
    covey.dask.CRS(3, shard_size=50, random_state=0).fit(in_parts(ROWS))
    assert shown == []
    covey.dask.CRS(3, shard_size=50, random_state=0, verbose=1).fit(in_parts(ROWS))
    assert [notebook for _, notebook in shown] == [True] * len(shown)
    assert 4 <= len(shown) <= 6  # reading, shards, graph, coverage, representatives, and no small clusters


def test_a_cluster_may_adapt_to_its_work():
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=":0") as adaptive,
        Client(adaptive),
    ):
        adaptive.adapt(minimum=0, maximum=2, interval="100ms")
        found = covey.dask.CRS(3, shard_size=50, random_state=0).fit(in_parts(ROWS), LABELS).to_local()
    assert found.prototypes_.keys() == {"a", "b"}


@pytest.mark.minutes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs the memory counts of Unix")
def test_the_memory_of_the_driver_does_not_grow_with_the_data(client):
    """From 5 000 to 50 000 rows, the data grow by 46 MB. The driver grew by 15 MB from 10 000 to 100 000 rows."""
    command = [sys.executable, "-m", driver_memory.__name__, client.scheduler.address]
    small, large = (
        int(subprocess.run([*command, str(n)], capture_output=True, text=True, check=True).stdout.split()[0])
        for n in (5_000, 50_000)
    )
    assert large - small < 30


def test_too_many_shards_are_refused_before_anything_is_computed(client):
    with pytest.raises(ValueError, match=r"^shard_size must be at least 3, because a cluster of 201 objects"):
        covey.dask.CRS(2, shard_size=2).fit(np.random.default_rng(0).normal(size=(201, 2)))


def test_copies_share_the_client_and_what_lives_on_the_cluster(client):
    selector = covey.dask.CRS(3, client=client, random_state=0).fit(in_parts(ROWS), LABELS)
    for copied in (copy.copy(selector), copy.deepcopy(selector)):
        assert copied.client is client
        assert copied.prototypes_[LABELS[0]].members is selector.prototypes_[LABELS[0]].members
        assert_same_state(copied.to_local(), selector.to_local())


def test_a_checkpoint_needs_a_seed_that_can_be_repeated(client, tmp_path):
    selector = covey.dask.CRS(2, checkpoint=str(tmp_path), random_state=np.random.RandomState(0))
    with pytest.raises(ValueError, match=r"^random_state must be an int or None if there is a checkpoint"):
        selector.fit(in_parts(ROWS), LABELS)


def test_a_checkpoint_that_workers_do_not_see_is_refused(client, tmp_path, monkeypatch):
    monkeypatch.setattr("covey.dask.checkpoint._sees", not_seen)
    with pytest.raises(ValueError, match=r"^checkpoint must be where all workers see it under the same name"):
        covey.dask.CRS(2, checkpoint=str(tmp_path), random_state=0).fit(in_parts(ROWS), LABELS)


def not_seen(url):
    return False


def test_the_estimators_have_those_of_one_process_and_are_not_ones():
    assert not isinstance(covey.dask.CRS(), covey.CRS | covey.Selector)
    assert not isinstance(covey.dask.NearestPrototypeClassifier(), covey.NearestPrototypeClassifier)


def test_what_needs_all_members_here_is_not_there_and_names_to_local(client):
    selector = covey.dask.CRS(3).fit(in_parts(ROWS), LABELS)
    model = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(3)).fit(in_parts(ROWS), LABELS)
    remedy = r"on a cluster; call to_local\(\) of the fitted selector or classifier, and use what it returns$"
    for owner, name in (
        (selector, "members"),
        (selector, "select"),
        (selector.prototypes_["a"], "stands_for"),
        (model, "set_output"),
    ):
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError, match=f"has no {name} {remedy}"):
            getattr(owner, name)
    with pytest.raises(AttributeError, match=r"^CRS has no stands_for$"):
        selector.stands_for  # noqa: B018
    for estimator in (selector, model):
        for draw in (
            covey.displays.CoverageDisplay.from_estimator,
            partial(covey.displays.PrototypeMapDisplay.from_estimator, X=ROWS),
        ):
            with pytest.raises(TypeError, match=r"on a Dask cluster; call its method to_local\(\)"):
                draw(estimator)
    local = selector.to_local()
    assert local.members(ROWS)["row"].tolist() == list(range(120))
    assert local.prototypes_["a"].stands_for.sum() > 0
