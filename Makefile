# `make run` serves Skillquay, `make test` passes its tests. CONTRIBUTING.md lists the other suites.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -n $${TEST_PROCESSES:-3} --dist worksteal
MINUTES ?= 10
export PYTHONDONTWRITEBYTECODE :=  # otherwise every process compiles all of our code again

.PHONY: new-venv run test test-fast test-full test-clients soak format check lock screenshots bubblewrap

run: $(VENV)/runtime bubblewrap
	@$(BIN)/python manage.py set_up
	@exec $(BIN)/python manage.py up

test: $(VENV)/tests bubblewrap
	@$(PYTEST) -rs --durations=25 --durations-min=5 $(ARGS)

test-fast: $(VENV)/tests
	@$(PYTEST) --suite fast $(ARGS)

test-full: $(VENV)/tests bubblewrap
	@$(PYTEST) --suite full -rs $(ARGS)

test-clients: $(VENV)/tests bubblewrap
	@$(PYTEST) --suite clients -n 0 tests/clients $(ARGS)

soak: $(VENV)/tests bubblewrap
	@$(BIN)/python manage.py bench growth
	@end=$$(( $$(date +%s) + 60 * $(MINUTES) )); \
	while [ $$(date +%s) -lt $$end ]; do \
	  for suite in sample full; do \
	    FAULT_TIMES=3 FUZZ_TIMES=20 INTERLEAVINGS=10000 SCHEDULES=1000 RETENTION_RUNS=1000000 RETENTION_EXAMPLES=200 \
	    TRANSFER_SKILLS=10000 TRANSFER_RUNS=100000 TRANSFER_SECONDS=60 $(PYTEST) --suite $$suite tests/registry/changes tests/portal/test_kept_answers.py tests/faults tests/worker/schedules/test_year.py tests/api/test_fuzz.py tests/worker/runs/test_generated.py tests/worker/retention tests/registry/transfer $(ARGS) || exit 1; \
	  done; \
	done

screenshots: $(VENV)/tests  # with IMAGES=docs/images, only the pictures of README.md
	@$(BIN)/python -m tests.demo.screenshots $(if $(IMAGES),--images $(IMAGES),screenshots)

format: $(VENV)/tests
	$(BIN)/ruff format .
	$(BIN)/djangofmt portal/templates

check: $(VENV)/tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djangofmt --check portal/templates
	$(BIN)/mypy registry worker portal tests
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check

$(VENV)/runtime: requirements.txt $(if $(shell $(BIN)/python -c "import pip; print(1)" 2>/dev/null),,new-venv)
	@echo "Installing the packages of requirements.txt …"
	@$(PIP) -r requirements.txt
	@touch $@

# Also after the environment lost its Python, as in an upgrade of the system, or got no pip.
new-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Skillquay needs Python 3.11 or newer; set PYTHON=/path/to/it")'
	@$(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV); \
	  echo "$(PYTHON) can't create a virtual environment; install its venv module (apt-get install python3-venv) and run make again." >&2; exit 1; }

# The optional sets: `make .venv/s3` for blobs in S3, `make .venv/models` for agent skills.
SETS := requirements/s3.txt requirements/models.txt
$(VENV)/s3 $(VENV)/models: $(VENV)/%: requirements/%.txt $(VENV)/runtime
	@$(PIP) -r requirements.txt -r $<
	@touch $@

$(VENV)/tests: tests/requirements.txt $(SETS) $(VENV)/runtime
	@echo "Installing the packages of the tests …"
	@$(PIP) -r requirements.txt $(SETS:%=-r %) -r tests/requirements.txt
	@touch $@

lock:  # after a change of a pinned version: hashes, SBOM and notice file
	@PYTHON=$(PYTHON) deploy/lock.sh

bubblewrap:  # looked up where the sandbox does; `manage.py up` names the isolation tier that it will use
	@PATH=/usr/bin:/usr/local/bin:/bin command -v bwrap >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	     { apt-get update && apt-get install -y --no-install-recommends bubblewrap; } >/dev/null 2>&1; \
	  then echo "Installed bubblewrap."; \
	  else echo "bubblewrap, which the strongest isolation tier needs, is missing and can't be installed here."; fi; }
