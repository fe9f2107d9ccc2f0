"""Molecules as SMILES on the command line: `--smiles` compares their fingerprints."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covey
from covey.runtime.libraries import remedy
from tests.cli.commands import one_line

Chem = pytest.importorskip("rdkit.Chem", reason="needs the extra chem")

from rdkit import DataStructs  # noqa: E402
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator  # noqa: E402

from covey.cli.objects import molecules  # noqa: E402
from covey.similarity.packed_bits import PackedBits  # noqa: E402

ALCOHOLS = [f"{'C' * n}O" for n in range(1, 13)]
RINGS = [f"c1ccc({'C' * n}N)cc1" for n in range(12)]
BROKEN = ["C1CC", "no molecule", "C(C)(C)(C)(C)C"]
"""A ring that is not closed, a text, and a carbon with five neighbors."""


def table():
    rows = [("alcohol", text) for text in ALCOHOLS] + [("ring", text) for text in RINGS]
    return pd.DataFrame([(f"m{at}", kind, text) for at, (kind, text) in enumerate(rows)], columns=["id", "kind", "mol"])


def by_rdkit(smiles):
    """The fingerprints as RDKit itself unpacks them."""
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    return np.array([generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in smiles])


def test_fingerprints_are_those_of_rdkit_whatever_the_chunks_and_threads(monkeypatch):
    from joblib import parallel_config

    smiles = ALCOHOLS + BROKEN[:1] + RINGS
    monkeypatch.setattr(molecules, "CHUNK", 4)
    for n_jobs in (1, 3):
        with parallel_config(n_jobs=n_jobs):
            bits, readable = molecules.fingerprints(smiles)
        assert type(bits) is PackedBits
        np.testing.assert_array_equal(readable, [text not in BROKEN for text in smiles])
        unpacked = np.unpackbits(bits, axis=1, bitorder="little")
        np.testing.assert_array_equal(unpacked[readable], by_rdkit(ALCOHOLS + RINGS))
        assert not unpacked[~readable].any()


def test_no_molecules_have_no_fingerprints():
    bits, readable = molecules.fingerprints([])
    assert bits.shape == (0, 256)
    assert readable.shape == (0,)


def test_molecules_are_selected_by_the_similarity_of_their_fingerprints(run):
    table().to_csv("m.csv", index=False)
    common = ("-l", "kind", "--smiles", "mol", "-k", 3)
    assert run("select", "m.csv", *common, "-o", "few.csv")[0] == 0
    fitted = covey.CRS(3, similarity="jaccard", random_state=0).fit(by_rdkit(table()["mol"]), table()["kind"])
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], fitted.sample_indices_)
    assert run("select", "m.csv", *common, "-s", "jaccard", "-o", "again.csv")[0] == 0  # it is the default
    pd.testing.assert_frame_equal(pd.read_csv("again.csv"), pd.read_csv("few.csv"))


def test_a_model_compares_new_molecules_with_the_representatives(run):
    table().to_csv("m.csv", index=False)
    assert run("select", "m.csv", "-l", "kind", "--smiles", "mol", "-k", 3, "-o", "few.csv", "-m", "model")[0] == 0
    new = ["CC(C)CO", "c1ccc(CCO)cc1"]
    pd.DataFrame({"mol": new}).to_csv("new.csv", index=False)
    assert run("classify", "new.csv", "-m", "model", "-o", "answers.csv")[0] == 0
    answers, few = pd.read_csv("answers.csv"), pd.read_csv("few.csv")
    assert answers["covey_label"].tolist() == ["alcohol", "ring"]
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    known, asked = (generator.GetFingerprints([Chem.MolFromSmiles(s) for s in side]) for side in (few["mol"], new))
    best = [max(DataStructs.BulkTanimotoSimilarity(fingerprint, known)) for fingerprint in asked]
    np.testing.assert_allclose(answers["covey_similarity"], best, rtol=1e-15)
    shown = run("inspect", "model")[1]
    assert "the molecules in mol, as Morgan fingerprints of radius 2 and 2048 bits, by jaccard" in shown


def test_maps_and_reports_show_the_smiles(run):
    pytest.importorskip("matplotlib")
    table().to_csv("m.csv", index=False)
    assert run("select", "m.csv", "--smiles", "mol", "-k", 3, "-o", "few.csv", "--picture", "map.html")[0] == 0
    assert RINGS[-1] in Path("map.html").read_text()
    common = ("--methods", "crs,all", "-k", "3", "--folds", "3", "--html", "report.html")
    assert run("compare", "m.csv", "-l", "kind", "--smiles", "mol", *common)[0] == 0
    assert any(text in Path("report.html").read_text() for text in ALCOHOLS[4:])


def test_what_rdkit_cannot_read_is_refused_with_its_place_and_their_number(run):
    rows = table()
    rows.loc[[3, 7, 20], "mol"] = BROKEN
    rows.to_csv("m.csv", index=False)
    code, _, err = run("select", "m.csv", "--smiles", "mol", "-o", "few.csv")
    assert code == 1
    assert "m.csv, line 5: 'C1CC' in column 'mol' is not a molecule that RDKit can read (3 of 24 rows hold none)" in err
    one_line(err)
    rows.loc[[7, 20], "mol"] = "C"
    rows.to_csv("m.csv", index=False)
    assert (
        "RDKit can read; correct such rows, or pass --missing drop"
        in run("select", "m.csv", "--smiles", "mol", "-o", "few.csv")[2]
    )
    rows.loc[3, "mol"] = None
    rows.to_csv("m.csv", index=False)
    _, _, err = run("select", "m.csv", "--smiles", "mol", "-o", "few.csv")
    assert "m.csv, line 5: no value in column 'mol'; fill it, or pass --missing drop" in err


def test_what_rdkit_cannot_read_can_be_left_out(run, caplog):
    rows = table()
    rows.loc[[3, 7, 20], "mol"] = [*BROKEN[:2], None]
    rows.to_csv("m.csv", index=False)
    code, *_ = run("select", "m.csv", "--smiles", "mol", "--missing", "drop", "-m", "m.covey", "-o", "few.csv")
    assert code == 0
    assert "3 of 24 rows are left out, because a value is missing: 3 in 'mol'" in caplog.text
    assert not {3, 7, 20} & set(pd.read_csv("few.csv")["covey_row"])
    code, *_ = run("classify", "m.csv", "-m", "m.covey", "--missing", "drop", "-o", "answers.csv")
    assert code == 0
    assert set(range(24)) - set(pd.read_csv("answers.csv")["covey_row"]) == {3, 7, 20}


def test_the_log_of_rdkit_is_silent_only_meanwhile(capfd):
    molecules.fingerprints(BROKEN)
    assert capfd.readouterr().err == ""
    Chem.MolFromSmiles(BROKEN[0])
    assert "unclosed ring" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--text", "mol"), "leave out other options about what is compared"),
        (("--features", "mol"), "leave out other options about what is compared"),
        (("--scale",), "leave out other options about what is compared"),
        (("--matrix",), "leave out other options about what is compared"),
        (("-s", "cosine"), "--smiles compares fingerprints by jaccard, got --similarity cosine"),
    ],
)
def test_options_that_make_no_sense_for_molecules_are_refused(run, options, words):
    table().to_csv("m.csv", index=False)
    code, _, err = run("select", "m.csv", "--smiles", "mol", *options)
    assert code == 2
    assert words in one_line(err)


def test_a_matrix_has_no_column_of_molecules(run):
    np.savez("m.npz", X=np.eye(4))
    code, _, err = run("select", "m.npz", "--smiles", "mol")
    assert code == 2
    assert "--smiles is for columns with names, and m.npz has none" in one_line(err)
    table().to_csv("m.csv", index=False)
    code, _, err = run("select", "m.csv", "--smiles", "smiles")
    assert code == 1
    assert "m.csv has no column 'smiles'" in one_line(err)


def test_without_rdkit_the_message_says_how_to_install_it(tmp_path):
    table().to_csv(tmp_path / "m.csv", index=False)
    command = "import sys; sys.modules['rdkit'] = None; sys.argv[0] = 'covey'; from covey.__main__ import main; main()"
    arguments = ["select", "m.csv", "--smiles", "mol", "-o", "few.csv"]
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert remedy("chem") in one_line(done.stderr)


def test_bytes_of_packed_bits_in_an_array_are_compared_bit_by_bit_and_said(run, caplog):
    bits, _ = molecules.fingerprints(ALCOHOLS + RINGS)
    np.savez("m.npz", X=np.asarray(bits), y=table()["kind"].to_numpy(dtype=str))
    assert run("select", "m.npz", "-s", "jaccard", "-k", 3, "-o", "few.csv", "-m", "model")[0] == 0
    assert "the numbers are read as packed bits, 2048 in a row" in caplog.text
    fitted = covey.CRS(3, similarity="jaccard", random_state=0).fit(by_rdkit(table()["mol"]), table()["kind"])
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], fitted.sample_indices_)
    np.savez("new.npz", X=np.asarray(bits[:1]) & 1)  # bytes of 0 and 1 only, which are packed bits for this model
    assert run("classify", "new.npz", "-m", "model", "-o", "answers.csv")[0] == 0
