"""Every public name says what it does, in numpydoc's format, and shows how it is used.

numpydoc checks the format. A result that users only read, which is a frozen dataclass, documents its fields as
attributes; everything else documents the parameters of its signature. A method that overrides another one and says
nothing of its own has the docstring of the other, which is checked where it stands.
"""

import dataclasses
import importlib
import inspect
import types

import pytest
from numpydoc import validate

import covey

LEFT_OUT = {
    "GL01": "texts begin in the line of the quotes",
    "GL02": "texts may end in that line as well",
    "ES01": "one sentence may say everything",
    "SA01": "not everything has relatives",
    "RT02": "a result may have a name although it is the only one",
}
"""numpydoc's checks that are not made, and why."""

SHOWN_BY = {"covey.cover": "covey.Cover", "covey.neighbor_graph": "covey.NeighborGraph"}
"""Functions of so many parameters that their examples stand in the docstring of what they return."""

MODULES = ["covey", "covey.dask", "covey.datasets", "covey.typing"]
"""The modules whose public names are checked. `covey.displays`, `covey.evaluation` and `covey.experiments` are not."""
ELSEWHERE = {name for name in covey.__all__ if getattr(covey, name).__module__.startswith("covey.displays")}


def public_names():
    """{dotted name: object} of all public names."""
    modules = {path: importlib.import_module(path) for path in MODULES}
    return {
        f"{path}.{name}": getattr(module, name)
        for path, module in modules.items()
        for name in sorted(module.__all__)
        if not (path == "covey" and name in ELSEWHERE)
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
ALIASES = [path for path, thing in NAMES.items() if isinstance(thing, types.UnionType)]
"""Types that are made of others. They can hold no docstring, so that their module speaks for them."""
DOCUMENTED = sorted({*NAMES} - {*ALIASES})
METHODS = {path: function for name, cls in CLASSES.items() for path, function in methods(name, cls).items()}


def faults(path, left_out=()):
    """What numpydoc finds wrong with a docstring, as sentences."""
    found = validate.validate(path)["errors"]
    return [f"{code}: {text}" for code, text in found if code not in {*LEFT_OUT, *left_out}]


@pytest.mark.parametrize("path", DOCUMENTED)
def test_a_public_name_is_documented_and_has_an_example(path):
    cls = CLASSES.get(path)
    only_read = cls is not None and dataclasses.is_dataclass(cls)
    is_protocol = cls is not None and getattr(cls, "_is_protocol", False)  # it has no constructor of its own
    left_out = {"PR01"} if only_read or is_protocol else {"EX01"} if path in SHOWN_BY else ()
    assert faults(path, left_out) == []


@pytest.mark.parametrize(("path", "shown_by"), SHOWN_BY.items())
def test_examples_of_a_long_function_stand_in_the_docstring_of_its_result(path, shown_by):
    assert f"{path}(" in CLASSES[shown_by].__doc__.partition("Examples\n")[2]
    assert "has examples" in NAMES[path].__doc__


@pytest.mark.parametrize("path", [path for path, cls in CLASSES.items() if dataclasses.is_dataclass(cls)])
def test_all_fields_of_a_result_are_documented(path):
    documentation = validate.Validator(validate.get_doc_object(CLASSES[path]))
    told = {*documentation.doc_all_parameters, *_attributes(documentation)}
    assert {field.name for field in dataclasses.fields(CLASSES[path])} <= told


def _attributes(documentation):
    """The names in the section Attributes, of which one line may hold several."""
    return {name for line in documentation.doc["Attributes"] for name in line.name.split(", ")}


@pytest.mark.parametrize("path", [path for path, function in METHODS.items() if function.__doc__])
def test_a_public_method_is_documented(path):
    assert faults(path, left_out={"EX01"}) == []


def test_a_method_without_a_docstring_has_that_of_the_method_it_overrides():
    silent = [path for path, function in METHODS.items() if not function.__doc__]
    for path in silent:
        cls, _, name = path.rpartition(".")
        assert inspect.getdoc(getattr(CLASSES[cls], name)), path


def test_the_module_of_types_names_those_that_can_hold_no_docstring():
    for path in ALIASES:
        module, _, name = path.rpartition(".")
        assert f"`{name}` is what may be passed" in importlib.import_module(module).__doc__


def test_only_displays_are_left_to_others():
    assert {"CoverageDisplay", "PrototypeMapDisplay"} == ELSEWHERE
