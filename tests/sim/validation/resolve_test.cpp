#include <gmock/gmock.h>

#include "sim/validation/resolve.h"

namespace sim {
namespace {

RunDescription run() {
  RunDescription run;
  run.network.layers = 32;
  run.network.hidden = 4096;
  run.network.effective_sequence = 2048;
  run.machine.gpus = 8;
  run.layout = {.data = 8, .global_batch = 128, .microbatches = 16, .balance = {}};
  return run;
}

TEST(Resolve, MicroBatchDividesTheBatch) {
  const std::int64_t micro = resolve_micro_batch(run());
  EXPECT_GT(micro, 1);
  EXPECT_EQ(16 % micro, 0);
  RunDescription pipelined = run();
  pipelined.layout.pipeline = 4;
  EXPECT_EQ(resolve_micro_batch(pipelined), 1);
}

TEST(Resolve, ChunksDivideTheStage) {
  RunDescription pipelined = run();
  pipelined.layout.pipeline = 4;
  EXPECT_EQ(8 % resolve_chunks(pipelined), 0);
}

TEST(Resolve, LeastRecomputationThatFits) {
  static const SoftwareCatalog catalog = load_software_catalog();
  static const Device device = load_device("a100-80gb-sxm");
  const Setting setting{device, catalog.named("plain")};
  DescribedRow small{.run = run(), .recompute_open = true, .assumed = {}};
  small.run.network.head_dim = 128;
  small.run.network.heads = small.run.network.kv_heads = 32;
  small.run.network.ffn = 11008;
  small.run.layout.zero_stage = 3;
  small.run.layout.zero_group = 8;
  DescribedRow large = small;
  large.run.layout.micro_batch = 16;
  settle_recompute(small, setting);
  settle_recompute(large, setting);
  EXPECT_EQ(small.run.execution.recompute, RecomputeKind::None);
  EXPECT_GT(large.run.execution.recompute, RecomputeKind::None);
  EXPECT_THAT(large.assumed, testing::Contains(testing::Field(&Assumption::field, "plan.recompute")));
  SoftwareStack whole = setting.stack;
  whole.recomputes_parts = false;
  EXPECT_EQ(least_recompute(small.run, {device, whole}), RecomputeKind::None);
  EXPECT_EQ(least_recompute(large.run, {device, whole}), RecomputeKind::Full);
}

// Open recomputation: whoever runs it takes what fits.
TEST(Resolve, OpenRecomputationIsOutOfMemoryWhereNothingFits) {
  static const SoftwareCatalog catalog = load_software_catalog();
  static const Device device = load_device("a100-80gb-sxm");
  const Setting setting{device, catalog.named("plain")};
  DescribedRow row{.run = run(), .recompute_open = true, .assumed = {}};
  row.run.network.heads = row.run.network.kv_heads = 32;
  row.run.network.head_dim = 128;
  row.run.network.ffn = 16384;
  row.run.network.vocabulary = 1024;
  row.run.layout.zero_stage = 3;
  row.run.layout.zero_group = 8;
  row.run.layout.micro_batch = 16;
  StepEstimate all = estimate_step(row.run, setting);
  ASSERT_TRUE(all.out_of_memory);
  settle_memory(row, setting, all);
  EXPECT_FALSE(all.out_of_memory);
  EXPECT_LE(all.memory_gib, 80);
  row.recompute_open = false;
  StepEstimate stated = estimate_step(row.run, setting);
  settle_memory(row, setting, stated);
  EXPECT_TRUE(stated.out_of_memory);
}

TEST(Resolve, Contradictions) {
  EXPECT_THAT(contradictions(run()), testing::IsEmpty());
  RunDescription wrong = run();
  wrong.layout.tensor = 2;
  wrong.layout.micro_batch = 1000;
  EXPECT_THAT(contradictions(wrong), testing::SizeIs(3));
}

}  // namespace
}  // namespace sim
