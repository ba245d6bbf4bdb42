// Direct exchange: every rank sends each other rank its piece at once. One phase a direction: the fewest latencies, and sums in
// rank order, which makes the result independent of timing (the executor's default).
//
//   reduce-scatter  n-1 messages of ceil(payload / n) at once, then n pieces are summed      all-gather  n-1 messages at once
//   all-reduce      both phases     broadcast  the root sends n-1 whole copies     send_receive  one message
#pragma once

#include "sim/collective/collective.h"

namespace sim {
extern const CollectiveAlgorithm kDirectAlgorithm;
}
