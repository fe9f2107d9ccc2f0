"""What `make dist` puts into dist/: a wheel, a source archive, a bill of materials, and the checksums of all of them.
`make test-wheel` runs the tests on the first two.

1. `build` clones the last commit into two folders and builds the package in both, in surroundings that differ in all
   that must not matter. The files of the two must have the same bytes, else nothing is written.
2. `bill` takes the list of installed packages that cyclonedx-py has made, and leaves out addresses, which change
   without any change of the packages.
3. `sums` writes the checksums, in the form that `sha256sum --check` reads.
4. `run_tests` builds both files, installs the wheel into a new environment, and runs the tests of the source archive
   there. The source itself is not in reach, so that all that the wheel lacks is missed.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
SURROUNDINGS = {
    "here": {"umask": 0o022, "TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "1", "age": 0},
    "there/somewhere else": {
        "umask": 0o077,
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "2",
        "age": 1e8,
    },
}
"""Two folders to build in, and what else differs there; `age` is how many seconds older the files seem to be."""


def build(out=None):
    """Build the package twice; if both times gave the same, keep the files in a folder, and return their checksums."""
    with tempfile.TemporaryDirectory() as folder:
        built = [_build_in(Path(folder, name), **settings) for name, settings in SURROUNDINGS.items()]
        first, second = (_digests(files) for files in built)
        if first != second:
            differing = [name for name in first if first[name] != second.get(name)]
            raise SystemExit(f"the build is not reproducible: {', '.join(differing)} differ between two folders.")
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            for file in built[0]:
                shutil.copyfile(file, out / file.name)
    return first


def _build_in(folder, umask, age, **environment):
    """The wheel and the source archive of a fresh clone of the last commit, with the date of that commit."""
    source, out = folder / "source", folder / "out"
    subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
    date = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=source, check=True, capture_output=True, text=True)
    for path in source.rglob("*"):
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", out],
        cwd=source,
        env={**os.environ, **environment, "SOURCE_DATE_EPOCH": date.stdout.strip()},
        umask=umask,
        check=True,
        capture_output=True,
    )
    return sorted(out.iterdir())


def _digests(files):
    """The checksum of each file by its name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def run_tests(*options):
    """Run pytest with these options on the installed wheel, and return its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        build(out := Path(folder, "dist"))
        tree = unpack(out, Path(folder, "archive"))
        shutil.rmtree(tree / "src")
        python = _installed(out, Path(folder, "environment"))
        elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        imported = [python, "-c", "import covey; print(covey.__file__)"]
        place = subprocess.run(imported, cwd=tree, env=elsewhere, check=True, capture_output=True, text=True).stdout
        if "site-packages" not in place:
            raise SystemExit(f"the tests would run on {place.strip()} instead of the installed wheel.")
        return subprocess.run([python, "-m", "pytest", *options], cwd=tree, env=elsewhere).returncode


def unpack(out, folder):
    """Unpack the one source archive that is there, and return where its content lies."""
    (archive,) = out.glob("covey-*.tar.gz")
    with tarfile.open(archive) as file:
        # Python 3.11.4 brought the filter, and Python 3.14 applies it without being asked.
        file.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        file.extractall(folder)
    (tree,) = folder.iterdir()
    return tree


def _installed(out, environment):
    """The Python of a new environment that has the one wheel which is there, and all that its tests need."""
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    (wheel,) = out.glob("covey-*.whl")
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"covey[dev] @ {wheel.as_uri()}"], check=True)
    return python


def bill(raw, out):
    """Write the bill of materials: names, versions, licenses and who needs whom."""
    content = _without_addresses(json.loads(raw.read_text()))
    content["metadata"]["component"]["version"] = _version(out)  # cyclonedx-py knows fixed versions only
    (out / f"covey-{_version(out)}.cdx.json").write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")


def _version(out):
    """The version in the name of the one wheel that is there."""
    (wheel,) = out.glob("covey-*.whl")
    return wheel.name.split("-")[1]


def _without_addresses(value):
    """The same JSON value without the lists of addresses of pages in the web."""
    if isinstance(value, list):
        return [_without_addresses(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_addresses(item) for key, item in value.items() if key != "externalReferences"}
    return value


def sums(out):
    """Write the checksums of all files."""
    name = "SHA256SUMS"
    digests = _digests(file for file in sorted(out.iterdir()) if file.name != name)
    (out / name).write_text("".join(f"{digest}  {file}\n" for file, digest in digests.items()))


if __name__ == "__main__":
    step, *words = sys.argv[1:]
    if step == "test":
        raise SystemExit(run_tests(*words))
    result = {"build": build, "bill": bill, "sums": sums}[step](*map(Path, words))
    for file, digest in (result or {}).items():
        print(f"{digest}  {file}")
