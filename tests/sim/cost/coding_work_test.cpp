#include "sim/cost/coding_work.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

ParallelPlan encoded(std::int32_t stage, const std::string& precision) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.zero_stage = stage;
  std::vector<Violation> wrong;
  plan.workload.precision = parse_precision_policy(precision, wrong);
  return plan;
}

Bytes moved(const ParallelPlan& plan, const Bucket& bucket, Phase phase, Operation operation) {
  return coding_bytes({.phase = phase, .operation = operation}, bucket, plan);
}

// Read: 4 bytes an element, or 17 / 16 of it; written: the other.
TEST(CodingWork, BlocksAreReadAndWritten) {
  const ParallelPlan plan = encoded(2, "fp32 wire=int8");
  const Bucket bucket = make_buckets(make_model_graph(plan), plan, StageIndex(0)).front();
  EXPECT_EQ(moved(plan, bucket, Phase::Gradients, Operation::Encode) * std::int64_t{16}, Bytes(4 * 16 + 17) * bucket.elements);
  EXPECT_EQ(moved(plan, bucket, Phase::Gradients, Operation::Decode) * std::int64_t{16}, Bytes(4 * 4 + 17) * bucket.elements);
}

TEST(CodingWork, OfWeightsAShardIsEncodedAndAllIsDecoded) {
  const ParallelPlan plan = encoded(3, "bf16 gathers=int8");
  const Bucket bucket = make_buckets(make_model_graph(plan), plan, StageIndex(0)).front();
  const Bytes of_all = moved(plan, bucket, Phase::Forward, Operation::Decode);
  EXPECT_EQ(of_all * std::int64_t{16}, Bytes(2 * 16 + 17) * bucket.elements);
  EXPECT_EQ(moved(plan, bucket, Phase::Backward, Operation::Encode) * std::int64_t{4}, of_all);
}

TEST(CodingWork, MatricesArePassedOverFourTimesAndOnceMore) {
  const ParallelPlan plan = encoded(0, "fp32 wire=powersgd:2");
  const Bucket bucket = make_buckets(make_model_graph(plan), plan, StageIndex(0)).front();
  const LowRankBucket low = low_rank_bucket(bucket, plan.workload.precision.gradient_codec());
  ASSERT_GT(low.compressed, 0);
  const Bytes factors = Bytes(4) * (low.p + low.q);
  EXPECT_EQ(moved(plan, bucket, Phase::Gradients, Operation::Reencode), Bytes(4) * low.compressed + factors);
  EXPECT_EQ(moved(plan, bucket, Phase::Gradients, Operation::Encode), Bytes(4) * (4 * low.compressed + 2 * low.others) + factors);
}

}  // namespace
}  // namespace sim
