"""Texts in one column, as TF-IDF vectors or as strings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from covey.cli.files.block import Block
from covey.cli.files.columns import check_filled, column_of
from covey.cli.objects.recipe import Recipe
from covey.cli.similarity_option import OF_ROWS
from covey.displays.cards import Card
from covey.runtime.progress import progress


class TextRecipe(Recipe):
    """Texts in one column: as TF-IDF vectors once their words are learned, or as they are."""

    has_long_rows = True
    takes_empty = True

    def from_table(self, block: Block) -> Any:
        (name,) = self.columns
        check_filled(block, name, empty=self.takes_empty)
        texts = [str(value) for value in column_of(block.frame, name).tolist()]
        return texts if self._vectorizer is None else self._vectorizer.transform(texts)

    @cached_property
    def _vectorizer(self) -> Any:
        """The fitted vectorizer; None if texts are compared as they are."""
        if self.settings.vocabulary is None:
            return None
        vectorizer = _new_vectorizer(self.settings.vocabulary)
        vectorizer.idf_ = self.settings.weights
        return vectorizer

    def learn(self, objects: Any, *, verbose: bool) -> tuple[Recipe, Any]:
        """Learn the words of these texts, and how much each weighs, unless the similarity compares strings."""
        if self.settings.similarity not in OF_ROWS:
            return self, objects
        vectorizer = _new_vectorizer()
        with progress("weighing words", None, None, shown=verbose):
            vectors = vectorizer.fit_transform(objects)
        words = vectorizer.get_feature_names_out().tolist()
        return TextRecipe(replace(self.settings, vocabulary=words, weights=vectorizer.idf_)), vectors

    def must_learn(self, *, scale: bool) -> bool:
        return self.settings.similarity in OF_ROWS

    def facts(self, objects: Any) -> Any:
        """Return how many texts there are, and in how many of them each word occurs."""
        words = _new_vectorizer().build_analyzer()
        return len(objects), Counter(word for text in objects for word in set(words(text)))

    def learn_from(self, facts: Sequence[Any]) -> Recipe:
        """Learn the words of all texts and how much each weighs, to the last bit as `TfidfVectorizer` does."""
        n_texts, counts = 0, Counter[str]()
        for n, found in facts:
            n_texts += n
            counts.update(found)
        words = sorted(counts)
        if not words:
            raise ValueError(f"no text in column {self.columns[0]!r} has a word of two letters or more.")
        frequencies = np.array([counts[word] for word in words], dtype=np.float32)
        weights = np.log(np.float32(n_texts + 1) / (frequencies + np.float32(1))) + np.float32(1)
        return TextRecipe(replace(self.settings, vocabulary=words, weights=weights))

    def described(self) -> str:
        form = "as TF-IDF" if self.settings.vocabulary is not None else "as it is"
        return f"the text in {self.columns[0]}, {form}"

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        return Card.of_text(title, str(column_of(block.frame, self.columns[0]).iat[row]).strip().splitlines())

    def fields(self, block: Block, objects: Any, row: int) -> dict[str, str]:
        return {"text": str(column_of(block.frame, self.columns[0]).iat[row]).strip()}

    def remark(self) -> str | None:
        if self.settings.vocabulary is None:
            return None
        return "The weights of words were learned from all texts, those to classify included, but from no labels."


def _new_vectorizer(vocabulary: list[str] | None = None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(vocabulary=vocabulary, dtype=np.float32)
