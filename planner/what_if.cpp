#include "planner/what_if.h"

#include "planner/evaluator.h"

namespace planner {
namespace {

constexpr sim::Bytes kMore{std::int64_t{4} << 30};

}  // namespace

std::vector<WhatIf> what_ifs(const SearchRequest& request) {
  std::vector<WhatIf> all;
  const auto ask = [&](const std::string& words) -> SearchRequest& { return all.emplace_back(WhatIf{words, request}).request; };
  const std::int32_t node = request.cluster.hardware.devices_per_node;
  ask("4 GiB more a device").memory_limit = memory_limit(request) + kMore;
  if (request.cluster.devices > node) {
    sim::LinkProfile& network = ask("a network twice as fast").cluster.hardware.inter_node;
    for (sim::BytesPerSecond* rate : {&network.bandwidth, &network.peak_bandwidth})  // of modelled kernels the latter is priced
      *rate = sim::BytesPerSecond(rate->value() * 2);
    ask("a node less").cluster.devices -= node;
  }
  if (request.cluster.devices % node == 0) ask("a node more").cluster.devices += node;
  ask("a global batch twice as large").workload.global_batch *= 2;
  return all;
}

sim::Seconds time_per_token(const RankedPlan& plan) { return sim::Seconds(1 / plan.result.tokens_per_second); }

}  // namespace planner
