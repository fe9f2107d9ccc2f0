"""`covey select --pairs`: pairs that other programs have scored."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.cli.select.pairs import ListedPairs, matrix_of
from tests.cli.commands import one_line, run_here

M8 = """\
q1	q1	1.000	100	0	0	1	100	1	100	1e-70	200
q1	q2	0.910	100	9	0	1	100	1	100	1e-60	180
q2	q1	0.905	100	9	0	1	100	1	100	1e-60	179
q2	q2	1.000	100	0	0	1	100	1	100	1e-70	200
q1	q2	0.410	20	9	0	1	20	1	20	1e-3	30
q3	q1	0.800	100	20	0	1	100	1	100	1e-50	150
q4	q4	1.000	80	0	0	1	80	1	80	1e-60	170
q5	q4	0.350	80	50	0	1	80	1	80	1e-5	50
"""
"""What MMseqs2 and BLAST write: no header, every sequence found by itself, not every pair both ways, one pair twice."""
SPLINK = """\
match_weight,match_probability,source_dataset_l,unique_id_l,source_dataset_r,unique_id_r
12.1,0.9998,a,1,b,7
8.2,0.9966,a,1,b,9
1.0,0.66,a,2,b,8
-3.0,0.11,a,3,b,7
"""
"""Predictions of Splink: each pair once, columns in an order of their own."""
CHEMFP = """\
query_id	target_id	score
CHEMBL1	CHEMBL2	0.91
CHEMBL1	CHEMBL3	0.71
CHEMBL2	CHEMBL3	0.72
CHEMBL4	CHEMBL5	0.7
"""
"""A similarity search of chemfp within one set: each pair once."""


@pytest.fixture
def files(folder):
    for name, content in {"hits.m8": M8, "splink.csv": SPLINK, "chemfp.tsv": CHEMFP}.items():
        Path(name).write_text(content)


def selected(path="few.csv"):
    few = pd.read_csv(path, dtype={"id": str})
    assert few.columns.tolist() == ["id", "covey_row", "covey_cluster", "covey_rank", "covey_covers"]
    return dict(zip(few["id"], few["covey_covers"], strict=True))


@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        ("hits.m8", ("--pairs", "1,2,3"), {"q1": 3, "q4": 2}),
        ("hits.m8", ("--pairs", "query,target,fident"), {"q1": 3, "q4": 2}),
        ("hits.m8", ("--pairs", "query,target,bits"), {"q1": 3, "q4": 2}),
        ("hits.m8", ("--pairs", "a,b,l", "--columns", "a,b,c,d,e,f,g,h,i,j,k,l"), {"q1": 3, "q4": 2}),
        ("hits.m8", ("--pairs", "1,2,3", "--columns", "a,b,c,d,e,f,g,h,i,j,k,l"), {"q1": 3, "q4": 2}),
        ("hits.m8", ("--pairs", "1,2,3", "--threshold", "0.5"), {"q1": 3, "q4": 1, "q5": 1}),
        ("hits.m8", ("--pairs", "1,2,11", "--distances"), {"q1": 3, "q4": 2}),
        ("hits.m8", ("--pairs", "1,2,3", "-n", "1"), {"q1": 3}),
        (
            "splink.csv",
            ("--pairs", "unique_id_l,unique_id_r,match_probability", "--threshold", "0.5"),
            {"1": 3, "2": 2, "3": 1},
        ),
        ("chemfp.tsv", ("--pairs", "query_id,target_id,score"), {"CHEMBL2": 3, "CHEMBL4": 2}),
        (
            "chemfp.tsv",
            ("--pairs", "query_id,target_id,score", "--directed"),
            {"CHEMBL3": 3, "CHEMBL5": 2},
        ),
    ],
)
def test_files_of_other_programs_are_selected_from(run, files, data, options, expected):
    assert run("select", data, *options, *([] if "-n" in options else ["--coverage", "1"]), "-o", "few.csv")[0] == 0
    assert selected() == expected


def test_the_same_pairs_are_read_from_parquet_and_from_packed_files(run, files):
    frame = pd.read_csv("chemfp.tsv", sep="\t")
    frame.to_parquet("pairs.parquet")
    Path("hits.m8.gz").write_bytes(gzip.compress(M8.encode()))
    assert run("select", "pairs.parquet", "--pairs", "query_id,target_id,score", "-o", "few.csv")[0] == 0
    assert selected() == {"CHEMBL2": 3, "CHEMBL4": 2}
    assert run("select", "hits.m8.gz", "--pairs", "query,target,bits", "-o", "few2.csv")[0] == 0
    assert selected("few2.csv") == {"q1": 3, "q4": 2}


def test_what_does_not_count_as_it_is_listed_is_said(run, files, caplog):
    _, _, err = run("select", "hits.m8", "--pairs", "1,2,3", "-o", "few.csv")
    assert caplog.messages == ["1 pair listed again; the best score of each counts."]
    assert "compared: 5 objects by 8 pairs scored in column 3" in err
    assert "every listed pair counts as similar; --threshold sets the lowest score that does." in err
    caplog.clear()
    chemfp = ("select", "chemfp.tsv", "--pairs", "query_id,target_id,score", "-o", "few.csv", "-f")
    _, _, err = run(*chemfp, "--threshold", "0.7")
    assert caplog.messages == [
        "no pair is listed both ways, so each counts both ways; --directed keeps them as they are."
    ]
    assert "every listed pair" not in err
    caplog.clear()
    for direction in ("--symmetric", "--directed"):
        run(*chemfp, direction)
        assert caplog.messages == []


def test_members_have_the_scores_of_the_pairs_and_none_where_no_pair_is_listed(run, files):
    assert run("select", "hits.m8", "--pairs", "1,2,3", "-n", "1", "--members", "all.csv", "-o", "few.csv")[0] == 0
    told = pd.read_csv("all.csv").set_index("id")
    assert told["covey_representative_id"].tolist() == ["q1"] * 5
    assert told["covey_covered"].tolist() == [True, True, True, False, False]
    assert told.loc[["q2", "q3"], "covey_similarity"].tolist() == [0.905, 0.8]  # of q2 to q1, not of q1 to q2
    assert told.loc[["q1", "q4", "q5"], "covey_similarity"].isna().all()


def test_labels_come_from_a_table_and_objects_without_one_are_left_out(run, files, caplog):
    Path("kinds.csv").write_text("id,label\nq1,a\nq2,b\nq3,a\nq4,b\n")
    options = ("--labels", "kinds.csv", "--members", "all.csv", "--coverage", "1", "-o", "few.csv")
    assert run("select", "hits.m8", "--pairs", "1,2,3", *options)[0] == 0
    assert "1 of 5 objects has no label in kinds.csv and is left out." in caplog.messages
    told = pd.read_csv("all.csv")
    assert dict(zip(told["id"], told["covey_representative_id"], strict=True)) == {
        "q1": "q1",
        "q2": "q2",
        "q3": "q1",
        "q4": "q4",
    }
    assert told["covey_cluster"].tolist() == ["a", "b", "a", "b"]


def test_clusters_of_pairs_follow_the_threshold(run, files):
    select = ("select", "hits.m8", "--pairs", "1,2,3", "--cluster", "auto", "--members", "all.csv", "-f")
    _, _, err = run(*select, "-o", "few.csv")
    assert "2 clusters found, from 2 to 3 rows." in err
    _, _, err = run(*select, "--threshold", "0.85", "-o", "few.csv")
    assert "4 clusters found, from 1 to 2 rows." in err
    told = pd.read_csv("all.csv").set_index("id")["covey_cluster"]
    assert told["q1"] == told["q2"] == "c1"


def test_objects_that_must_be_selected_are_named_in_a_file(run, files):
    Path("known.txt").write_text("q2\nq5\n")
    assert run("select", "hits.m8", "--pairs", "1,2,3", "--include", "known.txt", "-o", "few.csv")[0] == 0
    assert {"q2", "q5"} <= selected().keys()


def test_pairs_in_several_files_are_one_table(run, files):
    lines = M8.splitlines(keepends=True)
    for at in range(2):
        Path(f"part-{at}.m8").write_text("".join(lines[4 * at : 4 * at + 4]))
    assert run("select", "part-0.m8", "part-1.m8", "--pairs", "1,2,3", "-o", "few.csv")[0] == 0
    assert selected() == {"q1": 3, "q4": 2}


def test_pairs_that_lack_a_value_can_be_left_out(run, files, caplog):
    Path("gaps.tsv").write_text(CHEMFP + "CHEMBL6\t\t0.9\nCHEMBL7\tCHEMBL1\t\n")
    gaps = ("select", "gaps.tsv", "--pairs", "query_id,target_id,score", "-o", "few.csv")
    assert run(*gaps)[0] == 1
    assert run(*gaps, "--missing", "drop")[0] == 0
    assert "2 pairs are left out, because a value is missing." in caplog.messages
    assert selected() == {"CHEMBL2": 3, "CHEMBL4": 2}


def test_numbered_columns_come_from_standard_input_too(folder, files):
    code, out, err = run_here(["select", "-", "--format", "tsv", "--pairs", "1,2,3", "-q"], M8.encode())
    assert (code, err) == (0, "")
    assert [line.split(",")[0] for line in out.splitlines()] == ["id", "q1", "q4"]


PAIR = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9))


@given(st.lists(PAIR, min_size=1, max_size=30), st.sampled_from([True, False]))
def test_the_matrix_holds_the_best_score_of_each_pair(pairs, symmetric):
    best = {}
    for x, y, score in pairs:
        for key in {(x, y), (y, x)} if symmetric else {(x, y)}:
            if x != y:
                best[key] = max(score, best.get(key, score))
    columns = (np.array(column) for column in zip(*pairs, strict=True))
    query, target, score = columns
    matrix = matrix_of(
        ListedPairs([str(at) for at in range(6)], query, target, score.astype(float)), symmetric=symmetric
    )
    coo = matrix.tocoo()
    assert dict(zip(zip(*map(np.ndarray.tolist, coo.coords), strict=True), coo.data, strict=True)) == best
    assert matrix.has_sorted_indices


@given(st.lists(PAIR, min_size=1, max_size=12))
def test_pairs_count_both_ways_if_and_only_if_none_is_listed_both_ways(pairs):
    listed = {(x, y) for x, y, _ in pairs if x != y}
    query, target, score = (np.array(column) for column in zip(*pairs, strict=True))
    found = matrix_of(ListedPairs([str(at) for at in range(6)], query, target, score.astype(float)), symmetric=None)
    both_ways = any((y, x) in listed for x, y in listed)
    assert found.nnz == (len(listed) if both_ways else 2 * len(listed))


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--pairs", "1,2"), 2, "--pairs must name three columns, such as query,target,score or 1,2,3, got '1,2'"),
        (("--pairs", "1,1,2"), 2, "--pairs must name three columns"),
        (("--pairs", "1,2,13"), 1, "hits.m8 has no column '13'; it has 1, 2, 3"),
        (("--pairs", "0,1,2"), 1, "hits.m8 has no column '0'"),
        (("--pairs", "query,target,score"), 1, "hits.m8 has no column 'score'; it has query, target, fident"),
        (("--pairs", "3,4,1"), 1, "hits.m8, line 1: 'q1' in column '1', where a finite number must be"),
        (("--pairs", "1,2,3", "--threshold", "homogeneity"), 2, "with --pairs, pass a number or none"),
        (("--pairs", "1,2,3", "--sharpen"), 2, "--method sharpened needs the similarities of all pairs"),
        (("--pairs", "1,2,3", "--method", "ds3"), 2, "--method ds3 needs the similarities of all pairs"),
        (("--pairs", "1,2,3", "-m", "model"), 2, "--model needs objects that can be compared with new ones"),
        (("--pairs", "1,2,3", "-l", "4"), 2, "--label says what objects are, and of --pairs only their scores"),
        (("--pairs", "1,2,3", "--text", "4"), 2, "--text says what objects are"),
        (("--pairs", "1,2,3", "-s", "euclidean"), 2, "--similarity says what objects are"),
        (("--pairs", "1,2,3", "--weight", "4"), 1, "has no column '4'"),
        (("--symmetric", "--format", "tsv"), 2, "--symmetric and --directed are for --pairs"),
        (("splink.csv", "--pairs", "1,2,3"), 2, "all files of one table must have the same format"),
        (("--pairs", "1,2,3", "--missing", "mean"), 2, "--missing mean says what objects are"),
    ],
)
def test_what_makes_no_sense_with_pairs_is_refused(run, files, options, code, message):
    found, _, err = run("select", "hits.m8", *options, "-o", "few.csv")
    assert (found, message in one_line(err)) == (code, True), err
    assert not Path("few.csv").exists()


def test_values_that_cannot_be_are_refused_by_their_place(run, files):
    pairs = ("--pairs", "a,b,s", "-o", "few.csv")
    for line, message in {
        "x,,1": "bad.csv, line 3: no value in column 'b'; fill it, or pass --missing drop",
        "x, ,1": "bad.csv, line 3: no value in column 'b'; fill it, or pass --missing drop",
        "x,y,": "bad.csv, line 3: no value in column 's', where a finite number must be.",
        "x,y,inf": "bad.csv, line 3: 'inf' in column 's', where a finite number must be.",
    }.items():
        Path("bad.csv").write_text(f"a,b,s\nu,v,0.5\n{line}\n")
        code, _, err = run("select", "bad.csv", *pairs)
        assert (code, message in one_line(err)) == (1, True)
    Path("bad.csv").write_text("a,b,s\nu,v,0.5\nx,y,-1\n")
    code, _, err = run("select", "bad.csv", *pairs, "--distances")
    assert (code, "--distances must not be negative, got -1.0 in column 's' for 'x' and 'y'" in one_line(err)) == (
        1,
        True,
    )
    Path("bad.m8").write_text("\n")
    code, _, err = run("select", "bad.m8", "--pairs", "1,2,3")
    assert (code, one_line(err)) == (1, "covey: bad.m8 is empty.\n")
