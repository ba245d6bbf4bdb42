// A row of published measurements: what is predicted from, and, apart from it, what was measured. Used by validate.
// The description never sees the second half.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/cluster/hardware_profile.h"
#include "sim/cluster/software_stack.h"
#include "sim/cost/memory_counter.h"
#include "sim/estimate/run_description.h"
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

// What a row says that a plan has words for and RunDescription has none.
struct RowWords {
  bool qk_norm = false, sinks = false, alibi = false;
  std::optional<Precision> masters, moments, gradients;  // what they are kept in
  std::optional<bool> sums_whole;                        // gradients of ZeRO 1; else as the program does
  std::optional<bool> fused_accumulation;                // of weight gradients, in their product; else as the program does
  CudaGraphs graphs = CudaGraphs::None;
  std::int32_t microbatch_group = 0;
  std::int64_t expert_tensor = 1;  // ranks that share an expert
};

struct DescribedRow {
  RunDescription run;
  RowWords words = {};
  MemoryQuestion asked = {};
  bool recompute_open = false;        // not stated: see least_recompute
  bool recompute_parts_open = false;  // stated as selective, not what of
  std::vector<Assumption> assumed;    // fields that the row leaves open, with the value that a rule of resolve.h gave
};

// What a score needs. Read from `target`, `measured`, `source` after everything is predicted.
struct RowTarget {
  std::string source, sweep;
  std::optional<double> time, memory_gib;
  std::string memory_kind;
  std::optional<bool> out_of_memory;
  bool headline = false;
};

// Throws InputError that names the row and every fault in it (contradictions, unknown values, sizes out of range).
DescribedRow describe_row(const Json& row, const std::string& id, const SoftwareCatalog& catalog);
RowTarget read_target(const Json& row, const std::string& id);

}  // namespace sim
