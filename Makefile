PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
CHECKED := NUMBA_BOUNDSCHECK=1 PARTITA_CACHE_DIR=$(CURDIR)/$(VENV)/checked-kernels
WORKERS := -n 2 --dist loadgroup

.PHONY: demo test lint warm prove bounds format clean

demo: $(VENV)/.demo
	$(BIN)/partita demo

test: $(VENV)/.test
	$(MAKE) --jobs 2 lint warm
	$(ONE_THREAD) $(BIN)/python -m pytest $(WORKERS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Compiled once, then shared by the workers.
warm: $(VENV)/.test
	$(ONE_THREAD) $(BIN)/python -m tests.warm

# What takes long: the tests marked so, and 22 000 hostile files, tables and options.
prove: $(VENV)/.test
	$(ONE_THREAD) $(BIN)/python -m pytest $(WORKERS) -m long
	$(ONE_THREAD) $(BIN)/python -m tests.fuzzing

# All tests, every index that compiled code uses checked.
bounds: $(VENV)/.test
	$(CHECKED) $(ONE_THREAD) $(BIN)/python -m tests.warm
	$(CHECKED) $(ONE_THREAD) $(BIN)/python -m pytest $(WORKERS) -m "long or not long"

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) partita-demo
