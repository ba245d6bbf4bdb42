// How good learning from a few runs is: of each source of the published record some rows are given, drawn with a seed, the constants are learned from them
// (belief.h), and its other rows are predicted.
#pragma once

#include <cstdint>

#include "sim/validation/fit.h"

namespace sim {

struct FewShot {
  std::size_t given = 1;          // rows of each source
  std::size_t draws = 10;         // of each source
  bool leave_out_each = false;    // with constants fitted without the source
  std::uint64_t seed = 20261123;  // of the draws
};

// Every prediction of every draw; sources of fewer than given + 3 headline rows are left out. Rows that are no plan are, too.
ValidationRows few_shot(const MeasuredRuns& measured, const FewShot& asked, const std::function<void(SourcesLeftOut)>& progress = {});

}  // namespace sim
