"""Stage 1: from the user's objects to similarities of pairs. This is the only folder that sees data.

Data goes through the files in this order:

1. `similarity.py` says what a similarity is. `measures.py` is the table of named measures, and turns what a user may
   pass as ``similarity`` into a `Similarity`; `names.py` lists the names for those who cannot wait for NumPy.
2. `kinds/` decides of which kind the objects of X are, and has one file for each kind: its checks, its storage, its
   collection and its space. `inputs.py` holds the types of X and y and the checks that several kinds share, and
   `packed_bits.py` the array of packed bits that users pass.
3. `collection.py` says what every collection can do: X under a similarity, checked and prepared once. `space.py` says
   what a space is: objects on two sides that are asked for similarities by index. Later stages see only these two.
4. `run.py` says what a fit does if its similarity fails or hangs, and counts evaluations. `checkpoint.py` is the file
   in which a run keeps what it has paid for. `pair_cache.py` puts it, or the table of `hash_table.py`, in front of a
   costly similarity.
5. `calls/` calls custom functions: in which process, for how long, and what happens if they fail.
6. `duplicates.py` finds equal objects, which are merged into one object with a multiplicity. `fingerprint.py` writes
   objects as bytes that are the same in every process, and says by them whether data and similarities are the same.
7. `kernels.py` holds the compiled sums over two rows, `bounds.py` cheap upper bounds of similarities. `mean.py`
   computes the mean similarity of a space's pairs, exactly or from a sample, by the sums of `sums.py`.
"""
