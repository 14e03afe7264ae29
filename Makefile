# What Language Models Know. `make` alone lists the targets.
PYTHON ?= python3
VENV ?= .venv
BENCH_VENV ?= build/bench
SERVER_VENV ?= build/server
GRADING_VENV ?= build/grading
MODEL ?= atlas-m
MODELS ?=
SOURCES ?=
BENCHMARKS ?= truthfulqa medhalt commonsenseqa fever truefalse
SET ?=
CHAPTERS ?=
CORES ?=
PROFILE ?=
DRY ?=
SEED ?=
ARGS ?=

# Recipes read what a user gave from the environment, as it was given: neither make nor a shell
# expands it.
GIVEN = PYTHON VENV BENCH_VENV SERVER_VENV GRADING_VENV MODEL MODELS SOURCES BENCHMARKS SET CHAPTERS \
  CORES PROFILE DRY SEED ARGS
$(foreach name,$(GIVEN),$(eval override $(name) := $$(value $(name))))
export $(GIVEN)

PY = "$$VENV/bin/python"
RUN = $(PY) -m book.tools.make_targets
SIDE_BY_SIDE = OMP_NUM_THREADS=1 $(RUN) -m pytest -n logical --maxprocesses 8 --dist loadfile \
  --no-loadscope-reorder
PYTHON_TAG = $$("$$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)

.PHONY: help install book sweep knowledge questions benchmarks course noise pdf linkcheck \
  test test-all test-grading test-server test-cluster faults lint bench clean
.DEFAULT_GOAL := help

help: ## list the targets
	@echo 'make book [MODEL=name, folder or hub id] [SET="n_facts=30 dataset=fktc"] [CHAPTERS=monitor] [MODELS="other models"] [CORES=1]'
	@echo 'make sweep MODELS="atlas-s atlas-m" [CHAPTERS="monitor multiplicity"] [SET=...] [PROFILE=slurm] [CORES=n] [DRY=1]'
	@echo 'make knowledge [MODELS="atlas-s atlas-m"] [SET=...]; make questions [MODEL=...] [SOURCES=folder,folder] [SET=...]'
	@echo 'make benchmarks [MODEL=...] [BENCHMARKS="fever folder my.csv"] [SET=...]'
	@echo 'make noise [MODEL=...]'
	@echo 'make test [ARGS="-k runs"]; make test-all [ARGS="tests/faults"]'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1	\2/p' Makefile

install: ## make .venv and install requirements.txt, held by constraints.txt (skipped while unchanged)
	@tag=$(PYTHON_TAG); case "$$tag" in 3.11|3.12|3.13) ;; *) \
	  echo "Python 3.11, 3.12 or 3.13 is needed and $$PYTHON is $${tag:-missing}: name one, as in make book PYTHON=python3.12" >&2; exit 2;; esac; \
	want="$$tag $$(cat requirements.txt constraints.txt | cksum)"; have=$$(cat "$$VENV/installed" 2>/dev/null); \
	[ "$$want" = "$$have" ] && exit 0; \
	[ -z "$$have" ] || [ "$${have%% *}" = "$$tag" ] || clear=--clear; \
	echo "Installing requirements.txt into $$VENV (Python $$tag); this takes some minutes"; \
	"$$PYTHON" -m venv $$clear "$$VENV" && \
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt -c constraints.txt && \
	echo "$$want" > "$$VENV/installed"

book: install ## run the chapters on MODEL, the measures on MODELS too, and render book/_build/html
	@$(RUN) book

sweep: install ## run CHAPTERS on each of MODELS, here or on a cluster (PROFILE=slurm); DRY=1 tells the plan
	@$(RUN) sweep

knowledge: install ## run the knowledge-base chapter on each of MODELS, for its comparisons
	@$(RUN) knowledge

questions: install ## run it on 100 published questions of each of SOURCES (all three sets if empty)
	@$(RUN) questions

benchmarks: install ## run the multiplicity chapter on 50 questions of each of BENCHMARKS
	@$(RUN) benchmarks

course: install ## write exercises, assignments, quizzes and slides in build/course, and check them
	@$(RUN) course

noise: install ## ask MODEL the same things in four ways that should not matter, for the comparison
	@$(RUN) noise

pdf: install ## print the book that was rendered last as build/pdf/what-language-models-know.pdf
	@$(PY) -m book.tools pdf

linkcheck: install ## ask every external link of the book whether it still leads somewhere
	@$(PY) -m book.tools links

test: install ## run the fast tests, a process for each core
	@$(SIDE_BY_SIDE)

test-all: install ## run all tests: whole books, clusters, faults, mutants, every page in the browser
	@$(SIDE_BY_SIDE) -m "slow or not slow" --durations=40

test-grading: ## have nbgrader and Otter-Grader mark the assignments, in an environment of its own
	@$(MAKE) --no-print-directory install VENV="$$GRADING_VENV"
	@"$$GRADING_VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
	  -r requirements.txt -r tests/tools/course/requirements.txt
	@"$$GRADING_VENV/bin/python" -m book.tools.make_targets -m pytest tests/tools/course \
	  -m "slow or not slow"

test-server: install ## test and time scoring by vLLM, in an environment of its own (3.5 GB)
	@want="$(PYTHON_TAG) $$(cksum < tests/server/requirements.txt)"; \
	[ "$$want" = "$$(cat "$$SERVER_VENV/installed" 2>/dev/null)" ] || { \
	  echo "Installing vLLM into $$SERVER_VENV; this takes some minutes" >&2; \
	  "$$PYTHON" -m venv --clear "$$SERVER_VENV" && \
	  "$$SERVER_VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
	    -r tests/server/requirements.txt && \
	  "$$SERVER_VENV/bin/python" -m pip uninstall --quiet --yes torchvision torchaudio torchcodec && \
	  echo "$$want" > "$$SERVER_VENV/installed"; }
	@SERVER_PYTHON="$$SERVER_VENV/bin/python" $(RUN) -m pytest tests/server && \
	SERVER_PYTHON="$$SERVER_VENV/bin/python" $(PY) -m tests.server.timing

test-cluster: install ## try a sweep on a SLURM of one node, set up for it (where SLURM is installed)
	@$(RUN) -m pytest tests/cluster -m cluster

faults: install ## kill, fill, cut and flip what a run rests on; print what it survived
	@$(RUN) -m pytest tests/faults -m fault

lint: install ## check style, formatting, types, and which package imports which
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy && \
	"$$VENV/bin/lint-imports" --no-cache --no-logo

bench: ## time the scoring against plain ways and two peers, in an environment of its own
	@$(MAKE) --no-print-directory install VENV="$$BENCH_VENV"
	@"$$BENCH_VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
	  -r requirements.txt -r bench/requirements.txt
	@"$$BENCH_VENV/bin/python" -m book.tools.make_targets -m bench.scoring_times && \
	"$$BENCH_VENV/bin/python" -m bench.figures

clean: ## remove the rendered book, not the runs
	rm -rf book/_build book/chapters .snakemake
