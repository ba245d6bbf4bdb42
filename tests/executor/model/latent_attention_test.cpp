#include "executor/model/latent_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "executor/model/rotary.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kLatentSamples = 2, kLatentSequence = 5, kLatentHidden = 12, kLatentHeads = 4;

sim::ModelConfig tiny_deepseek(sim::AttentionForm form) {
  sim::ModelConfig config;
  config.model_type = "deepseek_v3";
  config.layers = 1;
  config.hidden = kLatentHidden;
  config.heads = config.kv_heads = kLatentHeads;
  config.head_dim = (form.qk_nope + form.qk_rope + form.v_dim) / 2;
  config.ffn = 12;
  config.vocabulary = 11;
  config.max_positions = 6;
  config.norm = sim::Norm::RmsNorm;
  config.position = sim::Position::Rotary;
  config.gated_mlp = true;
  config.attention = form;
  config.attention.kind = sim::AttentionKind::Latent;
  return config;
}
constexpr sim::AttentionForm kLatentForms[] = {
    {.q_lora = 7, .kv_lora = 5, .qk_nope = 6, .qk_rope = 4, .v_dim = 3},   // values narrower than keys
    {.q_lora = 0, .kv_lora = 5, .qk_nope = 2, .qk_rope = 2, .v_dim = 8},   // wider
    {.q_lora = 3, .kv_lora = 4, .qk_nope = 4, .qk_rope = 2, .v_dim = 6}};  // as wide

struct Latent {
  Latent(const sim::AttentionForm& form, TensorPosition tensor)
      : config(tiny_deepseek(form)), parameters(sim::make_model_graph(config, {1}).layers[1].parameters) {
    for (std::size_t at = 0; at < parameters.size(); ++at) {
      const TensorPart part(parameters[at], tensor);
      const at::Tensor whole = random_tensor({parameters[at].elements()}, at);
      at::Tensor value = at::empty({part.elements()}, at::kDouble);
      for (std::int64_t element = 0; element < part.elements(); ++element) value[element] = whole[part.global_element(element)];
      if (parameters[at].columns > 1) value = value.view({part.rows(), part.columns()});
      leaves.push_back({.value = value, .gradient = at::zeros_like(value)});
    }
    settings = {.sequence = kLatentSequence,
                .tensor = tensor,
                .rotary = rotary_table(unscaled_turns(form.qk_rope, {100.0}), kLatentSequence, at::kDouble)};
  }
  LayerParts parts() const { return {parameters, leaves}; }
  Leaf leaf(const std::string& name) const { return find_leaf(parts(), ".attention." + name + ".weight"); }
  at::Tensor operator()(const at::Tensor& x, const Dropout& dropout = {}) const {
    const ScoreForm masks{.heads = kLatentHeads, .first_head = settings.tensor.rank * (kLatentHeads / settings.tensor.degree)};
    return latent_attention(latent_projections(config, parts(), settings), x, settings.rotary, masks, {.scores = dropout});
  }

  sim::ModelConfig config;
  std::vector<sim::Parameter> parameters;
  LayerLeaves leaves;
  SegmentSettings settings;
};

// Each by itself is another number, forth and back: none is left as it is.
TEST(LatentAttention, EveryProductIsRoundedToEightBits) {
  const at::Tensor x = random_tensor({kLatentSamples * kLatentSequence, kLatentHidden}, 50);
  const auto through = [&](const Latent& latent) {
    const at::Tensor input = recorded(x), out = latent(input);
    out.sum().backward();
    return at::cat({out.detach().flatten(), input.grad().flatten()});
  };
  const at::Tensor plain = through(Latent(kLatentForms[0], {}));
  int rounded = 0;
  for (const char* name : {"q_down", "q_up", "kv_down", "kv_up"}) {
    Latent latent(kLatentForms[0], {});
    for (std::size_t at = 0; at < latent.leaves.size(); ++at)
      if (latent.parameters[at].name.ends_with(std::string("attention.") + name + ".weight")) {
        latent.leaves[at].scaled = std::make_shared<const ScaledProduct>(sim::ScaleRecipe::Rowwise);
        ++rounded;
      }
    EXPECT_GT(relative_error(through(latent), plain), 1e-4) << name;
  }
  EXPECT_EQ(rounded, 4);
}

// The formula in plain operators, as DeepSeek-V3's own inference code has it: neighbours are complex numbers, turned by their position.
struct LatentFormula {
  explicit LatentFormula(const Latent& latent) : form(latent.config.attention) {
    for (const char* name : {"q", "q_down", "q_norm", "q_up", "kv_down", "kv_norm", "kv_up"})
      if (const Leaf leaf = latent.leaf(name); leaf.value.defined()) weights[name] = recorded(leaf.value);
  }
  at::Tensor turned(const at::Tensor& x) const {  // [samples, sequence, heads, rope]
    std::vector<at::Tensor> positions;
    for (std::int64_t position = 0; position < kLatentSequence; ++position) {
      std::vector<at::Tensor> numbers;
      for (std::int64_t i = 0; i < form.qk_rope; i += 2) {
        const double angle = static_cast<double>(position) * std::pow(100.0, -static_cast<double>(i) / static_cast<double>(form.qk_rope));
        const at::Tensor first = x.select(1, position).select(2, i), second = x.select(1, position).select(2, i + 1);
        numbers.push_back(first * std::cos(angle) - second * std::sin(angle));
        numbers.push_back(first * std::sin(angle) + second * std::cos(angle));
      }
      positions.push_back(at::stack(numbers, 2));
    }
    return at::stack(positions, 1);
  }
  at::Tensor operator()(const at::Tensor& x) const {
    const auto norm = [&](const at::Tensor& of, const char* name) { return at::rms_norm(of, {of.size(1)}, weights.at(name), 1e-6); };
    const at::Tensor q = form.q_lora > 0 ? at::linear(norm(at::linear(x, weights.at("q_down")), "q_norm"), weights.at("q_up"))
                                         : at::linear(x, weights.at("q"));
    const at::Tensor query = q.view({kLatentSamples, kLatentSequence, kLatentHeads, -1}), down = at::linear(x, weights.at("kv_down"));
    const at::Tensor both = at::linear(norm(down.narrow(1, 0, form.kv_lora), "kv_norm"), weights.at("kv_up"))
                                .view({kLatentSamples, kLatentSequence, kLatentHeads, -1});
    const at::Tensor shared = turned(down.narrow(1, form.kv_lora, form.qk_rope).view({kLatentSamples, kLatentSequence, 1, -1}))
                                  .expand({-1, -1, kLatentHeads, -1});
    const at::Tensor queries =
        at::cat({query.narrow(3, 0, form.qk_nope), turned(query.narrow(3, form.qk_nope, form.qk_rope))}, 3).transpose(1, 2);
    const at::Tensor keys = at::cat({both.narrow(3, 0, form.qk_nope), shared}, 3).transpose(1, 2);
    const at::Tensor future = at::full({kLatentSequence, kLatentSequence}, -std::numeric_limits<double>::infinity(), at::kDouble).triu(1);
    const at::Tensor scores =
        at::matmul(queries, keys.transpose(2, 3)) / std::sqrt(static_cast<double>(form.qk_nope + form.qk_rope)) + future;
    return at::matmul(at::softmax(scores, 3), both.narrow(3, form.qk_nope, form.v_dim).transpose(1, 2))
        .transpose(1, 2)
        .reshape({kLatentSamples * kLatentSequence, -1});
  }
  sim::AttentionForm form;
  std::map<std::string, at::Tensor> weights;
};

TEST(LatentAttention, IsTheFormulaWithItsGradients) {
  for (const sim::AttentionForm& form : kLatentForms) {
    const Latent latent(form, {});
    const LatentFormula reference(latent);
    const at::Tensor input = random_tensor({kLatentSamples * kLatentSequence, kLatentHidden}, 77), x = recorded(input), y = recorded(input);
    const at::Tensor output = latent(x), expected = reference(y), weighted = random_tensor(expected.sizes(), 5);
    EXPECT_LT(relative_error(output.detach(), expected.detach()), 1e-13);
    (output * weighted).sum().backward();
    (expected * weighted).sum().backward();
    EXPECT_LT(relative_error(x.grad(), y.grad()), 1e-12);
    for (const auto& [name, weight] : reference.weights)
      EXPECT_LT(relative_error(latent.leaf(name).gradient, weight.grad()), 1e-12) << name;
  }
}

// Heads side by side; gradients of what every rank holds whole add up.
TEST(LatentAttention, TensorRanksHaveTheirHeadsAndPartsOfGradients) {
  const Latent whole(kLatentForms[0], {}), first(kLatentForms[0], {.degree = 2, .rank = 0}),
      second(kLatentForms[0], {.degree = 2, .rank = 1});
  const at::Tensor input = random_tensor({kLatentSamples * kLatentSequence, kLatentHidden}, 77), x = recorded(input),
                   parts = recorded(input);
  const at::Tensor expected = whole(x), output = at::cat({first(parts), second(parts)}, 1), weighted = random_tensor(expected.sizes(), 5);
  EXPECT_LT(relative_error(output.detach(), expected.detach()), 1e-13);
  (expected * weighted).sum().backward();
  (output * weighted).sum().backward();
  EXPECT_LT(relative_error(parts.grad(), x.grad()), 1e-12);
  for (const char* name : {"q_down", "q_norm", "kv_down", "kv_norm"})
    EXPECT_LT(relative_error(first.leaf(name).gradient + second.leaf(name).gradient, whole.leaf(name).gradient), 1e-12) << name;
}

// A mask that keeps nearly all is the fused kernel, but for the numbers of its own loop: other widths of keys and values.
TEST(LatentAttention, DropsScoresWithItsOwnWidths) {
  const Latent latent(kLatentForms[0], {});
  const at::Tensor input = random_tensor({kLatentSamples * kLatentSequence, kLatentHidden}, 77), x = recorded(input), y = recorded(input);
  const at::Tensor dropped = latent(x, {.probability = 1e-12, .key = {1}}), plain = latent(y);
  EXPECT_LT(relative_error(dropped.detach(), plain.detach()), 1e-10);
  dropped.sum().backward();
  plain.sum().backward();
  EXPECT_LT(relative_error(x.grad(), y.grad()), 1e-10);
}

}  // namespace
}  // namespace executor
