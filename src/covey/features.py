"""What an estimator that has representatives can say about other objects: which are nearest, and how similar all are.

The similarities to all representatives can be stored as a CSR array. Whether they are is decided once, at `fit`, and
not by the objects that are transformed. Another model then always gets what it has been fitted to.
"""

from abc import ABC
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from covey.arrays import Floats, Positions
from covey.graph.all_pairs import all_similarities
from covey.graph.exact import nearest
from covey.graph.groups import nearest_of_groups
from covey.runtime.parameters import is_whole
from covey.runtime.progress import progress
from covey.similarity.collection import Representatives
from covey.similarity.space import Space
from covey.similarity.types import Objects


class ComparedWithRepresentatives(TransformerMixin, ABC):
    """Gives an estimator that has representatives the methods that compare other objects with them."""

    classes_: NDArray[Any]
    selector_: Any
    sparse_output_: bool
    _rows: Positions
    _classes_of: Positions
    _representatives: Representatives

    def nearest_prototypes(self, X: Objects, n: int = 3) -> tuple[Positions, Floats]:
        """Return the n most similar representatives of each object, the best first.

        This is the evidence behind an answer: show the first one, and a person can judge whether the answer is right.
        Of equally similar representatives the one with the lowest row comes first.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects, of the kind that was passed to `fit`.
        n : int, default=3
            How many representatives to return. If there are fewer, all are returned.

        Returns
        -------
        indices : int array of shape (n_objects, n)
            The representatives, as rows of the X passed to `fit`.
        similarities : float array of shape (n_objects, n)
            The similarities s(x, r) of each object x to them.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If n is not a whole number of at least 1, or if the objects are not of the kind that was passed to `fit`.

        See Also
        --------
        class_evidence : The most similar representative of each class.

        Examples
        --------
        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=1)).fit(X, y)
        >>> rows, similarities = model.nearest_prototypes([[7, 2]], n=2)
        >>> rows, similarities.round(2)
        (array([[0, 2]]), array([[0.99, 0.39]]))
        """
        check_how_many(n)
        nearest_ones, similarities = self._nearest(X, n)
        return self._rows[nearest_ones], similarities

    def class_evidence(self, X: Objects) -> tuple[Positions, Floats]:
        """Return, for each object, the most similar representative of each class.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects to classify, of the kind that was passed to `fit`.

        Returns
        -------
        indices : int array of shape (n_objects, n_classes)
            Rows of the X passed to `fit`. The columns are in the order of `classes_`.
        similarities : float array of shape (n_objects, n_classes)
            The similarities to these representatives.

        See Also
        --------
        nearest_prototypes : The most similar representatives of whatever class.

        Examples
        --------
        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=1)).fit(X, y)
        >>> rows, similarities = model.class_evidence([[7, 2]])
        >>> model.classes_, rows, similarities.round(2)
        (array(['tall', 'wide'], dtype='<U4'), array([[2, 0]]), array([[0.39, 0.99]]))
        """
        return self._nearest_of_classes(X)

    def class_similarities(self, X: Objects) -> Floats:
        """Return the best similarity of each object to each class.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects to classify, of the kind that was passed to `fit`.

        Returns
        -------
        float array of shape (n_objects, n_classes)
            The largest similarity s(x, r) of an object x to a representative r of the class. The columns are in the
            order of `classes_`. They are no probabilities, because similarities are not calibrated.

        Examples
        --------
        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=1)).fit(X, y)
        >>> model.class_similarities([[7, 2]]).round(2)
        array([[0.39, 0.99]])
        """
        return self.class_evidence(X)[1]

    def decision_function(self, X: Objects) -> Floats:
        """Return the best similarity of each object to each class, in the form that scikit-learn expects.

        The columns are in the order of `classes_`. As everywhere in scikit-learn, two classes give a single number for
        each object: the similarity to the second class less that to the first. `class_similarities` returns both.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects to classify, of the kind that was passed to `fit`.

        Returns
        -------
        float array of shape (n_objects, n_classes), or (n_objects,) for two classes
            The largest values belong to the labels that `predict` answers where nothing is rejected.

        Examples
        --------
        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(1)).fit(X, y)
        >>> model.decision_function([[7, 2], [2, 7]]).round(2)
        array([ 0.59, -0.61])
        """
        similarities = self.class_similarities(X)
        return similarities[:, 1] - similarities[:, 0] if self.classes_.size == 2 else similarities

    def transform(self, X: Objects) -> Any:
        """Return the similarities of each object to all representatives, as features for another model.

        Such features are known as a dissimilarity representation [1]_. They turn objects of any kind into rows of
        numbers, so that a linear model, for instance, can learn from strings or graphs. It weighs all representatives,
        where `predict` asks only the nearest, and may therefore answer better; on 20 Newsgroups it does by far. The
        cost is one evaluation for each object and representative.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects, of the kind that was passed to `fit`.

        Returns
        -------
        array or CSR array of shape (n_objects, n_representatives)
            The similarities s(x, r) in float64. The columns are in the order of the representatives' rows in X, as in
            `representatives_`. It is a CSR array if `sparse_output_` is true and `set_output` asks for no frame.

        References
        ----------
        .. [1] E. Pekalska and R. P. W. Duin, "The Dissimilarity Representation for Pattern Recognition", World
           Scientific, 2005.

        Examples
        --------
        >>> import covey
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> words, languages = ["casa", "cosa", "rosa", "haus", "maus", "laus"], ["it"] * 3 + ["de"] * 3
        >>> def shared(a, b):
        ...     return len(set(a) & set(b)) / len(set(a) | set(b))
        >>> similarities = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=shared))
        >>> similarities.fit(words, languages).transform(["case", "maus"]).round(2)
        array([[0.6 , 0.33],
               [0.33, 0.6 ]])
        >>> model = make_pipeline(similarities, LogisticRegression()).fit(words, languages)
        >>> model.predict(["case", "raus"])
        array(['it', 'de'], dtype='<U2')
        """
        check_is_fitted(self)
        sparse = self.sparse_output_ and _get_output_config("transform", self)["dense"] == "default"
        with self._space_of(X) as space:
            return all_similarities(space, sparse)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`, each of which names the row of a representative.

        Parameters
        ----------
        input_features : None, default=None
            It is not used, and is there because scikit-learn passes it.

        Returns
        -------
        array of str
            For each representative ``similarity_to_`` and its row in the X passed to `fit`.

        Examples
        --------
        >>> import covey
        >>> model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit([[9, 1], [1, 9]], ["wide", "tall"])
        >>> model.get_feature_names_out()
        array(['similarity_to_0', 'similarity_to_1'], dtype=object)
        """
        check_is_fitted(self)
        return np.array([f"similarity_to_{row}" for row in self._rows.tolist()], dtype=object)

    def _nearest(self, X: Objects, n: int) -> tuple[Positions, Floats]:
        """Return the n most similar representatives, the best first, and their similarities.

        The representatives are positions in `_rows`.
        """
        with self._space_of(X) as space:
            lists = nearest(space, min(n, self._rows.size))
        return lists.indices.astype(np.intp), lists.similarities

    def _nearest_of_classes(self, X: Objects, n_best: int | None = None) -> tuple[Positions, Floats]:
        """Return the row of the most similar representative of each class, and its similarity.

        If `n_best` is given, only that many of the best classes are sure to have one.
        """
        with self._space_of(X) as space:
            indices, similarities = nearest_of_groups(space, self._classes_of, n_best)
        return self._rows[indices], similarities

    @contextmanager
    def _space_of(self, X: Objects) -> Iterator[Space]:
        """Make the space of queries and representatives, and show a progress bar for as long as it is used."""
        check_is_fitted(self)
        space = self._representatives.space_of_queries(X, self, self._n_jobs)
        with progress("nearest prototypes", None, "evaluations", shown=self._verbose) as bar:
            bar.watch(lambda: (space.n_done(), space.n_expected))
            yield space

    @property
    def _verbose(self) -> bool:
        """Whether progress is shown. The selector decides it."""
        return bool(getattr(self.selector_, "verbose", 0) > 0)

    @property
    def _n_jobs(self) -> int | None:
        """How many threads or processes compare objects with representatives: as many as the selector may use."""
        return getattr(self.selector_, "n_jobs", None)


def check_how_many(n: Any) -> None:
    """Raise ValueError unless n can be a number of representatives to return."""
    if not is_whole(n, 1):
        raise ValueError(f"n must be an int of at least 1, got {n!r}.")
