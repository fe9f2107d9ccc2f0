"""Loaders on real files and broken ones, generators against what they promise, logs in every format."""

import csv
import gzip
import itertools
import json
import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey import datasets
from covey.datasets import files, images, logs, network
from covey.exceptions import FileFormatError
from covey.storage.compression import PACKED, open_packed


@pytest.fixture
def nowhere(monkeypatch):
    """Neither COVEY_DATA nor a system folder nor a network."""
    monkeypatch.delenv("COVEY_DATA", raising=False)
    monkeypatch.setattr(files, "SYSTEM", ())

    def offline(*args, **options):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", offline)


def test_fashion_mnist_has_its_official_sizes(fashion):
    X, y, queries, truth = fashion
    train, test = (datasets.load_fashion_mnist(subset) for subset in ("train", "test"))
    np.testing.assert_array_equal(train.data, X)
    np.testing.assert_array_equal(test.data, queries)
    assert np.bincount(train.target).tolist() == [6000] * 10
    assert np.bincount(test.target).tolist() == [1000] * 10
    assert train.target_names[y[0]] == "Ankle boot"
    assert datasets.load_fashion_mnist(return_X_y=True)[1].size == 60_000
    assert truth.size == 10_000


def test_20newsgroups_has_its_official_sizes(newsgroups):
    train, test = newsgroups
    assert train.data.shape == (11_314, 130_107)
    assert test.data.shape == (7_532, 130_107)
    assert len(test.texts) == test.target.size == 7_532
    assert train.target_names.tolist() == test.target_names.tolist()
    assert train.target_names.size == 20
    np.testing.assert_allclose(sp.linalg.norm(test.data, axis=1), 1, rtol=1e-5)


def test_email_has_a_profile_for_each_member(email):
    assert len(email.data) == email.target.size == 1005
    assert np.unique(email.target).size == 42
    assert sum(len(profile) for profile in email.data) == 25_571 - 642
    assert sum(not profile for profile in email.data) == 181
    assert all(member not in profile for member, profile in enumerate(email.data))


def test_sites_have_shares_of_page_loads(sites):
    assert len(sites.data) == sites.target.size == sites.ids.size == 1330
    assert np.unique(sites.target).size == 8
    assert all(0 <= share <= 1 for profile in sites.data for share in profile.values())


@pytest.mark.parametrize(
    ("load", "title"),
    [
        (datasets.load_fashion_mnist, "Fashion-MNIST"),
        (datasets.load_20newsgroups, "20 Newsgroups"),
        (datasets.load_email_eu_core, "email-Eu-core"),
        (datasets.load_whotracksme, "WhoTracks.me"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(load, title, tmp_path, nowhere):
    with pytest.raises(FileNotFoundError, match=rf"^{title} is not on this machine: .* not found in .*{tmp_path}.*; "):
        load(data_home=tmp_path)


@pytest.mark.parametrize("load", [datasets.load_fashion_mnist, datasets.load_20newsgroups])
def test_nothing_is_fetched_without_permission(load, tmp_path, monkeypatch, nowhere):
    asked = []
    for fetcher in ("fetch_openml", "fetch_20newsgroups"):
        monkeypatch.setattr(f"sklearn.datasets.{fetcher}", lambda *args, **options: asked.append(args))
    with pytest.raises(FileNotFoundError, match=r"; pass download=True \(covey reproduce: --download\) to "):
        load(data_home=tmp_path)
    assert asked == []


@pytest.mark.parametrize("load", [datasets.load_fashion_mnist, datasets.load_20newsgroups])
def test_a_download_that_fails_is_said_in_one_sentence(load, tmp_path, nowhere):
    with pytest.raises(FileNotFoundError, match=r"could not .* \(OSError\); put the file"):
        load(data_home=tmp_path, download=True)


def test_files_are_found_in_order(tmp_path, monkeypatch, nowhere):
    homes = [tmp_path / name for name in ("given", "environment", "system")]
    monkeypatch.setenv("COVEY_DATA", str(homes[1]))
    monkeypatch.setattr(files, "SYSTEM", (homes[2],))
    for home in reversed(homes):
        (home / "folder").mkdir(parents=True)
        (home / "folder" / "file").write_text(home.name)
        assert files.find("folder", "file", homes[0]).read_text() == home.name
    (homes[0] / "folder" / "file").unlink()
    (homes[0] / "file").write_text("bare")
    assert files.find("folder", "file", homes[0]).read_text() == "bare"


def test_a_damaged_file_is_refused(tmp_path, nowhere):
    with gzip.open(tmp_path / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(b"something else")
    with pytest.raises(ValueError, match="does not hold what it should: its content has the SHA-256 checksum"):
        datasets.load_fashion_mnist(data_home=tmp_path)


def test_a_subset_that_does_not_exist_is_refused():
    for load in (datasets.load_fashion_mnist, datasets.load_20newsgroups):
        with pytest.raises(ValueError, match="subset must be 'train' or 'test', got 'all'"):
            load("all")


def test_fetched_images_are_split_as_the_files_are(monkeypatch, nowhere):
    X = np.arange(70_000 * 2).reshape(70_000, 2) % 256
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *a, **o: (X, (np.arange(70_000) % 10).astype(str)))
    train, test = (datasets.load_fashion_mnist(subset, download=True) for subset in ("train", "test"))
    np.testing.assert_array_equal(np.concatenate([train.data, test.data]), X)
    assert (train.target.size, test.target[0], test.target.dtype) == (60_000, 0, np.uint8)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(0, 99))
def test_an_idx_file_is_read_as_the_array_written(shape, seed):
    values = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
    header = bytes([0, 0, 8, len(shape)]) + np.array(shape, ">i4").tobytes()
    np.testing.assert_array_equal(images.read_idx(header + values.tobytes()), values)


@pytest.mark.parametrize("seed", [0, 1])
def test_hosts_have_the_papers_sizes_and_homogeneities(seed):
    hosts = datasets.make_network_hosts(seed)
    for label, (size, expected) in network.CLUSTERS.items():
        members = [hosts.data[at] for at in np.flatnonzero(hosts.target == label)]
        assert len(members) == size
        measured = covey.homogeneity(members).value
        assert measured == pytest.approx(hosts.homogeneity[label], abs=1e-9)
        assert measured == pytest.approx(expected, abs=0.02)
    counts = [count for profile in hosts.data for count in profile.values()]
    assert min(counts) >= 1
    assert max(counts) <= 288


def test_generators_repeat_themselves():
    for make in (
        datasets.make_network_hosts,
        lambda s: datasets.make_spirals(random_state=s)[0].tolist(),
        lambda s: datasets.make_blob_structure(random_state=s)[0].tolist(),
    ):
        first, again, other = make(3), make(3), make(4)
        first, again, other = (getattr(made, "data", made) for made in (first, again, other))
        assert first == again
        assert first != other


def test_points_have_the_shapes_promised():
    X, y = datasets.make_spirals(500, random_state=0)
    assert X.shape == (500, 2)
    assert np.bincount(y).tolist() == [250, 250]
    assert np.abs(X).max() < 1.2
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="euclidean")).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.95  # the arms are apart
    X, y = datasets.make_blob_structure(random_state=0)
    assert X.shape == (255, 2)
    assert np.bincount(y).tolist() == [90, 70, 40, 25, 20, 10]
    with pytest.raises(ValueError, match="n must be at least 2, got 1"):
        datasets.make_spirals(1)


CONTACTS = [
    (0.0, "10.0.0.1", "web", "443"),
    (299.9, "10.0.0.1", "web", "443"),
    (300.0, "10.0.0.1", "web", "443"),
    (86_400.0, "10.0.0.1", "web", "443"),
    (86_399.0, "10.0.0.1", "web", "80"),
    (5.0, "10.0.0.2", "dns", "53"),
    (1.0, "10.0.0.2", "web", "443"),
]
EXPECTED = {"10.0.0.1": {"web:443": 3, "web:80": 1}, "10.0.0.2": {"dns:53": 1, "web:443": 1}}


def zeek(contacts):
    head = ["#separator \\x09", "#path\tconn", "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto"]
    rows = [f"{t:.6f}\tC{at}\t{a}\t5000\t{b}\t{p}\ttcp" for at, (t, a, b, p) in enumerate(contacts)]
    return "\n".join([*head, *rows, "#close\t2026-01-01-00-00-00", ""])


def zeek_json(contacts):
    keys = ("ts", "id.orig_h", "id.resp_h", "id.resp_p")
    return "\n".join(json.dumps(dict(zip(keys, (*c[:3], int(c[3])), strict=True))) for c in contacts)


def flows(contacts, delimiter=",", header=("Time", "Src", "Dst", "DPort")):
    return "\n".join(delimiter.join(map(str, row)) for row in [header, *contacts])


def with_ports_inside(contacts):
    rows = [("2026-01-01T00:00:00", "x", "y:1")]
    return "\n".join(",".join(row) for row in [("timestamp", "source", "destination"), *rows]), {"x": {"y:1": 1}}


def as_dict(bunch):
    return dict(zip(bunch.ids.tolist(), bunch.data, strict=True))


@pytest.mark.parametrize("form", [zeek, zeek_json, flows, lambda c: flows(c, ";"), lambda c: flows(c, "\t")])
@pytest.mark.parametrize("suffix", [".log", ".gz", ".xz"])
def test_every_format_gives_the_same_hosts(form, suffix, tmp_path):
    path = tmp_path / f"conn{suffix}"
    opener = {".log": open, **PACKED}[suffix]
    with opener(path, "wb") as file:
        file.write(form(CONTACTS).encode())
    assert as_dict(datasets.read_hosts(path)) == EXPECTED


@given(st.permutations(CONTACTS), st.integers(1, 3))
def test_order_and_repetition_do_not_matter(contacts, times):
    lines = flows(contacts * times).splitlines()
    found = list(logs._contacts(iter(lines), "log"))
    assert sorted(found) == sorted(contacts * times)


def test_lines_without_a_contact_are_counted_and_logs_without_columns_refused(tmp_path):
    path = tmp_path / "log"
    text, expected = with_ports_inside(CONTACTS)
    path.write_text(text)
    assert as_dict(datasets.read_hosts(path)) == expected
    path.write_text(flows([*CONTACTS, ("never", "a", "b", "1"), (1, "-", "b", "1"), (1, "a")]))
    hosts = datasets.read_hosts(path)
    assert (as_dict(hosts), hosts.n_skipped) == (EXPECTED, 3)
    merged = as_dict(datasets.read_hosts(path, with_port=False, window=86_400))
    assert merged == {"10.0.0.1": {"web": 2}, "10.0.0.2": {"dns": 1, "web": 1}}
    path.write_text("")
    assert datasets.read_hosts(path).data == []
    path.write_text("when,who\n1,2\n")
    with pytest.raises(ValueError, match=r"must have a column for the time \(one of ts, time, .*, got when, who"):
        datasets.read_hosts(path)
    path.write_text("#path conn\n1\t2\t3\n")
    with pytest.raises(ValueError, match="must name its columns in a line #fields before the first connection"):
        datasets.read_hosts(path)
    with pytest.raises(ValueError, match=r"window must be in \(0, 86400\] seconds, got 0"):
        datasets.read_hosts(path, window=0)


@pytest.mark.parametrize("suffix", PACKED)
def test_a_damaged_log_is_refused_by_name(tmp_path, suffix):
    path = tmp_path / f"conn.log{suffix}"
    with open_packed(path, "wb") as file:
        file.write(zeek(CONTACTS * 200).encode())
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"nothing of the kind, and quite long enough to be looked at"):
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=re.escape(f"{path} cannot be read: ")):
            datasets.read_hosts(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#separator", "the line #separator must name a character"),
        ("#separator \\x", "the line #separator must name a character"),
        ("#separator é", "the line #separator must name a character"),
        ("time,src,dst\n0,a," + "b" * 2000 + "\n", "field larger than field limit"),
    ],
)
def test_a_log_in_no_known_form_is_refused_by_name(tmp_path, text, message):
    path = tmp_path / "conn.log"
    path.write_text(text)
    usual = csv.field_size_limit(1000)
    try:
        with pytest.raises(FileFormatError, match=rf"^{re.escape(str(path))}.*{message}"):
            datasets.read_hosts(path)
    finally:
        csv.field_size_limit(usual)


@pytest.mark.parametrize(
    "entry",
    [
        '{"ts": ' + "9" * 400 + ', "id.orig_h": "a", "id.resp_h": "b"}',
        '{"ts": ' + "9" * 5000 + ', "id.orig_h": "a", "id.resp_h": "b"}',
        '{"ts": ' + "[" * 100_000 + "}",
        '{"ts": 1, "id.orig_h": ["a"], "id.resp_h": {"b": 1}}',
    ],
    ids=["400 digits", "5000 digits", "deep nesting", "hosts that are no texts"],
)
def test_an_entry_that_holds_no_contact_is_counted(tmp_path, entry):
    path = tmp_path / "conn.log"
    path.write_text(f"{zeek_json(CONTACTS)}\n{entry}\n")
    hosts = datasets.read_hosts(path)
    assert (as_dict(hosts), hosts.n_skipped) == (EXPECTED, 1)


def test_memory_does_not_grow_with_the_log(tmp_path):
    """Ten times the lines between the same hosts and servers take no more memory.

    A reader that kept lines would need at least the size of the file. What other threads of this process allocate
    meanwhile is traced, too, but is far less.
    """
    peaks = []
    for times in (1, 10):
        path = tmp_path / f"{times}.csv"
        with path.open("w") as file:
            file.write("time,src,dst,dport\n")
            for at in itertools.chain.from_iterable(range(20_000) for _ in range(times)):
                file.write(f"{at},h{at % 50},s{at % 70},443\n")
        tracemalloc.start()
        hosts = datasets.read_hosts(path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(hosts.data) == 50
    assert peaks[1] < peaks[0] + path.stat().st_size / 4
