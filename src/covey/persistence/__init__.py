"""Fitted selectors and classifiers in files. No pickle is inside, and loading runs no code from a file.

A file is a zip archive of `covey.json` and of arrays in NumPy's own format. The JSON part holds the class of the
estimator, its parameters, its fitted state, and notes. Functions are not stored: whoever loads an estimator that was
fitted with a custom similarity passes it again.

    estimator -> saving.py -> estimators.py, values.py, records.py -> archive
    archive -> loading.py -> old.py -> values.py, records.py, estimators.py -> estimator

- `saving.py` has `covey.save`; `loading.py` has `covey.load`, and `ModelFile` for those who need the notes, too.
- `estimators.py` says which class a name means, and checks and makes estimators by what their classes declare
  (`covey/selectors/saved_state.py`). It turns their similarities into JSON, and back. Nothing here knows a single
  selector or the classifier.
- `values.py` turns plain values into JSON and arrays, and back; `records.py` lists the dataclasses among them.
- `format.py` has what can be seen of a file from outside; `old.py` reads the formats of earlier versions.
"""
