PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test prove format clean

demo: $(VENV)/.demo
	$(BIN)/partita demo

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

# Slower than test: every index that compiled code uses is checked, and 22 000 hostile files, tables and options are tried.
prove: $(VENV)/.test
	NUMBA_BOUNDSCHECK=1 PARTITA_CACHE_DIR=$(CURDIR)/$(VENV)/checked-kernels OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzzing

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
