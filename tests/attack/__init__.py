"""Attacks on the library: many random cases, each of which must end well or be refused in the way that is documented.

A module of this package whose name has no leading underscore is an attack: `python -m tests.attack` finds it by itself.
It has one function, `attack(rng, n_cases)`, which returns a `collections.Counter` of outcomes. An outcome that starts
with "WRONG" is a fault. The first line of an outcome names it, and further lines describe the example.

Every case has a number, from which its random generator is seeded: `python -m tests.attack problems --case 12345`
repeats one case exactly. The harness therefore calls `attack(np.random.default_rng(number), 1)` for each case, and a
module keeps what takes long to prepare from one call to the next.
"""
