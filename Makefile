# Everything a newcomer needs: `make demo`, then `make test`. Only Python 3.11.2 or later and make are assumed
# (and on Debian and Ubuntu the package python3-venv, without which their Python makes no environments).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Whoever names a Python gets an environment of that version: $(call another,FOLDER) is empty unless the environment in
# the folder was made by another one, and then it is made anew.
ifneq ($(origin PYTHON),file)
VERSION := $(shell $(PYTHON) -c "import platform; print(platform.python_version())")
another = $(shell test ! -e $(1)/pyvenv.cfg || grep -qx "version = $(VERSION)" $(1)/pyvenv.cfg || echo another)
endif
# The lower bounds of the dependencies have ready-made packages for Python 3.11, not for later ones.
OLDEST_PYTHON ?= python3.11
OLDEST_VENV ?= .venv-oldest
# How `make suite`, `make test-oldest` and `make test-wheel` call pytest, for example: make suite TESTS="tests/graph -n 2"
TESTS ?= -n auto --dist loadgroup
# How often `make steady` runs its tests, and beside how many busy processes
TIMES ?= 30
BUSY ?= 0
CASES ?= 2000
MUTANTS ?= 150
SEED ?= 0
# The tools that check and build a release have an environment of their own, and so does what users may install.
BUILD_VENV ?= .venv-build
BUILD_BIN := $(BUILD_VENV)/bin
USER_VENV := $(BUILD_VENV)/user
DIST ?= dist
# A library that the gallery shows (aeon) asks for older versions of others, so that the site has an environment, too.
DOCS_VENV ?= .venv-docs
SITE ?= docs/_build/html
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: FORCE demo test suite test-oldest test-wheel thorough determinism steady attack mutants lint types format map docs bench bench-large audit reproducible dist clean

# Ends with a page, covey-demo.html, to open in a browser.
demo: $(VENV)/.installed
	$(BIN)/python -m covey.demo

test: lint suite

suite: $(VENV)/.installed-dev
	$(BIN)/pytest $(TESTS)

# The same tests on the oldest versions that pyproject.toml allows.
test-oldest: $(OLDEST_VENV)/.installed-dev
	$(OLDEST_VENV)/bin/pytest $(TESTS)

# The same tests on the wheel of the last commit, installed outside this folder; those of the source archive are run.
test-wheel: $(BUILD_VENV)/.installed
	$(BUILD_BIN)/python -m tests.release test $(TESTS)

# The tests that take minutes, which suite leaves out, and the same results under each setting that must not change any
thorough: $(VENV)/.installed-dev determinism
	$(BIN)/pytest -m minutes

determinism: $(VENV)/.installed-dev
	$(BIN)/python -m tests.determinism

# The tests that start processes, send signals or wait, many times: also make steady BUSY=2, beside two busy loops
steady: $(VENV)/.installed-dev
	$(BIN)/python -m tests.steady --times $(TIMES) --busy $(BUSY) $(TESTS)

# Random and odd cases; more or other ones by, for example, make attack CASES=100000 SEED=7
attack: $(VENV)/.installed-dev
	$(BIN)/python -m tests.attack --cases $(CASES) --seed $(SEED)

# Small mistakes in the source, one at a time: which ones do the tests notice? For example: make mutants MUTANTS=20 SEED=7
mutants: $(VENV)/.installed-dev
	$(BIN)/python -m tests.mutants --mutants $(MUTANTS) --seed $(SEED)

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

# Builds the site with warnings as errors, runs the gallery, and follows every link. It opens offline, as files.
docs: $(DOCS_VENV)/.installed
	$(DOCS_VENV)/bin/python -m sphinx --fail-on-warning --keep-going --quiet docs $(SITE)
	$(DOCS_VENV)/bin/python -m tests.docs.links $(SITE)
	@echo "The site is ready: $(abspath $(SITE))/index.html"

bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks.suite

bench-large: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks.large

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
	cd $(BUILD_VENV) && user/bin/python -m covey.demo
	$(BUILD_BIN)/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml --mc-type library \
		--output-file $(BUILD_VENV)/bill.json $(USER_VENV)/bin/python
	$(BUILD_BIN)/python -m tests.release bill $(BUILD_VENV)/bill.json $(DIST)
	$(BUILD_BIN)/python -m tests.release sums $(DIST)

$(VENV)/.installed: pyproject.toml src/covey/__init__.py $(if $(call another,$(VENV)),FORCE)
	$(PYTHON) -m venv $(if $(call another,$(VENV)),--clear) $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

$(DOCS_VENV)/.installed: pyproject.toml src/covey/__init__.py $(if $(call another,$(DOCS_VENV)),FORCE)
	$(PYTHON) -m venv $(if $(call another,$(DOCS_VENV)),--clear) $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --editable ".[docs]"
	touch $@

$(OLDEST_VENV)/.installed-dev: pyproject.toml src/covey/__init__.py tests/oldest.py
	$(OLDEST_PYTHON) -m venv $(OLDEST_VENV)
	$(OLDEST_VENV)/bin/python -m tests.oldest > $(OLDEST_VENV)/constraints.txt
	$(OLDEST_VENV)/bin/python -m pip install --quiet --constraint $(OLDEST_VENV)/constraints.txt --editable ".[dev]"
	touch $@

$(BUILD_VENV)/.installed: $(if $(call another,$(BUILD_VENV)),FORCE)
	$(PYTHON) -m venv $(if $(call another,$(BUILD_VENV)),--clear) $(BUILD_VENV)
	$(BUILD_BIN)/python -m pip install --quiet --upgrade pip
	$(BUILD_BIN)/python -m pip install --quiet cyclonedx-bom hatchling pip-audit twine
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST_VENV) $(BUILD_VENV) $(DOCS_VENV) build $(DIST) covey-demo*.html docs/_build docs/api docs/gallery
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
