"""Members of zip archives: what is whole comes back equal, and what declares more than it holds costs no memory."""

import io
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from covey.storage.archive import read_array, read_bytes
from covey.storage.limits import FREE, MOST_RATIO

ARRAYS = {
    "floats": np.arange(12.0).reshape(3, 4),
    "by columns": np.asfortranarray(np.arange(12).reshape(3, 4)),
    "big-endian": np.arange(5, dtype=">i4"),
    "texts": np.array(["a", "été", "\U0001f426"]),
    "big-endian texts": np.array(["ab", "c"], dtype=">U2"),
    "bytes": np.array([b"csr"]),
    "no dimension": np.array(7),
    "no rows": np.empty((0, 3)),
    "dates": np.array(["2024-01-01"], dtype="datetime64[D]"),
    "fields": np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f8")]),
    "three dimensions": np.arange(24, dtype=np.int8).reshape(2, 3, 4, order="F"),
    "longer than a part": np.random.default_rng(0).integers(0, 255, 3_000_001, dtype=np.uint8),
}


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def header(shape, descr="<f8", version=(1, 0)):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version == (1, 0) else "<I", len(text)) + text


def archive_of(content, compression=zipfile.ZIP_DEFLATED):
    """An open archive whose member `a` holds these bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("a", content)
    return zipfile.ZipFile(buffer)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_comes_back_equal(name, compression):
    array = ARRAYS[name]
    found = read_array(archive_of(npy(array), compression), "a")
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array)
    assert found.flags.writeable
    assert found.flags.f_contiguous == array.flags.f_contiguous


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "magic"),
        (b"no array at all", "magic"),
        (header((3,)) + bytes(16), "declares 24 bytes"),
        (header((3,)) + bytes(32), "declares 24 bytes"),
        (header((2**62,)), "declares"),
        (header((2**40, 2**40)), "declares"),
        (header((-1,)), "cannot be"),
        (header((2**60,), "<U0"), "cannot be"),
        (header((2,), ("<f8", (3,))) + bytes(48), "cannot be"),
        (header((1,), "|O") + bytes(8), "could run code"),
        (header((1,), [("a", "|O")]) + bytes(8), "could run code"),
        (header((1,), "<f8", (9, 0)) + bytes(8), "version"),
        (header((1,), "<nonsense") + bytes(8), "'a' cannot be read"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(1000), "'a' cannot be read"),
        (b"\x93NUMPY\x01\x00\x10\x27" + b"(" * 10_000, "'a' cannot be read"),
        (header((1,), "<U1") + b"\xff\xff\xff\xff", "does not exist"),
    ],
)
def test_a_member_that_is_no_array_is_refused_in_a_sentence(content, named):
    with pytest.raises(ValueError, match=named):
        read_array(archive_of(content), "a")


def test_a_member_that_is_missing_is_named():
    with pytest.raises(ValueError, match="no member 'b'"):
        read_array(archive_of(npy(np.arange(3))), "b")


def test_a_member_whose_bytes_have_changed_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", npy(np.arange(1000)))
    damaged = bytearray(buffer.getvalue())
    damaged[4000] ^= 1
    with pytest.raises(ValueError, match="member 'a' cannot be read: Bad CRC"):
        read_array(zipfile.ZipFile(io.BytesIO(damaged)), "a")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_inflate_without_a_cap_are_refused(method):
    with pytest.raises(ValueError, match="packed by method"):
        read_array(archive_of(npy(np.arange(3)), method), "a")


def test_bytes_come_back_up_to_the_most_that_is_allowed():
    assert read_bytes(archive_of(b"0123456789"), "a", 10) == b"0123456789"
    with pytest.raises(ValueError, match="declares 10 bytes, where at most 9"):
        read_bytes(archive_of(b"0123456789"), "a", 9)


def test_a_small_archive_may_be_as_compressible_as_it_likes():
    zeros = np.zeros(FREE // 8 - 100)
    np.testing.assert_array_equal(read_array(archive_of(npy(zeros)), "a"), zeros)


def test_a_large_archive_may_inflate_as_far_as_the_ratio_allows():
    noise = np.random.default_rng(0).integers(0, 255, 2**20, dtype=np.uint8)
    honest = np.concatenate([noise, np.zeros(FREE, dtype=np.uint8)])
    np.testing.assert_array_equal(read_array(archive_of(npy(honest)), "a"), honest)


def bomb(path, declare):
    """A file of 1 MB that inflates to 1 GB of zeros; `declare` says how many of them its NPY header declares."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a", "w", force_zip64=True) as file:
        file.write(header((declare,), "|u1"))
        for _ in range(1000):
            file.write(bytes(2**20))


def many_members(path):
    """A file of 1 MB with 17 members, each of which would be small enough alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for at in range(17):
            archive.writestr("a" if at == 0 else f"{at}", header((60 * 2**20,), "|u1") + bytes(60 * 2**20))


def lying_directory(path):
    """A file of 1 MB whose directory declares that a member takes 2 GB, packed and unpacked."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", header((2**31 - 1000,), "|u1") + bytes(2**20))
    content = path.read_bytes()
    size = struct.pack("<I", len(header((2**31 - 1000,), "|u1")) + 2**31 - 1000)
    at = content.rindex(b"PK\x01\x02") + 20
    path.write_bytes(content[:at] + size + size + content[at + 8 :])


READ_IN_LITTLE_MEMORY = """
import resource, sys, zipfile
from covey.storage.archive import read_array
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 32 * 2**20,) * 2)
try:
    with zipfile.ZipFile(sys.argv[1]) as archive:
        read_array(archive, "a")
except ValueError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory of a process is limited as on Linux")
@pytest.mark.parametrize(
    "build",
    [lambda path: bomb(path, 1000 * 2**20), lambda path: bomb(path, 10), many_members, lying_directory],
    ids=["declared bomb", "hidden bomb", "many members", "lying directory"],
)
def test_an_attack_of_a_megabyte_is_refused_within_32_more(tmp_path, build):
    path = tmp_path / "attack.zip"
    build(path)
    assert path.stat().st_size < 1.2 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", READ_IN_LITTLE_MEMORY, path], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert f"or {MOST_RATIO} times its size" in done.stdout
