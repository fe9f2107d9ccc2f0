"""covey picks the few objects that stand for the many.

    X + similarity -> collection -> space -> neighbor graph -> coverage -> prototypes -> classifier
    similarity/                              graph/            coverage/   selectors/    classifier.py

Public names load when they are first used, so that ``import covey`` alone costs next to nothing. The file
``__init__.pyi`` beside this one is their only list: type checkers read it as it is, and the code below reads it when it
is first needed, for lazy loading, for ``__all__`` and for ``dir(covey)``. A line in that file makes a name public.
"""

__version__ = "0.2.0.dev0"

_exports: dict[str, str] = {}


def _read_exports() -> dict[str, str]:
    """Return the module that each public name is imported from, as ``__init__.pyi`` lists them."""
    if not _exports:
        import ast

        stub = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi")  # a loader can also read from a zip archive
        imports = (line for line in ast.parse(stub).body if isinstance(line, ast.ImportFrom))
        _exports.update((name.name, line.module) for line in imports for name in line.names)
    return _exports


def __getattr__(name: str) -> object:
    exports = _read_exports()
    if name == "__all__":
        return sorted(name for name, module in exports.items() if module != __name__)
    if name not in exports:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = exports[name]
    if module == __name__:  # the name is a public module of its own, such as covey.datasets
        return import_module(f"{__name__}.{name}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return [*_read_exports(), "__version__"]
