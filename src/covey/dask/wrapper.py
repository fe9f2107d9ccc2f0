"""What the wrappers of this package have in common, and the one of a prototype.

A wrapper stands for an object of one process. What only one process can do is not there, and says the remedy.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from covey.arrays import Floats, Positions
from covey.prototype import Prototype


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


@dataclass(frozen=True, eq=False, repr=False)
class DistributedPrototype(Wrapper):
    """The representatives of one cluster and how they were found.

    The attributes are those of `covey.Prototype`, but `members` and `covered_by`, which are as long as the cluster, are
    dask arrays.
    """

    label: Hashable
    members: Any
    indices: Positions
    gains: Floats
    coverage: float
    covered_by: Any
    homogeneity: float
    threshold: float
    n_evaluations: int
    scan_rate: float
    n_orphans: int

    _local: ClassVar[type] = Prototype

    @classmethod
    def of(cls, prototype: Prototype, **changes: Any) -> Self:
        """Make it of a prototype, with other values of some attributes."""
        return cls(**{**vars(prototype), **changes})

    __repr__ = Prototype.__repr__
