"""Stage 2: the neighbor graph, which lists for each object the k most similar others, best first.

Nothing in this folder sees data. Objects are numbers from 0 to n - 1, and a `Space` (the stage before, `similarity/`)
is asked for the similarity of two of them. So one engine serves rows, strings, dicts and any other kind of objects.

All neighbor lists obey one total order: the more similar object comes first, and of equally similar ones the one with
the lower index. What a list holds in the end therefore does not depend on the order in which pairs were scored.
Threads and blocks of any size give the same graph.

Data goes through the files in this order:

1. `build.py` is the entrance (`neighbor_graph`). It decides between an exact graph, groups and NN-Descent.
2. `exact.py` scores all pairs, or those that estimates cannot rule out, which `shortlists.py` holds. `by_group.py` does
   the same for a classifier, which needs the nearest representative of each class, and for sharpening, which needs the
   nearest ones of an object's own class and of all others. `threshold.py` links all pairs that are similar enough
   (`threshold_graph`), and `growing.py` holds their edges while they are being found.
3. `groups.py` divides many objects into overlapping groups, and looks at all pairs within these. Both graphs of
   neighbors and threshold graphs are made of them.
4. `descent.py` is NN-Descent. It scores few pairs and finds most neighbors. It uses these files:

   - `evaluator.py` scores pairs and offers each score to the lists of both objects.
   - `pair_memory.py` remembers which pairs were considered already.
   - `screen.py` keeps pairs out that estimates show to be unlikely.
   - `starts.py` has two ways to start: from similarities to a few landmarks, or from trees that pivots split.
   - `candidates.py` says which pairs each round considers.
   - `recall.py` estimates what share of the true neighbors was found, for groups as well.

   `merge.py` goes on in the same way from the finished graphs of two groups, which two machines have made.

5. `lists.py` holds the neighbor lists while they are being filled. All files above write into them.
6. `graph.py` is the result (`NeighborGraph`), checked and read-only. It also reads graphs that were made elsewhere.
7. `clusters/` finds clusters of objects without labels in such a graph.
"""
