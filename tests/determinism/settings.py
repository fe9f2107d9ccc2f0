"""The settings that must not change any result, and how workers are started under them."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PLAIN = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
TWO_BLAS_THREADS = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}

SAME_BYTES = {
    "another day": ({"days_later": 1}, {}),
    "another hash seed": ({}, {"PYTHONHASHSEED": "1"}),
    "a random hash seed": ({}, {"PYTHONHASHSEED": "random"}),
    "two jobs": ({"n_jobs": 2}, {}),
    "three jobs": ({"n_jobs": 3}, {}),
    "two jobs that start at once": ({"n_jobs": 2, "eager": True}, {}),
    "two BLAS threads": ({}, TWO_BLAS_THREADS),
    "blocks of 7": ({"blocks": 7}, {}),
    "blocks of 33, three jobs": ({"blocks": 33, "n_jobs": 3}, {}),
    "the backend threading": ({"backend": "threading", "backend_jobs": 3}, {}),
    "the backend loky": ({"backend": "loky", "backend_jobs": 2, "eager": True}, {}),
    "the backend multiprocessing": ({"backend": "multiprocessing", "backend_jobs": 2, "eager": True}, {}),
}
"""For each setting what the worker is told, and what its environment has. All results must be the same bytes."""

OTHER_PROCESSORS = {
    "BLAS of Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "BLAS of Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "any x86-64 for numba": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "no AVX": {"NUMBA_ENABLE_AVX": "0"},
    "NumPy without AVX-512": {
        "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
    },
}
"""Environments in which libraries work as on other types of processors. The last bits of results may differ. Numba
keeps what it has compiled for each type of processor apart."""


def start(module, argument, environment=(), folder=None):
    """Start a module of this package as a process of its own."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", f"tests.determinism.{module}", argument],
        env={**os.environ, **PLAIN, **dict(environment), "PYTHONPATH": path},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answers(processes):
    """What each of the processes has printed, once all are done."""
    printed = [process.communicate() for process in processes]
    for process, (_, err) in zip(processes, printed, strict=True):
        if process.returncode:
            raise RuntimeError(f"A worker has ended with {process.returncode}:\n{err}")
    return [out for out, _ in printed]


def results(settings, environment=(), module="worker"):
    """The results of a worker under these settings."""
    return json.loads(answers([start(module, json.dumps(settings), environment)])[0])


def differences(expected, found):
    """The names of the results that differ; both must have results of the same names."""
    assert expected.keys() == found.keys()
    return [name for name in expected if expected[name] != found[name]]
