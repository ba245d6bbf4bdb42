#include "sim/cost/segment_sizes.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

SegmentSizes sizes_of_attention(const ParallelPlan& plan) {
  const ModelGraph model = make_model_graph(plan);
  return segment_sizes(model, plan, model.layer(LayerIndex(1)).segments.front());
}

TEST(SegmentSizes, TensorRanksShareWidthsAndWithSequenceParallelismTokens) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .tensor = 2});
  const SegmentSizes whole = sizes_of_attention(testing::tiny_plan({.data = 1})), half = sizes_of_attention(plan);
  EXPECT_EQ(half.query * 2, whole.query);
  EXPECT_EQ(half.ffn * 2, whole.ffn);
  EXPECT_EQ(half.local_tokens, whole.tokens);
  plan.sequence_parallel = true;
  EXPECT_EQ(sizes_of_attention(plan).local_tokens * 2, whole.tokens);
  EXPECT_EQ(sizes_of_attention(plan).normalized, whole.normalized) << "the worker keeps what it gathered";
}

TEST(SegmentSizes, InputsOfFrozenProductsAreNotKept) {
  ParallelPlan plan = testing::tiny_plan({.data = 1});
  EXPECT_TRUE(sizes_of_attention(plan).keeps_first && sizes_of_attention(plan).keeps_last);
  plan.model.adapters = Adapters{.rank = 4}.on(AdapterTarget::Joint);
  EXPECT_TRUE(sizes_of_attention(plan).keeps_first) << "an adapter's gradient reads it, too";
  EXPECT_FALSE(sizes_of_attention(plan).keeps_last);
  plan.model.adapters = Adapters{.rank = 4}.on(AdapterTarget::Output);
  EXPECT_TRUE(sizes_of_attention(plan).keeps_last);
  EXPECT_FALSE(sizes_of_attention(plan).keeps_first) << "the last product's input is as wide as the stream, and is not the norm's output";
}

// What torch.compile keeps of a product's input is what fewest bytes are: a cast's output. A list of kept operators says it otherwise.
TEST(SegmentSizes, CompiledBlocksKeepWhatTheyCast) {
  ParallelPlan plan = testing::tiny_plan({.data = 1});
  plan.cluster.software = worker_software();
  plan.cluster.software.own_memory = plan.cluster.software.by_operator = true;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Rowwise, false);
  EXPECT_EQ(sizes_of_attention(plan).rounded, 1);
  plan.cluster.software.compiled = true;
  EXPECT_EQ(sizes_of_attention(plan).rounded, 0.5);
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::Op;
  EXPECT_EQ(sizes_of_attention(plan).rounded, 1);
  plan.recompute = Recompute::None;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16);
  EXPECT_EQ(sizes_of_attention(plan).rounded, 1);
}

}  // namespace
}  // namespace sim
