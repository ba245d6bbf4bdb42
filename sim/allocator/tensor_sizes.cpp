#include "sim/allocator/tensor_sizes.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "sim/cost/loss_tokens.h"
#include "sim/sharding/sharding.h"

namespace sim {
namespace {

constexpr Bytes kWide{4};  // fp32

bool is_of_a_layer(const MemoryBlock& block) { return block.owner && block.owner->layer.exists(); }

std::vector<Bytes> in_pieces(Bytes amount, Bytes largest) {
  std::vector<Bytes> pieces;
  for (; largest > Bytes{} && amount > largest; amount -= largest) pieces.push_back(largest);
  pieces.push_back(amount);
  return pieces;
}

bool has_part(const SegmentGraph& segment, Operation operation) {
  return segment.name == operation || std::ranges::find(segment.parts, operation, &SegmentPart::name) != segment.parts.end();
}

// Of heads and activations, not of the products in front of them: programs make queries, keys and values, or gate and up, as one tensor or as several.
std::int64_t width_of(const Operator& op, const DeviceMesh& mesh) {
  const bool is_cut = op.split != TensorSplit::None;
  return op.kind == OperatorKind::Linear && op.split == TensorSplit::Rows ? 0 : op.copies * op.outputs / (is_cut ? mesh.tensor : 1);
}

}  // namespace

TensorSizes::TensorSizes(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage) : model_(model), plan_(plan) {
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
    const LayerRange range = plan.layers(stage, chunk);
    for (LayerIndex layer = range.begin; layer < range.end; ++layer) std::ranges::copy(elements_of(layer), std::back_inserter(elements_));
  }
}

std::vector<std::int64_t> TensorSizes::elements_of(LayerIndex layer) const {
  std::vector<std::int64_t> elements;
  for (const Parameter& parameter : model_.layer(layer).parameters) elements.push_back(local_elements(parameter, plan_.mesh));
  return elements;
}

// In proportion; what rounding leaves is the last one's.
std::vector<Bytes> TensorSizes::by_parameter(Bytes amount, std::int64_t of_each, const std::vector<std::int64_t>& parameters) const {
  std::vector<Bytes> pieces;
  Bytes left = amount;
  const std::int64_t all = std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0});
  for (const std::int64_t elements : parameters)
    for (std::int64_t one = 0; one < of_each && all > 0; ++one) {
      const Bytes piece = scaled(amount, static_cast<double>(elements) / static_cast<double>(all * of_each));
      if (piece > Bytes{} && piece < left) pieces.push_back(piece);
      left -= piece > Bytes{} && piece < left ? piece : Bytes{};
    }
  pieces.push_back(left);
  return pieces;
}

// Of what the products of the task's segment put out.
Bytes TensorSizes::widest(const TaskKey& key) const {
  if (key.layer == model_.head()) return kWide * (tokens_with_loss(plan_) * (model_.padded_vocabulary / plan_.mesh.tensor));
  std::int64_t width = 0;
  for (const SegmentGraph& segment : model_.layer(key.layer).segments)
    if (has_part(segment, key.operation))
      for (const Operator& op : segment.operators) width = std::max(width, width_of(op, plan_.mesh));
  return model_.config.convolution ? Bytes{} : plan_.bytes(Numbers::Activations, key.layer) * (plan_.shard_shape().tokens() * width);
}

Bytes TensorSizes::largest(const MemoryBlock& block) const {
  const bool is_buffer = block.pool != MemoryPool::Kernels || block.category == MemoryCategory::CommunicationBuffers;
  if (!is_of_a_layer(block) || is_buffer) return {};
  const bool are_weights = block.category == MemoryCategory::GatheredUnits, are_gradients = block.category == MemoryCategory::Gradients;
  if (!are_weights && !are_gradients) return widest(*block.owner);
  std::int64_t most = 0;
  for (const Parameter& parameter : model_.layer(block.owner->layer).parameters)
    most = std::max(most, local_elements(parameter, plan_.mesh));
  return plan_.bytes(are_weights ? Numbers::Weights : Numbers::Gradients, block.owner->layer) * most;
}

std::vector<Bytes> TensorSizes::of(const MemoryBlock& block) const {
  const bool are_states = block.category == MemoryCategory::OptimizerState;
  if (are_states && is_of_a_layer(block)) return by_parameter(block.size, 2, elements_of(block.owner->layer));
  const bool is_of_parameters = !is_of_a_layer(block) && block.category <= MemoryCategory::OptimizerState;
  if (is_of_parameters && !elements_.empty()) return by_parameter(block.size, are_states ? 2 : 1, elements_);
  return in_pieces(block.size, largest(block));
}

}  // namespace sim
