#!/usr/bin/env bash
# The part of a GoogleTest program whose turn it is, by the number of the commit (architecture/rotation.py): tests/in_turn.sh PARTS COMMAND...
# All of it with MESHWRIGHT_WHOLE=1 in the environment. Who asks for a shard himself gets that one.
set -euo pipefail
parts=$1
shift
if [ -z "${MESHWRIGHT_WHOLE:-}${GTEST_TOTAL_SHARDS:-}" ]; then
  GTEST_SHARD_INDEX=$(python3 "$(dirname "$0")/architecture/rotation.py" "$parts")
  export GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX
  echo "part $GTEST_SHARD_INDEX of $parts"
fi
exec "$@"
