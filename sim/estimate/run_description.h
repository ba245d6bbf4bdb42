// A training run as a person states it: network, machine, layout, kernels, software. Every field has a value here; what was not stated was
// filled in before (sim/validation/resolve.h). Used by the step estimate. Holds neither measurements nor any name that selects a price.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/clock/link_clock.h"
#include "sim/model/attention_form.h"
#include "sim/model/expert_form.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

enum class NetworkKind : std::uint8_t { Decoder, Encoder, Convolutional, DecoderLayer };
inline constexpr std::string_view kNetworkKindNames[] = {"decoder", "encoder", "cnn", "decoder_layer"};
// SaveProjections: outputs of the linear layers are kept, but for the widest, into the feed-forward; CheapOperators: those of every second
// one, and attention's.
enum class RecomputeKind : std::uint8_t { None, AttentionCore, SaveProjections, CheapOperators, EverySecondLayer, Full };
inline constexpr std::string_view kRecomputeKindNames[] = {"none", "attention core",     "save projections",
                                                           "op",   "every second layer", "full"};
enum class OptimizerPlace : std::uint8_t { Device, Host, Drive };  // where its states live, and who computes its step
inline constexpr std::string_view kOptimizerPlaceNames[] = {"none", "cpu", "nvme"};
enum class CutKind : std::uint8_t { Uniform, FirstLastMinusOne, EndsAsLayers, Balance };
inline constexpr std::string_view kCutKindNames[] = {"uniform", "first_last_minus_one", "embedding_and_loss_as_layers", "balance"};

struct LowRankForm {
  std::int64_t rank = 16;
  bool attention_only = true;
  double base_bytes = 2;  // of a frozen weight
};

struct Network {
  NetworkKind kind = NetworkKind::Decoder;
  std::string architecture;  // convolutional networks
  std::int64_t layers = 0, hidden = 0, heads = 1, kv_heads = 1, head_dim = 0, ffn = 0, vocabulary = 0, sequence = 1;
  double effective_sequence = 1;  // tokens of a sample that are computed
  std::int64_t positions = 0;     // rows of a learned table; 0: none, a sequence has no end
  bool gated = false, squared_relu = false, rms_norm = false, rotary = false, tied = false, bias = true;
  AttentionForm attention;
  std::optional<ExpertForm> experts;
  std::optional<LowRankForm> low_rank;
  std::int64_t image = 224, channels = 3;
};

struct RunMachine : Machine {
  std::string part;  // profile in profiles/hardware
};

struct Layout {
  std::int64_t data = 1, tensor = 1, pipeline = 1, chunks = 1, context = 1, expert = 1;
  bool expert_tensor = true;  // the tensor group cuts experts, too; false: it is a part of the expert group
  // ZeRO-3 in a pipeline: gathered once a step, whole gradients until its end; else each microbatch would gather again.
  bool keeps_weights() const { return zero_stage == 3 && !reshard && pipeline > 1; }
  double expert_cut() const { return expert_tensor ? real(tensor) : 1; }
  // Ranks that share the states of a weight, where the ZeRO stage shards them: an expert has fewer replicas than what all ranks hold.
  double shards() const { return real(std::max<std::int64_t>(1, zero_group)); }
  double expert_replicas() const { return std::max(1.0, real(data * context) * real(tensor) / expert_cut() / real(expert)); }
  double expert_shards() const { return std::min(shards(), expert_replicas()); }
  bool sequence_parallel = false, context_all_to_all = false, context_ring = false, reshard = true, scatter_gather = false,
       async_tensor = false;
  std::int64_t zero_stage = 0, zero_group = 1, micro_batch = 1, global_batch = 1, microbatches = 1;
  std::string schedule = "none";
  CutKind cut = CutKind::Uniform;
  std::vector<std::int64_t> balance;
};

struct Execution : KernelSetting {
  bool fp8_parameters = false;
  RecomputeKind recompute = RecomputeKind::None;
  bool recompute_keeps_last = false;
  bool channels_last = false, graphs = false;
  bool overlap_reduce = false, overlap_gather = false, overlap_tensor = false, overlap_pipeline = false;
  bool dropout = false;
  double reduce_bytes = 2;  // of one gradient element
  OptimizerKind optimizer = OptimizerKind::AdamW;
  OptimizerPlace place = OptimizerPlace::Device;
};

// Where fp8 operands are cast before the tensor group gathers them: each rank casts its part, and half the bytes travel.
inline bool gathers_fp8(const Layout& layout, const Execution& execution, const SoftwareStack& stack) {
  return stack.gathers_fp8 && layout.sequence_parallel && is_scaled(execution.format) && execution.scales != ScaleRecipe::Rowwise;
}

struct RunDescription {
  Network network;
  RunMachine machine;
  Layout layout;
  Execution execution;
  std::string stack = "plain";  // profile in profiles/software
  double tokens() const {       // of one microbatch on one rank
    return static_cast<double>(layout.micro_batch) * network.effective_sequence / static_cast<double>(layout.context);
  }
};

}  // namespace sim
