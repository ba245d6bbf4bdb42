// Moments in managed memory (ParallelPlan::paged_optimizer) that have no room beside what a device's allocator has at its fullest.
//
//   device    | what the allocator has                        | room  |
//   moments                                                   | ...   .... out, on the host |
//
// The driver takes away what came longest ago (open-gpu-kernel-modules, uvm_pmm_gpu.c, pick_root_chunk_to_evict), and each step asks for all moments in
// one order (bitsandbytes' prefetch_state): before it comes to the first ones, the last ones have pushed them out. So where a part has no room, all of
// them come in with their updates (sim/cost/managed_memory.h).
#pragma once

#include <unordered_map>
#include <vector>

#include "sim/engine/rank_models.h"
#include "sim/engine/simulate.h"

namespace sim {

class Paging {
 public:
  Paging() = default;  // all have room
  // As a step without it left the devices; both must outlive it.
  Paging(const TaskGraph& graph, const RankModels& models, const std::vector<DeviceResult>& devices);
  bool none() const;
  Bytes out(DeviceId device) const { return out_.empty() ? Bytes{} : out_[device.position()]; }
  // `cost` itself, unless the task updates what pages; the reference stays valid.
  const TaskCost& cost(const Task& task, const TaskCost& cost);

 private:
  const TaskGraph* graph_ = nullptr;
  const RankModels* models_ = nullptr;
  std::vector<Bytes> out_;                               // by device, on its host between steps
  std::unordered_map<const TaskCost*, TaskCost> paged_;  // looked up, never walked through; costs are kept by device
};

}  // namespace sim
