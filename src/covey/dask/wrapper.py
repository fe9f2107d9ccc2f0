"""What the wrappers of this package have in common: what only one process can do is not there, and says the remedy."""

from typing import TYPE_CHECKING, Any, ClassVar


class Wrapper:
    """Stands for an object of one process, and lacks those of its attributes that need all data there.

    `_local` is the class of that object. An error about one of its public attributes names `to_local`.
    """

    _local: ClassVar[type]

    if not TYPE_CHECKING:  # mypy is to report attributes that are not there

        def __getattr__(self, name: str) -> Any:
            remedy = ""
            if not name.startswith("_") and hasattr(self._local, name):
                remedy = " on a cluster; call to_local() of the fitted selector or classifier, and use what it returns"
            raise AttributeError(f"{type(self).__name__} has no {name}{remedy}", name=name, obj=self)
