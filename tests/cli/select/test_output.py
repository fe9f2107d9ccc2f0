"""Maps that `covey select --picture` draws: all clusters, the one that is asked for, and what cards say."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

FLOWERS = load_iris(as_frame=True).frame.drop(columns="target").assign(
    species=np.repeat(["setosa", "versicolor", "virginica"], 50), name=[f"flower {row}" for row in range(150)]
)  # fmt: skip
SELECT = ("select", "t.csv", "-k", 5, "-o", "few.csv", "--picture", "map.html")


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', Path(page).read_text(), re.DOTALL)[1])


def cards_of(data):
    """The fields of each object, by their names."""
    return [{data["fieldNames"][card[at]]: card[at + 1] for at in range(0, len(card), 2)} for card in data["fields"]]


def test_a_map_shows_all_clusters_and_opens_with_the_one_that_is_asked_for(run):
    FLOWERS.to_csv("t.csv", index=False)
    for options, first in (((), None), (("--show", "virginica", "--force"), 2)):
        assert run(*SELECT, "-l", "species", "--id", "name", *options)[0] == 0
        assert "<h1>t.csv</h1>" in Path("map.html").read_text()
        data = data_of("map.html")
        assert data["clusters"] == ["setosa", "versicolor", "virginica"]
        assert (data["n"], data["first"]) == (150, first)


def test_cards_of_rows_have_the_columns_without_label_and_id(run):
    FLOWERS.to_csv("t.csv", index=False)
    assert run(*SELECT, "-l", "species", "--id", "name")[0] == 0
    data = data_of("map.html")
    assert data["names"] == FLOWERS["name"].tolist()
    measures = list(FLOWERS.columns[:4])
    for card, values in zip(cards_of(data), FLOWERS[measures].to_numpy(), strict=True):
        assert {name: float(value) for name, value in card.items()} == dict(zip(measures, values, strict=True))


def test_cards_of_numbers_have_the_columns_in_the_order_of_the_table(run):
    FLOWERS.to_parquet("t.parquet", index=False)
    assert run("select", "t.parquet", *SELECT[2:], "-l", "species", "--id", "name")[0] == 0
    assert {tuple(card) for card in cards_of(data_of("map.html"))} == {tuple(FLOWERS.columns[:4])}


def test_cards_of_texts_have_the_whole_text(run):
    texts = [f"a fast car on the road number {row}\nwith a second line" for row in range(12)]
    pd.DataFrame({"body": texts}).to_csv("t.csv", index=False)
    assert run(*SELECT, "--text", "body")[0] == 0
    assert cards_of(data_of("map.html")) == [{"text": text} for text in texts]


def test_cards_of_profiles_have_the_largest_entries_first(run):
    profiles = [{"web": 3, "dns": 12 + row, "mail": 1} for row in range(8)]
    rows = [{"host": f"h{row}", "p": profile} for row, profile in enumerate(profiles)]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("select", "t.jsonl", "--profile", "p", "-k", 3, "-o", "few.jsonl", "--picture", "map.html")[0] == 0
    assert [list(card) for card in cards_of(data_of("map.html"))] == [["dns", "web", "mail"]] * 8


@pytest.mark.parametrize("n_columns", [3, 40])
def test_rows_of_an_array_are_shown_as_numbers_if_they_are_few(run, n_columns):
    X = np.random.default_rng(0).random((20, n_columns))
    np.savez("t.npz", X=X, y=np.arange(20) % 2)
    assert run("select", "t.npz", "-k", 3, "-o", "few.npz", "--picture", "map.html")[0] == 0
    data = data_of("map.html")
    if n_columns > 12:
        assert data["fields"] is None
    else:
        assert float(cards_of(data)[7]["column 2"]) == pytest.approx(X[7, 2], rel=1e-5)
