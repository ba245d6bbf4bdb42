// A row of published measurements: the plan that it says, and, apart from it, what was measured.
// The description never sees the second half.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/clock/device.h"
#include "sim/cost/memory_counter.h"
#include "sim/plan/parallel_plan.h"
#include "sim/units/json_fwd.h"

namespace sim {

struct Assumption {
  std::string field, value;
};

// Which counter a row's memory is of, and of which rank. Without a counter: the one that the program itself shows.
enum class AskedRank : std::uint8_t { Fullest, First, Last };
inline constexpr std::string_view kAskedRankNames[] = {"fullest", "first", "last"};
struct MemoryQuestion {
  std::optional<MemoryCounter> counter;
  AskedRank rank = AskedRank::Fullest;
};

enum class Timed : std::uint8_t { Step, Layer };  // Layer: forward and backward of the blocks alone

struct DescribedRow {
  ParallelPlan plan;
  std::string part;  // profile in profiles/hardware; the cluster's has the row's own links
  Timed timed = Timed::Step;
  MemoryQuestion asked = {};
  bool recompute_open = false;        // not stated: see settle_recompute
  bool recompute_parts_open = false;  // stated as selective, not what of
  std::vector<Assumption> assumed;    // fields that the row leaves open, with the value that a rule gave
};

// What a score needs. Read from `target`, `measured`, `source` after everything is predicted.
struct RowTarget {
  std::string source, sweep;
  std::optional<double> time, memory_gib;
  std::string memory_kind;
  std::optional<bool> out_of_memory;
  bool headline = false;
};

// What profiles are named by.
struct RowProfiles {
  const SoftwareCatalog& programs;
  std::function<const Device&(const std::string& part)> part;
};

// Throws InputError that names the row and every fault in it: contradictions, unknown values, sizes out of range, broken rules of plans.
DescribedRow describe_row(const Json& row, const std::string& id, const RowProfiles& profiles);
RowTarget read_target(const Json& row, const std::string& id);

}  // namespace sim
