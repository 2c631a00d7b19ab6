# `make run` tries it out, `make test` proves it. Both set themselves up; nothing has to be installed by hand.
.DEFAULT_GOAL := help
.PHONY: help setup lock run test browser race replay lint fix types check messages
python := .venv/bin/python
# Chromium for the browser tests; another one may be named.
export VIGENTE_CHROMIUM ?= /usr/bin/chromium

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

setup: ## find Python >= 3.12, make .venv, install the pinned packages
	@scripts/setup

run: setup ## start everything; Ctrl-C stops it
	@exec $(python) manage.py run

test: setup ## all tests but those in a browser
	$(python) -m pytest -m "not browser" $(ARGS)

browser: setup ## the tests in a browser
	$(python) -m pytest -m browser $(ARGS)

race: setup ## every race, the naive way and through the gate; then without each protection in turn
	$(python) manage.py race
	$(python) manage.py race --mutate

# The whole log takes minutes (`make replay ROWS=13158`); this share of it, in the order of its cases, takes one.
LOG ?= ../shared/data/event-log/incident-updates.csv
ROWS ?= 4000
replay: setup ## real saves of people and a machine, replayed as concurrent writers
	@if [ -f $(LOG) ]; then $(python) manage.py replay_log $(LOG) --limit $(ROWS); else echo "There is no $(LOG): nothing was replayed."; fi

lint: setup ## style
	$(python) -m ruff check .
	$(python) -m ruff format --check .

fix: setup ## style, mended
	$(python) -m ruff check --fix .
	$(python) -m ruff format .

types: setup ## types
	$(python) -m mypy

check: lint types ## style, types, Django's own checks, no missing migration
	$(python) manage.py check --fail-level WARNING
	$(python) manage.py makemigrations --check --dry-run

messages: setup ## the words of other languages: collected from the source, compiled
	$(python) scripts/messages.py

lock: setup ## renew requirements/ from pyproject.toml
	$(python) scripts/lock.py
