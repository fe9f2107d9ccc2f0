"""Every public name says what it does, in numpydoc's format, and shows how it is used.

numpydoc checks the format. A dataclass, which users read and sometimes make, documents its fields as attributes;
everything else documents the parameters of its signature. A method that overrides another one and says nothing of its
own has the docstring of the other, which is checked where it stands. Tables of data and types that are made of others
can hold no docstring, so that the page of the API describes them.
"""

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest
from numpydoc import validate

from tests.test_package import PUBLIC_MODULES

LEFT_OUT = {
    "GL01": "texts begin in the line of the quotes",
    "GL02": "texts may end in that line as well",
    "ES01": "one sentence may say everything",
    "SA01": "not everything has relatives",
    "RT02": "a result may have a name although it is the only one",
}
"""numpydoc's checks that are not made, and why."""

MODULES = ["covey", *(f"covey.{name}" for name in PUBLIC_MODULES)]
"""The modules whose public names are checked: all of them."""
API = Path(__file__).parent.parent / "docs" / "api.rst"
"""The page that lists every public name."""


def public_names():
    """{dotted name: object} of all public names."""
    modules = {path: importlib.import_module(path) for path in MODULES}
    return {
        f"{path}.{name}": getattr(module, name) for path, module in modules.items() for name in sorted(module.__all__)
    }


def methods(path, cls):
    """{dotted name: function} of the public methods and properties of a class that covey defines itself."""
    found = {}
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        function = getattr(member, "__func__", None) or getattr(member, "fget", None) or getattr(member, "func", member)
        if not name.startswith("_") and inspect.isfunction(function) and function.__module__.startswith("covey."):
            found[f"{path}.{name}"] = function
    return found


NAMES = public_names()
CLASSES = {path: thing for path, thing in NAMES.items() if inspect.isclass(thing)}
DATA = [path for path, thing in NAMES.items() if not (inspect.isclass(thing) or inspect.isfunction(thing))]
"""Types that are made of others, dicts and tuples. They can hold no docstring."""
DOCUMENTED = sorted({*NAMES} - {*DATA})
METHODS = {path: function for name, cls in CLASSES.items() for path, function in methods(name, cls).items()}


def faults(path, left_out=()):
    """What numpydoc finds wrong with a docstring, as sentences."""
    found = validate.validate(path)["errors"]
    return [f"{code}: {text}" for code, text in found if code not in {*LEFT_OUT, *left_out}]


@pytest.mark.parametrize("path", DOCUMENTED)
def test_a_public_name_is_documented_and_has_an_example(path):
    cls = CLASSES.get(path)
    has_fields = cls is not None and dataclasses.is_dataclass(cls)
    is_protocol = cls is not None and getattr(cls, "_is_protocol", False)  # it has no constructor of its own
    assert faults(path, left_out={"PR01"} if has_fields or is_protocol else ()) == []


@pytest.mark.parametrize("path", [path for path, cls in CLASSES.items() if dataclasses.is_dataclass(cls)])
def test_all_fields_of_a_dataclass_are_described(path):
    documentation = validate.Validator(validate.get_doc_object(CLASSES[path]))
    told = {*documentation.doc_all_parameters, *_attributes(documentation)}
    assert {field.name for field in dataclasses.fields(CLASSES[path])} <= told


def _attributes(documentation):
    """The names that the section Attributes describes. One line may hold several of them."""
    return {name for line in documentation.doc["Attributes"] if line.desc for name in line.name.split(", ")}


@pytest.mark.parametrize("path", [path for path, function in METHODS.items() if function.__doc__])
def test_a_public_method_is_documented(path):
    assert faults(path, left_out={"EX01"}) == []


def test_a_method_without_a_docstring_has_that_of_the_method_it_overrides():
    silent = [path for path, function in METHODS.items() if not function.__doc__]
    for path in silent:
        cls, _, name = path.rpartition(".")
        assert inspect.getdoc(getattr(CLASSES[cls], name)), path


@pytest.mark.parametrize("path", DATA)
def test_the_page_of_the_api_describes_what_can_hold_no_docstring(path):
    """`test_the_api_has_every_public_name_once` checks that the page has all other names as well."""
    module, _, name = path.rpartition(".")
    section = API.read_text().partition(f".. currentmodule:: {module}\n")[2].partition(".. currentmodule::")[0]
    assert re.search(rf"^\.\. py:data:: {name}\n(   :type: .+\n)?\n   \S.+\.$", section, re.MULTILINE)


def test_the_module_of_types_names_those_that_can_hold_no_docstring():
    for path in (path for path in DATA if path.startswith("covey.typing.")):
        module, _, name = path.rpartition(".")
        assert f"`{name}` is what may be passed" in importlib.import_module(module).__doc__
