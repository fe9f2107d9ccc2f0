"""What the tests of the command line share: data, expectations, and ways to run a command."""

import contextlib
import io
import logging
import os
import pty
import re
import subprocess
import sys
import warnings

import pandas as pd
from sklearn.datasets import load_iris

import covey
from covey import __main__ as cli

COVEY = [sys.executable, "-m", "covey.__main__"]


def iris():
    data = load_iris()
    frame = pd.DataFrame(data.data, columns=["sepal_length", "sepal_width", "petal_length", "petal_width"])
    return frame.assign(species=data.target_names[data.target], name=[f"flower {at}" for at in range(150)])


WRITE = {
    "iris.csv": lambda frame, path: frame.to_csv(path, index=False),
    "iris.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "iris.csv.xz": lambda frame, path: frame.to_csv(path, index=False),
    "iris.csv.bz2": lambda frame, path: frame.to_csv(path, index=False),
    "iris.csv.zst": lambda frame, path: frame.to_csv(path, index=False),
    "iris.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "iris.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "iris.jsonl.gz": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "iris.parquet": lambda frame, path: frame.to_parquet(path),
}


READ = {
    "csv": pd.read_csv,
    "tsv": lambda path: pd.read_csv(path, sep="\t"),
    "jsonl": lambda path: pd.read_json(path, lines=True),
    "parquet": pd.read_parquet,
}


def expected():
    frame = iris()
    X, y = frame.iloc[:, :4], frame["species"].to_numpy(dtype=str)
    return covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)).fit(X, y), X, y


def one_line(err):
    assert err.startswith("covey: ")
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err
    return err


TEXTS = {
    "pets": ["the cat sat down", "a cat and a dog", "the dog barks at the cat", "my dog and your cat sat"],
    "cars": ["the engine of a car", "a fast car on the road", "road and engine noise", "the car has a new engine"],
}


def texts():
    return pd.DataFrame([{"topic": topic, "body": body} for topic, bodies in TEXTS.items() for body in bodies])


def conn_log():
    lines = ["#fields\tts\tid.orig_h\tid.resp_h\tid.resp_p"]
    for at, (servers, hosts) in enumerate({("web", "mail"): 4, ("db", "backup"): 4}.items()):
        lines += [
            f"{window * 300}\t10.0.{at}.{host}\t{server}\t443"
            for host in range(hosts)
            for server in servers
            for window in range(host + 2)
        ]
    return "\n".join(lines) + "\n"


def piped(*args, **options):
    return subprocess.run([*COVEY, *args], capture_output=True, text=True, timeout=120, **options)


def run_here(words, standard=b""):
    """Run a command in this process: its exit code, and what it writes to standard output and standard error."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()  # so that the command makes its own, which write to this standard error
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["covey", *words], io.TextIOWrapper(io.BytesIO(standard))
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv, sys.stdin = before
        root.handlers[:] = handlers
        root.setLevel(level)
    return code, *(stream.buffer.getvalue().decode() for stream in (out, err))


def on_a_terminal(command, code=0):
    """What a command writes to a terminal of 200 columns, without colors."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(COLUMNS="200", TERM="xterm")
        os.execv(command[0], command)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == code
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
