# Muniment's commands. Everything lives in .venv; nothing is installed elsewhere.
# The stamp is written only after pip succeeded, so half an environment is never trusted.
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.muniment-ready
PYTEST_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help run test check bench bench-full bench-peers bench-recall screenshots snapshots lock clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' Makefile

$(STAMP): pyproject.toml requirements.lock
	@set -e; \
	found=; \
	for name in python3.14 python3.13 python3.12 python3.11 python3; do \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$name; break; fi; \
	done; \
	if [ -z "$$found" ]; then echo "muniment: no Python 3.11 or newer was found; install python3.11 (Debian: apt-get install python3 python3-venv) and run make again." >&2; exit 1; fi; \
	if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
	  version=$$("$$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "muniment: $$found cannot make environments; install python$$version-venv (Debian: apt-get install python$$version-venv) and run make again." >&2; exit 1; fi; \
	if [ ! -x $(PY) ] || ! $(PY) -c 'import pip' 2>/dev/null; then rm -rf $(VENV); "$$found" -m venv $(VENV); fi; \
	echo "Setting up $(VENV) with $$found (once) ..." >&2; \
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock >&2; \
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . >&2; \
	touch $(STAMP)

run: $(STAMP) ## open the main job: the sample review, offline, with the rehearsal model
	@$(VENV)/bin/muniment run --new --file recipes/review-work.yaml --provider rehearsal

test: $(STAMP) ## run every test
	@$(PY) -m pytest -n 4 --dist worksteal $(PYTEST_FLAGS)

check: $(STAMP) ## formatting, lint, types, layers and file sizes
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports
	@big=$$(git ls-files '*.py' | xargs wc -l | awk '$$2 != "total" && $$1 > 600'); \
	if [ -n "$$big" ]; then echo "Over 600 lines:"; echo "$$big"; exit 1; fi

bench: $(STAMP) ## speed, as ratios against the physical limit in the same run
	@$(PY) tests/bench/speed.py

bench-full: $(STAMP) ## the same with 100,000 records as well; takes long
	@$(PY) tests/bench/speed.py --full

bench-peers: $(STAMP) ## beside neighbours from the package index, each in an environment of its own
	@$(PY) tests/bench/peers.py

bench-recall: $(STAMP) ## how well search finds, on LoCoMo where it lies
	@$(PY) tests/bench/recall.py

screenshots: $(STAMP) ## draw the pictures of the README anew
	@$(PY) tests/support/screenshots.py

snapshots: $(STAMP) ## accept the screens as they are drawn now
	@$(PY) -m pytest tests/snapshots --snapshot-update

lock: $(STAMP) ## pin every dependency again, with hashes and without addresses
	@$(PY) -m pip install --quiet uv
	@$(VENV)/bin/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --extra dev pyproject.toml -o requirements.lock

clean: ## remove the environment and all caches
	@rm -rf $(VENV) .venv-peers build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find app tests -name __pycache__ -type d -prune -exec rm -rf {} +
