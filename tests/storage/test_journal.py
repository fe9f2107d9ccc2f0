"""A journal gives back what was written, no matter what stopped the writer, and refuses what it cannot be sure of."""

import multiprocessing
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.exceptions import FileFormatError
from covey.storage.journal import CHECKSUM, HEADER, SIGNATURE, Journal

BLOCKS = [(1, b"about"), (2, b""), (3, os.urandom(100)), (7, b"last")]
OVERHEAD = HEADER.size + CHECKSUM.size


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal"


def write(path, blocks):
    with Journal(path) as journal:
        assert list(journal.blocks()) == []
        for kind, content in blocks:
            journal.append(kind, content)


def read(path):
    with Journal(path) as journal:
        return list(journal.blocks())


def test_blocks_come_back_in_their_order(path):
    write(path, BLOCKS)
    assert read(path) == read(path) == BLOCKS


def test_blocks_are_in_the_file_before_it_is_closed(path):
    with Journal(path) as journal:
        assert list(journal.blocks()) == []
        journal.append(3, b"abc")
        assert path.stat().st_size == len(SIGNATURE) + OVERHEAD + 3


def test_nothing_is_appended_before_all_is_read(path):
    write(path, BLOCKS)
    with Journal(path) as journal, pytest.raises(RuntimeError, match="must be read before"):
        journal.append(3, b"abc")
    assert read(path) == BLOCKS


def test_a_file_that_ends_at_any_byte_keeps_the_blocks_before_it_and_can_be_continued(path):
    write(path, BLOCKS)
    whole = path.read_bytes()
    ends = [len(SIGNATURE)]
    for _, content in BLOCKS:
        ends.append(ends[-1] + OVERHEAD + len(content))
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        n_left = max(sum(end <= size for end in ends) - 1, 0)
        with Journal(path) as journal:
            assert list(journal.blocks()) == BLOCKS[:n_left]
            journal.append(9, b"more")
        assert read(path) == [*BLOCKS[:n_left], (9, b"more")]


@pytest.mark.parametrize("garbage", [b"\0" * 50, b"blk\n" * 20, os.urandom(50)], ids=["zeros", "marks", "noise"])
def test_garbage_at_the_end_is_cut_off(path, garbage):
    write(path, BLOCKS)
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(garbage)
    assert read(path) == BLOCKS
    assert path.stat().st_size == size


def test_a_damaged_last_block_is_dropped(path):
    write(path, BLOCKS)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert read(path) == BLOCKS[:-1]


def test_damage_that_intact_blocks_follow_is_refused_and_the_file_is_left_alone(path):
    write(path, BLOCKS)
    content = bytearray(path.read_bytes())
    content[len(SIGNATURE) + OVERHEAD] ^= 1  # in the first block
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"is damaged at byte {len(SIGNATURE)}, and more follows"):
        read(path)
    assert path.read_bytes() == content


@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_journal_or_refused(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "journal"
    path.write_bytes(SIGNATURE + content)
    try:
        blocks = read(path)
    except FileFormatError:
        return
    assert read(path) == blocks


def test_another_file_is_refused_and_left_alone(path):
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="is not a checkpoint of covey; choose another name"):
        Journal(path)
    assert path.read_text() == "a,b\n1,2\n"


def test_only_one_can_hold_a_journal(path):
    with Journal(path), pytest.raises(BlockingIOError, match="is in use by another fit"):
        Journal(path)
    Journal(path).close()


def hold(path, held, done):
    with Journal(path):
        held.set()
        done.wait()


def test_another_process_cannot_have_it_either_until_it_has_ended(path):
    context = multiprocessing.get_context("spawn")
    held, done = context.Event(), context.Event()
    process = context.Process(target=hold, args=(path, held, done))
    process.start()
    held.wait()
    with pytest.raises(BlockingIOError):
        Journal(path)
    process.kill()
    process.join()
    Journal(path).close()


@pytest.mark.parametrize(("place", "kind"), [("missing/journal", FileNotFoundError), (".", FileExistsError)])
def test_a_place_that_cannot_hold_a_file_is_refused(tmp_path, place, kind):
    with pytest.raises(kind):
        Journal(tmp_path / place)


def test_only_the_owner_may_read_a_new_file(path):
    Journal(path).close()
    assert path.stat().st_mode & 0o077 == 0
