// Which blocks of the network stand on which virtual stage of a pipeline. Used by step and memory estimates.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/estimate/run_description.h"

namespace sim {

struct StageBlocks {
  std::int64_t first = 0, count = 0;  // blocks of the network
  bool embedding = false, head = false;
};

// One entry a virtual stage, in the order of the model; entry i stands on rank i % p of the pipeline.
std::vector<StageBlocks> cut_stages(const Network& network, const Layout& layout);

}  // namespace sim
