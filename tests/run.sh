#!/usr/bin/env bash
# Sets up what is missing, builds preset dev, runs every test, and names the ten slowest. Arguments go to ctest:  tests/run.sh -R engine
set -euo pipefail
cd "$(dirname "$0")/.."
cmake/setup.sh tests
cmake --preset dev
cmake --build --preset dev
status=0
ctest --preset dev --output-junit "$PWD/build/dev/results.xml" "$@" || status=$?
[ ! -s build/dev/results.xml ] || python3 tests/slowest.py build/dev/results.xml
exit $status
