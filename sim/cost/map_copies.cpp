#include "sim/cost/map_copies.h"

#include <algorithm>

#include "sim/cost/map_operators.h"

namespace sim {
namespace {

constexpr std::int64_t kBlock = 16;        // channels
constexpr std::int64_t kManySamples = 16;  // from these on the library makes products of single places, too
constexpr Bytes kStridedScratch{36'888};   // of the gradient of what a strided one reads, at every shape that was tried

std::int64_t in_blocks(std::int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; }

struct Operands {
  Bytes input, output, weight;  // as they are
  Bytes input_in_blocks, output_in_blocks, weight_in_blocks;
  bool are_copied = false, are_strided = false, of_images = false;
};

Operands operands_of(const Operator& op, const ParallelPlan& plan) {
  const std::int64_t samples = plan.shard_shape().tokens(), read = samples * op.map.read, made = samples * op.map.places,
                     area = op.map.area(), inputs = op.inputs / op.map.groups;
  const bool has_blocks = inputs >= kBlock;  // fewer channels are read as they lie
  const Bytes number = plan.bytes(Numbers::Activations);
  return {.input = number * (read * op.inputs),
          .output = number * (made * op.outputs),
          .weight = number * (inputs * op.outputs * area),
          .input_in_blocks = has_blocks ? number * (read * in_blocks(op.inputs)) : Bytes(0),
          .output_in_blocks = number * (made * in_blocks(op.outputs)),
          .weight_in_blocks = number * ((has_blocks ? in_blocks(inputs) : inputs) * in_blocks(op.outputs) * area),
          .are_copied = op.map.stride > 1 || area > 1 || samples >= kManySamples,
          .are_strided = op.map.stride > 1,
          .of_images = op.map.of_images};
}

Bytes forward_of(const Operands& all) {
  if (!all.are_copied) return {};
  return std::max(all.input_in_blocks + all.weight_in_blocks + all.output_in_blocks - all.output, all.output_in_blocks);
}

Bytes backward_of(const Operands& all) {
  const Bytes weights = all.weight_in_blocks + all.weight;
  if (!all.are_copied) return all.weight;
  if (all.of_images) return std::max(all.output_in_blocks + all.weight_in_blocks, weights);
  const Bytes input = std::max(all.input, all.input_in_blocks),
              inputs_gradient = all.are_strided ? std::max(all.output + all.weight_in_blocks + kStridedScratch, input * 2)
                                                : std::max(all.output_in_blocks + all.weight_in_blocks + input - all.input, input);
  return std::max({inputs_gradient, input + all.output_in_blocks + all.weight_in_blocks, weights});
}

template <class Of>
Bytes largest(const Layer& layer, const ParallelPlan& plan, const Of& of) {
  Bytes most{};
  if (plan.cluster.hardware.kind != DeviceKind::Cpu) return most;
  for (const SegmentGraph& segment : layer.segments)
    for (const Operator& op : segment.operators)
      if (op.kind == OperatorKind::Convolution) most = std::max(most, of(operands_of(op, plan)));
  return most;
}

}  // namespace

Bytes copies_forward(const Layer& layer, const ParallelPlan& plan) { return largest(layer, plan, forward_of); }
Bytes copies_backward(const Layer& layer, const ParallelPlan& plan) { return largest(layer, plan, backward_of); }

}  // namespace sim
