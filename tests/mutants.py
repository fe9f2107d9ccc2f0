"""Whether the tests notice mistakes: ``make mutants`` makes many, one at a time, and counts those that no test sees.

1. A *site* is a place in a function of one of the `PACKAGES` where one small mistake can be made: another operator, a
   negated condition, a number that is off by one, a statement that is left out, two arguments in the other order. It is
   known by the name of its function and by what stands there, and not by its file: the same site is found in another
   tree, in whichever file the function lies there.
2. A sample of all sites is drawn by a seed. With ``--beside TREE`` only sites that this tree has, too, are drawn, so
   that the same mistakes are made in both and their counts can be compared.
3. Each mistake is made in a copy of the tree, and the tests of its package are run until the first that fails. Those of
   the module come first, then those that name the function, then those that import the module.
4. A mutant is killed if a test fails, has survived if none does, and is stuck if the tests take far longer than before.

    python -m tests.mutants --mutants 150 --seed 0
    python -m tests.mutants --tree OLD --beside NEW; python -m tests.mutants --tree NEW --beside OLD

Compiled functions are compiled anew when they are changed, as are those that call them from other modules.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "similarity": ["tests/similarity", "tests/test_kernels.py", "tests/test_numerics.py"],
    "graph": ["tests/graph", "tests/test_kernels.py", "tests/test_numerics.py"],
    "coverage": ["tests/coverage", "tests/test_kernels.py", "tests/test_numerics.py"],
    "selectors": ["tests/selectors", "tests/test_kernels.py", "tests/test_numerics.py"],
    "persistence": ["tests/persistence"],
    "classifier": ["tests/test_classifier.py", "tests/test_rejection.py"],
}
"""The folders and modules of covey in which mistakes are made, and the tests of each."""
CLASSIFIER = ("classifier", "rejection", "features", "explanation")
"""The modules directly under covey that belong to the classifier, in any tree."""
PATIENCE = 3
"""How many times as long as without a mistake the tests may take."""
COMPILING = 120
"""Seconds beyond that, in which functions are compiled anew."""

COMPILED = re.compile(r"^@.*(?:njit|kernel).*\n(?:@.*\n)*def (\w+)", re.MULTILINE)
"""The names of compiled functions in the source of a module."""

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


@dataclass(frozen=True)
class Site:
    """A mistake in a function: what stands there, what will, and the how-manieth such place of the function it is."""

    package: str
    function: str
    before: str
    after: str
    number: int

    def __str__(self):
        return f"{self.function}: {shortened(self.before)} -> {shortened(self.after)}"


@dataclass(frozen=True)
class Place:
    """Where a site is in a tree: the file, and the offsets of the text that is replaced."""

    path: Path
    start: int
    end: int


class Tree:
    """A source tree and its sites."""

    def __init__(self, path):
        self.path = Path(path).resolve()
        self.package = self.path / "src" / "covey"
        python = self.path / ".venv" / "bin" / "python"
        self.python = str(python) if python.exists() else sys.executable

    @cached_property
    def sites(self):
        """{site: place} of all functions whose qualified names are unique."""
        found, times = {}, Counter()
        for package, path in self.modules():
            source = path.read_text()
            for name, function in functions_of(ast.parse(source)):
                times[name] += 1
                found.update(sites_of(package, name, function, path, source))
        return {site: place for site, place in found.items() if times[site.function] == 1}

    def modules(self):
        """Yield all modules in which mistakes are made, with their package."""
        for package in PACKAGES:
            for path in sorted((self.package / package).rglob("*.py")):
                if "old" not in path.relative_to(self.package).parts:
                    yield package, path
        for name in CLASSIFIER:
            if (path := self.package / f"{name}.py").exists():
                yield "classifier", path


def functions_of(tree):
    """Yield (qualified name, function) of all functions and methods of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def sites_of(package, name, function, path, source):
    """Yield all sites of a function and their places. What it refuses, and in which words, is left alone."""
    offsets = [0]
    for line in source.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    numbers, waiting = Counter(), list(function.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Raise | ast.FunctionDef | ast.Lambda | ast.ClassDef | ast.JoinedStr):
            continue
        for after in mistakes(node):
            before = ast.unparse(node)
            numbers[before, after] += 1
            start = offsets[node.lineno - 1] + node.col_offset
            end = offsets[node.end_lineno - 1] + node.end_col_offset
            yield Site(package, name, before, after, numbers[before, after]), Place(path, start, end)
        annotation = getattr(node, "annotation", None)
        waiting += [child for child in ast.iter_child_nodes(node) if child is not annotation]


def mistakes(node):
    """Yield what may stand instead of a node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield changed(node, ops=[COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield changed(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield repr(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield repr(node.value + 1)
    elif isinstance(node, ast.Call) and len(node.args) > 1 and ast.unparse(node.func) not in ("isinstance", "getattr"):
        yield changed(node, args=[node.args[1], node.args[0], *node.args[2:]])
    elif isinstance(node, ast.AugAssign | ast.Break | ast.Continue) or is_call_for_its_effect(node):
        yield "pass"


def is_call_for_its_effect(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def changed(node, **fields):
    """Return an expression with other parts as source text."""
    parts = {name: getattr(node, name) for name in node._fields} | fields
    return f"({ast.unparse(type(node)(**parts))})"


class Copy:
    """A copy of a tree in which mistakes are made and undone."""

    def __init__(self, tree):
        self.tree, self.folder = tree, Path(tempfile.mkdtemp(prefix="mutants-"))
        ignored = shutil.ignore_patterns(".git", ".venv*", ".mypy_cache", ".ruff_cache", "_build", "*.pyc")
        shutil.copytree(tree.path, self.folder, ignore=ignored, dirs_exist_ok=True)

    def close(self):
        shutil.rmtree(self.folder)

    def test(self, files, seconds=None):
        """Run tests until the first that fails; its name, empty if none does, and None if they take too long."""
        environment = {key: value for key, value in os.environ.items() if key != "COVEY_DATA"}
        environment |= {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        tests = subprocess.Popen(
            [self.tree.python, "-m", "pytest", "-x", "-q", "-rfE", "-n0", "-p", "no:cacheprovider", *files],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = tests.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(tests.pid, 9)
            tests.communicate()
            return None
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
        return "" if tests.returncode == 0 else failed[0] if failed else f"exit code {tests.returncode}: {said[-300:]}"

    def run(self, site, seconds):
        """Make a mistake, run the tests, and undo it."""
        place = self.tree.sites[site]
        path = self.folder / place.path.relative_to(self.tree.path)
        before, times = path.read_bytes(), path.stat()
        path.write_bytes(before[: place.start] + site.after.encode() + before[place.end :])
        caches = self.forget_compiled(path)
        try:
            return self.test(ordered(self.folder, site, path), seconds)
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            for cache, content in caches.items():  # what was compiled before fits again
                for made in cache.parent.glob(f"{cache.name.partition('-')[0]}-*.nb[ic]"):
                    made.unlink()
                cache.write_bytes(content)

    def forget_compiled(self, path):
        """Remove what is compiled from a module and from those that call its compiled functions; their files."""
        caches = {}
        for module in sorted(callers_of(self.folder / "src" / "covey", path)):
            for cache in module.parent.joinpath("__pycache__").glob(f"{module.stem}.*.nb[ic]"):
                caches[cache] = cache.read_bytes()
                cache.unlink()
        return caches


def callers_of(package, path):
    """Return a module and all those that import compiled functions of it, or of those again."""
    sources = {module: module.read_text() for module in package.rglob("*.py")}
    compiled = {module: COMPILED.findall(text) for module, text in sources.items()}
    found, waiting = {path}, [path]
    while waiting:
        names = compiled[waiting.pop()]
        for module, text in sources.items():
            if module not in found and compiled[module] and any(re.search(rf"\b{name}\b", text) for name in names):
                found.add(module)
                waiting.append(module)
    return found


def ordered(folder, site, path):
    """The files of tests of a package, the likeliest to notice a mistake first."""
    files = []
    for name in PACKAGES[site.package]:
        files += sorted((folder / name).rglob("test_*.py")) if (folder / name).is_dir() else [folder / name]
    module = ".".join(path.relative_to(folder / "src").with_suffix("").parts).removesuffix(".__init__")
    stem, function = module.rpartition(".")[2], site.function.rpartition(".")[2]

    def rank(file):
        text = file.read_text()
        likely = [stem in file.stem, re.search(rf"\b{function}\b", text), re.search(rf"\b{re.escape(module)}\b", text)]
        return [not sign for sign in likely]

    existing = [file for file in files if file.exists()]
    return [str(file.relative_to(folder)) for file in sorted(existing, key=rank)]


def draw(tree, beside, n, seed):
    """Return so many sites of the tree, shared by the packages as their sites are."""
    sites = set(tree.sites) if beside is None else moved(tree.sites, beside.sites)
    drawn = sorted(sites, key=lambda site: (site.function, site.before, site.after, site.number))
    return random.Random(seed).sample(drawn, min(n, len(drawn)))


def moved(sites, others):
    """Return the sites of a tree that another tree has, too, in whichever package."""
    known = {(site.function, site.before, site.after, site.number) for site in others}
    return {site for site in sites if (site.function, site.before, site.after, site.number) in known}


def shortened(text):
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:80]} ..."


def main(arguments=None):
    """Run the mutants and print what became of them."""
    asked = parser().parse_args(arguments)
    tree = Tree(asked.tree)
    sites = draw(tree, asked.beside and Tree(asked.beside), asked.mutants, asked.seed)
    if asked.only is not None:
        sites = [sites[number] for number in asked.only]
    copies = [Copy(tree) for _ in range(asked.jobs)]
    try:
        seconds = {package: time_without(copies[0], package) for package in sorted({site.package for site in sites})}
        with ThreadPoolExecutor(asked.jobs) as pool:
            shares = [sites[at :: asked.jobs] for at in range(asked.jobs)]
            fates = sum(pool.map(lambda copy, share: run_all(copy, share, seconds), copies, shares), Counter())
    finally:
        for copy in copies:
            copy.close()
    for package in PACKAGES:
        print(f"{package}: " + ", ".join(f"{fates[package, fate]} {fate}" for fate in ("killed", "survived", "stuck")))


def time_without(copy, package):
    """How long the tests of a package take without a mistake; they must pass."""
    start = time.monotonic()
    if failed := copy.test(ordered(copy.folder, Site(package, "", "", "", 0), copy.folder / "src" / "covey" / "x.py")):
        raise SystemExit(f"The tests of {package} fail without a mistake: {failed}")
    print(f"The tests of {package} take {time.monotonic() - start:.0f} s.", flush=True)
    return time.monotonic() - start


def run_all(copy, sites, seconds):
    """Run mutants one after the other and count what became of them, by package."""
    fates = Counter()
    for site in sites:
        start = time.monotonic()
        failed = copy.run(site, COMPILING + PATIENCE * seconds[site.package])
        fate = "stuck" if failed is None else "killed" if failed else "survived"
        fates[site.package, fate] += 1
        print(f"{fate:8} {time.monotonic() - start:4.0f} s  {site}  {failed or ''}", flush=True)
    return fates


def parser():
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=150, help="how many mistakes are made (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="other seeds draw other mistakes")
    parser.add_argument("--tree", default=ROOT, help="the source tree, by default this one")
    parser.add_argument("--beside", help="another tree, which must have the same functions")
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants are run at a time")
    parser.add_argument("--only", type=int, nargs="+", help="the numbers of the drawn mutants to run")
    return parser


if __name__ == "__main__":
    sys.exit(main())
