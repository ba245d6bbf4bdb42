// Traffic of every codec in closed form.
#include "sim/sharding/encoded.h"

#include <gmock/gmock.h>

#include "sim/collective/collective.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

ParallelPlan encoded(std::int32_t ranks, std::int32_t stage, const std::string& precision) {
  ParallelPlan plan = testing::tiny_plan({.data = ranks});
  plan.zero_stage = stage;
  std::vector<Violation> wrong;
  plan.workload.precision = parse_precision_policy(precision, wrong);
  EXPECT_THAT(wrong, ::testing::IsEmpty());
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  return plan;
}

std::vector<Bucket> buckets_of(const ParallelPlan& plan) { return make_buckets(make_model_graph(plan), plan, StageIndex(0)); }

TEST(Encoded, WithoutACodecThereIsOneTask) {
  for (const std::int32_t stage : {0, 1, 2, 3}) {
    const ParallelPlan plan = encoded(4, stage, "fp32 wire=bf16");
    const Bucket bucket = buckets_of(plan).front();
    const std::vector<WireStep> steps = reduction_steps(bucket, plan);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps.front().operation, stage == 0 ? Operation::AllReduce : Operation::ReduceScatter);
    EXPECT_EQ(steps.front().payload, Bytes(2) * bucket.elements);
    EXPECT_EQ(codec_state(bucket, plan), Bytes(0));
  }
}

// Blocks: bits / 8 + 4 / 64 bytes an element in place of 4, whatever the ranks: of fp32 gradients 3.76 times fewer in 8 bit, 7.1 in 4.
TEST(Encoded, BlocksTravelInFewerBytes) {
  for (const auto& [codec, sixteenths] : {std::pair("int8", 17), {"fp8", 17}, {"int4", 9}})
    for (const std::int32_t ranks : {2, 4, 8}) {
      const ParallelPlan plan = encoded(ranks, 2, std::string("fp32 wire=") + codec);
      for (const Bucket& bucket : buckets_of(plan)) {
        const std::vector<WireStep> steps = reduction_steps(bucket, plan);
        ASSERT_EQ(steps.size(), 3u);
        EXPECT_EQ(steps[1].operation, Operation::AllToAll);
        EXPECT_EQ(steps[1].payload * std::int64_t{16}, Bytes(sixteenths) * bucket.elements);
        EXPECT_EQ(steps[2].payload, Bytes(4) * bucket.shard_elements);
        const CollectiveAlgorithm& direct = *find_collective_algorithm("direct");
        EXPECT_EQ(bytes_on_wire(direct, {CollectiveKind::AllToAll, ranks, steps[1].payload}) * std::int64_t{ranks},
                  steps[1].payload * std::int64_t{ranks - 1})
            << "each rank sends all but its own shard's";
      }
    }
}

// qgZ: all of it to neighbours, and a neighbourhood's share across: (W - 1) / W + (N / W - 1) / N of the codes, where one exchange has (N - 1) / N, most
// of it across.
TEST(Encoded, NeighboursSumBeforeAnythingGoesAcross) {
  ParallelPlan plan = encoded(8, 3, "fp32 wire=int4");
  plan.mesh.reshard = 4;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  const Bucket bucket = buckets_of(plan).front();
  const std::vector<WireStep> steps = reduction_steps(bucket, plan);
  ASSERT_EQ(steps.size(), 5u);
  const Bytes all = encoded_bytes(Codec::Int4, bucket.elements);
  EXPECT_EQ(steps[1].group, MeshAxis::Reshard);
  EXPECT_EQ(steps[1].payload, all);
  EXPECT_EQ(steps[3].group, MeshAxis::Distant);
  EXPECT_EQ(steps[3].payload * std::int64_t{4}, all);
}

// qgZ of DeepSpeed leaves what 2 x ranks do not divide as it is. Of a bucket nothing is left, whatever the widths and the ranks: both exchanges deal whole blocks
// out, and every number of every tensor is in one of them.
TEST(Encoded, NothingIsLeftThatRanksDoNotDivide) {
  for (const std::int32_t ranks : {2, 3, 5, 6, 12})
    for (const std::int32_t near : {1, 2, 3, 6}) {
      if (ranks % near != 0 || near == ranks) continue;
      ParallelPlan plan = encoded(2, 3, "fp32 wire=int4");
      plan.mesh.data = plan.cluster.devices = ranks;
      plan.workload.global_batch = 60;
      plan.model.vocabulary = 251, plan.model.ffn = 243, plan.model.hidden = 36, plan.model.head_dim = 9;
      plan.mesh.reshard = near;
      EXPECT_THAT(violations(plan), ::testing::IsEmpty());
      for (const Bucket& bucket : buckets_of(plan)) {
        std::int64_t held = 0;
        for (const BucketSlot& slot : bucket.slots) held += slot.elements;
        EXPECT_GE(bucket.elements, held);
        EXPECT_EQ(bucket.elements % (kCodecBlock * ranks), 0) << ranks;
        for (const WireStep& step : reduction_steps(bucket, plan)) {
          const std::int64_t parts = step.group == MeshAxis::Reshard ? near : step.group == MeshAxis::Distant ? ranks / near : ranks;
          const std::int64_t whole = parts * encoded_bytes(Codec::Int4, kCodecBlock).value();
          EXPECT_TRUE(step.operation != Operation::AllToAll || step.payload.value() % whole == 0) << ranks << " by " << near;
        }
      }
    }
}

// r (n + m) for n m, and what is no matrix beside it as it is; the error of the matrices and the Q's are kept.
TEST(Encoded, MatricesTravelAsTwoOfLowRank) {
  const ParallelPlan plan = encoded(4, 0, "fp32 wire=powersgd:2");
  std::int64_t compressed = 0;
  for (const Bucket& bucket : buckets_of(plan)) {
    std::int64_t others = 0, p = 0, q = 0, matrices = 0;
    for (const BucketSlot& slot : bucket.slots) {
      const std::int64_t m = slot.columns, n = slot.elements / m;
      const bool is_small = 4 * (n + m) >= n * m;
      others += is_small ? slot.elements : 0;
      p += is_small ? 0 : 2 * n;
      q += is_small ? 0 : 2 * m;
      matrices += is_small ? 0 : n * m;
    }
    compressed += matrices;
    const std::vector<WireStep> steps = reduction_steps(bucket, plan);
    ASSERT_EQ(steps.size(), 5u);
    EXPECT_EQ(steps[1].payload, Bytes(4) * (others + p));
    EXPECT_EQ(steps[3].payload, Bytes(4) * q);
    EXPECT_EQ(steps[3].round, 1);
    EXPECT_EQ(codec_state(bucket, plan), Bytes(4) * (matrices + q));
  }
  EXPECT_GT(compressed, 0);
}

TEST(Encoded, WeightsAreGatheredInEightBits) {
  const ParallelPlan plan = encoded(4, 3, "fp32 gathers=int8");
  for (const Bucket& bucket : buckets_of(plan)) {
    const std::vector<WireStep> steps = gather_steps(bucket, plan);
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_EQ(steps[1].payload * std::int64_t{16}, Bytes(17) * bucket.elements) << "17 / 16 bytes an element in place of 4";
    EXPECT_EQ(steps[0].payload * std::int64_t{4}, steps[1].payload);
    EXPECT_EQ(steps[2].payload, Bytes(4) * bucket.elements);
  }
}

}  // namespace
}  // namespace sim
