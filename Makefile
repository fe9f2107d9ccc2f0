# Everything a newcomer needs: `make demo`, then `make test`. Only Python 3.11 or later and make are assumed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The lower bounds of the dependencies have ready-made packages for Python 3.11, not for later ones.
OLDEST_PYTHON ?= python3.11
OLDEST_VENV ?= .venv-oldest
# How `make suite` and `make test-oldest` call pytest, for example: make suite TESTS="tests/graph -n 2"
TESTS ?= -n auto --dist loadgroup
CASES ?= 2000
SEED ?= 0
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test suite test-oldest attack lint types format map bench clean

demo: $(VENV)/.installed
	$(BIN)/python -m covey.demo

test: lint suite

suite: $(VENV)/.installed-dev
	$(BIN)/pytest $(TESTS)

# The same tests on the oldest versions that pyproject.toml allows.
test-oldest: $(OLDEST_VENV)/.installed-dev
	$(OLDEST_VENV)/bin/pytest $(TESTS)

# Random and odd cases; more or other ones by, for example, make attack CASES=100000 SEED=7
attack: $(VENV)/.installed-dev
	$(BIN)/python -m tests.attack --cases $(CASES) --seed $(SEED)

lint: $(VENV)/.installed-dev types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy
	$(BIN)/mypy --strict --config-file= examples/typed.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Draws the map of the source tree in docs/architecture.md again.
map: $(VENV)/.installed-dev
	$(BIN)/python -m tests.test_architecture

bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks.suite

$(VENV)/.installed: pyproject.toml src/covey/__init__.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

$(OLDEST_VENV)/.installed-dev: pyproject.toml src/covey/__init__.py tests/oldest.py
	$(OLDEST_PYTHON) -m venv $(OLDEST_VENV)
	$(OLDEST_VENV)/bin/python -m tests.oldest > $(OLDEST_VENV)/constraints.txt
	$(OLDEST_VENV)/bin/python -m pip install --quiet --constraint $(OLDEST_VENV)/constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST_VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
