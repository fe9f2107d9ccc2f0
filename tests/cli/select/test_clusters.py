"""`covey select --cluster`: clusters for rows without labels."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import covey
from tests.cli.commands import TEXTS, iris, one_line, texts

SELECT = ("select", "iris.csv", "--id", "name", "-s", "euclidean", "-o", "few.csv", "-f")


@pytest.fixture
def flowers(folder):
    frame = iris()
    frame.to_csv("iris.csv", index=False)
    return frame.iloc[:, :4]


def clusters(path="all.csv"):
    return pd.read_csv(path)["covey_cluster"].to_numpy()


@pytest.mark.parametrize("asked", ["auto", "3", "hdbscan"])
def test_clusters_are_those_of_the_library(run, flowers, asked):
    code, _, err = run(*SELECT, "--cluster", asked, "--members", "all.csv")
    assert code == 0
    found = covey.find_clusters(flowers, int(asked) if asked.isdecimal() else asked, "euclidean", random_state=0)
    assert [f"c{number}" for number in found.labels + 1] == clusters().tolist()
    assert (
        f"{found.sizes.size} clusters found, from {found.sizes.min()} to {found.sizes.max()} rows. They are separate "
        f"by {found.separation:.2f}, where 1 means that nothing links them and 0 that nothing divides them. "
        f"{found.n_evaluations:,} similarities were evaluated to find them." in err
    )
    np.testing.assert_allclose(pd.read_csv("all.csv")["covey_strength"], found.strength)


def test_rows_are_selected_as_if_a_column_held_the_clusters(run, flowers):
    assert run(*SELECT, "--cluster", "auto", "--members", "all.csv", "-m", "m")[0] == 0
    pd.read_csv("iris.csv").assign(kind=clusters()).to_csv("labelled.csv", index=False)
    columns = ",".join(flowers.columns)
    labelled = ("select", "labelled.csv", "-l", "kind", "--features", columns, "-s", "euclidean", "-o", "other.csv")
    assert run(*labelled)[0] == 0
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], pd.read_csv("other.csv")["covey_row"])
    assert run("classify", "iris.csv", "-m", "m", "-o", "answers.csv")[0] == 0
    assert set(pd.read_csv("answers.csv")["covey_label"]) == set(clusters())


def test_names_of_clusters_sort_by_size(run):
    X, y = make_blobs(range(12, 24), centers=30 * np.eye(12), random_state=0)
    pd.DataFrame(X).to_csv("blobs.csv", index=False)
    blobs = ("select", "blobs.csv", "-s", "euclidean", "--cluster", "12", "--members", "all.csv", "-o", "few.csv")
    assert run(*blobs)[0] == 0
    names, sizes = np.unique(clusters(), return_counts=True)
    assert names.tolist() == [f"c{number:02d}" for number in range(1, 13)]
    assert sizes.tolist() == list(range(23, 11, -1))
    assert len({*zip(clusters(), y, strict=True)}) == 12


def test_rows_between_dense_places_are_labelled_noise_and_represented_as_well(run):
    X, y = make_blobs([80, 80], centers=[[0, 0], [9, 9]], cluster_std=0.3, random_state=0)
    scattered = np.random.default_rng(0).uniform(-5, 14, (40, 2))
    pd.DataFrame([*X, *scattered], columns=["x", "y"]).to_csv("t.csv", index=False)
    common = ("select", "t.csv", "-s", "euclidean", "--coverage", "1", "-o", "few.csv")
    _, _, err = run(*common, "--cluster", "hdbscan", "--min-cluster-size", "10", "--members", "all.csv")
    assert "2 clusters found, " in err
    n_noise = (clusters() == "noise").sum()
    assert f"; {n_noise} rows belong to none and are labelled noise." in err
    assert n_noise > 10
    assert len({*zip(clusters()[:160], y, strict=True)}) == 2  # and none of them is noise
    assert "noise" in pd.read_csv("few.csv")["covey_cluster"].tolist()


def test_the_least_size_of_a_cluster_is_that_of_the_library(run, flowers):
    options = ("--cluster", "auto", "--min-cluster-size", "20", "--members", "all.csv")
    assert run(*SELECT, *options)[0] == 0
    found = covey.find_clusters(flowers, "auto", "euclidean", min_cluster_size=20, random_state=0)
    assert [f"c{number}" for number in found.labels + 1] == clusters().tolist()
    assert found.sizes.min() >= 20


def test_members_have_no_strength_where_labels_were_given(run, flowers):
    assert run(*SELECT, "-l", "species", "--members", "all.csv")[0] == 0
    assert "covey_strength" not in pd.read_csv("all.csv")


def hosts(path, kinds):
    """A log of connections: each host of a kind contacts the servers of its kind."""
    rng = np.random.default_rng(0)
    header = ["#fields\tts\tid.orig_h\tid.resp_h\tid.resp_p\tproto"]
    lines, number = [], 0
    for kind, (n_hosts, servers) in enumerate(kinds.values()):
        for _ in range(n_hosts):
            number += 1
            for window, server in enumerate(rng.integers(0, servers, 12)):
                lines.append(f"{300 * window}\t10.0.0.{number}\t9.9.{kind}.{server}\t443\ttcp")
    Path(path).write_text("\n".join([*header, *lines]) + "\n")
    return np.repeat([*kinds], [n_hosts for n_hosts, _ in kinds.values()])


def test_no_host_lands_among_hosts_that_it_has_nothing_in_common_with(run, caplog):
    truth = hosts("conn.log", {"workstation": (80, 4), "camera": (12, 3), "printer": (5, 2)})
    options = ("select", "conn.log", "--hosts", "--members", "all.csv", "-o", "few.csv", "-f")
    for asked in ("auto", "3"):
        code, _, err = run(*options, "--cluster", asked)
        assert code == 0
        assert "3 clusters found" in err
        assert "nothing in common" not in caplog.text
        kind_of = dict(zip([f"10.0.0.{number}" for number in range(1, 98)], truth, strict=True))
        members = pd.read_csv("all.csv")
        assert len({*zip(members["covey_cluster"], members["host"].map(kind_of), strict=True)}) == 3
        assert (members["covey_similarity"] > 0).all()


def test_rows_that_have_nothing_in_common_with_their_representative_are_named(run, caplog):
    """Each row shares a word with the next, so that all are one cluster, but far ones share none."""
    words = [f"w{number}" for number in range(8)]
    texts = [" ".join(words[at : at + 2]) for at in range(7)]
    pd.DataFrame({"body": texts}).to_csv("chain.csv", index=False)
    options = ("--text", "body", "--cluster", "1", "-n", "1", "--members", "all.csv", "-o", "few.csv")
    assert run("select", "chain.csv", *options)[0] == 0
    n_strangers = (pd.read_csv("all.csv")["covey_similarity"] == 0).sum()
    assert n_strangers > 1
    assert (
        f"have nothing in common with the representative that stands for them: {n_strangers} rows of c1" in caplog.text
    )


def test_texts_are_clustered_under_their_similarity(run):
    frame = texts()
    frame.to_csv("texts.csv", index=False)
    assert run("select", "texts.csv", "--text", "body", "--cluster", "2", "--members", "m.csv", "-o", "few.csv")[0] == 0
    found = clusters("m.csv").reshape(len(TEXTS), -1)
    assert set(found[0]) != set(found[1])


def test_rows_without_labels_are_offered_clusters(run, flowers):
    offer = "all rows are one cluster; --label names a column of labels, and --cluster finds clusters."
    assert offer in run(*SELECT)[2]
    assert offer not in run(*SELECT, "--cluster", "auto")[2]
    assert offer not in run(*SELECT, "-l", "species")[2]
    assert run(*SELECT, "-q")[2] == ""


def test_a_picture_shows_a_cluster_that_was_found(run, flowers):
    assert run(*SELECT, "--cluster", "3", "--picture", "map.html", "--show", "c2")[0] == 0
    code, _, err = run(*SELECT, "--cluster", "3", "--picture", "other.html", "--show", "setosa")
    assert (code, "--show must be one of c1, c2, c3, got 'setosa'" in err) == (1, True)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--cluster", "many"), 2, "--cluster must be auto, hdbscan or a number of clusters, got 'many'"),
        (("--cluster", "0"), 2, "got '0'"),
        (("--cluster", "virginica", "--picture", "p.html"), 2, "is said by --show"),
        (("--cluster", "151"), 1, "--cluster must be 'auto', 'hdbscan' or an int from 1 to 149"),
        (("--min-cluster-size", "3"), 2, "--min-cluster-size is for --cluster"),
        (("--cluster", "hdbscan", "--min-cluster-size", "1"), 1, "--min-cluster-size must be an int of at least 2"),
        (("--cluster", "9", "--min-cluster-size", "80"), 1, "--cluster must be at most 1, the number of groups of at"),
        (("--cluster", "3", "-l", "species"), 2, "--cluster finds labels for rows that have none"),
    ],
)
def test_what_cannot_be_is_refused(run, flowers, options, code, message):
    found, _, err = run(*SELECT, *options)
    assert (found, message in one_line(err)) == (code, True)
    assert not Path("few.csv").exists()
