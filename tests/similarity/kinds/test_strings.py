"""Edit distances in words of 64 bits: the bits of rapidfuzz's similarities, and bounds that none exceeds."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz import distance

import covey
from covey.graph import descent, pair_memory
from covey.graph.lists import NeighborLists
from covey.similarity.kinds import strings as string_space
from covey.similarity.kinds.strings import (
    LONG,
    LONGEST,
    Letters,
    StringCollection,
    bags_of,
    letters_of,
    pack_bags,
    score_edits,
)
from covey.similarity.measures import resolve
from tests.forms import space_of
from tests.graph.test_graph import assert_same

MODULES = {"levenshtein": distance.Levenshtein, "osa": distance.OSA, "indel": distance.Indel}

ALPHABETS = ("ab", "abcdefghij", "aäßÀ\u0301é漢字\U0001f600\ud800", "".join(map(chr, range(48, 200))))


def strings(most, alphabets=ALPHABETS):
    return st.sampled_from(alphabets).flatmap(lambda letters: st.text(letters, max_size=most))


def all_pairs(n, m):
    return np.indices((n, m)).reshape(2, -1).astype(np.int32)


def misspelled(n, seed, length=9):
    """Words of a few roots with random edits; many pairs are equally similar."""
    rng = np.random.default_rng(seed)
    roots = ["".join(rng.choice(list("abcdefgh"), length)) for _ in range(12)]
    words = []
    for _ in range(n):
        word = list(roots[rng.integers(12)])
        for _ in range(rng.integers(4)):
            place = rng.integers(len(word))
            word[place] = str(rng.choice(list("abcdefgh ")))
            word.insert(place, str(rng.choice(list("abcdefgh"))))
        words.append("".join(word))
    return words


@pytest.mark.parametrize("name", MODULES)
@settings(max_examples=60, deadline=None)
@given(left=st.lists(strings(LONGEST), min_size=1, max_size=8), right=st.lists(strings(150), min_size=1, max_size=8))
@example(left=["", "a" * 64, "ab" * 32, "b"], right=["", "a" * 64, "ba" * 32, "a" * 65, "ba" * 70])
@example(left=["ca", "acb", "ab"], right=["abc", "bca", "ba"])
def test_similarities_have_the_bits_of_rapidfuzz(name, left, right):
    """Queries may be short and representatives long, so that both sides differ in their letters and lengths."""
    queries, others = (StringCollection.of(side, resolve(name)) for side in (left, right))
    i, j = all_pairs(len(left), len(right))
    scores = queries.against(others).score(i, j)
    expected = [MODULES[name].normalized_similarity(left[a], right[b]) for a, b in zip(i, j, strict=True)]
    assert scores.tolist() == expected
    order = np.random.default_rng(0).permutation(i.size)  # pairs of the same string need not follow each other
    assert queries.against(others).score(i[order], j[order]).tolist() == scores[order].tolist()


@pytest.mark.parametrize("name", MODULES)
@settings(max_examples=60, deadline=None)
@given(left=st.lists(strings(150), min_size=1, max_size=8), right=st.lists(strings(150), min_size=1, max_size=8))
@example(left=["a" * 65, "b"], right=["ab" * 40, "a" * 64])
def test_pairs_of_short_and_long_strings_have_the_bits_of_rapidfuzz(name, left, right):
    """The short string of a pair stands for the rows of the table, on whichever side it is."""
    with mock.patch.object(string_space, "MOSTLY", 0.0):
        space = StringCollection.of(left, resolve(name)).against(StringCollection.of(right, resolve(name)))
        assert space.cheap
        i, j = all_pairs(len(left), len(right))
        expected = [MODULES[name].normalized_similarity(left[a], right[b]) for a, b in zip(i, j, strict=True)]
        assert space.score(i, j).tolist() == expected


@pytest.mark.parametrize("name", MODULES)
def test_a_few_long_strings_do_not_slow_down_the_others(name):
    words = misspelled(300, seed=2)
    assert space_of([*words, "x" * 200], name).cheap
    assert not space_of([*words, *["x" * 200] * 50], name).cheap


@pytest.mark.parametrize("name", MODULES)
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(strings(LONGEST), min_size=2, max_size=12))
def test_no_similarity_exceeds_its_bound(name, texts):
    space = space_of(texts, name)
    i, j = all_pairs(len(texts), len(texts))
    bounds = space.bounds()
    limits = bounds.of(i, j)
    assert (limits >= space.score(i, j)).all()
    assert (limits[i == j] == 1).all()
    order = np.arange(len(texts), dtype=np.int32)[::-1]
    assert bounds.renumbered(order).of(i, j).tolist() == bounds.of(order[i], order[j]).tolist()


def test_bounds_of_words_are_tight():
    """Words without a common letter have their true similarity as bound, and so have anagrams of equal length."""
    space = space_of(["abc", "defg", "abd", "cab"], "levenshtein")
    i, j = np.array([[0, 0, 0], [1, 2, 3]], dtype=np.int32)
    assert space.bounds().of(i, j).tolist() == [0, 1 - 1 / 3, 1]


def test_bags_tell_letters_that_divide_the_strings_evenly():
    """A letter that all strings have says nothing, and neither does one that none has twice."""
    texts = ["ab", "abb", "ac", "acc"]
    (letters,) = letters_of(texts)
    bags = bags_of(letters)
    assert len(set(bags.tolist())) == 4
    assert bin(int(bags[0] ^ bags[1])).count("1") == 1
    shared = np.full((32, 8), -1)
    shared[0, 0] = 5
    out = np.zeros(4, dtype=np.uint64)
    pack_bags(letters.codes, letters.starts, np.zeros(3, dtype=np.int64), shared, out)
    assert out.tolist() == [32] * 4


def test_letters_are_code_points():
    texts = ["", "ab", "\U0001f600b", "\ud800", "e\u0301"]
    (letters,) = letters_of(texts)
    runs = [letters.codes[a:b].tolist() for a, b in zip(letters.starts, letters.starts[1:], strict=False)]
    assert list(map(len, runs)) == list(map(len, texts))
    assert letters.n_letters == len(set("".join(texts)))
    assert runs[1][1] == runs[2][1]
    assert [letters.codes.size for letters in letters_of([""], [])] == [0, 0]


def test_more_letters_than_16_bits_can_number_are_told_apart():
    texts = [chr(0x20000 + t) for t in range((1 << 16) + 2)]
    (letters,) = letters_of(texts)
    assert isinstance(letters, Letters)
    assert np.unique(letters.codes).size == len(texts)
    out = np.empty(2)
    i, j = np.array([[0, 5], [1 << 16, 5]], dtype=np.int32)
    score_edits(letters.codes, letters.starts, letters.codes, letters.starts, letters.n_letters, i, j, 0, out)
    assert out.tolist() == [0, 1]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("limit", [0, 1 << 16])
def test_bounds_lose_no_neighbor(name, limit, monkeypatch):
    """Whether they rule out pairs or let every pair through, the graph and the count are the same."""
    monkeypatch.setattr(descent, "MANY", 0)
    monkeypatch.setattr(pair_memory, "BITMAP_LIMIT", limit)
    words = sorted(set(misspelled(700, seed=1)))
    tight = covey.neighbor_graph(words, 6, name, "nn-descent", random_state=0)
    threads = covey.neighbor_graph(words, 6, name, "nn-descent", random_state=0, n_jobs=3)
    monkeypatch.setattr(NeighborLists, "drop_hopeless", lambda lists, i, j, bounds: i.size)
    loose = covey.neighbor_graph(words, 6, name, "nn-descent", random_state=0)
    for other in (threads, loose):
        assert_same(tight, other)
        assert tight.n_evaluations == other.n_evaluations
    exact = covey.neighbor_graph(words, 6, name, "exact")
    assert np.mean(tight.similarities >= exact.similarities[:, -1:]) > 0.95


@pytest.mark.parametrize("name", [*MODULES, "jaro-winkler"])
def test_pairs_of_long_strings_are_computed_once(name, monkeypatch):
    """There is no block whose pairs are scored again, and the mean similarity is that of the pairs of the graph."""
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("acgt"), LONG + 1 + t % 3)) for t in range(40)]
    space = space_of(texts, name)
    asked = []
    evaluate = type(space)._evaluate
    monkeypatch.setattr(type(space), "_evaluate", lambda self, i, j: asked.append(i.size) or evaluate(self, i, j))
    assert not space.screened
    graph = covey.neighbor_graph(texts, 5, name, "exact")
    assert sum(asked) == graph.n_evaluations == 40 * 39 // 2
    short = covey.neighbor_graph([text[:LONG] for text in texts], 5, name, "exact")
    assert short.mean_similarity is None
    assert graph.mean_similarity == pytest.approx(covey.homogeneity(texts, name).value, rel=1e-12)


def test_strings_are_put_in_order_by_their_beginnings_and_by_their_ends():
    words = ["tub", "cat", "hat", "cab"]
    forward, backward = space_of(words, "levenshtein").orders()
    assert [words[t] for t in forward] == ["cab", "cat", "hat", "tub"]
    assert [words[t] for t in backward] == ["cab", "tub", "cat", "hat"]
    assert space_of(np.eye(3), "cosine").orders() == []
