// Questions for the tests of layouts: a small network of experts on 32 GPUs.
#pragma once

#include "planner/layouts.h"

namespace planner {

inline LayoutRequest expert_question() {
  LayoutRequest request;
  sim::Network& net = request.network;
  net.layers = 16;
  net.hidden = 2048;
  net.heads = net.kv_heads = 16;
  net.head_dim = 128;
  net.ffn = 8192;
  net.vocabulary = 32000;
  net.sequence = 4096;
  net.effective_sequence = 4096;
  net.gated = net.rms_norm = net.rotary = true;
  net.experts = sim::ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 4096};
  request.cluster = sim::load_cluster("h100-80gb-sxm", {32});
  request.cluster.software = sim::load_software("megatron-core");
  request.global_batch = 64;
  return request;
}

}  // namespace planner
