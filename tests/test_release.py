"""The files of a release: built alike everywhere, complete, and free of what is only true of one machine."""

import calendar
import json
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

import covey
from tests import release
from tests.oldest import PROJECT

pytest.importorskip("hatchling", reason="needs the extra dev")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A build of the last commit, which stops if two builds differ."""
    if subprocess.run(["git", "rev-parse", "HEAD"], cwd=release.ROOT, capture_output=True).returncode != 0:
        pytest.skip("needs a clone of the repository")
    out = tmp_path_factory.mktemp("dist")
    release.build(out)
    return out


def test_two_builds_in_different_surroundings_have_the_same_bytes(built):
    names = [path.name for path in sorted(built.iterdir())]
    assert names == [f"covey-{covey.__version__}-py3-none-any.whl", f"covey-{covey.__version__}.tar.gz"]


def test_a_build_that_differs_is_refused(monkeypatch, tmp_path):
    def odd(folder, **settings):
        folder.mkdir(parents=True)
        (folder / "covey.whl").write_text(str(folder))
        return [folder / "covey.whl"]

    monkeypatch.setattr(release, "_build_in", odd)
    with pytest.raises(SystemExit, match=r"^the build is not reproducible: covey\.whl differ between two folders\.$"):
        release.build(tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def test_the_wheel_holds_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"covey"}
    tracked = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD", "src/"], cwd=release.ROOT, capture_output=True, text=True
    )
    assert {name.removeprefix("src/") for name in tracked.stdout.splitlines()} == {
        name for name in names if name.startswith("covey/")
    }


def test_the_source_archive_holds_the_tests_and_the_documents(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "Makefile", "tests/release.py", "docs/architecture.md"} <= names


def test_the_source_archive_builds_the_same_wheel(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path / "again"]
    with zipfile.ZipFile(wheel) as archive:
        date = calendar.timegm((*archive.infolist()[0].date_time, 0, 0, 0))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(date)}
    tree = release.unpack(built, tmp_path / "archive")
    subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True)
    assert (tmp_path / "again" / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_bill_of_materials_names_versions_and_no_addresses(tmp_path):
    (tmp_path / f"covey-{covey.__version__}-py3-none-any.whl").touch()
    page = [{"type": "website", "url": "https://example.org"}]
    component = {"name": "numpy", "version": "2.0.1", "purl": "pkg:pypi/numpy@2.0.1", "externalReferences": page}
    raw = tmp_path / "raw.json"
    raw.write_text(json.dumps({"metadata": {"component": {"name": "covey"}}, "components": [component]}))
    release.bill(raw, tmp_path)
    bill = json.loads((tmp_path / f"covey-{covey.__version__}.cdx.json").read_text())
    assert bill["metadata"]["component"] == {"name": PROJECT["name"], "version": covey.__version__}
    assert bill["components"] == [{"name": "numpy", "version": "2.0.1", "purl": "pkg:pypi/numpy@2.0.1"}]


def test_checksums_are_those_of_all_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    for _ in range(2):
        release.sums(tmp_path)
    assert (tmp_path / "SHA256SUMS").read_text() == (
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n"
        "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b\n"
    )
