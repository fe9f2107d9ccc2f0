"""Cases of command lines: those that are listed, every pair of options, and those of the attack on commands.

A case is {"commands": lists of words, "files": {name: content in base64}, "standard": standard input in base64}. Its
commands are run one after the other in one folder, so that the second may read what the first has written.
"""

import base64
import io
import itertools
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from tests.attack import _commands
from tests.attack.commands import packed
from tests.cli.commands import conn_log, iris, texts

COMMAND_LINE = Path(__file__).parents[1] / "files" / "command-line"


def files():
    """Return the content of all files that listed commands read, by name; all are made from fixed seeds."""
    rng = np.random.default_rng(0)
    flowers = (
        iris()
        .iloc[::3]
        .assign(w=np.arange(50) % 4, mark=["x" if at % 20 == 0 else "" for at in range(50)], kind=[*"abcde"] * 10)
    )
    gaps = flowers.assign(petal_length=flowers["petal_length"].where(np.arange(50) % 7 > 0))
    words = [{"words": {f"w{x}": int(x) for x in rng.integers(1, 20, 5)}, "kind": "ab"[at % 2]} for at in range(30)]
    smiles = pd.DataFrame({"mol": [*_commands.MOLECULES, "C(C)O"] * 2, "kind": ["a", "b"] * 8})
    X = rng.normal(size=(24, 3)).round(3)
    similarities = np.round(X @ X.T, 3)
    pairs = pd.DataFrame([(f"s{a}", f"s{b}", round(float(rng.random()), 3)) for a in range(12) for b in range(a)])
    images = rng.integers(0, 255, size=(20, 16))
    vectors = flowers.assign(v=[json.dumps(row.tolist()) for row in rng.normal(size=(50, 4)).round(3)])
    return {
        "iris.csv": flowers.to_csv(index=False).encode(),
        "iris.tsv": flowers.to_csv(index=False, sep="\t").encode(),
        "iris.jsonl": flowers.to_json(orient="records", lines=True).encode(),
        "iris.json": flowers.to_json(orient="records").encode(),
        "iris.parquet": written(flowers.to_parquet),
        "iris.xlsx": written(lambda file: flowers.to_excel(file, index=False)),
        "iris-1250.csv": flowers.assign(name="žluť").to_csv(index=False, sep=";", decimal=",").encode("cp1250"),
        "bare.csv": flowers.iloc[:, :5].to_csv(index=False, header=False).encode(),
        "gaps.csv": gaps.to_csv(index=False).encode(),
        "texts.csv": texts().to_csv(index=False).encode(),
        "words.jsonl": "\n".join(map(json.dumps, words)).encode(),
        "mols.csv": smiles.to_csv(index=False).encode(),
        "vectors.csv": vectors.to_csv(index=False).encode(),
        "square.csv": pd.DataFrame(similarities).to_csv(index=False).encode(),
        "dense.npy": written(lambda file: np.save(file, X)),
        "dense.npz": written(lambda file: np.savez(file, X=X, y=np.arange(24) % 2)),
        "sparse.npz": written(lambda file: sp.save_npz(file, sp.csr_array(np.where(X > 0, X, 0)))),
        "images.npy": written(lambda file: np.save(file, images)),
        "labels.npy": written(lambda file: np.save(file, np.arange(24) % 3)),
        "rows.svmlight": b"".join(b"%d 1:%d 3:%d\n" % (at % 2, at, at % 5) for at in range(20)),
        "hits.tsv": pairs.to_csv(index=False, header=["a", "b", "score"], sep="\t").encode(),
        "ids.csv": "".join(["id,label\n", *(f"s{at},{'uv'[at % 2]}\n" for at in range(12))]).encode(),
        "conn.log": conn_log().encode(),
        "hosts.csv": "".join(["host,label\n", *(f"10.0.{a}.{b},{a}\n" for a in (0, 1) for b in range(4))]).encode(),
        "first.txt": b"3\n5\n",
        "empty.csv": b"",
        "torn.json": b'[{"a": 1',
        "near.py": b"def near(a, b):\n    return 1 / (1 + abs(a['petal_length'] - b['petal_length']))\n",
        "odd.py": b"def odd(a, b):\n    return 1 / 0 if a['name'] == 'flower 9' else float(a == b)\n",
    }


def written(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


FLOWERS = "select iris.csv -l species --features petal_length,petal_width"
LISTED = [
    "--version",
    "",
    "nonsense",
    *(f"{command} --help" for command in ("", "select", "classify", "compare", "inspect", "demo", "reproduce")),
    # every format in and out
    *(f"select {name} -l species -o out.csv" for name in files() if name.startswith("iris.")),
    *(f"{FLOWERS} -o out.{form}" for form in ("csv", "tsv", "jsonl", "parquet", "csv.gz", "csv.xz", "csv.zst", "xlsx")),
    *(f"{FLOWERS} --out-format {form}" for form in ("csv", "tsv", "jsonl")),
    "select iris-1250.csv -l species -o out.csv",
    "select iris-1250.csv -l species --encoding cp1250 --delimiter semicolon --decimal comma -o out.csv",
    "select bare.csv --columns a,b,c,d,e -l e -o out.csv",
    "select iris.csv iris.csv -l species -o out.csv",
    "select dense.npy -o out.npz -m m && inspect m && classify dense.npy -m m -o answers.csv",
    "select dense.npy -l labels.npy -o out.npz -m m && inspect m --json",
    "select dense.npz -o out.npz --members members.csv",
    "select sparse.npz -o out.npz",
    "select rows.svmlight -o out.svmlight -m m && classify rows.svmlight -m m",
    "select images.npy --image 4x4 -o out.npz --picture map.html",
    # objects of every kind
    "select texts.csv --text body -l topic -o out.csv -m m && classify texts.csv -m m --keep -o answers.csv",
    *(f"select texts.csv --text body -s {name} -l topic" for name in ("levenshtein", "osa", "indel", "jaro-winkler")),
    "select words.jsonl --profile words -l kind -o out.jsonl -m m && classify words.jsonl -m m -o answers.jsonl",
    "select words.jsonl --profile words -s jaccard -o out.jsonl",
    "select mols.csv --smiles mol -l kind -o out.csv -m m && classify mols.csv -m m -o answers.csv",
    "select vectors.csv --features v -l species -o out.csv -m m && classify vectors.csv -m m -o answers.csv",
    "select square.csv --matrix -o out.csv",
    "select square.csv --distances -o out.csv",
    "select iris.csv -s gower --features petal_length,kind,name -l species -o out.csv -m m && inspect m",
    "select conn.log --hosts -o out.csv",
    "select conn.log --hosts --labels hosts.csv -o out.csv -m m && classify conn.log --hosts -m m -o answers.csv",
    *(f"select hits.tsv --pairs a,b,score {more}" for more in ("", "--symmetric", "--distances", "--threshold 0.5")),
    "select hits.tsv --pairs a,b,score --symmetric --labels ids.csv -o out.csv --members members.csv",
    *(f"{FLOWERS} -s {name}" for name in ("cosine", "dot", "euclidean", "hamming", "jaccard", "ruzicka", "gower")),
    f"{FLOWERS} -s near.py:near -o out.csv -m m && classify iris.csv -m m -s near.py:near -o answers.csv",
    f"{FLOWERS} -s near.py:near --checkpoint pairs -o a.csv && {FLOWERS} -s near.py:near --checkpoint pairs -o b.csv",
    "select iris.csv -l species -s odd.py:odd -o out.csv",
    "select iris.csv -l species -s odd.py:odd --on-error lowest -o out.csv",
    "select iris.csv -s near.py:nothing",
    # gaps
    *(f"select gaps.csv -l species --missing {how} -o out.csv" for how in ("error", "drop", "mean")),
    "select gaps.csv -l species --missing mean --scale -o o.csv -m m && classify gaps.csv -m m -o answers.csv",
    "select gaps.csv -s gower -l species -o out.csv",
    # how rows are selected
    *(f"{FLOWERS} -k {k}" for k in ("1", "3", "auto", "all", "0", "many")),
    *(f"{FLOWERS} -n {size}" for size in ("3", "10", "0.1", "0", "2", "1.5", "1000")),
    *(f"{FLOWERS} --coverage {share}" for share in ("0.5", "1", "0", "2")),
    *(f"{FLOWERS} --threshold {bar}" for bar in ("none", "homogeneity", "0.9", "high")),
    *(f"{FLOWERS} --method {name}" for name in ("crs", "sharpened", "delta-medoids", "ds3", "random", "all", "magic")),
    *(f"{FLOWERS} --graph {name}" for name in ("exact", "nn-descent", "none")),
    f"{FLOWERS} --sharpen -o out.csv -m m && inspect m && classify iris.csv -m m --label species --scores scores.json",
    f"{FLOWERS} --sharpen -n 5",
    f"{FLOWERS} --refine",
    f"{FLOWERS} --include mark",
    f"{FLOWERS} --include first.txt -n 8",
    f"{FLOWERS} --weight w",
    f"{FLOWERS} --weight name",
    *(f"select iris.csv --features petal_length --cluster {how} -o o.csv" for how in ("auto", "3", "hdbscan", "0")),
    "select iris.csv --features petal_length --cluster hdbscan --min-cluster-size 8 -o o.csv --members members.csv",
    f"{FLOWERS} --id name -o out.csv -m m && inspect m --representatives && classify iris.csv -m m",
    # pictures, members, models
    *(f"{FLOWERS} -o out.csv --picture map.{form}" for form in ("html", "png", "svg", "doc")),
    f"{FLOWERS} -o out.csv --picture map.html --show setosa",
    f"{FLOWERS} -o out.csv --members members.csv --id name",
    f"{FLOWERS} -o out.csv -m m --rejection-rate 0.2 && inspect m && classify iris.csv -m m --reject calibrated",
    f"{FLOWERS} -o out.csv -m m && classify iris.csv -m m --reject threshold --unknown none -o a.csv",
    f"{FLOWERS} -o out.csv -m m && classify iris.csv -m m --reject 0.99 --label species -o a.csv",
    f"{FLOWERS} -o out.csv -m m && classify texts.csv -m m -o a.csv",
    f"{FLOWERS} -o out.csv -m m && {FLOWERS} -o out.csv -m m",
    f"{FLOWERS} -o out.csv -m m && {FLOWERS} -o out.csv -m m --force",
    f"{FLOWERS} -o out.csv -m m && classify iris.csv -m m --scores scores.json --label species -o a.csv",
    f"{FLOWERS} -o out.csv -m m && inspect m --representatives -o r.csv && inspect m --json",
    f"{FLOWERS} -o iris.csv",
    # the cluster of machines
    *(f"select iris.parquet --dask local -l species {more}" for more in ("-o out.csv", "--sharpen", "-m m -o o.csv")),
    # comparisons
    "compare iris.csv -l species --features petal_length,petal_width -k 2,5 --folds 2 --csv c.csv --json c.json",
    "compare iris.csv -l species --methods crs,random,knn -k 3 --folds 2 --html report.html",
    "compare iris.csv -l species -s cosine,euclidean -k 3 --folds 2 --csv c.csv",
    "compare texts.csv --text body -l topic -k 2 --folds 2",
    "compare iris.csv",
    "compare iris.csv -l species --folds 1",
    # what is not there, or torn
    "select absent.csv",
    "select empty.csv",
    "select torn.json",
    "select iris.csv -l absent",
    "select iris.csv --features absent",
    "select iris.csv --format parquet",
    "select iris.csv --sheet one",
    "select iris.csv --max-unpacked 1KB",
    "select near.py",
    "classify iris.csv",
    "classify iris.csv -m absent",
    "classify iris.csv -m iris.csv",
    "inspect absent",
    "inspect iris.csv",
    "inspect iris.csv -o out.csv",
    "reproduce --seeds many",
]

OPTIONS = {
    "select": [
        *("-l species", "--cluster 2", "--min-cluster-size 3", "-k 3", "-n 6", "--coverage 0.8", "--threshold 0.9"),
        *("--method ds3", "--method random", "--sharpen", "--include mark", "--weight w", "--refine", "--graph exact"),
        *("-m m", "--rejection-rate 0.1", "--picture p.html", "--picture p.svg", "--show setosa", "--members x.csv"),
        *("--columns a,b", "--missing drop", "--hosts", "--features petal_length", "--text name", "--profile kind"),
        *("--smiles kind", "--matrix", "--distances", "--scale", "--image 2x2", "--labels ids.csv", "--id name"),
        *("-s gower", "-s near.py:near", "--pairs sepal_length,petal_length,w", "--symmetric", "--delimiter comma"),
        *("--decimal point", "--encoding latin-1", "--sheet a", "--format csv", "--out-format jsonl", "--seed 3", "-q"),
        *("--checkpoint c", "--on-error lowest", "--timeout 9", "--dask local", "--shard-size 9", "-o o.csv", "-o -"),
    ],
    "classify": [
        *("-m m", "--reject threshold", "--reject calibrated", "--reject 0.9", "--unknown none", "--label species"),
        *("--scores s.json", "--keep", "--columns a,b", "--missing drop", "--hosts", "-s gower", "-s near.py:near"),
        *("--delimiter comma", "--decimal point", "--encoding latin-1", "--sheet a", "--format csv", "-o a.csv"),
        *("--out-format jsonl", "--force", "-q", "-o -"),
    ],
    "compare": [
        *("-l species", "--methods random,all", "--html r.html", "--csv c.csv", "--json c.json", "-k 2", "--folds 2"),
        *("--time-limit 1h", "--columns a,b", "--missing drop", "--hosts", "--features petal_length", "--text name"),
        *("--profile kind", "--smiles kind", "--matrix", "--distances", "--scale", "--image 2x2", "--labels ids.csv"),
        *("--pairs", "--id name", "-s gower", "-s near.py:near", "--sheet a", "--format csv", "-q"),
    ],
}
"""Options of each command, of which all pairs are tried."""
BEFORE = {
    "select": "select iris.csv",
    "classify": f"{FLOWERS} -o few.csv -m m && classify iris.csv",
    "compare": "compare iris.csv --methods random --folds 2",
}


def cases(n_random):
    """Yield the name of each case, and the case."""
    everything = {name: in_base64(content) for name, content in files().items()}
    lines = [*LISTED, *pairs_of_options()]
    for line in dict.fromkeys(lines):
        commands = [shlex.split(command) for command in line.split("&&")]
        commands = [[*words, *one_job(words)] for words in commands]
        yield line or "covey", {"commands": commands, "files": everything, "standard": ""}
    for path in sorted(COMMAND_LINE.glob("*.covey")):
        content = {path.name: in_base64(path.read_bytes())}
        table = path.with_suffix(".csv")
        if table.exists():
            content[table.name] = in_base64(table.read_bytes())
        commands = [["inspect", path.name], ["classify", table.name, "-m", path.name, "-o", "answers.csv"]]
        yield f"inspect and classify by {path.name}", {"commands": commands, "files": content, "standard": ""}
    for number in range(n_random):
        yield f"random {number}", random_case(np.random.default_rng(number))


def pairs_of_options():
    for command, options in OPTIONS.items():
        for pair in itertools.combinations(options, 2):
            yield f"{BEFORE[command]} {' '.join(pair)}"


def one_job(words):
    """One job, so that lines on standard error come in one order."""
    return ["-j", "1"] if words[:1] in (["select"], ["classify"], ["compare"]) and "--help" not in words else []


def random_case(rng):
    """A command of the attack on commands, on files that are not damaged."""
    scenario = _commands.scenario(rng)
    while scenario.model is not None:
        scenario = _commands.scenario(rng)
    content = {name: in_base64(packed(name, content)) for name, content in scenario.files.items() if name != "-"}
    words = [*scenario.words] if scenario.words[0] == "compare" else [*scenario.words, "-o", scenario.writes]
    return {"commands": [words], "files": content, "standard": in_base64(scenario.files.get("-", b""))}


def in_base64(content):
    return base64.b64encode(content).decode()
