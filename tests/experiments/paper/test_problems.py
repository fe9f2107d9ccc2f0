"""The paper's problems: how they are split, what is shown of them, and what the paper says of them."""

import numpy as np
import pytest

from covey.exceptions import MissingDataError
from covey.experiments.paper import problems
from covey.experiments.paper.problems import PAPER_METHODS, PROBLEMS
from covey.experiments.paper.report import METHODS


def test_the_papers_rows_are_all_there():
    assert set(PROBLEMS["Fashion-MNIST"].paper) == set(PAPER_METHODS) <= set(METHODS)
    assert PROBLEMS["20 Newsgroups"].paper["CRS-k10"] == (0.538, 0.516, 7.14)
    assert not PROBLEMS["WhoTracks.me"].paper


def test_real_data_are_halved_without_small_clusters(email, sites):
    for name, smallest in (("email-Eu-core", 10), ("WhoTracks.me", 10)):
        split = PROBLEMS[name].split(0)
        both = np.concatenate([split.y, split.truth])
        assert np.unique(both, return_counts=True)[1].min() >= smallest
        assert abs(split.y.size - split.truth.size) <= 1
        assert len(split.X) == split.y.size
    assert len(email.data) + len(sites.data) == 1005 + 1330


def test_email_leaves_out_who_mails_nobody(email):
    split = PROBLEMS["email-Eu-core"].split(0)
    assert all(split.X) and all(split.queries)  # noqa: PT018
    assert min(len(profile) for profile in email.data) == 0


def test_cards_show_what_a_person_wrote_and_the_largest_entries():
    post = "From: me\nSubject: Re: cars\n\nIn article <1> you writes:\n> old\nI like this one.\n\nIt is red.\n"
    card = PROBLEMS["20 Newsgroups"].card(post)
    assert (card.title, card.lines) == ("Re: cars", ("I like this one.", "It is red."))
    card = PROBLEMS["WhoTracks.me"].card({"a": 0.1, "b": 0.5, "c": 0.1})
    assert (card.title, card.lines) == ("3 contacted", ("b: 0.5", "a: 0.1", "c: 0.1"))


def test_data_are_downloaded_only_with_permission(tmp_path, monkeypatch):
    asked = []
    monkeypatch.delenv("COVEY_DATA", raising=False)
    monkeypatch.setattr("covey.datasets.files.SYSTEM", ())
    for fetcher in ("fetch_openml", "fetch_20newsgroups"):
        monkeypatch.setattr(f"sklearn.datasets.{fetcher}", lambda *args, name=fetcher, **options: asked.append(name))
    for name in ("Fashion-MNIST", "20 Newsgroups"):
        with pytest.raises(MissingDataError):
            PROBLEMS[name].load(0, tmp_path)
    assert asked == []
    for problem in problems.DOWNLOADED.values():
        with pytest.raises((AttributeError, FileNotFoundError)):  # because the fetchers of this test give nothing
            problem.load(0, tmp_path)
    assert sorted(set(asked)) == ["fetch_20newsgroups", "fetch_openml"]
