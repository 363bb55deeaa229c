# Everything a fresh clone needs: Python 3.11 or later and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: venv demo test browser databases audit check bench pictures clean

venv: $(VENV)/.ready  ## the virtual environment, from pinned constraints

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: venv            ## the main job: a log goes in, a private release comes out
	$(BIN)/hubbub demo --out demo

test: venv            ## every test, as many at a time as there are cores, with coverage; `pytest` runs the fast ones
	$(BIN)/python -m pytest tests --cov --cov-report=term

browser:              ## Chromium for the tests that look at pages: Debian's, unless there is one (needs root)
	test -n "$$HUBBUB_CHROMIUM" || command -v chromium || command -v chromium-browser || command -v google-chrome || \
	{ export DEBIAN_FRONTEND=noninteractive; apt-get -o Acquire::Retries=5 update && \
	apt-get -o Acquire::Retries=5 install --yes --no-install-recommends chromium; }

databases:            ## PostgreSQL and MariaDB for the tests that read them: Debian's, unless they are there (needs root)
	{ ls /usr/lib/postgresql/*/bin/initdb && command -v mariadbd; } || \
	{ export DEBIAN_FRONTEND=noninteractive; apt-get -o Acquire::Retries=5 update && \
	apt-get -o Acquire::Retries=5 install --yes --no-install-recommends postgresql mariadb-server; }

audit: venv           ## everything the tests sample, ten times over and on twenty seeds; then every mutant
	$(BIN)/hubbub audit
	$(BIN)/hubbub audit --mutants

check: venv           ## lint and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: venv           ## cost at 1, 10 and 36 million rows beside the bare engine and rival libraries; see bench/README.md
	$(BIN)/python bench/scale.py --install
	$(BIN)/python bench/scale.py

pictures: venv        ## every picture of the documentation, screenshots of a demo release among them
	$(BIN)/python docs/pictures/make.py

clean:
	rm -rf $(VENV) demo dist build .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
