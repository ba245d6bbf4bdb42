// What one microbatch costs on one rank in a transformer block and at both ends of the network: kernels, split by what recomputation and
// zero-bubble schedules treat apart. Collectives are in link_clock.
#pragma once

#include "sim/clock/kernel_clock.h"
#include "sim/estimate/run_description.h"

namespace sim {

struct LayerWork {
  Work linear, attention, elementwise;  // forward
  Work widening;                        // of linear: into the feed-forward
  Work input_gradient, attention_back, elementwise_back;
  Work weight_gradient;
  double beside_sums = 0;       // seconds of weight gradients during which the tensor group can sum input gradients
  double dispatched_bytes = 0;  // to experts on other ranks, one way, a copy for each expert
  Work forward() const { return linear + attention + elementwise; }
  Work backward() const { return input_gradient + attention_back + elementwise_back; }
};

enum class BlockKind : std::uint8_t { Dense, Experts };
struct BlockPlace {
  BlockKind kind = BlockKind::Dense;
  bool windowed = false;
};

LayerWork block_work(const RunDescription& run, const SoftwareStack& stack, const KernelClock& clock, BlockPlace place);
LayerWork embedding_work(const RunDescription& run, const SoftwareStack& stack, const KernelClock& clock);
LayerWork head_work(const RunDescription& run, const SoftwareStack& stack, const KernelClock& clock);

// Parameters of a rank (tensor and expert parallelism taken out, data parallelism not).
struct ParameterCount {
  double dense = 0;    // shared by all data ranks
  double experts = 0;  // shared by those that hold the same experts
  double trained = 0;  // of both together
  double total() const { return dense + experts; }
};
ParameterCount block_parameters(const RunDescription& run, BlockKind kind);
ParameterCount embedding_parameters(const RunDescription& run);

// Floating point operations of forward and backward of one sample that the mathematics asks for; recomputation does not count.
double model_flops(const Network& network);

double tokens_with_loss(const RunDescription& run, const SoftwareStack& stack);  // share of a sample that the output head sees

BlockKind block_kind(const Network& network, std::int64_t layer);

}  // namespace sim
