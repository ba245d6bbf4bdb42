// Constants of profiles/behavior -> Behavior.
#include "sim/clock/behavior.h"

#include <utility>

#include "sim/units/json_reader.h"
#include "sim/units/profile_search.h"

namespace sim {
namespace {

constexpr std::string_view kBehaviorFormat = "meshwright.behavior/1";

struct BehaviorConstant {
  const char* name;
  double Behavior::*member;
  double low, high;
};
constexpr BehaviorConstant kBehaviorConstants[] = {
    {"flash_tokens", &Behavior::flash_tokens, 0, 100000.0},
    {"flash_forward_gain", &Behavior::flash_forward_gain, 0.1, 10},
    {"flash_backward_gain", &Behavior::flash_backward_gain, 0.1, 10},
    {"flash1_length_gain", &Behavior::flash1_length_gain, 0.1, 10},
    {"flash1_narrow_gain", &Behavior::flash1_narrow_gain, 0.1, 10},
    {"efficient_gain", &Behavior::efficient_gain, 0.05, 10},
    {"exponentials", &Behavior::exponentials, 1e8, 1e12},
    {"half_aligned_share", &Behavior::half_aligned_share, 0.05, 1},
    {"misaligned_share", &Behavior::misaligned_share, 0.05, 1},
    {"split_inner", &Behavior::split_inner, 64, 1000000.0},
    {"delayed_cast_bytes", &Behavior::delayed_cast_bytes, 0, 16},
    {"tensorwise_cast_bytes", &Behavior::tensorwise_cast_bytes, 0, 16},
    {"transposed_cast_bytes", &Behavior::transposed_cast_bytes, 0, 1},
    {"rowwise_cast_bytes", &Behavior::rowwise_cast_bytes, 0, 16},
    {"turned_casts", &Behavior::turned_casts, 1e7, 1e12},
    {"block_cast_bytes", &Behavior::block_cast_bytes, 0, 16},
    {"fp4_cast_bytes", &Behavior::fp4_cast_bytes, 0, 16},
    {"block_product_share", &Behavior::block_product_share, 0.1, 1},
    {"compiled_cast_share", &Behavior::compiled_cast_share, 0, 1},
    {"fill_bytes", &Behavior::fill_bytes, 1, 1000000000.0},
    {"node_hop", &Behavior::node_hop, 0, 0.01},
    {"ring_hop", &Behavior::ring_hop, 0, 0.01},
    {"transfer_share", &Behavior::transfer_share, 0.01, 1},
    {"plain_transfer", &Behavior::plain_transfer, 1000000.0, 1000000000000.0},
    {"dispatch_share", &Behavior::dispatch_share, 0.01, 1},
    {"dispatch_processors", &Behavior::dispatch_processors, 0, 60},
    {"exchange_processors", &Behavior::exchange_processors, 0, 60},
    {"graph_launch_share", &Behavior::graph_launch_share, 0, 1},
    {"cast_launches", &Behavior::cast_launches, 1, 100},
    {"expert_tile", &Behavior::expert_tile, 1, 10000.0},
    {"expert_spread", &Behavior::expert_spread, 0, 3},
    {"untrained_share", &Behavior::untrained_share, 0, 1},
    {"device_spread", &Behavior::device_spread, 0, 0.2},
    {"scan_stream_share", &Behavior::scan_stream_share, 0.01, 1},
    {"selective_exponentials", &Behavior::selective_exponentials, 1, 100},
    {"sparse_forward_share", &Behavior::sparse_forward_share, 0.01, 1},
    {"sparse_backward_share", &Behavior::sparse_backward_share, 0.01, 1},
    {"sparse_tokens", &Behavior::sparse_tokens, 1, 100000},
    {"masked_share", &Behavior::masked_share, 0, 1},
    {"winograd_gain", &Behavior::winograd_gain, 1, 10},
    {"convolution_forward_share", &Behavior::convolution_forward_share, 0.1, 2},
    {"convolution_input_share", &Behavior::convolution_input_share, 0.1, 2},
    {"convolution_weight_share", &Behavior::convolution_weight_share, 0.1, 2},
    {"convolution_tf32_share", &Behavior::convolution_tf32_share, 0.1, 2},
    {"convolution_forward_passes", &Behavior::convolution_forward_passes, 0.5, 20},
    {"convolution_input_passes", &Behavior::convolution_input_passes, 0.5, 20},
    {"convolution_weight_passes", &Behavior::convolution_weight_passes, 0.5, 20},
    {"depthwise_forward_passes", &Behavior::depthwise_forward_passes, 0.5, 50},
    {"depthwise_input_passes", &Behavior::depthwise_input_passes, 0.5, 50},
    {"depthwise_weight_passes", &Behavior::depthwise_weight_passes, 0.5, 50},
    {"grouped_half_passes", &Behavior::grouped_half_passes, 0.5, 20},
    {"grouped_share", &Behavior::grouped_share, 0.001, 2},
    {"grouped_tensor_share", &Behavior::grouped_tensor_share, 0.001, 2},
    {"depthwise_share", &Behavior::depthwise_share, 0.001, 2},
    {"lone_host_gain", &Behavior::lone_host_gain, 1, 4},
    {"memory_interval", &Behavior::memory_interval, 0.001, 1},
    {"novel_experts", &Behavior::novel_experts, 0, 2},
    {"novel_low_rank", &Behavior::novel_low_rank, 0, 2},
    {"novel_latent", &Behavior::novel_latent, 0, 2},
    {"novel_sparse", &Behavior::novel_sparse, 0, 3},
    {"novel_linear", &Behavior::novel_linear, 0, 2},
    {"novel_sliding", &Behavior::novel_sliding, 0, 2},
    {"novel_context", &Behavior::novel_context, 0, 2},
    {"novel_layer", &Behavior::novel_layer, 0, 2},
    {"novel_convolution", &Behavior::novel_convolution, 0, 2},
    {"novel_offload", &Behavior::novel_offload, 0, 2},
    {"novel_pair", &Behavior::novel_pair, 0, 2},
    {"novel_slices", &Behavior::novel_slices, 0, 2},
    {"late_program", &Behavior::late_program, 0, 3},
    {"late_part", &Behavior::late_part, 0, 3},
    {"late_experts", &Behavior::late_experts, 0, 3},
    {"late_offload", &Behavior::late_offload, 0, 3},
    {"hosts_apart", &Behavior::hosts_apart, 1, 10},
    {"unread_hosts_apart", &Behavior::unread_hosts_apart, 1, 10},
    {"adapter_hosts_apart", &Behavior::adapter_hosts_apart, 1, 10},
};

void require_text(const JsonReader& reader, const std::string& key) {
  if (reader.text(key).empty()) reader.violate(key, "is empty", "say it");
}

Behavior& behavior_in_force() {
  static Behavior behavior = [] {
    const std::string path = find_profile("common", {"behavior"});
    return behavior_from_json(load_json_file(path), path);
  }();
  return behavior;
}

}  // namespace

Behavior behavior_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(json, file);
  reader.choice("format", std::span(&kBehaviorFormat, 1));
  const JsonReader constants = reader.child("constants");
  Behavior behavior;
  for (const BehaviorConstant& constant : kBehaviorConstants) {
    const JsonReader entry = constants.child(constant.name);
    behavior.*constant.member = entry.number("value", {}, {constant.low, constant.high});
    require_text(entry, "meaning");
    require_text(entry, "source");
  }
  reader.finish();
  return behavior;
}

const Behavior& common_behavior() { return behavior_in_force(); }

BehaviorInstead::BehaviorInstead(const Behavior& behavior) : usual_(std::exchange(behavior_in_force(), behavior)) {}
BehaviorInstead::~BehaviorInstead() { behavior_in_force() = usual_; }

}  // namespace sim
