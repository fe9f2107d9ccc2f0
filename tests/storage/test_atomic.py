"""Files that are written whole or not at all: their content, their mode, and what is forced to the disk, and when."""

import os
import stat
from contextlib import suppress

import numpy as np
import pytest

import covey
from covey.storage.atomic import check_target, whole


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Set the umask of this process for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def test_a_file_appears_under_its_name_when_all_is_written(tmp_path):
    target = tmp_path / "a.csv.gz"
    with whole(target) as path:
        path.write_text("all of it")
        assert not target.exists()
        assert path.name.endswith(".a.csv.gz")  # writers look at the suffixes
    assert target.read_text() == "all of it"
    assert os.listdir(tmp_path) == ["a.csv.gz"]


def test_an_error_leaves_the_old_file_and_no_temporary_one(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with suppress(RuntimeError), whole(target) as path:
        path.write_text("half")
        raise RuntimeError("stop")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_the_umask_gives_it(tmp_path, umask, mask):
    umask(mask)
    with whole(tmp_path / "a.txt") as path:
        path.write_text("new")
    assert mode_of(tmp_path / "a.txt") == 0o666 & ~mask


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_a_file_that_replaces_another_keeps_its_mode(tmp_path, umask, mode):
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(mode)
    with whole(target) as path:
        path.write_text("new")
        assert mode_of(path) == 0o600  # until it is finished, only its owner can read it
    assert target.read_text() == "new"
    assert mode_of(target) == mode


def test_a_link_stays_a_link_to_the_file_that_is_replaced(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with whole(tmp_path / "link.txt") as path:
        path.write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def watched(monkeypatch):
    """Record what is forced to the disk, and when the file is renamed."""
    events = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(descriptor):
        events.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "content")
        real_sync(descriptor)

    def replace(source, destination):
        events.append("rename")
        real_replace(source, destination)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    return events


def test_the_content_is_on_the_disk_before_the_rename_and_the_name_after_it(tmp_path, monkeypatch):
    events = watched(monkeypatch)
    with whole(tmp_path / "a.txt") as path:
        path.write_text("new")
    assert events == ["content", "rename", "folder"]


def test_a_folder_that_cannot_be_synced_does_not_stop_the_writing(tmp_path, monkeypatch):
    real_open = os.open

    def no_folders(path, flags, *args, **options):
        if os.path.isdir(path) and not flags & getattr(os, "O_TMPFILE", 0):
            raise PermissionError("folders cannot be opened here")
        return real_open(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", no_folders)
    with whole(tmp_path / "a.txt") as path:
        path.write_text("new")
    assert (tmp_path / "a.txt").read_text() == "new"


def test_content_that_cannot_be_forced_to_the_disk_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"), whole(target) as path:
        path.write_text("new")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_places_that_cannot_take_a_file_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="existing folder"), whole(tmp_path / "absent" / "a.txt"):
        pytest.fail("nothing may be written")
    with pytest.raises(FileExistsError, match="regular file"), whole(tmp_path):
        pytest.fail("nothing may be written")


def test_an_empty_name_is_refused_under_the_name_of_its_parameter():
    with pytest.raises(FileNotFoundError, match=r"^path must be the name of a file, got ''\.$"):
        check_target("")
    with pytest.raises(FileNotFoundError, match=r"^checkpoint must be the name of a file, got ''\.$"):
        covey.CRS(checkpoint="").fit(np.eye(3))
    with pytest.raises(FileExistsError, match=r"^checkpoint must be a regular file, got '/'"):
        covey.CRS(checkpoint="/").fit(np.eye(3))
    with pytest.raises(FileNotFoundError, match=r"^path must be the name of a file, got ''"):
        covey.load("")
