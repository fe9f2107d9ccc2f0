"""Graphs of many words and of long strings: what they take beside rapidfuzz's own work, and how much memory.

Run with ``python -m benchmarks.strings`` (about five minutes on two cores). It needs the list of words of Debian's
package wamerican-insane, prints each row, and writes benchmarks/STRINGS.md. Each graph of words is made in a process of
its own, so that its peak of memory is its own. The part of a name can be given to run only that part, which writes no
file: ``words``, ``starts``, ``crossing``, ``pairs``, ``blocks`` or ``long``.

Only public functions are called for ``words``, ``crossing`` and ``long``, so that an earlier version can be measured by
the same file.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import distance
from rapidfuzz.process import cdist, cpdist

import covey
from benchmarks.one_fit import memory

WORDS = Path("/usr/share/dict/american-english-insane")
RESULTS = Path(__file__).with_name("STRINGS.md")
K = 10
CHECKED = 500
"""How many words are compared with all others to find the recall of a graph."""
SIMILARITIES = {
    "levenshtein": distance.Levenshtein,
    "osa": distance.OSA,
    "indel": distance.Indel,
    "jaro-winkler": distance.JaroWinkler,
}
GRAPHS = [
    ("levenshtein", 50_000, ""),
    ("levenshtein", 100_000, ""),
    ("levenshtein", 300_000, ""),
    ("levenshtein", None, ""),
    ("indel", 100_000, ""),
    ("jaro-winkler", 80_000, ""),
    ("jaro-winkler", 80_000, "complete"),
]
"""Similarities, numbers of words, of which None stands for all, and whether the memory of pairs is complete. If not, it
follows from what a pair costs."""


def words(n: int | None = None) -> list[str]:
    """Return the words without apostrophe, or n of them drawn at random, in the order of the list."""
    every = [word for word in WORDS.read_text(encoding="utf-8").split("\n") if word and "'" not in word]
    if n is None:
        return every
    chosen = np.random.default_rng(0).choice(len(every), n, replace=False)
    return [every[place] for place in np.sort(chosen)]


def peak() -> float:
    """Return the most memory that this process has held, in GB."""
    return memory("VmHWM") * 2**30 / 1e9


def recall(graph: Any, texts: list[str], similarity: str) -> float:
    """Return the share of the nearest others of some texts that a graph holds; equally similar ones count alike."""
    rows = np.random.default_rng(1).choice(len(texts), CHECKED, replace=False)
    scorer, hits = SIMILARITIES[similarity].normalized_distance, 0
    for row in rows:
        scores = 1.0 - cdist([texts[row]], texts, scorer=scorer, dtype=np.float64)[0]
        scores[row] = -np.inf
        hits += int(np.count_nonzero(graph.similarities[row] >= np.partition(scores, -K)[-K]))
    return hits / (K * CHECKED)


def graph_of_words(similarity: str, n: int | None, complete: str) -> dict[str, Any]:
    """Make one graph in this process, and return what it took. A `complete` memory forgets no pair."""
    texts = words(n)
    if complete:
        from covey.graph import pair_memory

        pair_memory.BoundedPairs = pair_memory.HashedPairs  # type: ignore[misc, assignment]
    covey.neighbor_graph(texts[:400], K, similarity, "nn-descent", random_state=0, n_jobs=2)  # compiles
    before, start, worked = peak(), time.perf_counter(), time.process_time()
    graph = covey.neighbor_graph(texts, K, similarity, "nn-descent", random_state=0, n_jobs=2)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    return {
        "similarity": similarity + (", complete memory" if complete else ""),
        "words": len(texts),
        "seconds": seconds,
        "processor": worked,
        "peak": peak(),
        "beyond": peak() - before,
        "recall": recall(graph, texts, similarity),
        "evaluations": graph.n_evaluations / len(texts),
    }


def measure_words() -> str:
    text = """
## The words of a dictionary

10 neighbors by NN-Descent with two threads. "Peak" is the most memory of the process, with Python, covey and the words;
"beyond" is what the graph added. The recall is that of 500 words, compared with all others.

| similarity | words | seconds | processor seconds | peak, GB | beyond, GB | recall | evaluations a word |
|---|---|---|---|---|---|---|---|
"""
    for similarity, n, complete in GRAPHS:
        command = [sys.executable, "-m", "benchmarks.strings", "graph", similarity, str(n or 0), complete]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
        row = "| {similarity} | {words:,} | {seconds:.1f} | {processor:.1f} | {peak:.2f} | {beyond:.2f} | {recall:.3f}"
        text += show((row + " | {evaluations:.0f} |").format(**json.loads(done.stdout)))
    return text


def measure_starts() -> str:
    """Measure what the two things save that NN-Descent does differently for short strings."""
    from covey.graph import descent, starts

    text = """
## How NN-Descent starts

Processor seconds of one thread for 40 000 words under levenshtein, 10 neighbors. In two orders, that of the beginnings
and that of the ends, words meet the given number of words before and behind them. Lists are as long as the number of
neighbors, or twice as long.

| words near in order | length of lists | processor seconds | recall | estimate of it | evaluations a word |
|---|---|---|---|---|---|
"""
    texts = words(40_000)
    covey.neighbor_graph(texts[:400], K, "levenshtein", "nn-descent", random_state=0)  # compiles
    for near, longer in ((0, 1), (0, 2), (5, 1), (5, 2), (10, 2)):
        starts.NEAR, descent.LONGER_FOR_HUBS = near, longer
        start = time.process_time()
        graph = covey.neighbor_graph(texts, K, "levenshtein", "nn-descent", random_state=0)
        seconds = time.process_time() - start
        assert graph.estimated_recall is not None
        true, estimate = recall(graph, texts, "levenshtein"), graph.estimated_recall.value
        evaluations = graph.n_evaluations / len(texts)
        text += show(f"| {near} | {longer * K} | {seconds:.1f} | {true:.3f} | {estimate:.3f} | {evaluations:.0f} |")
    return text


def measure_crossing() -> str:
    text = """
## All pairs or few

Processor seconds for the exact graph and for NN-Descent: 10 neighbors, one thread, words of the dictionary under
levenshtein. The method "auto" is exact up to 5 000 strings.

| words | exact | NN-Descent | recall of NN-Descent |
|---|---|---|---|
"""
    for n in (2_000, 3_500, 5_000, 7_500, 10_000):
        texts = words(n)
        for method in ("exact", "nn-descent"):
            covey.neighbor_graph(texts[:400], K, "levenshtein", method, random_state=0)  # compiles
        exact, found = ([], [])
        for method, seconds in (("exact", exact), ("nn-descent", found)):
            for _ in range(3):
                start = time.process_time()
                graph = covey.neighbor_graph(texts, K, "levenshtein", method, random_state=0)
                seconds.append(time.process_time() - start)
        text += show(f"| {n:,} | {min(exact):.2f} | {min(found):.2f} | {recall(graph, texts, 'levenshtein'):.3f} |")
    return text


def measure_pairs() -> str:
    """Measure what a pair of words takes: rapidfuzz's list of pairs and its block, covey's own code and its bounds."""
    from covey.similarity.kinds.strings import StringCollection
    from covey.similarity.measures import resolve

    text = """
## A pair of words

Nanoseconds of one thread for a pair of words: 400 words, each with the same 400 others.

| similarity | rapidfuzz, list | rapidfuzz, block | covey, list | covey, upper bound |
|---|---|---|---|---|
"""
    texts = words(800)
    left, right = np.array(texts[:400], dtype=object), np.array(texts[400:], dtype=object)
    i, j = np.indices((400, 400)).reshape(2, -1).astype(np.int32)
    pairs = left[i], right[j]
    for name in ("levenshtein", "osa", "indel"):
        options = {"scorer": SIMILARITIES[name].normalized_distance, "dtype": np.float64}
        space = StringCollection.of(texts, resolve(name)).space()
        bounds = space.bounds()
        assert bounds is not None
        ways: list[Callable[[], Any]] = [
            partial(cpdist, *pairs, **options),
            partial(cdist, left, right, **options),
            partial(space.score, i, j + np.int32(400)),
            partial(bounds.of, i, j + np.int32(400)),
        ]
        text += show(f"| {name} | " + " | ".join(f"{least(way) / i.size * 1e9:.0f}" for way in ways) + " |")
    return text


def measure_blocks() -> str:
    text = """
## A pair in a list and in a block

Microseconds of one thread for a pair of random strings, computed by rapidfuzz: in a list of pairs, and in a block.

| letters | levenshtein, list | block | indel, list | block | jaro-winkler, list | block |
|---|---|---|---|---|---|---|
"""
    rng = np.random.default_rng(0)
    for length in (80, 160, 320, 640, 1_280):
        n = 12_000 // length
        texts = np.array(["".join(rng.choice(list("acgt"), length)) for _ in range(2 * n)], dtype=object)
        left, right = texts[:n], texts[n:]
        i, j = np.indices((n, n)).reshape(2, -1)
        pairs = left[i], right[j]
        times = []
        for name in ("levenshtein", "indel", "jaro-winkler"):
            options = {"scorer": SIMILARITIES[name].normalized_distance, "dtype": np.float64}
            ways = partial(cpdist, *pairs, **options), partial(cdist, left, right, **options)
            times += [f"{least(way) / n**2 * 1e6:.2f}" for way in ways]
        text += show(f"| {length:,} | " + " | ".join(times) + " |")
    return text


def measure_long() -> str:
    text = """
## Long strings

40 strings of DNA, each a root with 5 % of its letters changed, 5 neighbors. Milliseconds of one thread for a pair,
beside those of one call of rapidfuzz for each pair.

| similarity | letters | rapidfuzz | exact graph | CRS | both beside rapidfuzz |
|---|---|---|---|---|---|
"""
    for name in ("levenshtein", "indel", "jaro-winkler"):
        for length in (1_000, 5_000):
            rng = np.random.default_rng(0)
            roots = rng.integers(0, 4, (5, length))
            texts = []
            for t in range(40):
                letters = roots[t % 5].copy()
                letters[rng.integers(length, size=length // 20)] = rng.integers(0, 4, length // 20)
                texts.append("".join(np.array(list("acgt"))[letters]))
            pairs = [(a, b) for at, a in enumerate(texts) for b in texts[:at]]
            ways: list[Callable[[], Any]] = [
                partial(one_by_one, SIMILARITIES[name].normalized_similarity, pairs),
                partial(covey.neighbor_graph, texts, 5, name, "exact"),
                partial(covey.CRS(5, similarity=name, random_state=0).fit, texts),
            ]
            ways[2]()  # compiles
            bare, exact, crs = (least(way) / len(pairs) * 1e3 for way in ways)
            beside = f"{exact / bare:.2f} x, {crs / bare:.2f} x"
            text += show(f"| {name} | {length:,} | {bare:.3f} | {exact:.3f} | {crs:.3f} | {beside} |")
    return text


def one_by_one(score: Callable[[str, str], float], pairs: list[tuple[str, str]]) -> list[float]:
    return [score(a, b) for a, b in pairs]


def least(way: Callable[[], Any], runs: int = 3) -> float:
    """Return the least processor time of some runs, in seconds."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        way()
        times.append(time.process_time() - start)
    return min(times)


def show(row: str) -> str:
    print(row, flush=True)
    return row + "\n"


PARTS = {
    "words": measure_words,
    "starts": measure_starts,
    "crossing": measure_crossing,
    "pairs": measure_pairs,
    "blocks": measure_blocks,
    "long": measure_long,
}


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["graph"]:
        print(json.dumps(graph_of_words(sys.argv[2], int(sys.argv[3]) or None, sys.argv[4])))
    elif sys.argv[1:]:
        PARTS[sys.argv[1]]()
    else:
        text = "# Many words, and long strings\n\nWritten by `python -m benchmarks.strings`.\n"
        # What `measure_starts` has changed plays no part in what follows it, where no cluster has 10 000 strings.
        RESULTS.write_text(text + "".join(measure() for measure in PARTS.values()), encoding="utf-8")


if __name__ == "__main__":
    main()
