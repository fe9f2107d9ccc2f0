"""Functions of the user's own, named by their file: found from any folder, sent to processes, refused in words."""

import sys
from pathlib import Path

import pytest

from covey.cli.similarity_option import function_of, is_same
from tests.cli.commands import iris, one_line, piped, run_here

NEAR = "def near(a, b):\n    return 1 / (1 + abs(a['petal_length'] - b['petal_length']))\n"


@pytest.fixture(autouse=True)
def modules_as_before(monkeypatch):
    """Modules that a test imports are forgotten after it, and so are their folders."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("own_"):
            del sys.modules[name]


def written(path, text):
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text)
    return path


def test_a_function_is_named_by_its_file_and_selects_as_by_its_module(run):
    iris().to_csv("iris.csv", index=False)
    written("own_near.py", NEAR)
    written("code/own_there.py", NEAR)
    for at, similarity in enumerate(
        ("own_near:near", "own_near.py:near", "./own_near.py:near", "code/own_there.py:near")
    ):
        code, _, err = run("select", "iris.csv", "-l", "species", "-s", similarity, "-o", f"{at}.csv", "-m", f"{at}")
        assert code == 0, err
    assert len({Path(f"{at}.csv").read_text() for at in range(4)}) == 1


def test_a_model_is_used_from_another_folder_by_naming_the_file_again(run, monkeypatch, folder):
    iris().to_csv("iris.csv", index=False)
    written("code/own_far.py", NEAR)
    run("select", "iris.csv", "-l", "species", "-s", "code/own_far.py:near", "-o", "few.csv", "-m", "m")
    code, _, err = run("classify", "iris.csv", "-m", "m", "-o", "a.csv")
    assert (code, "pass --similarity code/own_far.py:near again" in one_line(err)) == (1, True)
    assert run("classify", "iris.csv", "-m", "m", "-s", "code/own_far.py:near", "-o", "a.csv")[0] == 0
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    done = run("classify", "../iris.csv", "-m", "../m", "-s", "../code/own_far.py:near", "-o", "b.csv")
    assert done[0] == 0, done
    assert Path("b.csv").read_text() == Path("../a.csv").read_text()
    assert run("inspect", "../m")[0] == 0
    written("own_other.py", NEAR)
    code, _, err = run("classify", "../iris.csv", "-m", "../m", "-s", "own_other.py:near", "-o", "c.csv")
    assert (code, "was made with --similarity code/own_far.py:near, got own_other.py:near" in one_line(err)) == (
        1,
        True,
    )


SLOW = """
import os, time
from own_helper import log

def slow(a, b):
    time.sleep(2e-3)
    log(os.getpid())
    return 1 / (1 + abs(a['a'] - b['a']))
"""
HELPER = """
import os

def log(pid):
    if not os.path.exists(f"pids/{pid}"):
        open(f"pids/{pid}", "w").close()
"""


def test_other_processes_find_the_file_and_what_lies_beside_it(folder):
    written("code/own_slow.py", SLOW)
    written("code/own_helper.py", HELPER)
    Path("pids").mkdir()
    Path("t.csv").write_text("a\n" + "\n".join(map(str, range(60))) + "\n")
    words = ["select", "t.csv", "-s", "code/own_slow.py:slow"]
    code, _, err = run_here([*words, "-j", "1", "-o", "1.csv"])
    assert code == 0
    two = piped(*words, "-j", "2", "-o", "2.csv")
    assert (two.returncode, two.stderr) == (0, err)
    assert "cannot be sent" not in err
    assert Path("1.csv").read_text() == Path("2.csv").read_text()
    assert len(list(Path("pids").iterdir())) > 2  # the two commands themselves, and workers of the second one


@pytest.mark.parametrize(
    ("text", "similarity", "message"),
    [
        (None, "own_absent.py:near", "own_absent.py: no such file"),
        (NEAR, "own_bad.py:far", "own_bad.py has no function 'far'"),
        ("near = 3\n", "own_bad.py:near", "near must be a function of two objects, got int"),
        ("import math\n\nmath.sqrt(-1)\n", "own_bad.py:near", "own_bad.py, line 3: ValueError: "),
        ("def near(a, b:\n    return 1\n", "own_bad.py:near", "own_bad.py, line 1: SyntaxError: "),
        ("import own_missing\n", "own_bad.py:near", "line 1: ModuleNotFoundError: No module named 'own_missing'"),
        (NEAR, "own_bad:far", "own_bad has no function 'far'"),
        ("1 / 0\n", "own_bad:near", "own_bad.py, line 1: ZeroDivisionError: division by zero; the module must lie in"),
    ],
)
def test_what_is_wrong_with_a_function_is_said_in_words(run, text, similarity, message):
    iris().to_csv("iris.csv", index=False)
    if text is not None:
        written("own_bad.py", text)
    code, _, err = run("select", "iris.csv", "-s", similarity, "-o", "few.csv")
    assert code == 1
    assert f"--similarity {similarity}: " in one_line(err)
    assert message in err


@pytest.mark.parametrize("name", ["json", "sys", "covey"])
def test_a_file_that_is_called_like_another_module_is_refused(folder, name):
    written(f"code/{name}.py", NEAR)
    with pytest.raises(ValueError, match=f"another module that is called {name}; give the file another name"):
        function_of(f"code/{name}.py:near")


@pytest.mark.parametrize("similarity", [":near", "own.py:", "own.py", "own/near"])
def test_half_a_name_is_wrong_usage(run, similarity):
    iris().to_csv("iris.csv", index=False)
    written("own.py", NEAR)
    code, _, err = run("select", "iris.csv", "-s", similarity, "-o", "few.csv")
    assert (code, "module:function or path/to/file.py:function" in one_line(err)) == (2, True)


def test_the_same_function_may_be_named_from_another_folder():
    assert is_same("code/near.py:s", "/home/me/code/near.py:s")
    assert is_same("near:s", "./near.py:s")
    assert not is_same("near.py:s", "near.py:t")
    assert not is_same("near.py:s", "far.py:s")
    assert not is_same("cosine", "near.py:cosine")


def test_a_similarity_object_may_stand_in_a_file(run):
    iris().to_csv("iris.csv", index=False)
    written("own_object.py", f"import covey\n\n{NEAR}\nboth = covey.Similarity(near, symmetric=False)\n")
    assert run("select", "iris.csv", "-l", "species", "-s", "own_object.py:both", "-o", "few.csv")[0] == 0
