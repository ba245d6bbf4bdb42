#include "executor/training/low_rank_sum.h"

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

struct Case {
  explicit Case(std::int32_t rank) : plan(tiny_plan({.data = 2})) {
    plan.workload.precision = plan.workload.precision.with_gradient_codec({sim::Codec::PowerSgd, rank});
    parameters.emplace(sim::make_model_graph(plan), plan, sim::Rank(0), c10::kCPU);
    FlatBucket& bucket = parameters->bucket(sim::BucketIndex(0));
    bucket.start_gradients();
    for (const sim::BucketSlot& slot : bucket.layout().slots)  // what is between them stays zero
      for (std::int64_t at = slot.offset; at < slot.offset + slot.elements; ++at)
        bucket.gradients().data_ptr<double>()[at] = std::sin(0.7 * static_cast<double>(at));
    sum.emplace(*parameters, bucket, plan);
  }
  at::Tensor gradients() const { return parameters->buckets().front().gradients(); }
  void sum_alone(double ranks = 1) {  // as if so many ranks had the same gradients
    sum->encode();
    sum->first().mul_(ranks);
    sum->reencode();
    sum->second().mul_(ranks);
    sum->decode();
  }

  sim::ParallelPlan plan;
  std::optional<ParameterStore> parameters;
  std::optional<LowRankSum> sum;
};

// sin(a (i m + j)) is of rank two: P and Q hold all of it.
TEST(LowRankSum, MatricesOfThatRankComeBack) {
  Case waves(2);
  const at::Tensor before = waves.gradients().clone();
  waves.sum_alone(2);
  EXPECT_LT((waves.gradients() - 2 * before).norm().item<double>(), 1e-5 * before.norm().item<double>());
}

// Of rank one half of it is lost, which the next steps bring: what was given out so far is near what there was.
TEST(LowRankSum, TheErrorIsFedBack) {
  Case waves(1);
  const at::Tensor gradient = waves.gradients().clone(), given = at::zeros_like(gradient);
  double first = 0;
  for (std::int64_t step = 1; step <= 20; ++step) {
    waves.gradients().copy_(gradient);
    waves.sum_alone(2);
    given.add_(waves.gradients());
    const double off = (given / static_cast<double>(step) - 2 * gradient).norm().item<double>() / (2 * gradient.norm().item<double>());
    if (step == 1) first = off;
    if (step == 20) {
      EXPECT_LT(off, first / 5);
    }
  }
  EXPECT_GT(first, 0.05);
}

// Vectors, and matrices that are too small, are not touched.
TEST(LowRankSum, WhatIsSmallTravelsAsItIs) {
  Case waves(1);
  const at::Tensor before = waves.gradients().clone();
  waves.sum_alone();
  const sim::Bucket& bucket = waves.parameters->buckets().front().layout();
  const sim::LowRankBucket low = sim::low_rank_bucket(bucket, waves.plan.workload.precision.gradient_codec());
  std::int64_t others = 0;
  for (std::size_t at = 0; at < bucket.slots.size(); ++at) {
    const sim::BucketSlot& slot = bucket.slots[at];
    const bool is_compressed = std::ranges::any_of(low.matrices, [&](const sim::LowRankMatrix& matrix) { return matrix.slot == at; });
    const at::Tensor now = waves.gradients().narrow(0, slot.offset, slot.elements);
    EXPECT_EQ(now.equal(before.narrow(0, slot.offset, slot.elements)), !is_compressed) << at;
    others += is_compressed ? 0 : slot.elements;
  }
  EXPECT_EQ(low.others, others);
  EXPECT_GT(others, 0);
  EXPECT_FALSE(low.matrices.empty());
}

}  // namespace
}  // namespace executor
