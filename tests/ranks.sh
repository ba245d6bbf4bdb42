#!/usr/bin/env bash
# Every test that starts ranks, again and again, quiet and beside a busy neighbour: what fails one time in twenty fails here.
#
#   tests/ranks.sh [--times 20] [--busy] [--longest SECONDS] [pattern]
#
# Tests that start ranks take processors or run alone (PROCESSORS, RUN_SERIAL), which is how they are found. --busy: a spinning process a core beside them. --longest leaves out
# tests that took longer when they ran last (CTest's cost file); those left out are named. Every test's count joins runs/ranks/sessions.ndjson, of which
# examples/trust.py makes a table. Needs build/dev.
set -euo pipefail
cd "$(dirname "$0")/.."
times=20 busy=no longest=100000 pattern=.
while [ $# -gt 0 ]; do
  case $1 in
    --times) times=$2; shift ;;
    --busy) busy=yes ;;
    --longest) longest=$2; shift ;;
    *) pattern=$1 ;;
  esac
  shift
done

names() {
  ctest --test-dir build/dev --show-only=json-v1 | python3 -c '
import json, pathlib, re, sys
pattern, longest = sys.argv[1], float(sys.argv[2])
costs = pathlib.Path("build/dev/Testing/Temporary/CTestCostData.txt")
took = {line.split()[0]: float(line.split()[2]) for line in costs.read_text().splitlines() if len(line.split()) == 3} if costs.exists() else {}
for test in json.load(sys.stdin)["tests"]:
    properties = {one["name"]: one["value"] for one in test.get("properties", [])}
    starts_ranks = int(properties.get("PROCESSORS", 1)) > 1 or properties.get("RUN_SERIAL")
    if not starts_ranks or {"fuzz", "architecture"} & set(properties.get("LABELS", [])) or not re.search(pattern, test["name"]):
        continue
    if took.get(test["name"], 0) > longest:
        print(f"left out: {test['"'name'"']} ({took[test['"'name'"']]:.0f} s)", file=sys.stderr)
    else:
        print(test["name"])' "$pattern" "$longest"
}

neighbours=()
if [ $busy = yes ]; then
  for _ in $(seq "$(nproc)"); do
    while :; do :; done &
    neighbours+=($!)
  done
  trap 'kill "${neighbours[@]}"' EXIT
fi
mkdir -p runs/ranks
status=0
for name in $(names); do
  report=build/dev/ranks.$name.txt failed=0 beside=$busy
  awk -v cores="$(nproc)" '{exit !($1 >= cores)}' /proc/loadavg && beside=yes  # whatever else runs here is a neighbour, too
  # What it needs is made once: the first run makes it, the others leave it out.
  { ctest --test-dir build/dev -R "^$name\$" --output-on-failure &&
    ctest --test-dir build/dev -FA '.*' -R "^$name\$" --repeat "until-fail:$((times - 1))" --output-on-failure; } >"$report" 2>&1 || failed=1
  passed=$(grep -c " $name \.* *   Passed " "$report" || true)  # not those of its fixtures
  echo "{\"test\": \"$name\", \"busy\": \"$beside\", \"passed\": $passed, \"failed\": $failed}" >> runs/ranks/sessions.ndjson
  echo "$name: $passed of $times"
  [ $failed = 0 ] || { status=1; echo "FAILED; $report"; }
done
exit $status
