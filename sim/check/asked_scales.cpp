#include "sim/check/asked_scales.h"

#include <algorithm>
#include <array>

namespace sim {
namespace {

enum class Index : std::uint8_t { Tokens, Inputs, Outputs };

// An operand of one of the three sums, and the pass that rounds it for that.
struct Rounded {
  Index over, other;
  bool backward, first;  // first: rounded for the first time; scales of whole tensors stay
};
constexpr std::array kRounded = std::to_array<Rounded>({
    {Index::Inputs, Index::Tokens, false, true},   // x
    {Index::Inputs, Index::Outputs, false, true},  // W
    {Index::Tokens, Index::Inputs, false, false},  // x
    {Index::Outputs, Index::Tokens, true, true},   // y'
    {Index::Outputs, Index::Inputs, true, false},  // W
    {Index::Tokens, Index::Outputs, true, false},  // y'
});

// Ranks that have other parts along an index, so many; an operand of each microbatch stands in a message of all of them.
struct Sharers {
  MeshAxis axis{};
  Index along{};
  std::int64_t degree = 1, microbatches = 1;
};

constexpr bool has_tiles(ScaleRecipe recipe) { return recipe == ScaleRecipe::Blockwise || recipe == ScaleRecipe::Mx; }
constexpr std::int64_t side_of(ScaleRecipe recipe) { return recipe == ScaleRecipe::Mx ? 32 : 128; }

std::int64_t cut_of_experts(const DeviceMesh& mesh) { return mesh.expert_tensor > 0 ? mesh.expert_tensor : mesh.tensor; }

Sharers of_weights(const ParallelPlan& plan, const CheckedProduct& product) {
  const std::int64_t tensor = plan.mesh.tensor, degree = product.of_experts ? cut_of_experts(plan.mesh) : tensor;
  const bool is_cut = product.cut == ProductCut::Outputs || product.cut == ProductCut::Inputs;
  return {.axis = degree == tensor ? MeshAxis::Tensor : MeshAxis::ExpertTensor,
          .along = product.cut == ProductCut::Outputs ? Index::Outputs : Index::Inputs,
          .degree = is_cut ? degree : 1};
}

// Each context rank has a stretch of a sample, or two, the second counted from its end. Tiles begin with the sample.
bool tears_tiles(const ParallelPlan& plan, std::int64_t side) {
  const std::int64_t stretches = std::int64_t{plan.mesh.context} * (plan.context_algorithm == ContextAlgorithm::AllToAll ? 1 : 2);
  return plan.context_by_document || plan.workload.sequence / stretches % side > 0;
}

Sharers of_tokens(const ParallelPlan& plan, const CheckedProduct& product, ScaleRecipe recipe) {
  const DeviceMesh& mesh = plan.mesh;
  const std::int64_t of_sample = std::int64_t{mesh.tensor} * mesh.context, exchange = mesh.expert * cut_of_experts(mesh);
  if (product.of_experts)
    return {MeshAxis::ExpertData, Index::Tokens, exchange % of_sample == 0 ? 1 : of_sample, mesh.data / mesh.replicas};
  const bool shares = !has_tiles(recipe) || tears_tiles(plan, side_of(recipe));
  return {MeshAxis::Context, Index::Tokens, shares ? mesh.context : 1};
}

class Question {
 public:
  Question(const ParallelPlan& plan, const CheckedProduct& product, ScaleRecipe recipe)
      : plan_(plan), product_(product), recipe_(recipe), weights_(of_weights(plan, product)) {}

  std::int64_t numbers(const Sharers& of, bool backward) const {
    std::int64_t sum = 0;
    for (const Rounded& one : kRounded)
      if (one.backward == backward && of.degree > 1) sum += numbers(of, one);
    return sum;
  }
  const Sharers& weights() const { return weights_; }

 private:
  std::int64_t numbers(const Sharers& of, const Rounded& one) const {
    if (recipe_ == ScaleRecipe::Tensorwise)
      return one.first && (one.over == of.along || one.other == of.along) ? products() * of.microbatches : 0;
    if (one.over != of.along || (has_tiles(recipe_) && of.along != Index::Tokens)) return 0;
    return extent(one.other) * of.microbatches * (has_tiles(recipe_) ? tiles() : 1);
  }
  std::int64_t extent(Index index) const {
    if (index == Index::Tokens) return product_.rows;
    const std::int64_t whole = index == Index::Inputs ? product_.inputs : product_.outputs;
    return products() * (whole / (weights_.along == index ? weights_.degree : 1));
  }
  // Of each expert here one for each microbatch whose ranks send it rows.
  std::int64_t products() const {
    if (!product_.of_experts) return 1;
    const DeviceMesh& mesh = plan_.mesh;
    const std::int64_t senders = mesh.expert * cut_of_experts(mesh);
    return plan_.model.experts->experts / mesh.expert * std::max<std::int64_t>(1, senders / (std::int64_t{mesh.tensor} * mesh.context));
  }
  std::int64_t tiles() const {  // of a microbatch's tokens
    const std::int64_t side = side_of(recipe_);
    return (plan_.microbatch_size * plan_.workload.sequence + side - 1) / side;
  }

  const ParallelPlan& plan_;
  const CheckedProduct& product_;
  ScaleRecipe recipe_;
  Sharers weights_;
};

}  // namespace

std::vector<AskedWithin> asked_by(const ParallelPlan& plan, const CheckedProduct& product, bool backward, Bytes number) {
  const auto recipe = plan.workload.precision.scales();
  std::vector<AskedWithin> asked;
  if (!recipe || plan.cluster.hardware.kind != DeviceKind::Cpu) return asked;
  if (product.cut == ProductCut::Whole && backward && plan.mesh.tensor > 1)
    asked.push_back({MeshAxis::Tensor, number * (product.rows * product.outputs)});
  if (recipe == ScaleRecipe::Delayed || plan.model.linear || plan.model.mtp_layers > 0) return asked;
  const Question question(plan, product, *recipe);
  const Bytes maximum = std::max(plan.bytes(Numbers::Activations), Bytes(4));
  for (const Sharers& sharers : {question.weights(), of_tokens(plan, product, *recipe)})
    if (const std::int64_t numbers = question.numbers(sharers, backward); numbers > 0) asked.push_back({sharers.axis, maximum * numbers});
  return asked;
}

}  // namespace sim
