#!/usr/bin/env bash
# Builds every reader of a file with libFuzzer and sanitizers (preset fuzz, clang++) and lets each read whatever libFuzzer thinks of.
# What it finds lies in runs/fuzz/<reader>/, and the exit code is not 0.
#
#   tests/gui/import/fuzz.sh [seconds a reader] [reader...]      default: 30, all
set -euo pipefail
cd "$(dirname "$0")/../../.."
seconds=${1:-30}
shift || true
echo 'int LLVMFuzzerTestOneInput() { return 0; }' | clang++ -fsanitize=fuzzer -x c - -o /dev/null 2> /dev/null || { echo "clang++ with libFuzzer is missing (Debian: libclang-rt-dev)"; exit 77; }
cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target readers_fuzzer
fuzzer=build/fuzz/bin/readers_fuzzer
for reader in ${*:-$($fuzzer)}; do
  folder=runs/fuzz/$reader
  mkdir -p "$folder/corpus"
  echo "== $reader"
  MESHWRIGHT_READER=$reader $fuzzer "$folder/corpus" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=20000 \
    -artifact_prefix="$folder/" -print_final_stats=1 2> "$folder/log" || { tail -40 "$folder/log"; exit 1; }
  grep -E 'number_of_executed_units|DONE' "$folder/log"
done
