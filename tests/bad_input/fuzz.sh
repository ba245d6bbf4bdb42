#!/usr/bin/env bash
# Builds every reader of a file with libFuzzer and sanitizers (preset fuzz, clang++) and lets each read whatever libFuzzer thinks of, beginning
# with the kept corpus (tests/bad_input/corpus). What it finds lies in runs/fuzz/<reader>/, a line a session in runs/fuzz/sessions.ndjson
# (examples/trust.py makes a table of them), and the exit code is not 0.
#
#   tests/bad_input/fuzz.sh [seconds a reader] [reader...]      default: 30, all
#   tests/bad_input/fuzz.sh --keep                              what runs/fuzz found to lead somewhere new, into the kept corpus: a few small files each
set -euo pipefail
cd "$(dirname "$0")/../.."
echo 'int LLVMFuzzerTestOneInput() { return 0; }' | clang++ -fsanitize=fuzzer -x c - -o /dev/null 2> /dev/null || { echo "clang++ with libFuzzer is missing (Debian: libclang-rt-dev)"; exit 77; }
cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target program_readers_fuzzer window_readers_fuzzer
bin=build/fuzz/bin
corpus=tests/bad_input/corpus
limits=(-timeout=20 -rss_limit_mb=2048 -max_len=20000)

fuzzer_of() {
  for fuzzer in program window; do
    $bin/${fuzzer}_readers_fuzzer | grep -qx "$1" && echo $bin/${fuzzer}_readers_fuzzer && return
  done
  echo "no reader $1" >&2
  return 2
}

keep() {  # $1 reader: the smallest files that cover what all cover, the smallest first, at most 12
  local found=runs/fuzz/$1/corpus least=runs/fuzz/$1/least
  [ -d "$found" ] || return 0
  rm -rf "$least" && mkdir -p "$least" "$corpus/$1"
  MESHWRIGHT_READER=$1 $(fuzzer_of "$1") "$least" "$found" -merge=1 "${limits[@]}" 2> "runs/fuzz/$1/merge"
  rm -f "$least/example"
  find "$least" -type f -size -3k | sort | shuf -n 12 --random-source=<(yes) | while read -r file; do cp "$file" "$corpus/$1/"; done
}

readers=$($bin/program_readers_fuzzer; $bin/window_readers_fuzzer)
if [ "${1:-}" = --keep ]; then
  for reader in $readers; do keep "$reader"; done
  exit 0
fi
seconds=${1:-30}
shift || true
status=0
for reader in ${*:-$readers}; do
  folder=runs/fuzz/$reader
  mkdir -p "$folder/corpus" "$corpus/$reader"  # a new reader has no corpus yet
  echo "== $reader"
  code=0
  MESHWRIGHT_READER=$reader $(fuzzer_of "$reader") "$folder/corpus" "$corpus/$reader" -max_total_time="$seconds" "${limits[@]}" \
    -artifact_prefix="$folder/" -print_final_stats=1 2> "$folder/log" || code=$?
  [ $code = 0 ] || { tail -40 "$folder/log"; status=1; }
  inputs=$(sed -n 's/stat::number_of_executed_units: *//p' "$folder/log")
  echo "{\"reader\": \"$reader\", \"inputs\": ${inputs:-0}, \"seconds\": $seconds, \"failed\": $([ $code = 0 ] && echo false || echo true)}" | tee -a runs/fuzz/sessions.ndjson
done
exit $status
