// Against the definition, token by token, recorded by autograd: w_e of each token's experts times what the expert makes of it.
#include "executor/model/experts.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <c10/core/GradMode.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kHidden = 6, kExpertWidth = 5, kExperts = 4;

sim::ModelConfig config_of(const sim::ExpertForm& form) {
  sim::ModelConfig config;
  config.model_type = "mixtral";
  config.layers = 1;
  config.hidden = kHidden;
  config.heads = config.kv_heads = 2;
  config.head_dim = 3;
  config.ffn = kExpertWidth;
  config.vocabulary = 7;
  config.norm = sim::Norm::RmsNorm;
  config.position = sim::Position::Rotary;
  config.activation = sim::Activation::Silu;
  config.gated_mlp = true;
  config.experts = form;
  return config;
}

struct ExpertBlock {
  explicit ExpertBlock(const sim::ExpertForm& form) : ExpertBlock(config_of(form), at::kDouble) {}
  ExpertBlock(sim::ModelConfig of, at::ScalarType type)
      : config(std::move(of)), parameters(sim::make_model_graph(config, {1}).layers[1].parameters) {
    for (std::size_t at = 0; at < parameters.size(); ++at) {
      const Leaf leaf = random_leaf({parameters[at].rows, parameters[at].columns}, at);
      leaves.push_back({.value = leaf.value.to(type), .gradient = leaf.gradient.to(type)});
    }
  }
  LayerParts parts() const { return {parameters, leaves}; }
  Leaf leaf(std::string_view suffix) const { return find_leaf(parts(), suffix); }
  sim::ModelConfig config;
  std::vector<sim::Parameter> parameters;
  LayerLeaves leaves;
};

struct Weights {
  at::Tensor router, up, down, shared_up, shared_down;
  std::vector<at::Tensor> all() const {
    return shared_up.defined() ? std::vector{router, up, down, shared_up, shared_down} : std::vector{router, up, down};
  }
};

at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& up, const at::Tensor& down) {
  const auto halves = at::linear(x, up).chunk(2, -1);
  return at::linear(at::silu(halves[0]) * halves[1], down);
}

// Output, and beside it the auxiliary loss.
std::pair<at::Tensor, at::Tensor> definition(const at::Tensor& x, const Weights& weights, const sim::ExpertForm& form) {
  const at::Tensor logits = at::linear(x, weights.router);
  const at::Tensor scores = form.score == sim::RouterScore::Softmax ? at::softmax(logits, 1) : logits.sigmoid();
  auto [chosen, experts] = at::topk(scores, form.topk, 1);
  if (form.renormalised) chosen = chosen / chosen.sum(1, true);
  chosen = chosen * form.scaling;
  std::vector<at::Tensor> rows;
  at::Tensor counts = at::zeros({kExperts}, at::kDouble);
  for (std::int64_t token = 0; token < x.size(0); ++token) {
    at::Tensor sum = at::zeros({kHidden}, at::kDouble);
    for (std::int64_t place = 0; place < form.topk; ++place) {
      const auto expert = experts[token][place].item<std::int64_t>();
      counts[expert] += 1;
      sum = sum + chosen[token][place] * feed_forward(x[token], weights.up.narrow(0, expert * 2 * kExpertWidth, 2 * kExpertWidth),
                                                      weights.down.narrow(0, expert * kHidden, kHidden));
    }
    if (weights.shared_up.defined()) sum = sum + feed_forward(x[token], weights.shared_up, weights.shared_down);
    rows.push_back(sum);
  }
  const auto tokens = static_cast<double>(x.size(0));
  return {at::stack(rows), (counts / tokens * scores.mean(0)).sum() * static_cast<double>(kExperts)};
}

void expect_definition(const sim::ExpertForm& form, const at::Tensor& input, double tolerance = 1e-13) {
  const ExpertBlock block(form);
  const Experts experts(block.config, block.parts());
  const at::Tensor above = random_tensor({input.size(0), kHidden}, 91);
  ExpertActivations kept;
  const at::Tensor rows = experts.send(input, kept, {});
  kept.exchange.held = kept.order.counts;
  const at::Tensor output = experts.combine(experts.compute(rows, kept, {}), kept);
  const at::Tensor gradient =
      experts.send_backward(experts.compute_backward(experts.combine_backward(above, kept), kept), kept, form.balance_loss);

  const c10::AutoGradMode record(true);
  const auto weight = [&](std::string_view suffix) {
    return block.leaf(suffix).value.defined() ? recorded(block.leaf(suffix).value) : at::Tensor();
  };
  const Weights weights{weight("router.weight"), weight("experts.up.weight"), weight("experts.down.weight"), weight("shared.up.weight"),
                        weight("shared.down.weight")};
  const at::Tensor x = recorded(input);
  const auto [expected, balance] = definition(x, weights, form);
  ((expected * above).sum() + balance * form.balance_loss).backward();
  EXPECT_LT(relative_error(output, expected), tolerance);
  EXPECT_LT(relative_error(gradient, x.grad()), tolerance);
  const std::vector<std::string_view> names{"router.weight", "experts.up.weight", "experts.down.weight", "shared.up.weight",
                                            "shared.down.weight"};
  for (std::size_t at = 0; at < weights.all().size(); ++at)
    EXPECT_LT((block.leaf(names[at]).gradient - weights.all()[at].grad()).norm().item<double>(),
              tolerance * (1 + weights.all()[at].grad().norm().item<double>()))
        << names[at];
}

sim::ExpertForm form_of(std::int64_t topk) { return {.experts = kExperts, .topk = topk, .expert_ffn = kExpertWidth}; }

TEST(Experts, AreTheWeightedSumOfTheChosen) {
  for (std::int64_t topk = 1; topk <= kExperts; ++topk) expect_definition(form_of(topk), random_tensor({9, kHidden}, 5));
}

TEST(Experts, OneTokenWillDo) { expect_definition(form_of(2), random_tensor({1, kHidden}, 6)); }

TEST(Experts, ScoresMayBeRenormalisedSigmoidsAndScaled) {
  sim::ExpertForm form = form_of(2);
  form.renormalised = true;
  expect_definition(form, random_tensor({9, kHidden}, 7));
  form.score = sim::RouterScore::Sigmoid;
  form.scaling = 2.5;
  expect_definition(form, random_tensor({9, kHidden}, 7));
}

TEST(Experts, SharedOnesTakeEveryToken) {
  sim::ExpertForm form = form_of(1);
  form.shared_experts = 1;
  form.shared_ffn = 3;
  expect_definition(form, random_tensor({9, kHidden}, 8));
}

TEST(Experts, TheAuxiliaryLossMovesTheRouterAlone) {
  sim::ExpertForm form = form_of(2);
  form.balance_loss = 0.7;
  expect_definition(form, random_tensor({9, kHidden}, 9));
}

// Copies of one token all want the same: three experts have nothing to do.
TEST(Experts, MayHaveAllTokensOrNone) { expect_definition(form_of(1), random_tensor({1, kHidden}, 10).repeat({8, 1})); }

at::Tensor output_of(const sim::ExpertForm& form, const at::Tensor& input, ExpertActivations& kept) {
  const ExpertBlock block(form);
  const Experts experts(block.config, block.parts());
  const at::Tensor rows = experts.send(input, kept, {});
  kept.exchange.held = kept.order.counts;
  return experts.combine(experts.compute(rows, kept, {}), kept);
}

// As a GPU does it: ordered there, and one product for all experts. What the host counted is not asked.
TEST(Experts, OrderedByTheDeviceTheyAreTheSame) {
  constexpr std::int64_t kWholeBytes = 8;  // columns: the operator takes rows of whole 16 bytes
  sim::ModelConfig config = config_of(form_of(2));
  config.hidden = config.experts->expert_ffn = kWholeBytes;
  config.head_dim = kWholeBytes / 2;
  const ExpertBlock block(config, at::kFloat);
  const Experts experts(block.config, block.parts());
  const at::Tensor input = random_tensor({9, kWholeBytes}, 12).to(at::kFloat), above = random_tensor({9, kWholeBytes}, 13).to(at::kFloat);
  const auto trained = [&](bool is_there) {
    ExpertActivations kept;
    at::Tensor rows = experts.send(input, kept, {});
    kept.exchange.held = kept.order.counts;
    if (is_there) {
      kept.order = order_tokens_there(kept.routing, experts.form());
      kept.exchange = {};
      kept.exchange.ends = kept.order.ends;
      rows = to_rows(input, kept.order);
    }
    const at::Tensor output = experts.combine(experts.compute(rows, kept, {}), kept);
    return std::pair(output, experts.send_backward(experts.compute_backward(experts.combine_backward(above, kept), kept), kept, 0));
  };
  const auto [output, gradient] = trained(false);
  const auto [output_there, gradient_there] = trained(true);
  EXPECT_LT(relative_error(output_there, output), 1e-6);
  EXPECT_LT(relative_error(gradient_there, gradient), 1e-6);
}

TEST(Experts, AreOrderedOnACardThatMultipliesGroups) {
  sim::ModelConfig config = ExpertBlock(form_of(2)).config;
  config.hidden = 64;
  config.experts->expert_ffn = 32;
  const ExpertNumbers hopper{.type = at::kBFloat16, .card = {.is_gpu = true, .capability = 90}};
  EXPECT_TRUE(orders_on_card(config, {}, hopper));
  EXPECT_FALSE(orders_on_card(config, {}, {.type = at::kBFloat16, .card = {}})) << "a CPU counts";
  EXPECT_FALSE(orders_on_card(config, {.expert_degree = 2}, hopper)) << "rows leave";
  EXPECT_TRUE(multiplies_at_once(config, {.expert_degree = 2}, hopper)) << "where those that came end is sent there";
  EXPECT_FALSE(orders_on_card(config, {.degree = 8}, hopper)) << "4 columns are 8 bytes";
  config.experts->biases = true;
  EXPECT_FALSE(orders_on_card(config, {}, hopper));
  config.experts->biases = false;
  config.experts->dispatch = sim::ExpertDispatch::Padded;
  config.experts->capacity_factor = 1;
  EXPECT_TRUE(orders_on_card(config, {}, hopper));
  config.experts->dispatch = sim::ExpertDispatch::Drop;
  EXPECT_FALSE(orders_on_card(config, {}, hopper));
}

// With room for all, padding changes nothing; with room for one row an expert most tokens get nothing from them.
TEST(Experts, PaddingAndRoomForAllAreDropless) {
  const at::Tensor input = random_tensor({9, kHidden}, 11);
  ExpertActivations kept;
  const at::Tensor dropless = output_of(form_of(2), input, kept);
  for (const sim::ExpertDispatch dispatch : {sim::ExpertDispatch::Padded, sim::ExpertDispatch::Drop}) {
    sim::ExpertForm form = form_of(2);
    form.dispatch = dispatch;
    form.capacity_factor = 4;
    EXPECT_LT(relative_error(output_of(form, input, kept), dropless), 1e-14);
    form.capacity_factor = 0.01;
    const at::Tensor few = output_of(form, input, kept);
    EXPECT_LE((few.abs().sum(1) > 0).sum().item<std::int64_t>(), kExperts);
  }
}

}  // namespace
}  // namespace executor
