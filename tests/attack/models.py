"""Model files that somebody has tampered with: they are refused, or they work like any other.

1. A small file of some kind of model (`_model_kinds.py`) is changed at random: its bytes, where checksums find most
   changes, or its members, its JSON part or an array (`_model_changes.py`, `_model_archives.py`). In the second case
   the archive is written anew with valid checksums, so that only covey itself can notice.
2. The file is loaded. Nothing but `FileFormatError` may be raised. A file that is coherent in itself may also ask for a
   similarity, or may name its own where one was passed.
3. What was loaded is used in every way, saved, and loaded again. An error is a fault, unless a model that was fitted to
   the same representatives raises the same one. So are answers other than those of that model.
4. Each case has limits of time and of memory. Both are parts of the outcome.
"""

import io
import signal
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import covey
from covey.cli.inspect.command import contents
from covey.cli.inspect.representatives import representatives_of
from covey.cli.model_file import read_model
from covey.exceptions import FileFormatError
from covey.persistence.loading import ModelFile
from covey.similarity.kinds.mixed import MixedRows
from covey.similarity.measures import resolve
from tests.attack._model_changes import tampered
from tests.attack._outcomes import FaultError

SECONDS = 20
"""A case that takes longer hangs: the slowest that works takes a fraction of one."""
FREE, MULTIPLE = 512 * 2**20, 100
"""A case may take so many bytes of memory, and for each byte of the file so many more.

A file of any size may inflate to 64 MiB (`covey/storage/limits.py`), and larger ones to 100 times their size.
"""
STEPS = [1, 4, 16, 64, 256, 512]
"""The memory that a case took is reported in steps of so many MiB."""
STATUS, MARKS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
"""Where Linux says what this process took at most, and where it can be asked to forget that."""


class Slow(BaseException):
    """The time of a case is up; no `except Exception` may catch it."""


def attack(rng: np.random.Generator, n_cases: int) -> Counter:
    """How many of so many cases worked, were refused, or went wrong; below a fault stands its first example."""
    outcomes, first = Counter(), {}
    for seed in rng.integers(2**32, size=n_cases).tolist():
        title, _, example = outcome(seed).partition("\n")
        outcomes[first.setdefault(title, f"{title}\nseed {seed}\n{example}" if example else title)] += 1
    return outcomes


def outcome(seed: int) -> str:
    """What happens to the file of this seed."""
    kind, content = tampered(np.random.default_rng(seed))
    before, start = _forget_peak(), time.perf_counter()
    try:
        with warnings.catch_warnings(), limited(SECONDS):
            warnings.simplefilter("ignore")
            found = use(kind, content)
    except FaultError as fault:
        return f"WRONG {fault}\n{kind.name}"
    except (Exception, Slow) as error:
        return f"WRONG {type(error).__name__}\n{kind.name}\n{traceback.format_exc()}"
    taken, seconds = _peak() - before, time.perf_counter() - start
    if taken > FREE + MULTIPLE * len(content):
        return f"WRONG memory\n{kind.name}\n{taken / 2**20:.0f} MiB for a file of {len(content)} bytes"
    step = next(most for most in [*STEPS, np.inf] if taken <= most * 2**20)
    return f"{found} within {step} MiB and {'1 second' if seconds < 1 else '20 seconds'}"


def _forget_peak():
    """Set the peak of this process back to what it holds now, and return that, in bytes."""
    MARKS.write_text("5")
    return _peak()


def _peak():
    """The most memory that this process has held, in bytes."""
    [line] = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


@contextmanager
def limited(seconds):
    def stop(*_):
        raise Slow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def use(kind, content):
    """Load a file, do all that can be done with what it holds, save that, and load it once more."""
    try:
        file = ModelFile(io.BytesIO(content))
        file.notes()
        loaded = file.load(kind.similarity)
        if kind.name.startswith("command-line/"):
            look_at(file)
    except FileFormatError:
        return "refused"
    except ValueError as error:  # the file may say that it does, or does not, need a similarity
        if str(error).startswith("similarity must") and "passed to load" in str(error):
            return "another similarity asked for"
        raise
    found = described(loaded) + answers(loaded, kind)
    check_answers(loaded, kind)
    buffer = io.BytesIO()
    covey.save(loaded, buffer)
    needed = None if ModelFile(io.BytesIO(buffer.getvalue())).missing_callable is None else kind.similarity
    again = covey.load(io.BytesIO(buffer.getvalue()), needed)
    np.testing.assert_equal(described(again) + answers(again, kind), found)
    return "works"


def look_at(file):
    """Do what `covey inspect` does. It takes a classifier only, and says so."""
    try:
        model = read_model("model", file, to_look_at=True)
    except ValueError as error:
        if "which cannot classify" not in str(error):
            raise
        return
    contents("model", model)
    representatives_of(model)


def described(loaded):
    """What an estimator says about itself."""
    selector = loaded.selector_ if is_classifier(loaded) else loaded
    found = [(repr(prototype), prototype.stands_for) for prototype in selector.prototypes_.values()]
    return [*found, selector.sample_indices_, repr(loaded), sorted(loaded.get_params())]


def is_classifier(loaded):
    return isinstance(loaded, covey.NearestPrototypeClassifier)


def answers(model, kind):
    """What each method answers to each of the queries; for a refusal the type of the error stands."""
    if not is_classifier(model):
        return []
    tries = [tried(method, X) for X in all_queries(model, kind) for method in methods(model)]
    return [value if error is None else type(error) for value, error in tries]


def all_queries(model, kind):
    """The representatives, and objects such as the undamaged model was fitted to."""
    return [X for X in (representatives(model), kind.queries) if X is not None]


def check_answers(model, kind):
    """Raise FaultError unless a model that was fitted to the same representatives answers or refuses as this one."""
    honest = fitted_alike(model) if is_classifier(model) else None
    for X in all_queries(model, kind) if honest is not None else ():
        for number, (method, other) in enumerate(zip(methods(model), methods(honest), strict=True)):
            (value, error), (wanted, honest_error) = tried(method, X), tried(other, X)
            if type(error) is not type(honest_error):
                lines = [] if error is None else traceback.format_exception(error)
                fault = f"{type(error).__name__} where an honest model has {type(honest_error).__name__}"
                raise FaultError(fault, *lines, honest_error)
            if number == 0 and error is None and not is_matrix(model):  # of a matrix the honest one has all columns
                np.testing.assert_array_equal(value[1], wanted[1])


def is_matrix(model):
    return resolve(model.selector_.similarity).kind == "matrix"


def methods(model):
    """All that can be asked about queries. The first answers with the nearest representatives."""
    return [
        lambda X: model.nearest_prototypes(X, 1),
        model.predict,
        model.decision_function,
        lambda X: model.nearest_prototypes(X, 3),
        lambda X: list(vars(model.explain(X)).values()),
        model.class_evidence,
        lambda X: model.transform(X) if isinstance(model.transform(X), np.ndarray) else model.transform(X).toarray(),
    ]


def tried(method, queries):
    """What a method returns and None, or None and what it raises."""
    try:
        return method(queries), None
    except Exception as error:
        return None, error


def representatives(model):
    """The representatives of a model as queries; None if they are encoded."""
    if is_matrix(model):
        return np.zeros((2, model.n_features_in_))
    return None if isinstance(model.representatives_, MixedRows) else model.representatives_


class MixedTable(MixedRows):
    """Encoded rows that scikit-learn can count the columns of, so that they can be passed to `fit`."""

    @property
    def shape(self):
        return len(self), self.is_number.size


def fitted_alike(model):
    """A classifier that was fitted to the representatives of another one."""
    similarity = resolve(model.selector_.similarity)
    y = np.empty(sum(prototype.members.size for prototype in model.selector_.prototypes_.values()), dtype=int)
    for number, prototype in enumerate(model.selector_.prototypes_.values()):
        y[prototype.members] = number
    honest = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=similarity))
    if is_matrix(model):
        square = np.eye(model.n_features_in_)
        return honest.fit(square if similarity.conversion is None else 1 - square, y)
    X = model.representatives_
    if isinstance(X, MixedRows):
        X = MixedTable(**vars(X))
    if hasattr(model, "feature_names_in_"):
        import pandas

        X = pandas.DataFrame(X, columns=model.feature_names_in_)
    return honest.fit(X, y[np.sort(model.selector_.sample_indices_)])
