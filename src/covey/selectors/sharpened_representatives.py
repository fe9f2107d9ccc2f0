"""The representatives of all classes together, with the exact best ones of every object."""

import numpy as np

from covey.arrays import Flags, Floats, Indices, Positions
from covey.graph.exact import nearest
from covey.graph.sides import Sides
from covey.selectors.sharpened_lists import AROUND, Lists, draw_pool, nearest_of_pool, on_two_sides
from covey.selectors.sharpened_search import OWN, State, begin, costs, exchange, grow, look_up_all, refresh, total_loss
from covey.similarity.collection import Collection
from covey.similarity.sums import unit_of

N_BEST = 8
"""How many representatives of each side are kept for an object, so that it has others to fall back on when some are
taken away. If all of them are gone, the object is compared with all representatives again. No comparison with other
values is on record."""

TOGETHER = 32
"""At most this many representatives, and at most one in this many, are exchanged before all objects are compared with
the new ones. Until then only the objects that list a new one know of it. If it turns out then that the loss has risen,
the exchanges are undone, and these objects are not chosen again in the same round. No comparison with other values is
on record."""

SHRINK_BY = 20
"""At most one in this many representatives is dropped before the costs of the others are computed anew. No comparison
with other values is on record."""


class RepresentativeSet:
    """The representatives of all classes. They can be exchanged, dropped and added.

    Parameters
    ----------
    collection : Collection
        All objects.
    classes, weights : arrays
        The class of each object, and how much its loss counts.
    lists : Lists
        The nearest others of each object.
    representatives : int array
        The objects to begin with, at least one of each class.
    n_jobs : int or None
        How many threads or processes may compute similarities.
    compared : bool, default=True
        Whether every object is compared with every representative, so that its best ones are exact. If not, its best
        ones are those in its list, and all others count as the floor of the list.
    kept : int array, optional
        Those of the objects to begin with that are neither exchanged nor dropped.

    Attributes
    ----------
    n_evaluations : int
        How many similarities were computed so far.
    """

    def __init__(
        self,
        collection: Collection,
        classes: Positions,
        weights: Floats,
        lists: Lists,
        representatives: Positions,
        n_jobs: int | None,
        compared: bool = True,
        kept: Positions | None = None,
    ) -> None:
        n = classes.size
        self._kept: Flags = np.isin(np.arange(n), [] if kept is None else kept)
        self._collection, self._lists, self._n_jobs = collection, lists, n_jobs
        self._sides = Sides(classes, min(N_BEST, n)) if compared else None
        best = on_two_sides(lists, classes) if self._sides is None else self._sides.lists
        self._state = State(
            classes=classes,
            weights=weights,
            chosen=np.zeros(n, dtype=np.bool_),
            listed=best.indices.reshape(n, 2, -1),
            similarities=best.similarities.reshape(n, 2, -1),
            floors=np.full(n, -np.inf) if compared else lists.floors,
            best=np.empty((n, 2), dtype=np.int32),
            best_similarity=np.empty((n, 2)),
            gains=np.empty(n),
            refused=np.zeros(n, dtype=np.bool_),
            heads=np.empty((2, n), dtype=np.int32),
            after=np.empty((2, n), dtype=np.int32),
            before=np.empty((2, n), dtype=np.int32),
            n_chosen=np.zeros(int(classes.max()) + 1, dtype=np.int64),
        )
        self._met = np.full(n, not compared)  # the objects that need not be compared with all others any more
        self.n_evaluations = 0
        self.replace_all(representatives)

    def draw_pool(self, k: int, rng: np.random.Generator) -> None:
        """Replace the lists by the k nearest of a new pool around the present representatives."""
        around = self._collection.take(self.indices).against(self._collection, self._n_jobs)
        near = nearest(around, min(AROUND, self._state.classes.size)).indices
        pool = draw_pool(near, self._state.classes, self.indices, rng)
        space = self._collection.against(self._collection.take(pool), self._n_jobs)
        self._lists = nearest_of_pool(space, pool, k)
        self.n_evaluations += around.n_evaluations + space.n_evaluations

    @property
    def indices(self) -> Positions:
        """The representatives, in ascending order."""
        return np.flatnonzero(self._state.chosen)

    def unit(self) -> float:
        """Return a power of 2 in which margins and their squares have floats; 1 for usual similarities."""
        known = self._state.best_similarity
        return unit_of(known[np.isfinite(known)])

    def margins(self, unit: float) -> Floats:
        """The margin of each object in this unit; of a representative, the one that it would have if it were none."""
        own, other = self._state.best_similarity.T
        return own / unit - other / unit

    def best_own(self) -> Indices:
        """Return the best representative of its own class for each object, which a representative is for itself.

        Objects that know none are compared with all representatives of their class.
        """
        state = self._state
        unknown = state.best_similarity[:, OWN] <= state.floors  # others may be nearer than what is below the floor
        best = np.where(unknown, np.int32(-1), state.best[:, OWN])
        best = np.where(state.chosen, np.arange(best.size, dtype=np.int32), best)
        for number in np.unique(state.classes[best < 0]):
            rows = np.flatnonzero((best < 0) & (state.classes == number))
            representatives = np.flatnonzero(state.chosen & (state.classes == number))
            space = self._collection.take(rows).against(self._collection.take(representatives), self._n_jobs)
            best[rows] = representatives[nearest(space, 1).indices[:, 0]]
            self.n_evaluations += space.n_evaluations
        return best

    def loss(self, temperature: float) -> float:
        """Return the loss of all objects that are no representatives."""
        return float(total_loss(self._state, temperature))

    def replace_all(self, representatives: Positions) -> None:
        """Let these objects, and no others, be representatives."""
        state = self._state
        state.chosen[:] = False
        state.chosen[representatives] = True
        state.n_chosen[:] = np.bincount(state.classes[representatives], minlength=state.n_chosen.size)
        self._compare_with(representatives)
        look_up_all(state)
        if self._compare_anew():
            look_up_all(state)

    def sweep(self, temperature: float, rng: np.random.Generator) -> int:
        """Try to exchange each representative once, in random order, but for those to keep; return how many were."""
        state, n_exchanged = self._state, 0
        state.refused[:] = False
        begin(state, self._lists, temperature)
        order = rng.permutation(self.indices[~self._kept[self.indices]])
        together = int(np.clip(order.size // TOGETHER, 1, TOGETHER))
        for start in range(0, order.size, together):
            before, loss = self.indices, self.loss(temperature)
            added = np.empty(together, dtype=np.intp)
            n = exchange(state, self._lists, order[start : start + together], temperature, added)
            self._update(added[:n], temperature)
            if self.loss(temperature) > loss:
                state.refused[added[:n]] = True
                self.replace_all(before)
                begin(state, self._lists, temperature)
            else:
                n_exchanged += n
        return n_exchanged

    def resize(self, size: int, temperature: float) -> None:
        """Drop the representatives that cost least, or add the objects that gain most, until there are `size`."""
        begin(self._state, self._lists, temperature)
        while self.indices.size > size:
            self._shrink(min(self.indices.size - size, 1 + self.indices.size // SHRINK_BY), temperature)
        while self.indices.size < size:
            added = np.empty(min(TOGETHER, size - self.indices.size), dtype=np.intp)
            n = grow(self._state, self._lists, temperature, added)
            self._update(added[:n], temperature)

    def _shrink(self, n: int, temperature: float) -> None:
        """Drop the n representatives that cost least, of equal ones the first. Every class keeps one.

        There must be so many that need not be kept.
        """
        state, chosen = self._state, self.indices
        order = chosen[np.argsort(costs(state, temperature)[chosen], kind="stable")]
        for r in order[~self._kept[order]]:
            if n > 0 and state.n_chosen[state.classes[r]] > 1:
                state.chosen[r] = False
                state.n_chosen[state.classes[r]] -= 1
                n -= 1
        begin(state, self._lists, temperature)
        if self._compare_anew():
            begin(state, self._lists, temperature)

    def _update(self, added: Positions, temperature: float) -> None:
        """Compare all objects with the representatives that were added, and bring the gains up to date."""
        self._compare_with(added)
        refresh(self._state, self._lists, temperature)
        if self._compare_anew():
            refresh(self._state, self._lists, temperature)

    def _compare_with(self, representatives: Positions) -> None:
        """Offer representatives to the lists of all objects, unless this was done before."""
        new = np.unique(representatives[~self._met[representatives]])
        if new.size:
            every = np.arange(self._met.size, dtype=np.int32)
            self._offer(self._collection, every, new)
            self._met[new] = True

    def _compare_anew(self) -> bool:
        """Compare the objects that have no best representative left on a side with all representatives.

        Return whether there are any. A representative that is the only one of its class has none beside itself.
        """
        if self._sides is None:
            return False
        state = self._state
        alone = state.chosen & (state.n_chosen[state.classes] == 1)
        gone = state.best < 0
        gone[alone, OWN] = False
        rows = np.flatnonzero(gone.any(axis=1)).astype(np.int32)
        if rows.size:
            self._sides.clear(rows)
            self._offer(self._collection.take(rows.astype(np.intp)), rows, self.indices)
            self._met &= state.chosen  # these objects do not know the former representatives any more
        return rows.size > 0

    def _offer(self, left: Collection, rows: Indices, representatives: Positions) -> None:
        if self._sides is not None:
            space = left.against(self._collection.take(representatives), self._n_jobs)
            self._sides.offer(space, rows, representatives.astype(np.int32))
            self.n_evaluations += space.n_evaluations
