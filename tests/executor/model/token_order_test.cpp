#include "executor/model/token_order.h"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

// Four tokens, two experts each of three; the third expert is nobody's first.
Routing routing() {
  return {.scores = {},
          .experts = at::tensor({0, 1, 1, 0, 0, 2, 0, 1}, at::kLong).view({4, 2}),
          .weights = at::tensor({0.6, 0.4, 0.7, 0.3, 0.9, 0.1, 0.8, 0.2}, at::kDouble).view({4, 2})};
}
const sim::ExpertForm kForm{.experts = 3, .topk = 2};

std::vector<std::int64_t> numbers(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<std::int64_t>(), tensor.const_data_ptr<std::int64_t>() + tensor.numel()};
}

TEST(TokenOrder, IsThatOfTheExperts) {
  const TokenOrder order = order_tokens(routing(), kForm);
  EXPECT_THAT(order.counts, testing::ElementsAre(4, 3, 1));
  EXPECT_THAT(numbers(order.tokens), testing::ElementsAre(0, 1, 2, 3, 0, 1, 3, 2));
  EXPECT_THAT(numbers(order.rows.contiguous()), testing::ElementsAre(0, 4, 5, 1, 2, 7, 3, 6));
  EXPECT_FALSE(order.kept.defined());
}

TEST(TokenOrder, ADeviceMakesTheSameOrder) {
  Routing many = routing();
  many.experts = at::tensor({2, 1, 1, 0, 0, 2, 1, 2, 2, 0, 1, 2}, at::kLong).view({6, 2});
  for (const Routing& each : {routing(), many}) {
    const TokenOrder host = order_tokens(each, kForm), there = order_tokens_there(each, kForm);
    EXPECT_TRUE(there.tokens.equal(host.tokens));
    EXPECT_TRUE(there.choices.equal(host.choices));
    EXPECT_TRUE(there.rows.equal(host.rows));
    EXPECT_TRUE(there.ends.diff(1, 0, at::zeros({1}, at::kInt)).to(at::kLong).equal(at::tensor(host.counts, at::kLong)));
  }
}

// Of equals the first stay; an expert that nobody chose is padding alone.
TEST(TokenOrder, ADevicePadsToTheSameRows) {
  Routing tied = routing();
  tied.experts = at::tensor({2, 1, 1, 3, 3, 2, 1, 2, 2, 3, 1, 2}, at::kLong).view({6, 2});
  tied.weights = at::tensor({0.5, 0.5, 0.2, 0.8, 0.5, 0.5, 0.5, 0.5, 0.1, 0.9, 0.5, 0.5}, at::kDouble).view({6, 2});
  sim::ExpertForm form{.experts = 4, .topk = 2, .dispatch = sim::ExpertDispatch::Padded};
  for (const Routing& each : {routing(), tied})
    for (const double factor : {0.1, 0.75, 1.0, 4.0}) {
      form.capacity_factor = factor;
      const std::int64_t tokens = each.experts.size(0);
      const TokenOrder host = order_tokens(each, form), there = order_tokens_there(each, form);
      EXPECT_EQ(there.counts, host.counts);
      EXPECT_TRUE(there.ends.to(at::kLong).equal(at::tensor(host.counts, at::kLong).cumsum(0)));
      const at::Tensor stream = random_tensor({tokens, 5}, 1), rows = random_tensor({host.num_rows(), 5}, 2),
                       above = random_tensor({tokens, 5}, 3);
      EXPECT_TRUE(to_rows(stream, there).equal(to_rows(stream, host))) << factor;
      EXPECT_TRUE(from_rows(rows, there, each.weights).equal(from_rows(rows, host, each.weights))) << factor;
      const SumGradient here = from_rows_backward(above, rows.clone(), host, each.weights),
                        gradient = from_rows_backward(above, rows.clone(), there, each.weights);
      EXPECT_TRUE(gradient.rows.equal(here.rows)) << factor;
      EXPECT_TRUE(gradient.weights.equal(here.weights)) << factor;
    }
}

TEST(TokenOrder, DropsWhoWantsAnExpertLeast) {
  sim::ExpertForm form = kForm;
  form.dispatch = sim::ExpertDispatch::Drop;
  form.capacity_factor = 0.75;  // of 8 / 3: two rows
  const TokenOrder order = order_tokens(routing(), form);
  EXPECT_THAT(order.counts, testing::ElementsAre(2, 2, 1));
  EXPECT_THAT(numbers(order.tokens), testing::ElementsAre(2, 3, 0, 1, 2));
  EXPECT_EQ(order.kept.sum().item<double>(), 5);
}

TEST(TokenOrder, PadsUpToTheCapacity) {
  sim::ExpertForm form = kForm;
  form.dispatch = sim::ExpertDispatch::Padded;
  form.capacity_factor = 0.75;
  const TokenOrder order = order_tokens(routing(), form);
  EXPECT_EQ(order.num_rows(), 6);
  const at::Tensor rows = to_rows(random_tensor({4, 5}, 1), order);
  EXPECT_EQ(rows[5].count_nonzero().item<std::int64_t>(), 0);
}

TEST(TokenOrder, BackIsOutTransposed) {
  for (const double factor : {0.0, 0.75, 2.0})
    for (const sim::ExpertDispatch dispatch : {sim::ExpertDispatch::Drop, sim::ExpertDispatch::Padded}) {
      sim::ExpertForm form = kForm;
      form.dispatch = dispatch;
      form.capacity_factor = factor;
      const TokenOrder order = order_tokens(routing(), form);
      const at::Tensor stream = random_tensor({4, 5}, 1), rows = random_tensor({order.num_rows(), 5}, 2);
      EXPECT_NEAR((to_rows(stream, order) * rows).sum().item<double>(), (stream * from_rows(rows, order)).sum().item<double>(), 1e-13);
    }
}

}  // namespace
}  // namespace executor
