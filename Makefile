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
# The tools that check and build a release have an environment of their own, and so does what users may install.
BUILD_VENV ?= .venv-build
BUILD_BIN := $(BUILD_VENV)/bin
USER_VENV := $(BUILD_VENV)/user
DIST ?= dist
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test suite test-oldest attack lint types format map bench audit reproducible dist clean

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

# Asks a public service for known vulnerabilities of every package that is installed here. A package that the service
# does not know, or cannot be asked about, is a failure too (--strict).
audit: $(VENV)/.installed-dev $(BUILD_VENV)/.installed
	$(BIN)/python -m pip freeze --exclude-editable > $(BUILD_VENV)/installed.txt
	$(BUILD_BIN)/pip-audit --strict --no-deps --disable-pip --requirement $(BUILD_VENV)/installed.txt

# Builds the last commit twice in different surroundings; the same bytes must come out.
reproducible: $(BUILD_VENV)/.installed
	$(BUILD_BIN)/python -m tests.release build

# The files of a release, made of the last commit: wheel, source archive, bill of materials and checksums.
dist: $(BUILD_VENV)/.installed
	rm -rf $(DIST) $(USER_VENV)
	$(BUILD_BIN)/python -m tests.release build $(DIST)
	$(BUILD_BIN)/twine check --strict $(DIST)/*.whl $(DIST)/*.tar.gz
	$(PYTHON) -m venv --without-pip $(USER_VENV)
	$(BUILD_BIN)/python -m pip --python $(USER_VENV)/bin/python install --quiet \
		"covey[chem,cli,dask,paper] @ file://$$(ls $(abspath $(DIST))/*.whl)"
	$(USER_VENV)/bin/python -m covey.demo
	$(BUILD_BIN)/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml --mc-type library \
		--output-file $(BUILD_VENV)/bill.json $(USER_VENV)/bin/python
	$(BUILD_BIN)/python -m tests.release bill $(BUILD_VENV)/bill.json $(DIST)
	$(BUILD_BIN)/python -m tests.release sums $(DIST)

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

$(BUILD_VENV)/.installed:
	$(PYTHON) -m venv $(BUILD_VENV)
	$(BUILD_BIN)/python -m pip install --quiet --upgrade pip
	$(BUILD_BIN)/python -m pip install --quiet cyclonedx-bom hatchling pip-audit twine
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST_VENV) $(BUILD_VENV) build $(DIST) .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
