# Everything a newcomer needs: `make demo`, then `make test`. Only Python 3.11+ and make are assumed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CASES ?= 2000
SEED ?= 0
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test attack lint format bench clean

demo: $(VENV)/.installed
	$(BIN)/python -m covey.demo

test: lint
	$(BIN)/pytest -n auto

# Random and odd cases; more or other ones by, for example, make attack CASES=100000 SEED=7
attack: $(VENV)/.installed-dev
	$(BIN)/python -m tests.attack --cases $(CASES) --seed $(SEED)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks.suite

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
