"""Sharpened prototypes: representatives are moved to where they tell the classes apart.

1. An inner selector, CRS by default, chooses representatives of each class for itself (`selector_`).
2. A neighbor graph of all objects of all classes says which objects a candidate would serve (`lists.py`).
3. Every object is compared with all representatives, which gives its margin (`search.py`).
4. In each round every representative is exchanged for the object, of any class, with which the nearest representative
   errs least (`search.py`), unless it must be a representative. Rounds end when the loss hardly falls any more.

`Sharpened` itself is here.
"""

import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import has_fit_parameter

from covey.arrays import Floats, Integers, Positions
from covey.prototype import Prototype
from covey.runtime.callbacks import tasks, with_callbacks
from covey.runtime.parameters import WHOLE, Interval, generator
from covey.runtime.progress import Bar, progress
from covey.selectors.base import FitResult, Selector, run_options, whole_or_nothing
from covey.selectors.budget import warn_if_fewer
from covey.selectors.cluster import Cluster
from covey.selectors.crs import CRS
from covey.selectors.labels import LabelledClusters
from covey.selectors.request import Request, is_routing, routed, router
from covey.selectors.saved_state import NUMBER, SELECTOR, TRUTH, WEIGHTS, FittedState
from covey.selectors.sharpened.lists import NEAR, POOLED_FROM, nearest_of_all, no_lists
from covey.selectors.sharpened.search import RepresentativeSet
from covey.similarity import run
from covey.similarity.calls.failures import OnError
from covey.similarity.collection import Collection
from covey.similarity.inputs import Labels, Objects
from covey.similarity.run import CheckpointPath

logger = logging.getLogger("covey")

N_NEIGHBORS = {"exact": 100, "listed": 30}
"""How long the lists are by default. `python -m benchmarks.sharpening cost` measures shorter lists."""

OF_MEDIAN, OF_DEVIATION = 0.3, 0.2
"""The default temperature is the smaller of these shares of the median size of the margins at the beginning, and of
their standard deviation. The first suits classes that overlap, and also margins with heavy tails, as documents have.
The second is smaller where the classes are well apart: all margins are large then, and only their differences say what
is close to the border. benchmarks/SHARPENING.md shows what both together reach."""

MAX_ROUNDS = 5
"""The most rounds by default. Rounds mostly end before, by the next number."""

ONE_CLASS = (
    "Sharpened needs at least two classes to tell apart, got one; the choice of the inner selector is left as it is."
)

LEAST_FALL = 0.015
"""Rounds end when one lowers the loss by less than this share. Further rounds take as long as the first ones and lower
the loss only a little. It was set on Fashion-MNIST and 20 Newsgroups."""


class Sharpened(Selector):
    """Move the representatives of another selector to where they tell the classes apart.

    CRS and most other selectors look at each class alone. This one looks at all classes together: it exchanges
    representatives for other objects, of any class, so that the nearest representative of an object belongs to the
    object's own class as often as possible. There are as many representatives as before, but they classify much better:
    on Fashion-MNIST 2 % of the images reach a precision of .857, CRS with as many .818, and all images .860.

    Parameters
    ----------
    selector : selector, default=None
        Chooses the representatives to begin with. Its `similarity` is used for everything. None stands for ``CRS()``.
    size : int or float, default=None
        How many representatives there are in all: a number of at least the number of classes, or a share of all objects
        in (0, 1). By default there are as many as the inner selector has chosen. How many belong to each class is not
        fixed; each has at least one, however small the share is. Rows that `fit` has to include count among them.
    temperature : float or "auto", default="auto"
        How smoothly errors are counted. An object whose margin is m counts as 1 / (1 + exp(m / temperature)) errors.
        "auto" takes .3 times the median size of the margins that the objects have at the beginning, or .2 times their
        standard deviation if that is less.
    n_neighbors : int or "auto", default="auto"
        The length of the neighbor lists that say which objects a candidate would serve. Longer lists find better
        representatives and take more evaluations. "auto" is 100 if margins are exact, and 30 if they are listed.
    margins : {"exact", "listed"}, default="exact"
        How margins are found. "exact" compares every object with every representative. "listed" compares none: an
        object knows only the representatives in its neighbor list, and all others count as no more similar than the
        last entry of the list. It is for a similarity that takes long: it needs a small part of the evaluations, and
        gets most of the quality.
    max_rounds : int, default=5
        The most rounds. In a round every representative may be exchanged once. Rounds end before if the loss hardly
        falls any more. More rounds lower the loss of the training objects, but hardly the error of others.
    checkpoint : path or None, default=None
        A file that keeps what the fit has paid for, so that the same call goes on where it was stopped. See
        `covey.CRS`.
    on_error : {"raise", "lowest"}, default="raise"
        What happens if the similarity fails for a pair. See `covey.CRS`.
    timeout : float or None, default=None
        How many seconds one evaluation of a custom function may take. See `covey.CRS`.
    random_state : int, RandomState instance or None, default=None
        Decides in which order representatives are exchanged and the draws of NN-Descent. An inner selector without a
        seed of its own gets one from here. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        How many threads or processes share the work, as in the inner selector, which gets the same number unless it has
        its own.
    verbose : int, default=0
        1 shows a progress bar on a terminal; elsewhere it logs what was found to the logger "covey". 2 does both.

    Attributes
    ----------
    sample_indices_ : int array
        The selected rows of X. They are grouped by class; in each class, those come first that stand for most objects,
        or for the largest weight.
    prototypes_ : dict
        The `Prototype` of each label. Every member is covered by the most similar representative of its own class; if
        margins are listed, by the most similar one that an approximate neighbor graph has found.
        Homogeneity, threshold and the number of evaluations are those of the inner selector.
    selector_ : selector
        The inner selector, fitted.
    sharpened_ : bool
        Whether representatives were exchanged. If not, the choice of the inner selector is left as it is: because there
        is only one class, because every object is a representative already, or because no exchange lowers the loss.
    temperature_ : float
        The temperature; NaN if there was nothing to exchange.
    losses_ : float array
        The loss before the first round and after each round. It is the mean error, smoothed by the temperature, of all
        objects that are not representatives; each class counts by the square root of its size. With weights, it is the
        weighted mean, and the size of a class is the sum of its weights.
    n_evaluations_ : int
        How many similarities were computed, those of the inner selector included. A custom function is not asked
        for the same pair twice, but for a spot check of at most 1 % of the pairs. A compiled similarity may be, because
        that takes less time than to remember it; each time counts, up to the number of all pairs.
    scan_rate_ : float
        `n_evaluations_` as a share of the evaluations that all pairs of objects of all classes would take. Pairs that
        matrix products have ruled out count as evaluations, as in an exact graph.
    checkpoint_ : CheckpointReport
        How many evaluations the checkpoint has saved. It is there only if there is a checkpoint.
    n_failed_ : int
        How many evaluations have failed. It is there only if ``on_error="lowest"``.

    Raises
    ------
    ValueError, TypeError, RuntimeError, CheckpointMismatchError
        At `fit`, for the same reasons as in `covey.CRS`, and if `size` is below the number of classes.

    Warns
    -----
    UserWarning
        If there is a single class; the choice of the inner selector is then left as it is. Also if there are fewer
        distinct objects than `size` asks for.

    See Also
    --------
    covey.CRS : The default inner selector.
    covey.NearestPrototypeClassifier : Classifies by the nearest representative.

    Notes
    -----
    The margin of an object is its similarity to the nearest representative of its own class, less that to the nearest
    one of all other classes. Exact margins take n r evaluations at the beginning and n for every representative that
    is exchanged, for n objects and r representatives. The neighbor graph is exact or made by NN-Descent, as in
    `covey.neighbor_graph`. Memory is O(n n_neighbors); a custom function also takes up to 64 bytes for each pair
    that it has evaluated.

    Examples
    --------
    >>> import covey
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> X, queries, y, truth = train_test_split(*load_digits(return_X_y=True), random_state=0)
    >>> for selector in (covey.CRS(30), covey.Sharpened(covey.CRS(30), random_state=0)):
    ...     model = covey.NearestPrototypeClassifier(selector).fit(X, y)
    ...     print(model.selector_.sample_indices_.size, f"{model.score(queries, truth):.2f}")
    36 0.92
    36 0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "selector": [Selector, None],
        "size": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "temperature": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "margins": [StrOptions({"exact", "listed"})],
        "max_rounds": [Interval(Integral, 0, None, closed="left")],
        **run.CONSTRAINTS,
        "random_state": ["random_state"],
        "n_jobs": [WHOLE, None],
        "verbose": ["verbose"],
    }
    _fitted_state: ClassVar[FittedState] = {
        "selector_": SELECTOR,
        "sharpened_": TRUTH,
        "temperature_": NUMBER,
        "losses_": WEIGHTS,
    }
    _scanned: ClassVar[str] = "pairs"
    # What is routed to this selector is asked for by the one inside it, which may also say that it does not want it.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": True, "include": True}

    def __init__(
        self,
        selector: Any = None,
        *,
        size: float | None = None,
        temperature: float | str = "auto",
        n_neighbors: int | str = "auto",
        margins: str = "exact",
        max_rounds: int = MAX_ROUNDS,
        checkpoint: CheckpointPath = None,
        on_error: OnError = "raise",
        timeout: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.selector = selector
        self.size = size
        self.temperature = temperature
        self.n_neighbors = n_neighbors
        self.margins = margins
        self.max_rounds = max_rounds
        self.checkpoint = checkpoint
        self.on_error = on_error
        self.timeout = timeout
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @whole_or_nothing
    @with_callbacks
    def fit(
        self,
        X: Objects | Collection,
        y: Labels | None = None,
        *,
        sample_weight: Any = None,
        include: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Select representatives that tell the classes apart.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects. With ``similarity="precomputed"`` it is a square matrix of similarities.
        y : sequence of labels, optional
            The class of each object. By default all objects are one class, and there is nothing to tell apart.
        sample_weight : sequence of numbers, optional
            How much the error of each object counts in the loss. An object of weight 2 counts as two equal objects do.
            By default each counts 1. An object of weight 0 may still be a representative.
        include : sequence of int, or mask, optional
            Rows of X that must be representatives. No round exchanges or drops them. They count in `size`. Of several
            equal rows the first is enough. Inside of a search or cross-validation only a mask will do; see
            `covey.CRS.fit`.
        **fit_params
            What else the `fit` of the inner selector takes.

        Returns
        -------
        Sharpened
            The selector itself.

        Notes
        -----
        The inner selector gets `sample_weight` and `include`, too, if its `fit` takes them; if it does not take
        `include`, the rows are added to its choice. If scikit-learn's metadata routing is enabled, it gets what it
        requests by `set_fit_request`.

        Examples
        --------
        >>> import covey
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> selector = covey.Sharpened(covey.CRS(10), size=6, random_state=0).fit(X, y, include=[7, 120])
        >>> selector.sample_indices_.size, {7, 120} <= set(selector.sample_indices_.tolist())
        (6, True)
        """
        self._validate_params()
        own = {"sample_weight": sample_weight, "include": include}
        own = {name: value for name, value in own.items() if value is not None}
        passed = self._inner_fit_params(own, fit_params)
        return self._fit(X, y, self._run_options(), size=self.size, inner_fit_params=passed, **own)

    def _validate_params(self) -> None:
        if hasattr(self.selector, "to_local"):
            raise TypeError(
                "selector must work in this process, got one that works on a Dask cluster; pass a covey.CRS, as only "
                "one process can compare all classes."
            )
        super()._validate_params()

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who gets what is passed to `fit` beside X and y: this selector, and the one inside it as it requests.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            The routing.
        """
        return router(self, self._inner())

    @property
    def similarity(self) -> Any:
        """The similarity of the inner selector."""
        return getattr(self.selector, "similarity", "cosine")

    def _run_options(self) -> dict[str, Any]:
        """Return the options of the run; where ours is unset, that of the inner selector."""
        left_open = {"checkpoint": None, "on_error": "raise", "timeout": None}
        own = run_options(self)
        inner = {name: getattr(self.selector, name, value) for name, value in left_open.items()}
        return {name: inner[name] if value == left_open[name] else value for name, value in own.items()}

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        """Return what the inner selector selects, because there is nothing to tell a single cluster apart from.

        Parameters
        ----------
        cluster : Cluster
            The objects of one class. `fit` is needed to see those of other classes.
        rng : numpy.random.Generator
            Where the inner selector draws from.

        Returns
        -------
        Prototype
            The choice of the inner selector.

        Warns
        -----
        UserWarning
            Always, as `fit` warns of a single class.
        """
        self._validate_params()
        warnings.warn(ONE_CLASS, stacklevel=2)
        return self._inner().select(cluster, rng)

    def _inner_fit_params(self, own: dict[str, Any], others: dict[str, Any]) -> Mapping[str, Any]:
        """Return what the `fit` of the inner selector gets of what was passed to this one's."""
        if is_routing():
            return routed(self, {**own, **others})
        inner = self._inner()
        return {**{name: value for name, value in own.items() if has_fit_parameter(inner, name)}, **others}

    def _inner(self) -> Selector:
        """Clone the inner selector; where its n_jobs or verbose is unset, use ours."""
        inner: Selector = CRS() if self.selector is None else clone(self.selector)
        left_open = {name for name, value in inner.get_params(deep=False).items() if not value}
        own = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        return inner.set_params(**{name: value for name, value in own.items() if name in left_open})

    def _select_all(
        self,
        collection: Collection,
        groups: LabelledClusters,
        y: Labels | None,
        rng: np.random.RandomState,
        request: Request,
    ) -> FitResult:
        known = collection.prepared().cached_in_memory()
        objects = Labelled.of(known, groups, self.n_jobs, request)
        asked = request.sized_for(objects.clusters).size
        inner = self._inner()
        if "random_state" in inner.get_params() and inner.get_params()["random_state"] is None:
            inner.set_params(random_state=rng.randint(2**31 - 1))
        with tasks(self, 1, collection.given, y) as callbacks, callbacks.part("selector", inner):
            files = {name: value for name, value in inner.get_params(deep=False).items() if name == "checkpoint"}
            inner.set_params(**dict.fromkeys(files))  # this fit holds the file open
            self.selector_ = inner._fit_collection(known, y, request.inner_fit_params).set_params(**files)
        chosen = objects.start(inner)
        start = np.union1d(chosen, objects.included)
        size = min(start.size if asked is None else asked, objects.rows.size)
        self.sharpened_, self.temperature_, self.losses_ = False, np.nan, np.empty(0)
        if len(groups) < 2:
            warnings.warn(ONE_CLASS, stacklevel=4)
            if start.size > chosen.size:
                raise ValueError(
                    f"include needs at least two classes, got one, because {type(inner).__name__} has chosen without "
                    "the rows to include and its choice is left as it is."
                )
        else:
            warn_if_fewer(asked or size, size, "equal objects of a class count once")
            if self._exceeds(size) or min(size, chosen.size) < objects.rows.size:
                return self._sharpen(objects, chosen, start, size, generator(rng))
        return FitResult(list(inner.prototypes_.values()), inner.n_evaluations_, objects.n_pairs)

    def _exceeds(self, size: int) -> bool:
        """Return whether the inner selector has chosen more rows than are asked for, if only because some are equal."""
        return self.size is not None and self.selector_.sample_indices_.size > size

    def _sharpen(
        self,
        objects: "Labelled",
        chosen: Positions,
        start: Positions,
        size: int,
        rng: np.random.Generator,
    ) -> FitResult:
        """Exchange the representatives to start with until this hardly helps any more.

        These are the objects that the inner selector has chosen, and those to include.
        """
        with progress(type(self).__name__, None, "evaluations", shown=self.verbose > 0) as bar:
            space = objects.collection.space(self.n_jobs)
            bar.note("neighbors of all classes")
            bar.watch(lambda: (self.selector_.n_evaluations_ + space.n_done(), None))
            k = N_NEIGHBORS[self.margins] if self.n_neighbors == "auto" else int(self.n_neighbors)
            few = NEAR * size * POOLED_FROM <= objects.rows.size
            pooled = few and space.screened and self.margins == "exact"
            lists = no_lists(objects.rows.size) if pooled else nearest_of_all(objects.collection, space, k, rng)
            labelled = (objects.collection, objects.classes, objects.weights)
            compared = self.margins == "exact"
            representatives = RepresentativeSet(
                *labelled, lists, start, self.n_jobs, compared=compared, fixed=objects.included
            )
            n_before = self.selector_.n_evaluations_ + space.n_evaluations
            bar.watch(lambda: (n_before + representatives.n_evaluations, None))
            self.temperature_ = self._temperature(representatives)
            if size != start.size:
                if pooled and size > start.size:  # dropping needs no lists, and a pool around many would be everything
                    representatives.draw_pool(k, rng)
                representatives.resize(size, self.temperature_)
            self._exchange(representatives, k if pooled else None, rng, bar)
        self.sharpened_ = self._exceeds(size) or not np.array_equal(representatives.indices, chosen)
        made = list(self.selector_.prototypes_.values())
        if self.sharpened_:
            made = objects.prototypes(representatives, self.selector_)
        n_evaluations = n_before + representatives.n_evaluations
        if space.cheap or space.screened:  # pairs are computed again there, but each of them counts at most once
            n_evaluations = min(n_evaluations, space.n_pairs)
        return FitResult(made, n_evaluations, objects.n_pairs)

    def _temperature(self, representatives: RepresentativeSet) -> float:
        if self.temperature != "auto":
            return float(self.temperature)
        every = representatives.margins()
        margins = np.delete(every, representatives.indices)
        margins = margins if margins.size else every[np.isfinite(every)]
        if not margins.size:
            return 1.0  # every class is a single object, so that there is nothing to exchange
        spreads = (OF_MEDIAN * float(np.median(np.abs(margins))), OF_DEVIATION * float(np.std(margins)))
        return min((spread for spread in spreads if spread > 0), default=1.0)  # equal margins fit any number

    def _exchange(
        self, representatives: RepresentativeSet, pooled: int | None, rng: np.random.Generator, bar: Bar
    ) -> None:
        """Make rounds until one lowers the loss only a little. One that does not lower it at all is undone.

        If `pooled` is a number, every round uses lists of that length from a new pool.
        """
        losses = [representatives.loss(self.temperature_)]
        for number in range(1, self.max_rounds + 1):
            bar.note(f"round {number} of at most {self.max_rounds}, loss {losses[-1]:.4f}")
            if pooled is not None:
                representatives.draw_pool(pooled, rng)
            before = representatives.indices
            n_exchanged = representatives.sweep(self.temperature_, rng)
            loss = representatives.loss(self.temperature_)
            if loss >= losses[-1]:
                representatives.replace_all(before)
                break
            losses.append(loss)
            if self.verbose > 1 or (self.verbose == 1 and not bar.shown):
                logger.info("Sharpened, round %d: %d exchanged, loss %.4f", number, n_exchanged, loss)
            if loss > (1 - LEAST_FALL) * losses[-2]:
                break
        self.losses_ = np.array(losses)


@dataclass(frozen=True)
class Labelled:
    """The distinct objects of all classes together. Equal objects of one class are merged into one."""

    clusters: list[Cluster]

    @classmethod
    def of(cls, collection: Collection, groups: LabelledClusters, n_jobs: int | None, request: Request) -> "Labelled":
        """Merge the equal objects of each class. Those of a matrix must be equal towards the other classes, too."""
        distinct = collection.distinct()
        return cls([request.cluster(*group, collection, n_jobs, distinct=distinct.among(group[1])) for group in groups])

    @cached_property
    def n(self) -> int:
        """How many objects X has."""
        return sum(cluster.members.size for cluster in self.clusters)

    @cached_property
    def rows(self) -> Positions:
        """The rows of X that hold the distinct objects, in ascending order. They are numbered from 0."""
        return np.sort(np.concatenate([cluster.rows for cluster in self.clusters]))

    @cached_property
    def collection(self) -> Collection:
        """The distinct objects."""
        return self.clusters[0].whole.take(self.rows)

    @property
    def n_pairs(self) -> int:
        """How many evaluations all pairs of objects would take."""
        ordered = self.n * (self.n - 1)
        return ordered // 2 if self.collection.space().symmetric else ordered

    @cached_property
    def classes(self) -> Positions:
        """The number of the class of each object."""
        classes = np.empty(self.rows.size, dtype=np.intp)
        for number, cluster in enumerate(self.clusters):
            classes[self._numbers(cluster)] = number
        return classes

    @cached_property
    def weights(self) -> Floats:
        """How much the loss of each object counts: its amount by the square root of the amount of its class.

        The amount of an object is the sum of the weights of all members that it stands for; without weights it is their
        number. What this returns adds up to 1. Were all objects equal, small classes would hardly count; were all
        classes equal, the few objects of a small class would count so much that representatives fit them by chance.
        """
        weights = np.empty(self.rows.size)
        for cluster in self.clusters:
            amounts = amounts_of(cluster)
            weights[self._numbers(cluster)] = amounts / np.sqrt(amounts.sum())
        return weights / weights.sum()

    @cached_property
    def included(self) -> Positions:
        """The objects that must be representatives, in ascending order."""
        return np.sort(np.concatenate([self._numbers(cluster)[cluster.included] for cluster in self.clusters]))

    def start(self, selector: Selector) -> Positions:
        """Return the objects that a selector has chosen. It may have chosen several equal ones, which are one here."""
        number_of = np.empty(self.n, dtype=np.intp)
        for cluster in self.clusters:
            number_of[cluster.members] = self._numbers(cluster)[cluster.kinds]
        return np.unique(number_of[selector.sample_indices_])

    def prototypes(self, representatives: RepresentativeSet, selector: Selector) -> list[Prototype]:
        """Return the prototypes of all classes, in each of which the nearest own representative covers a member."""
        chosen, best = np.isin(np.arange(self.rows.size), representatives.indices), representatives.best_own()
        prototypes = []
        for cluster in self.clusters:
            numbers = self._numbers(cluster)
            place_of: Integers = np.full(self.rows.size, -1, dtype=np.int64)
            place_of[numbers] = np.arange(numbers.size)
            covered_by = place_of[best[numbers]]
            covered: Floats = np.bincount(covered_by, amounts_of(cluster), numbers.size).astype(np.float64)
            indices = np.flatnonzero(chosen[numbers])
            indices = indices[np.argsort(-covered[indices], kind="stable")]
            before = selector.prototypes_[cluster.label]
            made = cluster.prototype(
                indices=indices,
                gains=covered[indices],
                covered_by=covered_by,
                homogeneity=before.homogeneity,
                threshold=before.threshold,
            )
            prototypes.append(replace(made, n_evaluations=before.n_evaluations, scan_rate=before.scan_rate))
        return prototypes

    def _numbers(self, cluster: Cluster) -> Positions:
        """Return the number of each distinct object of a cluster among those of all classes."""
        return np.searchsorted(self.rows, cluster.rows)


def amounts_of(cluster: Cluster) -> Floats:
    """Return how much each distinct object of a cluster counts: the weight of its members, or their number."""
    return cluster.multiplicity.astype(np.float64) if cluster.weights is None else cluster.weights
