"""covey makes no connection, unless a loader was asked to download.

Dask is another matter: its processes talk to each other through sockets, to the addresses that the user's client names.
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import offline
from tests.offline import everything

SEPARATE = ("unshare", "--map-root-user", "--net")
"""Runs a command on Linux in a network of its own, which holds nothing at all."""
COUNTS = "/proc/net/snmp"
"""Where Linux counts what was sent over a network. Each process sees the counts of its own."""


@functools.cache
def separable():
    """Whether this machine allows networks of their own."""
    try:
        return subprocess.run([*SEPARATE, "cat", COUNTS], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def attempts(folder, *command):
    """Run Python where contacts are refused: what was tried, what was sent according to Linux, and the output."""
    places = [Path(offline.__file__).parent, Path(__file__).parent.parent, os.environ.get("PYTHONPATH", "")]
    contacts = folder / "contacts.txt"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places)), "COVEY_CONTACTS": str(contacts)}
    environment.pop("COVEY_DATA", None)
    shell = f'"$@"; code=$?; echo; cat {COUNTS} 2> /dev/null; exit $code'
    prefix = SEPARATE if separable() else ()
    done = subprocess.run(
        [*prefix, "sh", "-c", shell, "sh", sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    tried = contacts.read_text().splitlines() if contacts.exists() else []
    return tried, sent(done.stdout), done.stdout


def sent(output):
    """How many packets were sent, or could not be sent because no way leads there."""
    lines = [line.split() for line in output.splitlines() if line.startswith("Ip: ")]
    counts = dict(zip(*lines, strict=True)) if lines else {}
    return sum(int(counts.get(name, 0)) for name in ("OutRequests", "OutNoRoutes"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All that a user may do, done once."""
    return attempts(tmp_path_factory.mktemp("offline"), "-m", everything.__name__)


def test_everything_but_a_download_works_without_a_network(whole):
    done = json.loads(next(line for line in whole[2].splitlines() if line.startswith("[")))
    assert len(done) == 7 + 1 + 5 + 4  # selectors, processes, commands, loaders
    assert whole[0] == []


@pytest.mark.skipif(not separable(), reason="needs Linux and the right to make a network for one process")
def test_no_packet_is_sent_by_compiled_code_either(whole):
    """Python does not know of what compiled libraries do, but Linux counts it."""
    assert whole[1] == 0


def test_a_loader_that_is_asked_to_download_does_try(tmp_path):
    code = """
import time
from pathlib import Path
from covey import datasets
from covey.exceptions import MissingDataError

time.sleep = lambda seconds: None  # scikit-learn waits between its attempts
for load in (datasets.load_fashion_mnist, datasets.load_20newsgroups):
    try:
        load(data_home="nothing", download=True)
    except MissingDataError:
        with Path("contacts.txt").open("a") as file:
            file.write("next\\n")
"""
    tried, _, _ = attempts(tmp_path, "-c", code)
    images, posts, nothing = "\n".join(tried).split("next")
    assert images.strip().startswith("socket.getaddrinfo")
    assert posts.strip().startswith("socket.getaddrinfo")
    assert nothing == ""


@pytest.mark.parametrize("where", ["ask()", "Parallel(2)(delayed(ask)() for _ in range(2))"])
def test_contacts_are_noticed_even_if_their_failure_is_not(tmp_path, where):
    """The test of this test: names and addresses, in this process and in workers."""
    code = f"""
import contextlib, socket
from joblib import Parallel, delayed

def ask():
    for host in ("example.org", "192.0.2.1"):
        with contextlib.suppress(OSError):
            socket.create_connection((host, 80), timeout=1)

{where}
"""
    tried, _, _ = attempts(tmp_path, "-c", code)
    assert any("example.org" in line for line in tried)
    assert any("192.0.2.1" in line for line in tried)


@pytest.mark.skipif(not separable(), reason="needs Linux and the right to make a network for one process")
def test_packets_of_compiled_code_are_counted(tmp_path):
    """The test of the other test: here the C library opens the connection, without a word to Python."""
    code = """
import ctypes, socket, struct

c = ctypes.CDLL(None)
address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", 80, bytes([192, 0, 2, 1]))
assert c.connect(c.socket(socket.AF_INET, socket.SOCK_STREAM, 0), address, len(address)) == -1
"""
    tried, n_sent, _ = attempts(tmp_path, "-c", code)
    assert tried == []
    assert n_sent > 0
