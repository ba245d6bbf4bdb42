#!/bin/sh
# Writes the golden texts anew:  tests/golden/bless.sh [build folder, default build/release]
# Look at `git diff tests/golden` before committing, and say in the commit why predicted times changed.
set -eu
cd "$(dirname "$0")/../.."
build="${1:-build/release}"
cmake --build "$build" --target golden_test
MESHWRIGHT_BLESS=1 "$build/bin/golden_test" --gtest_brief=1
git --no-pager diff --stat -- tests/golden
