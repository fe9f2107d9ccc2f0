"""Commands that read files of every kind, and what builds those files."""

import io
import json
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tests.attack import tables

KINDS = ["a", "b,c", 'say "é"']
MOLECULES = ["CCO", "c1ccccc1", "CC(=O)O", "C1CCCCC1", "C[C@H](N)C(=O)O", "[Na+].[Cl-]", "CC(C)Cc1ccc(cc1)C(C)C(=O)O"]
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1250", "latin-1")
PACKED = ("", "", "", ".gz", ".bz2", ".xz", ".zst")
QUICK = ("-k", "2", "-j", "1")


@dataclass(frozen=True)
class Scenario:
    """A command and the files that it reads.

    Attributes
    ----------
    words : tuple of str
        The command and its options.
    files : dict
        The content of each file that may be damaged, by its name. Names of packed files end so.
    model : str or None
        Which of the models is read, if any.
    standard : bool
        Whether the first file arrives on standard input.
    """

    words: tuple[str, ...]
    files: dict[str, bytes]
    model: str | None = None
    standard: bool = False
    writes: str = field(default="out.csv")


def scenario(rng: np.random.Generator) -> Scenario:
    """A random command."""
    makers, chances = zip(*SCENARIOS.items(), strict=True)
    return makers[rng.choice(len(makers), p=np.array(chances) / sum(chances))](rng)


def frame(rng: np.random.Generator) -> pd.DataFrame:
    """A table with something for every option."""
    n = int(rng.integers(1, 25))
    return pd.DataFrame(
        {
            "id": [f"r{at}" for at in range(n)],
            "x0": rng.normal(size=n).round(3),
            "x1": rng.normal(size=n).round(3),
            "kind": rng.choice(KINDS, size=n),
            "body": rng.choice(["the cat sat", "a dog barks", "the cat and the dog", "no – yes"], size=n),
            "mol": rng.choice(MOLECULES, size=n),
            "mark": rng.choice(["yes", "no", ""], size=n),
            "w": rng.integers(1, 5, size=n),
        }
    )


def written(rng: np.random.Generator, rows: pd.DataFrame, form: str) -> bytes:
    """The rows in a format."""
    buffer = io.BytesIO()
    if form == "parquet":
        rows.to_parquet(buffer, compression=rng.choice(["snappy", "gzip", "zstd", "none"]), index=False)
        return buffer.getvalue()
    if form == "xlsx":
        rows.to_excel(buffer, index=False)
        return buffer.getvalue()
    if form == "json":
        as_lists = [list(rows.columns), *rows.to_numpy(dtype=object).tolist()]
        text = json.dumps(as_lists, default=float) if rng.random() < 0.5 else rows.to_json(orient="records")
    elif form == "jsonl":
        text = rows.to_json(orient="records", lines=True)
    else:
        text = rows.to_csv(index=False, sep="\t" if form == "tsv" else str(rng.choice([",", ";", "|"])))
    return text.encode(rng.choice(ENCODINGS), "replace")


def table(rng: np.random.Generator, rows: pd.DataFrame, stem: str = "data") -> tuple[str, bytes]:
    """A file of the rows in a random format: its name and content."""
    form = str(rng.choice(["csv", "csv", "tsv", "jsonl", "json", "parquet", "xlsx"]))
    packed = "" if form in ("parquet", "xlsx") else str(rng.choice(PACKED))
    return f"{stem}.{form}{packed}", written(rng, rows, form)


SELECTIONS = {
    "numbers": (
        ("--features", "x0,x1", "--label", "kind"),
        ("--features", "x0,x1", "--include", "mark"),
        ("--features", "x0,x1", "--weight", "w", "--label", "kind"),
        ("--features", "x0,x1", "--missing", "drop", "--label", "kind", "--members", "members.csv"),
        ("--features", "x0,x1", "--missing", "mean", "--scale"),
        ("--similarity", "gower", "--features", "x0,x1,kind,body", "--id", "id"),
        ("--label", "kind"),
        ("--features", "x0,x1", "--cluster", "auto"),
    ),
    "texts": (
        ("--text", "body", "--label", "kind"),
        ("--text", "body", "--similarity", "levenshtein", "--label", "kind"),
        ("--text", "kind", "--missing", "drop"),
    ),
    "molecules": (
        ("--smiles", "mol", "--label", "kind"),
        ("--smiles", "mol", "--missing", "drop"),
    ),
}
"""Options about what objects are, by the model that is made of such objects."""


def select_table(rng: np.random.Generator) -> Scenario:
    name, content = table(rng, frame(rng))
    options = [more for some in SELECTIONS.values() for more in some]
    return Scenario(("select", name, *options[rng.integers(len(options))], *QUICK), {name: content})


def select_listed(rng: np.random.Generator) -> Scenario:
    """Rows that must be selected, listed in another file."""
    rows = frame(rng)
    name, content = table(rng, rows)
    if rng.random() < 0.5:
        listed, text = "rows.txt", "\n".join(map(str, range(min(3, len(rows))))).encode()
        options: tuple[str, ...] = ("--features", "x0,x1")
    else:
        listed, text = table(rng, rows[["id"]].head(3), "rows")
        options = ("--features", "x0,x1", "--id", "id")
    return Scenario(("select", name, *options, "--include", listed, *QUICK), {listed: text, name: content})


def select_several(rng: np.random.Generator) -> Scenario:
    form = str(rng.choice(["csv", "tsv", "jsonl", "json", "parquet", "xlsx"]))
    files = {f"part{at}.{form}": written(rng, frame(rng), form) for at in range(2)}
    return Scenario(("select", *files, "--features", "x0,x1", "--label", "kind", *QUICK), files)


def select_standard(rng: np.random.Generator) -> Scenario:
    form = str(rng.choice(["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "svmlight", "npz", "npy"]))
    if form in ("npz", "npy", "svmlight"):
        name = {"npz": "packed.npz", "npy": "dense.npy", "svmlight": "table.svmlight"}[form]
        return Scenario(("select", "-", "--format", form, *QUICK), {"-": tables.BUILDERS[name](rng)}, standard=True)
    words = ("select", "-", "--format", form, "--features", "x0,x1", "--label", "kind", *QUICK)
    return Scenario(words, {"-": written(rng, frame(rng), form)}, standard=True)


def select_matrix(rng: np.random.Generator) -> Scenario:
    names = [*tables.MATRICES, *(f"table.svmlight{packed}" for packed in tables.PACKED)]
    name = names[rng.integers(len(names))]
    content = tables.BUILDERS[name](rng)
    if name != "dense.npy" or rng.random() < 0.5:
        return Scenario(("select", name, *QUICK), {name: content}, writes="out.npz")
    labels = io.BytesIO()
    np.save(labels, rng.choice(["left", "right"], size=20))
    files = {name: content, "labels.npy": labels.getvalue()}
    return Scenario(("select", name, "--label", "labels.npy", *QUICK), files, writes="out.npz")


def square(rng: np.random.Generator) -> Scenario:
    """Similarities of all objects to all objects."""
    X = rng.normal(size=(12, 3)).round(3)
    rows = pd.DataFrame(np.round(X @ X.T, 3), columns=[f"c{at}" for at in range(12)])
    name, content = table(rng, rows)
    return Scenario(("select", name, str(rng.choice(["--matrix", "--distances"])), *QUICK), {name: content})


def pairs(rng: np.random.Generator) -> Scenario:
    """What MMseqs2, Splink and chemfp write."""
    n = int(rng.integers(1, 40))
    query, target = (rng.choice([f"s{at}" for at in range(12)], size=n) for _ in range(2))
    rows = pd.DataFrame({"a": query, "b": target, "score": rng.random(n).round(3)})
    style = rng.integers(3)
    if style == 0:
        zeros = {f"z{at}": np.zeros(n, dtype=int) for at in range(9)}
        name = f"hits.m8{rng.choice(PACKED)}"
        content = rows.assign(**zeros).to_csv(index=False, header=False, sep="\t").encode()
        columns = str(rng.choice(["1,2,3", "query,target,fident"]))
    else:
        names = (
            ["unique_id_l", "unique_id_r", "match_probability"] if style == 1 else ["query_id", "target_id", "score"]
        )
        name, content = table(rng, rows.set_axis(names, axis=1), "pairs")
        columns = ",".join(names)
    files = {name: content}
    words = ("select", name, "--pairs", columns, *[("--directed",), ("--distances",), ()][rng.integers(3)])
    if rng.random() < 0.3:
        ids = sorted(set(query) | set(target))
        labels, text = table(rng, pd.DataFrame({"id": ids, "label": rng.choice(["u", "v"], size=len(ids))}), "labels")
        files, words = {labels: text, name: content}, (*words, "--labels", labels)
    return Scenario((*words, "-j", "1"), files)


def hosts(rng: np.random.Generator) -> Scenario:
    name = str(rng.choice([name for name in tables.BUILDERS if ".log" in name]))
    files = {name: tables.BUILDERS[name](rng)}
    if rng.random() < 0.3:
        return Scenario(("classify", name, "--hosts", "-j", "1"), files, model="hosts")
    words = ("select", name, "--hosts", *QUICK)
    if rng.random() < 0.3:
        rows = pd.DataFrame({"host": [f"10.0.0.{at}" for at in range(4)], "label": ["u", "v", "u", "v"]})
        labels, text = table(rng, rows, "labels")
        return Scenario((*words, "--labels", labels), {labels: text, **files})
    return Scenario(words, files)


def profiles(rng: np.random.Generator) -> Scenario:
    rows = [{"p": {str(key): int(key) for key in rng.integers(1, 9, size=3)}, "kind": "a"} for _ in range(8)]
    content = "\n".join(json.dumps(row) for row in rows).encode()
    return Scenario(("select", "data.jsonl", "--profile", "p", "--label", "kind", *QUICK), {"data.jsonl": content})


def vectors(rng: np.random.Generator) -> Scenario:
    """Lists of numbers in one column."""
    rows = pd.DataFrame({"v": list(rng.normal(size=(9, 4)).round(3)), "kind": rng.choice(["a", "b"], size=9)})
    form = str(rng.choice(["jsonl", "parquet", "csv"]))
    texts = rows.assign(v=[json.dumps(row.tolist()) for row in rows["v"]])
    content = written(rng, texts if form == "csv" else rows, form)
    name = f"data.{form}"
    return Scenario(("select", name, "--features", "v", "--label", "kind", *QUICK), {name: content})


def classify(rng: np.random.Generator) -> Scenario:
    name, content = table(rng, frame(rng))
    model = str(rng.choice([*SELECTIONS]))
    more = [(), ("--keep",), ("--label", "kind"), ("--missing", "drop"), ("--scores", "scores.json")]
    words = ("classify", name, *more[rng.integers(len(more))], "-j", "1")
    return Scenario(words, {name: content}, model=model)


def classify_matrix(rng: np.random.Generator) -> Scenario:
    name, model = [("table.svmlight", "sparse"), ("dense.npz", "dense"), ("sparse.npz", "sparse")][rng.integers(3)]
    return Scenario(("classify", name, "-j", "1"), {name: tables.BUILDERS[name](rng)}, model=model)


def compare(rng: np.random.Generator) -> Scenario:
    name, content = table(rng, frame(rng))
    words = ("compare", name, "--features", "x0,x1", "--label", "kind", "--methods", "random", "-k", "2")
    words += ("--similarity", "cosine", "--folds", "2", "-j", "1", "--html", "out.html")
    return Scenario(words, {name: content}, writes="out.html")


SCENARIOS = {
    select_table: 8,
    select_listed: 2,
    select_several: 2,
    select_standard: 3,
    select_matrix: 4,
    square: 1,
    pairs: 5,
    hosts: 4,
    profiles: 1,
    vectors: 1,
    classify: 4,
    classify_matrix: 2,
    compare: 0.2,
}
"""How often each kind of command is tried; a comparison takes a hundred times as long as the others."""
