#include "executor/model/router.h"

#include <ATen/ops/bincount.h>
#include <ATen/ops/tensor.h>

#include <cmath>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

TEST(Router, TakesTheBestAndWeighsThemByTheirScores) {
  const Routing routing = route(at::log(at::tensor({0.1, 0.2, 0.3, 0.4}, at::kDouble)).unsqueeze(0),
                                {.experts = 4, .topk = 2, .expert_ffn = 1, .renormalised = true});
  EXPECT_EQ(routing.experts[0][0].item<std::int64_t>(), 3);
  EXPECT_EQ(routing.experts[0][1].item<std::int64_t>(), 2);
  EXPECT_NEAR(routing.weights[0][0].item<double>(), 4.0 / 7, 1e-15);
  EXPECT_NEAR(routing.weights.sum().item<double>(), 1, 1e-15);
}

TEST(Router, ComputesSixteenBitScoresInSingle) {
  EXPECT_EQ(route(at::zeros({2, 4}, at::kBFloat16), {.experts = 4, .topk = 1}).scores.scalar_type(), at::kFloat);
}

TEST(Router, CanBeOverruledEvenly) {
  const Routing routing = route(random_tensor({6, 4}, 1), {.experts = 4, .topk = 2, .forced_balance = true});
  EXPECT_TRUE(at::bincount(routing.experts.flatten()).eq(3).all().item<bool>());
}

// The gradient of the weights, by differences.
TEST(Router, BackwardIsTheSlope) {
  const sim::ExpertForm form{.experts = 3, .topk = 2, .renormalised = true, .scaling = 1.5};
  const at::Tensor logits = random_tensor({1, 3}, 2), above = random_tensor({1, 2}, 3);
  const at::Tensor gradient = route_backward(route(logits, form), {.weights = above}, form);
  for (std::int64_t expert = 0; expert < 3; ++expert) {
    at::Tensor more = logits.clone(), less = logits.clone();
    more[0][expert] += 1e-6;
    less[0][expert] -= 1e-6;
    const double slope = ((route(more, form).weights - route(less, form).weights) * above).sum().item<double>() / 2e-6;
    EXPECT_NEAR(gradient[0][expert].item<double>(), slope, 1e-8);
  }
}

// Scores of four experts in two groups; the correction lifts the worse group above the other.
TEST(Router, ACorrectionChoosesAndIsNoPartOfTheWeight) {
  const at::Tensor logits = at::tensor({2.0, 1.0, -1.0, 0.5}, at::kDouble).unsqueeze(0),
                   correction = at::tensor({0.0, 0.0, 3.0, 2.0}, at::kDouble);
  const sim::ExpertForm form{.experts = 4, .topk = 2, .score = sim::RouterScore::Sigmoid, .renormalised = true, .score_correction = true};
  const Routing routing = route(logits, form, correction);
  EXPECT_EQ(routing.experts[0][0].item<std::int64_t>(), 2);
  EXPECT_EQ(routing.experts[0][1].item<std::int64_t>(), 3);
  const double third = 1 / (1 + std::exp(1.0)), fourth = 1 / (1 + std::exp(-0.5));
  EXPECT_NEAR(routing.weights[0][0].item<double>(), third / (third + fourth), 1e-15);
  const double planted = (third + 3) / (third + 3 + fourth + 2);  // the correction added to the weight
  EXPECT_GT(std::abs(routing.weights[0][0].item<double>() - planted), 0.1);
}

TEST(Router, GroupsAreChosenByTheirBestOrTheirBestTwo) {
  const at::Tensor logits = at::tensor({3.0, -9.0, 2.0, 1.9, 0.0, 0.0}, at::kDouble).unsqueeze(0);
  const auto chosen = [&](sim::RouterScore score, std::int64_t place) {
    const sim::ExpertForm form{.experts = 6, .topk = 2, .score = score, .groups = 3, .group_topk = 1};
    return route(logits, form).experts[0][place].item<std::int64_t>();
  };
  EXPECT_EQ(chosen(sim::RouterScore::Softmax, 0), 0);
  EXPECT_EQ(chosen(sim::RouterScore::Softmax, 1), 1);  // of the group of the best, though others are better
  EXPECT_EQ(chosen(sim::RouterScore::Sigmoid, 0), 2);
  EXPECT_EQ(chosen(sim::RouterScore::Sigmoid, 1), 3);
}

}  // namespace
}  // namespace executor
