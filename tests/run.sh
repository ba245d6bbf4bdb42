#!/usr/bin/env bash
# Sets up what is missing, builds preset dev, runs every test. Arguments go to ctest:  tests/run.sh -R engine
set -euo pipefail
cd "$(dirname "$0")/.."
cmake/setup.sh tests
cmake --preset dev
cmake --build --preset dev
exec ctest --preset dev "$@"
