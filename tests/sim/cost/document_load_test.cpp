#include "sim/cost/document_load.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

const Operator kAttention{.kind = OperatorKind::Attention, .name = "attention"};

ParallelPlan plan_with(std::string_view samples, DeviceMesh mesh = {}) {
  std::vector<Violation> violations;
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.workload.samples = parse_samples_policy(samples, violations);
  EXPECT_TRUE(violations.empty()) << samples;
  return plan;
}

TEST(DocumentLoad, LargestOfSeveralFollowsFromTheirDistribution) {
  EXPECT_DOUBLE_EQ(expected_largest({1, 1, 1}, 5), 1);
  EXPECT_DOUBLE_EQ(expected_largest({0, 1}, 1), 0.5);
  EXPECT_DOUBLE_EQ(expected_largest({0, 1}, 3), 1 - 0.125);  // all three are the small one
}

TEST(DocumentLoad, EqualDocumentsAreEqualWork) {
  const ParallelPlan plan = plan_with("padded fixed 7", {.data = 4});
  DocumentLoads loads(plan);
  const AttentionWork expected{.length = 7, .pairs = 28};
  EXPECT_EQ(loads.work(kAttention, {.size = 4}, MicrobatchIndex(0)), expected);
  EXPECT_EQ(loads.work(kAttention, {.first = 2, .alone = true}, MicrobatchIndex(1)), expected);
  EXPECT_EQ(loads.least(kAttention), expected);
  EXPECT_DOUBLE_EQ(loads.slowest(kAttention), 1);
}

TEST(DocumentLoad, AWindowEndsBeforeTheDocument) {
  const ParallelPlan plan = plan_with("padded fixed 7");
  DocumentLoads loads(plan);
  Operator windowed = kAttention;
  windowed.window = 3;
  EXPECT_EQ(loads.work(windowed, {}, MicrobatchIndex(0)).pairs, 1 + 2 + 3 * 5);
}

// Ranks that meet in every layer wait each time, those that meet once a step share out what is unequal.
TEST(DocumentLoad, WhoMeetsOftenWaitsMore) {
  ParallelPlan once = plan_with("packed list 2 30", {.data = 4});
  once.workload.global_batch = 64;
  ParallelPlan always = once;
  always.zero_stage = 3;
  EXPECT_EQ(ranks_that_meet(once), 1);
  EXPECT_EQ(ranks_that_meet(always), 4);
  const double sums = DocumentLoads(once).slowest(kAttention), maxima = DocumentLoads(always).slowest(kAttention);
  EXPECT_GT(sums, 1.01);
  EXPECT_GT(maxima, sums + 0.05);
  EXPECT_LT(DocumentLoads(plan_with("packed list 2 30")).slowest(kAttention), sums);  // nobody to wait for
}

// One pool of documents: whoever has a long one alone has nobody to wait for.
TEST(DocumentLoad, DocumentsOfOnePoolAreBalanced) {
  ParallelPlan apart = plan_with("packed list 2*7 30", {.data = 4, .context = 2});
  apart.workload.global_batch = 64;
  apart.zero_stage = 3;
  ParallelPlan pooled = apart;
  pooled.context_by_document = true;
  EXPECT_TRUE(violations(pooled).empty());
  DocumentLoads loads(pooled);
  EXPECT_LT(loads.slowest(kAttention), DocumentLoads(apart).slowest(kAttention));
  EXPECT_EQ(loads.work(kAttention, {.size = 4}, MicrobatchIndex(1)),
            loads.work(kAttention, {.first = 2, .alone = true}, MicrobatchIndex(1)));
  EXPECT_LT(loads.share_that_travels(), 1);
  EXPECT_GT(loads.share_that_travels(), 0);
  EXPECT_EQ(DocumentLoads(apart).share_that_travels(), 1);
}

// Stages of a pipeline have each microbatch's own pool, and a step's microbatches together what they have without one.
TEST(DocumentLoad, PoolsOfAPipelineDifferByMicrobatch) {
  ParallelPlan plan = plan_with("packed list 2*7 30", {.data = 2, .pipeline = 2, .context = 2});
  plan.workload.global_batch = 64;
  plan.context_by_document = true;
  EXPECT_TRUE(violations(plan).empty());
  DocumentLoads loads(plan);
  double least = 1e30, most = 0, sum = 0;
  for (std::int32_t at = 0; at < plan.num_microbatches(); ++at) {
    const double pairs = loads.work(kAttention, {.size = 2}, MicrobatchIndex(at)).pairs;
    EXPECT_EQ(pairs, loads.work(kAttention, {.first = 1, .alone = true}, MicrobatchIndex(at)).pairs);
    least = std::min(least, pairs), most = std::max(most, pairs), sum += pairs;
  }
  EXPECT_LT(least, most);
  EXPECT_NEAR(least, loads.least(kAttention).pairs, 1e-9 * least);
  plan.mesh.pipeline = 1;
  EXPECT_NEAR(sum / plan.num_microbatches(), DocumentLoads(plan).work(kAttention, {.size = 2}, MicrobatchIndex(0)).pairs, 1e-9 * sum);
}

TEST(DocumentLoad, LeastIsBelowEveryMicrobatch) {
  for (const char* samples :
       {"packed list 2 30", "packed lognormal mean 9 spread 1", "padded lognormal mean 9 spread 2", "fitted list 3 20*4"}) {
    const ParallelPlan plan = plan_with(samples, {.data = 4});
    DocumentLoads loads(plan);
    for (std::int32_t at = 0; at < plan.num_microbatches(); ++at)
      for (const bool alone : {false, true})
        EXPECT_LE(loads.least(kAttention).pairs,
                  loads.work(kAttention, {.size = 4, .alone = alone}, MicrobatchIndex(at)).pairs * (1 + 1e-12));
  }
}

TEST(DocumentLoad, AMatrixOfScoresLeavesNothingOut) {
  ParallelPlan plan = plan_with("packed fixed 8");
  EXPECT_TRUE(skips_other_documents(plan));
  plan.cluster.software.attention = "unfused";
  EXPECT_FALSE(skips_other_documents(plan));
  plan.attention = AttentionWord::Flash2;
  EXPECT_TRUE(skips_other_documents(plan));
  plan.attention = AttentionWord::Efficient;
  EXPECT_FALSE(skips_other_documents(plan));
}

}  // namespace
}  // namespace sim
