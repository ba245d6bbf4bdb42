// What holds of kernels, collectives and programs on every part: numbers of profiles/behavior/common.json, each with its meaning and source
// there. What differs between parts is in KernelTraits, what differs between programs in SoftwareStack.
#pragma once

#include <string>

#include "sim/units/json_fwd.h"

namespace sim {

struct Behavior {
  double flash_tokens = 0, flash_forward_gain = 0, flash_backward_gain = 0, flash1_length_gain = 0, flash1_narrow_gain = 0,
         efficient_gain = 0, exponentials = 0, half_aligned_share = 0, misaligned_share = 0, split_inner = 0, delayed_cast_bytes = 0,
         tensorwise_cast_bytes = 0, transposed_cast_bytes = 0, rowwise_cast_bytes = 0, turned_casts = 0, block_cast_bytes = 0,
         fp4_cast_bytes = 0, block_product_share = 0, compiled_cast_share = 0, fill_bytes = 0, node_hop = 0, ring_hop = 0,
         transfer_share = 0, plain_transfer = 0, dispatch_share = 0, dispatch_processors = 0, exchange_processors = 0,
         graph_launch_share = 0, cast_launches = 0, expert_tile = 0, expert_spread = 0, untrained_share = 0, device_spread = 0,
         masked_share = 0, scan_stream_share = 0, selective_exponentials = 0, sparse_forward_share = 0, sparse_backward_share = 0,
         sparse_tokens = 0, winograd_gain = 0, convolution_forward_share = 0, convolution_input_share = 0, convolution_weight_share = 0,
         convolution_tf32_share = 0, convolution_forward_passes = 0, convolution_input_passes = 0, convolution_weight_passes = 0,
         depthwise_forward_passes = 0, depthwise_input_passes = 0, depthwise_weight_passes = 0, grouped_half_passes = 0, grouped_share = 0,
         grouped_tensor_share = 0, depthwise_share = 0, lone_host_gain = 0, memory_interval = 0, novel_experts = 0, novel_low_rank = 0,
         novel_latent = 0, novel_sliding = 0, novel_linear = 0, novel_sparse = 0, novel_context = 0, novel_layer = 0, novel_convolution = 0,
         novel_offload = 0, novel_pair = 0, novel_slices = 0, late_program = 0, late_part = 0, late_experts = 0, late_offload = 0,
         hosts_apart = 0, unread_hosts_apart = 0, adapter_hosts_apart = 0;
};

const Behavior& common_behavior();  // read once; throws InputError
Behavior behavior_from_json(const Json& json, const std::string& file);

// What common_behavior() gives while it lives: so a test asks what each number moves. One at a time, beside no other thread.
class BehaviorInstead {
 public:
  explicit BehaviorInstead(const Behavior& behavior);
  ~BehaviorInstead();
  BehaviorInstead(const BehaviorInstead&) = delete;
  BehaviorInstead& operator=(const BehaviorInstead&) = delete;

 private:
  Behavior usual_;
};

}  // namespace sim
