"""The files that commands write are the same whenever, and with however many jobs, they are written."""

import pytest

from tests.determinism.settings import answers, start

pytestmark = pytest.mark.xdist_group("test_commands")  # one process of the suite makes what all of them compare

EXPECTED = {
    "few.covey",
    "few.csv",
    "few.csv.gz",
    "few.jsonl",
    "few.parquet",
    "map.html",
    "map.pdf",
    "map.png",
    "map.svg",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The contents of all files, as written by two processes. The second one finds what the first has compiled."""
    settings = [("1", {"PYTHONHASHSEED": "0"}), ("2", {"PYTHONHASHSEED": "1", "OPENBLAS_NUM_THREADS": "2"})]
    folders = [tmp_path_factory.mktemp(f"jobs-{jobs}") for jobs, _ in settings]
    for (jobs, environment), folder in zip(settings, folders, strict=True):
        answers([start("commands", jobs, environment, folder)])
    return [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]


def test_every_file_that_a_command_writes_has_the_same_bytes(written):
    first, second = written
    assert first.keys() == second.keys()
    assert first.keys() >= EXPECTED
    assert [name for name in first if first[name] != second[name]] == []
