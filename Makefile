# Everything a fresh clone needs: Python 3.11 or later and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: venv gone demo test browser databases audit check bench pictures docs dist clean

venv: $(VENV)/.dev    ## the virtual environment with every test's tools, from pinned constraints

# A mark that is there says nothing if the environment's Python is gone.
GONE := $(shell $(BIN)/python -c '' 2>/dev/null || echo gone)

$(VENV)/.core $(VENV)/.dev: $(VENV)/.%: pyproject.toml constraints.txt $(GONE)
	@command -v $(PYTHON) >/dev/null || { echo "hubbub: there is no $(PYTHON)"; \
	echo "  next:    install Python 3.11 or later, or name yours, as in: make demo PYTHON=python3.12"; exit 2; } >&2
	@$(PYTHON) tools/environment.py $(VENV) $*

gone:

demo: $(VENV)/.core   ## the main job: a log goes in, a private release comes out; installs what that needs and no more
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
	$(BIN)/python verify/crowd_lemmas.py --large

check: venv           ## lint and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: venv           ## cost at 1, 10 and 36 million rows beside the bare engine and rival libraries; see bench/README.md
	$(BIN)/python bench/scale.py --install
	$(BIN)/python bench/scale.py

pictures: venv        ## every picture of the documentation, screenshots of a demo release among them
	$(BIN)/python docs/pictures/make.py

docs: venv            ## the site: every page, searchable, with those of a demo release; opens without a network
	$(BIN)/python tools/site site --demo demo

dist: venv            ## sdist and wheel, the same bytes whoever builds them from the same commit
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --no-isolation --outdir dist

clean:
	rm -rf $(VENV) demo site dist build .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
