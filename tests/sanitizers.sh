#!/usr/bin/env bash
# Builds what reads files, counts bytes and plays time with the address and undefined-behavior sanitizers, the search with that of threads, and runs it.
# A subset: everything is `cmake --preset asan` and `tsan`, build, ctest.
#
#   tests/sanitizers.sh [address|thread]      both, if not said
set -euo pipefail
cd "$(dirname "$0")/.."

address() {
  local targets=(sim_units_test sim_plan_test sim_schedule_test sim_engine_test)
  cmake --preset asan >/dev/null
  cmake --build --preset asan --target "${targets[@]}"
  ctest --preset asan --no-tests=error -R "^($(IFS='|'; echo "${targets[*]}"))$"
}

thread() {
  cmake --preset tsan >/dev/null
  cmake --build --preset tsan --target planner_test
  TSAN_OPTIONS="suppressions=$PWD/cmake/tsan_suppressions.txt" build/tsan/bin/planner_test --gtest_filter='Search.*Thread*'
}

for one in "${@:-address}" $([ $# -gt 0 ] || echo thread); do $one; done
