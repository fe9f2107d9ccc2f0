"""Stage 1: from the user's objects to similarities of pairs. This is the only folder that sees data.

Data goes through the files in this order:

1. `similarity.py` says what a similarity is. `named.py` lists those that have names, turns whatever a user passes as
   ``similarity`` into a `Similarity`, and takes new names.
2. `collect.py` turns X into a collection: X under a similarity, checked and prepared once. `collection.py` says what
   every collection can do, and `collections/` has one class for each kind of objects.
3. `inputs.py`, `frames.py`, `numbers.py`, `bits.py`, `matrices.py` and `missing.py` check and convert X for the
   collections: they recognise the kind of X, read frames of pandas, polars and Arrow, make arrays of numbers, know
   packed bits, check the indices of sparse matrices, and find missing values. `encoding.py` makes rows of `mixed.py` of
   tables that hold numbers, categories and missing values.
4. `equal.py` finds equal objects, which are merged into one object with a multiplicity. `content.py` writes objects as
   bytes that are the same in every process, and `fingerprints.py` makes of them short values that say whether data and
   similarities are the same. `remembered.py` keeps the similarities of a costly function, so that no pair is evaluated
   twice; `hashing.py` mixes bits and is the hash table for pairs. `kept.py` does the same with a file, the checkpoint
   (`checkpoint.py`), and `precautions.py` is what a run takes against failures and stops.
5. `space.py` says what a space is: objects on two sides that are asked for similarities by index. `spaces/` has one
   class for each way to compute similarities. All later stages see only spaces, never data.
6. `rows.py` stores rows of numbers, dense or CSR, for the spaces. `kernels.py` holds the compiled sums over two rows.
   `bit_rows.py` and `bit_kernels.py` do the same for packed bits. `bounds.py` computes cheap upper bounds of
   similarities. `pool.py` lets several processes call a slow Python function, and `timed.py` ends one that hangs.
   `failures.py` notes pairs for which a function fails, and `spot_check.py` warns of functions that are not what they
   promise to be.
7. `mean.py` computes the mean similarity of a space's pairs, exactly or from a sample that `pairs.py` draws.
   `sums.py` and `exact_sum.py` add up similarities so that the order of the additions does not matter.
   `homogeneity.py` offers the mean to users.
"""
