#!/usr/bin/env bash
# Builds a chosen subset of the tests (tests/sanitized/CMakeLists.txt) with the sanitizers, and runs it. Everything: cmake --preset asan (tsan), build, ctest.
#
#   tests/sanitized/sanitizers.sh [address|thread]   both, if not said; address goes with undefined behavior
#   tests/sanitized/sanitizers.sh turn               the one whose turn it is (tests/architecture/rotation.py), or none: skipped (77)
set -euo pipefail
cd "$(dirname "$0")/../.."

# build NAME FLAGS: the program in build/sanitized/NAME/bin; nothing is optimized, to spare time
build() {
  cmake --preset planner -B "build/sanitized/$1" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g1 $2" >/dev/null
  cmake --build "build/sanitized/$1" --target sanitized
}

# caught FLAGS SOURCE: a program that is wrong must not pass
caught() {
  c++ -std=c++20 -O0 -w $1 -x c++ - -o build/sanitized/planted <<<"$2"
  ! build/sanitized/planted >/dev/null 2>&1 || { echo "not caught by $1: $2" >&2; exit 1; }
}

address() {
  local flags="-D_GLIBCXX_ASSERTIONS -fsanitize=address,undefined -fno-sanitize-recover=all"
  build address "$flags"
  caught "$flags" 'int main(int count, char**) { int* four = new int[4]; int beyond = four[3 + count]; delete[] four; return 0 * beyond; }'
  caught "$flags" 'int main(int count, char**) { int most = 2147483647; most += count; return 0; }'
  build/sanitized/address/bin/sanitized --gtest_brief=1 --gtest_filter='-Search.*'
}

thread() {
  build thread "-fsanitize=thread"
  caught "-fsanitize=thread" $'#include <thread>\nint shared; int main() { std::thread other([] { ++shared; }); ++shared; other.join(); }'
  TSAN_OPTIONS="suppressions=$PWD/cmake/tsan_suppressions.txt" build/sanitized/thread/bin/sanitized --gtest_brief=1 --gtest_filter='Search.Threads*'
}

case "${1:-both}" in
  both) address; thread ;;
  turn)
    [ -z "${MESHWRIGHT_WHOLE:-}" ] || { address; thread; exit; }
    build=$(python3 tests/architecture/rotation.py)
    case "$build" in address | thread) "$build" ;; *) echo "skipped: it is the turn of ${build:-none}"; exit 77 ;; esac ;;
  address | thread) "$1" ;;
  *) sed -n '2,6p' "$0"; exit 2 ;;
esac
