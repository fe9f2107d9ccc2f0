"""The compiled search of `Sharpened`: representatives are exchanged one by one for better objects.

The loss of an object is a smooth form of its error: 1 / (1 + exp(margin / T)). Its margin is its similarity to the best
representative of its own class, less that to the best one of all other classes. Representatives have no loss.

The *gain* of an object is how much the loss of all would fall if it became a representative. Only objects that list it
among their neighbors can change their best representative then. So all gains are sums over the entries of the lists,
and they are kept up to date: whenever the best representatives of an object x change, what x adds to the gains of the
objects in its list is withdrawn before, and added again afterwards (`contribute`).

One exchange (`exchange`):

1. Take a representative r away. The objects that it was best for fall back on their next best ones, and the loss rises.
2. Of all objects, take the one with the largest gain. Its class may be another, but a class keeps at least one.
3. If its gain is not larger than the rise, put r back. Otherwise it is a representative from now on.

The rise also counts objects that do not list r, while a gain counts only objects that list the candidate. So the search
is careful: where lists are short, a representative stays unless another one is plainly better.

`RepresentativeSet` holds the representatives of all classes together, with the exact best ones of every object, and
makes sweeps of exchanges; `lists.py` says which objects a candidate would serve.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from covey.arrays import Flags, Floats, Indices, Integers, Positions
from covey.graph.by_group import Sides
from covey.graph.exact import nearest
from covey.selectors.sharpened.lists import AROUND, Lists, draw_pool, nearest_of_pool, on_two_sides
from covey.similarity.collection import Collection

OWN, OTHER = 0, 1
"""The two sides: representatives of an object's own class, and of all other classes."""


class State(NamedTuple):
    """All objects and the representatives among them.

    `classes` and `weights` belong to the objects, and `chosen` says which of them are representatives. `listed` and
    `similarities` hold the objects on both sides that may be the best representative of an object; those that are not
    chosen do not count. `floors` is what a similarity counts as at least; it is -inf if all representatives are known.
    `best` and `best_similarity` are the best of those that are representatives now, or -1 and the floor. `gains` are
    the gains, and `refused` says which objects must not be chosen. The objects that have the same best representative
    are linked: `heads` holds the first of them, `after` and `before` the next and the one before. `n_chosen` is the
    number of representatives of each class.
    """

    classes: Positions
    weights: Floats
    chosen: Flags
    listed: Indices
    similarities: Floats
    floors: Floats
    best: Indices
    best_similarity: Floats
    gains: Floats
    refused: Flags
    heads: Indices
    after: Indices
    before: Indices
    n_chosen: Integers


@njit(cache=True, nogil=True)
def loss(own, other, temperature):  # type: ignore[no-untyped-def]
    """Return the loss of an object with these similarities to its best own and its best other representative."""
    if own == other:  # both may be -inf
        return 0.5
    scaled = (own - other) / temperature
    if scaled >= 0:
        small = np.exp(-scaled)
        return small / (1 + small)
    return 1 / (1 + np.exp(scaled))


@njit(cache=True, nogil=True)
def own_loss(state, x, temperature):  # type: ignore[no-untyped-def]
    """Return the weighted loss of an object, which is 0 for a representative."""
    if state.chosen[x]:
        return 0.0
    return state.weights[x] * loss(state.best_similarity[x, OWN], state.best_similarity[x, OTHER], temperature)


@njit(cache=True, nogil=True)
def total_loss(state, temperature):  # type: ignore[no-untyped-def]
    """Return the sum of the losses of all objects."""
    total = 0.0
    for x in range(state.chosen.size):
        total += own_loss(state, x, temperature)
    return total


@njit(cache=True, nogil=True)
def contribute(state, lists, x, temperature, sign):  # type: ignore[no-untyped-def]
    """Add what object x contributes to all gains, or withdraw it if the sign is -1.

    An object contributes its own loss to its own gain. To the gain of an object in its list it contributes by how much
    its loss would fall if that one became its best representative.
    """
    own, other = state.best_similarity[x, OWN], state.best_similarity[x, OTHER]
    weight = sign * state.weights[x]
    now = loss(own, other, temperature)
    state.gains[x] += weight * now
    for entry in range(lists.starts[x], lists.starts[x + 1]):
        similarity, candidate = lists.similarities[entry], lists.others[entry]
        if similarity <= own and similarity <= other:
            break  # all later entries are less similar, so that none of them would be best on its side
        if state.classes[candidate] == state.classes[x]:
            if similarity > own:
                state.gains[candidate] += weight * (now - loss(similarity, other, temperature))
        elif similarity > other:
            state.gains[candidate] += weight * (now - loss(own, similarity, temperature))


@njit(cache=True, nogil=True)
def set_best(state, lists, x, side, representative, similarity, temperature):  # type: ignore[no-untyped-def]
    """Make a representative the best one of object x on a side. It is -1 if there is none."""
    if not state.chosen[x]:
        contribute(state, lists, x, temperature, -1.0)
    unlink(state, x, side)
    state.best[x, side], state.best_similarity[x, side] = representative, similarity
    link(state, x, side)
    if not state.chosen[x]:
        contribute(state, lists, x, temperature, 1.0)


@njit(cache=True, nogil=True)
def link(state, x, side):  # type: ignore[no-untyped-def]
    """Link an object with the others that have the same best representative."""
    representative = state.best[x, side]
    if representative >= 0:
        head = state.heads[side, representative]
        state.after[side, x], state.before[side, x] = head, -1
        if head >= 0:
            state.before[side, head] = x
        state.heads[side, representative] = x


@njit(cache=True, nogil=True)
def unlink(state, x, side):  # type: ignore[no-untyped-def]
    """Take an object out of the chain of its best representative."""
    if state.best[x, side] >= 0:
        after, before = state.after[side, x], state.before[side, x]
        if before >= 0:
            state.after[side, before] = after
        else:
            state.heads[side, state.best[x, side]] = after
        if after >= 0:
            state.before[side, after] = before


@njit(cache=True, nogil=True)
def first_chosen(state, x, side, n_skipped):  # type: ignore[no-untyped-def]
    """Return the place of the best listed representative after the first `n_skipped` ones, or -1."""
    for place in range(state.listed.shape[2]):
        if state.listed[x, side, place] >= 0 and state.chosen[state.listed[x, side, place]]:
            if n_skipped == 0:
                return place
            n_skipped -= 1
    return -1


@njit(cache=True, nogil=True)
def look_up_best(state, x, side):  # type: ignore[no-untyped-def]
    """Return the best listed representative of an object on a side, or -1, and its similarity.

    The similarity is never below the object's floor, which is also that of no representative.
    """
    place = first_chosen(state, x, side, 0)
    if place < 0:
        return -1, state.floors[x]
    return state.listed[x, side, place], max(state.similarities[x, side, place], state.floors[x])


@njit(cache=True, nogil=True)
def look_up_all(state):  # type: ignore[no-untyped-def]
    """Look up the best representatives of all objects, and link the objects that have the same."""
    state.heads[:] = -1
    for x in range(state.chosen.size):
        for side in range(2):
            state.best[x, side], state.best_similarity[x, side] = look_up_best(state, x, side)
            link(state, x, side)


@njit(cache=True, nogil=True)
def begin(state, lists, temperature):  # type: ignore[no-untyped-def]
    """Look up the best representatives of all objects, and compute all gains."""
    look_up_all(state)
    state.gains[:] = 0
    for x in range(state.chosen.size):
        if not state.chosen[x]:
            contribute(state, lists, x, temperature, 1.0)


@njit(cache=True, nogil=True)
def refresh(state, lists, temperature):  # type: ignore[no-untyped-def]
    """Look up the best representatives again, after the lists of representatives have changed."""
    for x in range(state.chosen.size):
        for side in range(2):
            representative, similarity = look_up_best(state, x, side)
            if representative != state.best[x, side]:
                set_best(state, lists, x, side, representative, similarity, temperature)


@njit(cache=True, nogil=True)
def take_away(state, lists, r, temperature, rows, sides, similarities):  # type: ignore[no-untyped-def]
    """Make r an object like others, and return for how many objects it was best, and by how much the loss rises.

    These objects, their sides and their similarities to r are written down, so that r can be put back.
    """
    state.chosen[r] = False
    state.n_chosen[state.classes[r]] -= 1
    n = 0
    for side in range(2):
        x = state.heads[side, r]
        while x >= 0:
            rows[n], sides[n], similarities[n] = x, side, state.best_similarity[x, side]
            n += 1
            x = state.after[side, x]
    contribute(state, lists, r, temperature, 1.0)
    rise = own_loss(state, r, temperature)
    for t in range(n):
        representative, similarity = look_up_best(state, rows[t], sides[t])
        rise -= own_loss(state, rows[t], temperature)
        set_best(state, lists, rows[t], sides[t], representative, similarity, temperature)
        rise += own_loss(state, rows[t], temperature)
    return n, rise


@njit(cache=True, nogil=True)
def put_back(state, lists, r, temperature, rows, sides, similarities, n):  # type: ignore[no-untyped-def]
    """Undo what `take_away` has done."""
    choose(state, lists, r, temperature)
    for t in range(n):
        set_best(state, lists, rows[t], sides[t], r, similarities[t], temperature)


@njit(cache=True, nogil=True)
def choose(state, lists, c, temperature):  # type: ignore[no-untyped-def]
    """Make c a representative, without looking for the objects that it is best for."""
    contribute(state, lists, c, temperature, -1.0)
    state.chosen[c] = True
    state.n_chosen[state.classes[c]] += 1


@njit(cache=True, nogil=True)
def add(state, lists, c, temperature):  # type: ignore[no-untyped-def]
    """Make c a representative. Of the objects that list it, it becomes the best one where it is more similar."""
    choose(state, lists, c, temperature)
    for entry in range(lists.row_starts[c], lists.row_starts[c + 1]):
        x, similarity = lists.rows[entry], lists.row_similarities[entry]
        side = OWN if state.classes[x] == state.classes[c] else OTHER
        if similarity > state.best_similarity[x, side]:
            set_best(state, lists, x, side, c, similarity, temperature)


@njit(cache=True, nogil=True)
def best_candidate(state, r, rise):  # type: ignore[no-untyped-def]
    """Return the object with the largest gain, the first of equal ones, or r if no other gains more than the rise.

    If the class of r has no representative left, only an object of this class will do.
    """
    needed = state.n_chosen[state.classes[r]] == 0
    found, gain = r, max(rise, state.gains[r])
    for c in range(state.chosen.size):
        better = state.gains[c] > gain and not (state.chosen[c] or state.refused[c])
        if better and (not needed or state.classes[c] == state.classes[r]):
            found, gain = c, state.gains[c]
    return found


@njit(cache=True, nogil=True)
def exchange(state, lists, representatives, temperature, added):  # type: ignore[no-untyped-def]
    """Exchange each of the representatives for the best object, write these down in `added`, and return how many."""
    n = state.chosen.size
    rows, sides, similarities = np.empty(n, np.int32), np.empty(n, np.int8), np.empty(n)
    n_added = 0
    for r in representatives:
        n_rows, rise = take_away(state, lists, r, temperature, rows, sides, similarities)
        candidate = best_candidate(state, r, rise)
        if candidate == r:
            put_back(state, lists, r, temperature, rows, sides, similarities, n_rows)
        else:
            add(state, lists, candidate, temperature)
            added[n_added] = candidate
            n_added += 1
    return n_added


@njit(cache=True, nogil=True)
def grow(state, lists, temperature, added):  # type: ignore[no-untyped-def]
    """Add the objects with the largest gains, one by one, as many as `added` has places, and return how many."""
    for place in range(added.size):
        found = -1
        for c in range(state.chosen.size):
            if not state.chosen[c] and (found < 0 or state.gains[c] > state.gains[found]):
                found = c
        if found < 0:
            return place
        add(state, lists, found, temperature)
        added[place] = found
    return added.size


@njit(cache=True, nogil=True)
def costs(state, temperature):  # type: ignore[no-untyped-def]
    """Return for each representative by how much the loss would rise without it, and 0 for all other objects."""
    found = np.zeros(state.chosen.size)
    for x in range(state.chosen.size):
        own, other = state.best_similarity[x, OWN], state.best_similarity[x, OTHER]
        now = state.weights[x] * loss(own, other, temperature)
        if state.chosen[x]:
            found[x] += now
            continue
        for side in range(2):
            if state.best[x, side] >= 0:
                place = first_chosen(state, x, side, 1)
                second = state.floors[x] if place < 0 else max(state.similarities[x, side, place], state.floors[x])
                without = loss(second, other, temperature) if side == OWN else loss(own, second, temperature)
                found[state.best[x, side]] += state.weights[x] * without - now
    return found


N_BEST = 8
"""How many representatives of each side are kept for an object, so that it has others to fall back on when some are
taken away. If all of them are gone, the object is compared with all representatives again."""

TOGETHER = 32
"""At most this many representatives, and at most one in this many, are exchanged before all objects are compared with
the new ones. Until then only the objects that list a new one know of it. If it turns out then that the loss has risen,
the exchanges are undone, and these objects are not chosen again in the same round."""

SHRINK_BY = 20
"""At most one in this many representatives is dropped before the costs of the others are computed anew."""


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
    fixed : int array, optional
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
        *,
        compared: bool = True,
        fixed: Positions | None = None,
    ) -> None:
        n = classes.size
        self._fixed: Flags = np.isin(np.arange(n), [] if fixed is None else fixed)
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

    def margins(self) -> Floats:
        """Return the margin of each object; of a representative, the one that it would have if it were not one."""
        own, other = self._state.best_similarity.T
        return own - other

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
        """Return the loss of all objects that are not representatives."""
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
        """Try to exchange each representative once, in random order, but for the fixed ones; return how many were."""
        state, n_exchanged = self._state, 0
        state.refused[:] = False
        begin(state, self._lists, temperature)
        order = rng.permutation(self.indices[~self._fixed[self.indices]])
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

        There must be so many that are not fixed.
        """
        state, chosen = self._state, self.indices
        order = chosen[np.argsort(costs(state, temperature)[chosen], kind="stable")]
        for r in order[~self._fixed[order]]:
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
