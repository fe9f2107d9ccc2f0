"""Similarities to representatives as features for another model.

Whether these are stored as a CSR array is decided once, at `fit`, and not by the objects that are transformed. Another
model then always gets what it has been fitted to.
"""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from covey.arrays import Positions
from covey.graph.all_pairs import all_similarities
from covey.similarity.space import Space
from covey.similarity.types import Objects


class SimilarityFeatures(TransformerMixin, ABC):
    """Gives an estimator that has representatives the method `transform`."""

    sparse_output_: bool
    _rows: Positions

    @abstractmethod
    def _space_of(self, X: Objects) -> AbstractContextManager[Space]:
        """Make the space of queries and representatives."""

    def transform(self, X: Objects) -> Any:
        """Return the similarities of each object to all representatives, as features for another model.

        Such features are known as a dissimilarity representation (Pekalska and Duin, The Dissimilarity Representation
        for Pattern Recognition, 2005). They turn objects of any kind into rows of numbers, so that a linear model, for
        instance, can learn from strings or graphs. It weighs all representatives, where `predict` asks only the
        nearest, and may therefore answer better; on 20 Newsgroups it does by far. The cost is one similarity for each
        object and representative.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects, of the kind that was passed to `fit`.

        Returns
        -------
        array or CSR array of shape (n_objects, n_representatives)
            The similarities s(x, r) in float64. The columns are in the order of the representatives' rows in X, as in
            `representatives_`. It is a CSR array if `sparse_output_` is true and `set_output` asks for no frame.

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
        >>> similarities.get_feature_names_out()
        array(['similarity_to_1', 'similarity_to_3'], dtype=object)
        >>> model = make_pipeline(similarities, LogisticRegression()).fit(words, languages)
        >>> model.predict(["case", "raus"])
        array(['it', 'de'], dtype='<U2')
        """
        check_is_fitted(self)
        sparse = self.sparse_output_ and _get_output_config("transform", self)["dense"] == "default"
        with self._space_of(X) as space:
            return all_similarities(space, sparse)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`. Each holds the representative's row in the X of `fit`.

        `input_features` is not used. It is there because scikit-learn passes it.
        """
        check_is_fitted(self)
        return np.array([f"similarity_to_{row}" for row in self._rows.tolist()], dtype=object)
