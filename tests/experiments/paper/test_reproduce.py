"""The paper's report, made of synthetic data, and one of its rows on real data."""

import csv
import functools
import json
import re
from dataclasses import replace

import pytest

from covey.experiments import specs
from covey.experiments.paper.problems import PROBLEMS
from covey.experiments.paper.report import METHODS, PAPER
from covey.experiments.records import QUICK_FILE, Trial, read_records
from covey.experiments.runner import run as run_fits
from covey.experiments.specs import Split
from covey.experiments.tables import summarise
from tests.browser import assert_renders
from tests.experiments.iris import FEW, run


def test_a_quick_run_on_synthetic_hosts(tmp_path):
    problems = {"Network (synthetic)": PROBLEMS["Network (synthetic)"]}
    records = run(tmp_path, problems, FEW, quick=True)
    assert {r.cluster for r in records} == set("ABCDEFGHIJKLMN")
    assert max(r.size for r in records) == 100
    rows = {row.method: row for row in summarise(records, problems)}
    assert rows["CRS-k5"].precision > rows["random-5%"].precision
    assert json.loads((tmp_path / QUICK_FILE).read_text().splitlines()[0])[0]["problem"] == "Network (synthetic)"
    assert read_records(tmp_path) == []  # nothing of it counts as done in a full run


def test_every_spec_of_the_paper_names_what_there_is():
    for spec in PAPER:
        assert set(spec.problems) <= set(PROBLEMS)
        assert set(spec.methods) <= set(METHODS)
        assert spec.title
        assert spec.note
    assert len({spec.title for spec in PAPER}) == len(PAPER)


def hosts_only(monkeypatch):
    """As if no real data were on the machine."""
    from covey.exceptions import MissingDataError
    from covey.experiments.paper import reproduce as module

    def gone(seed, data_home):
        raise MissingDataError("it is not on this machine")

    real = ("Fashion-MNIST", "20 Newsgroups", "email-Eu-core", "WhoTracks.me")
    problems = PROBLEMS | {name: replace(PROBLEMS[name], load=gone) for name in real}
    hosts = problems["Network (synthetic)"]  # they take seconds to make, and every run makes them again
    problems["Network (synthetic)"] = replace(hosts, load=functools.cache(hosts.load))
    monkeypatch.setattr(module, "PROBLEMS", problems)


def test_the_whole_report_without_real_data(tmp_path, monkeypatch, caplog):
    """The page says what is left out; tables and figures of the rest are there, as files too."""
    from covey.experiments.paper.reproduce import reproduce

    hosts_only(monkeypatch)
    monkeypatch.setattr(specs, "QUICK_SEEDS", 2)
    monkeypatch.setattr(specs, "QUICK", 40)
    page = reproduce(tmp_path, quick=True, seeds=1)
    text = page.read_text()
    assert text.count("Left out: it is not on this machine") == 4
    assert caplog.text.count("left out") == 4
    # Two sections are about data that are not there, and on so few hosts the methods do not differ.
    empty = ("Fewer objects than in the paper, at least as good", "Scan rates on Fashion-MNIST", "Critical differences")
    for spec in PAPER:
        assert (f"<h2>{spec.title}</h2>" in text) == (spec.title not in empty)
    assert ">paper: precision<" not in text  # a quick run does not put the paper's numbers beside its own
    assert "none" not in re.findall(r"<td[^>]*>([^<]*)</td>", text)
    for stem in (
        "impact-of-k",
        "bars-network-synthetic",
        "points-blobs",
        "points-spirals",
    ):
        assert (tmp_path / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{stem}.svg").read_text()
    assert (tmp_path / "confusion-network-synthetic-crs-k10.csv").read_text().startswith("cluster,A,B,")
    with (tmp_path / "generator.csv").open() as file:
        generated = list(csv.reader(file))
    assert len(generated) == 15
    assert all(abs(float(row[3]) - float(value)) <= 0.02 for row in generated[1:] for value in row[4:])
    assert "stands for" in text
    with (tmp_path / "records.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(read_records(tmp_path, quick=True))
    before = page.read_bytes()
    assert reproduce(tmp_path, quick=True, seeds=1).read_bytes() == before  # from the records alone, to the byte
    records = tmp_path / QUICK_FILE
    records.write_text(records.read_text().replace('"Blobs"', '"Fashion-MNIST"'))
    with pytest.raises(ValueError, match="has results of Fashion-MNIST, whose data are not there now"):
        reproduce(tmp_path, quick=True, seeds=1)  # it must not replace them by less
    assert_renders(page, phone=True)


def test_newsgroups_as_good_as_the_paper_with_fewer_objects(newsgroups, tmp_path):
    """The paper: 7.14 % with .538 / .516. The posts are those of the fixture, so that they are read once."""
    name = "20 Newsgroups"
    train, test = newsgroups
    split = Split(train.data, train.target, test.data, test.target)
    problems = {name: replace(PROBLEMS[name], load=lambda seed, data_home: split)}
    (row,) = summarise(run_fits(tmp_path, [Trial(name, "CRS-k10", 0)], problems=problems, methods=METHODS), problems)
    assert 5 < row.percentage < 6
    assert row.precision >= 0.54
    assert row.recall >= 0.52
