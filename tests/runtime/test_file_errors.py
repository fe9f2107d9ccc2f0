"""Errors of the file system name the file that they are about, wherever they come from."""

import errno
import os
import re

import numpy as np
import pandas as pd
import pytest

import covey
from covey.experiments import records
from covey.runtime import workers
from covey.runtime.file_errors import system_errors_of
from covey.storage import atomic as whole_module
from covey.storage.atomic import whole
from covey.storage.journal import Journal

X = list(range(60))


def nearness(a, b):
    return 1 / (1 + abs(a - b))


def full(*_, **__):
    """Fail as a system call does when the disk is full: without the name of a file."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FullFile:
    """An open file on a disk that is full."""

    def __init__(self, file, fails):
        self._file, self._fails = file, fails

    def __getattr__(self, name):
        return full if name == self._fails else getattr(self._file, name)


def raises_about(path, message="No space left on device"):
    return pytest.raises(OSError, match=f"{message}.*{re.escape(str(path))}|{re.escape(str(path))}.*{message}")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "full"), "[Errno 28] full: 'target'"),
        (OSError(errno.EBADF, "closed", 7), "[Errno 9] closed: 'target'"),
        (OSError(errno.EACCES, "no", ".temporary", None, "target"), "[Errno 13] no: 'target'"),
        (OSError(errno.EACCES, "no", "another"), "[Errno 13] no: 'another'"),
        (OSError("broken"), "target: broken"),
        (BlockingIOError("target is in use"), "target is in use"),
    ],
)
def test_an_error_that_names_no_file_or_a_temporary_one_names_the_file(error, message):
    with pytest.raises(type(error), match=re.escape(message)) as raised, system_errors_of("target", ".temporary"):
        raise error
    assert str(raised.value) == message


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_file_that_cannot_be_written_as_a_whole_is_named(call, tmp_path, monkeypatch):
    monkeypatch.setattr(whole_module.os, call, full)
    with raises_about(tmp_path / "target"), whole(tmp_path / "target"):
        pass
    assert [*tmp_path.iterdir()] == []


def test_a_file_whose_writer_finds_the_disk_full_is_named(tmp_path):
    with raises_about(tmp_path / "target"), whole(tmp_path / "target"):
        full()


@pytest.mark.parametrize("call", ["seek", "write"])
def test_a_journal_that_cannot_be_appended_to_is_named(call, tmp_path):
    with Journal(tmp_path / "kept") as journal:
        assert [*journal.blocks()] == []
        file, journal._file = journal._file, FullFile(journal._file, call)
        with raises_about(tmp_path / "kept"):
            journal.append(1, b"content")
        journal._file = file


@pytest.mark.parametrize("call", ["read", "truncate"])
def test_a_journal_that_cannot_be_read_or_mended_is_named(call, tmp_path):
    with Journal(tmp_path / "kept") as journal:
        [*journal.blocks()]
        journal.append(1, b"content")
    with (tmp_path / "kept").open("ab") as file:
        file.write(b"torn")
    with Journal(tmp_path / "kept") as journal:
        file, journal._file = journal._file, FullFile(journal._file, call)
        with raises_about(tmp_path / "kept"):
            [*journal.blocks()]
        journal._file = file


def test_a_fit_whose_checkpoint_cannot_be_written_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr("covey.storage.journal.os.fsync", full)
    with raises_about(tmp_path / "kept"):
        covey.CRS(3, similarity=nearness, checkpoint=tmp_path / "kept").fit(X)


def test_a_model_that_cannot_be_saved_is_named(tmp_path, monkeypatch):
    model = covey.CRS(3).fit(np.eye(5))
    monkeypatch.setattr("covey.persistence.saving._write_packed", full)
    with raises_about(tmp_path / "model"):
        covey.save(model, tmp_path / "model")


def test_a_model_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("covey.persistence.loading.Path.read_bytes", full)
    with raises_about("model"):
        covey.load("model")


def test_records_and_parcels_that_cannot_be_written_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(records.os, "fsync", full)
    with raises_about(tmp_path / "records"):
        records.append(tmp_path / "records", [])
    monkeypatch.setattr(workers.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(workers, "open", lambda *_: full(), raising=False)
    with raises_about(tmp_path / "covey-"):
        workers.Shared(1, elsewhere=False)


def test_a_checkpoint_on_a_cluster_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    from fsspec.implementations.local import LocalFileSystem

    from covey.dask.checkpoint import FolderCheckpoint, _read_result

    FolderCheckpoint(str(tmp_path / "folder"), {})
    for call in ("pipe_file", "mv", "makedirs"):
        with monkeypatch.context() as patch, raises_about(tmp_path / call):
            patch.setattr(LocalFileSystem, call, full)
            FolderCheckpoint(str(tmp_path / call), {})
    monkeypatch.setattr(LocalFileSystem, "cat_file", full)
    with raises_about(tmp_path / "folder"):
        _read_result(str(tmp_path / "folder"), "part.npz", object)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "checkpoint must be the name of a file, got ''."),
        (".", "checkpoint must be a regular file, got '{}'; choose another name."),
        ("missing/kept", "checkpoint must lie in an existing folder, got '{}/missing'; create it first."),
    ],
)
def test_a_checkpoint_that_cannot_be_a_file_is_refused_by_its_name(path, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match=re.escape(message.format(os.path.realpath(tmp_path)))):
        covey.CRS(3, similarity=nearness, checkpoint=path).fit(X)


def test_a_checkpoint_that_another_fit_holds_is_named(tmp_path):
    with Journal(tmp_path / "kept"), raises_about(tmp_path / "kept", "is in use by another fit"):
        covey.CRS(3, similarity=nearness, checkpoint=tmp_path / "kept").fit(X)


def test_standard_output_that_cannot_be_written_is_named(monkeypatch):
    from covey.cli.files import writing

    monkeypatch.setattr(writing, "VisibleOutput", lambda: FullFile(None, "write"))
    with raises_about("standard output"), writing.writer("-") as put:
        put(pd.DataFrame({"a": [1]}))
