# `make demo` and `make test` each set up what they need and work on their own.
PYTHON ?= python3
BIN := .venv/bin
DEMO := dataset=digits,zipf
export MLFLOW_DISABLE_TELEMETRY = true
export DO_NOT_TRACK = true

.PHONY: demo docs test test-all faults fuzz mutants audit lint size release ui report bench clean

# The sweep ends with the table of the report.
demo: .venv/ready-run
	$(BIN)/python run.py -m method=ove,umax,implicit $(DEMO) method.lr=0.001,0.01,0.1,1,10 seed=0,1 budget.epochs=10 budget.checkpoints=5 grid=demo
	$(BIN)/xcbench report grid=demo name=demo > /dev/null
	@echo "next: open reports/demo/index.html, or inspect the curves with 'make ui'"

# A third of the time of a test is waiting for the commands that it launched. A process that dies
# ends the tests with its name: with another in its place, pytest-xdist waits forever.
PYTEST := $(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

test: .venv/ready-test
	$(PYTEST)

test-all: .venv/ready-test
	$(PYTEST) -m ''

faults: .venv/ready-run
	PYTHONPATH=tests $(BIN)/python -m faults $(FAULTS)

fuzz: .venv/ready-fuzz
	PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

mutants: .venv/ready-test
	PYTHONPATH=tests $(BIN)/python -m mutants $(MUTANTS)

audit: .venv/ready-audit
	PYTHONPATH=tests $(BIN)/python -m audit

lint: .venv/ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Statements by room beside their budget in pyproject.toml.
size: .venv/ready-run
	$(BIN)/python tests/size.py

# Wheel and sdist in dist/, of the tracked files; both tried in an empty environment.
release: .venv/ready-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	rm -rf dist
	git archive --format=tar --prefix=dist/source/ HEAD | tar x
	$(BIN)/python -m build --outdir dist dist/source
	rm -r dist/source
	$(BIN)/python -m pytest -m slow tests/test_release.py

docs: .venv/ready-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

ui: .venv/ready-run
	$(BIN)/xcbench ui

report: .venv/ready-run
	$(BIN)/python run.py experiment=first
	$(BIN)/xcbench report grid=first name=first
	$(BIN)/xcbench paper umax
	$(BIN)/xcbench paper ove
	$(BIN)/xcbench paper ar
	$(BIN)/xcbench paper adv
	$(BIN)/xcbench paper memoir
	$(BIN)/xcbench paper scent

bench: .venv/ready-bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache reports/demo
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

# The stamp goes first and comes back last: an installation that was cut off starts afresh.
.venv/ready-run: EXTRAS := [numba,ui]
.venv/ready-test: EXTRAS := [numba,test,lint]
.venv/ready-bench: EXTRAS := [bench]
.venv/ready-docs: EXTRAS := [docs]
.venv/ready-fuzz: EXTRAS := [numba,test,fuzz]
.venv/ready-audit: EXTRAS := [numba,test,lint,audit]
.venv/ready-%: pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("error: xcbench needs Python 3.11 or later, $(PYTHON) is %d.%d; make $(MAKECMDGOALS) PYTHON=python3.11" % v[:2])'
	@ls .venv/ready-* >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@rm -f .venv/ready-*
	@echo "installing xcbench$(EXTRAS) into .venv (a minute or two)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.$(EXTRAS)'
	@touch $@ .venv/ready-run
