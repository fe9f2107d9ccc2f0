"""A prototype whose members stay on the cluster."""

from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from covey.arrays import Floats, Positions
from covey.dask.wrapper import Wrapper
from covey.prototype import Prototype


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

    def to_local(self, **changes: Any) -> Prototype:
        """Return a prototype, given its members and what covers them as NumPy arrays."""
        return Prototype(**{**{field.name: getattr(self, field.name) for field in fields(self)}, **changes})

    def __repr__(self) -> str:
        return repr(self.to_local())
