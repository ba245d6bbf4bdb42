#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

DescribedRow describe(const Json& row) {
  static const SoftwareCatalog catalog = load_software_catalog();
  return describe_row(row, "mine", catalog);
}

TEST(DescribeRow, WhichCounterOfWhichRankIsAsked) {
  Json row = valid_row();
  EXPECT_EQ(describe(row).asked.counter, std::nullopt);
  EXPECT_EQ(describe(row).asked.rank, AskedRank::Fullest);
  row["asked"] = {{"memory_kind", "peak reserved (caching allocator), first rank, GiB"}, {"memory_rank", "first"}};
  EXPECT_EQ(describe(row).asked.counter, MemoryCounter::Reserved);
  EXPECT_EQ(describe(row).asked.rank, AskedRank::First);
  row["asked"] = {{"memory_kind", "peak allocated (torch allocator), last rank, GiB"}, {"memory_rank", "last"}};
  EXPECT_EQ(describe(row).asked.counter, MemoryCounter::Allocated);
  EXPECT_EQ(describe(row).asked.rank, AskedRank::Last);
  row["workload"]["dropout"] = {{"attention", 0.1}, {"hidden", 0.1}};
  EXPECT_TRUE(describe(row).run.execution.dropout);
}

TEST(DescribeRow, StatedFieldsAreTaken) {
  const RunDescription run = describe(valid_row()).run;
  EXPECT_EQ(run.network.hidden, 2048);
  EXPECT_EQ(run.machine.part, "a100-80gb-sxm");
  EXPECT_EQ(run.layout.data, 8);
  EXPECT_EQ(run.layout.microbatches, 2);
  EXPECT_EQ(run.execution.format, NumberFormat::Bf16);
  EXPECT_EQ(run.stack, "megatron-core");
}

TEST(DescribeRow, WordsThatThePlanHasAloneAreTaken) {
  Json row = valid_row();
  row["workload"]["qk_norm"] = true;
  row["plan"].update({{"optimizer_state_precision", {{"master", "none"}, {"moments", "bf16"}}},
                      {"gradient_sync", "all_reduce"},
                      {"cuda_graphs", "full_iteration"},
                      {"microbatch_group", 4}});
  const RowWords words = describe(row).words;
  EXPECT_TRUE(words.qk_norm);
  EXPECT_EQ(words.masters, Precision::Bf16);
  EXPECT_EQ(words.gradients, Precision::Bf16);
  EXPECT_EQ(words.moments, Precision::Bf16);
  EXPECT_EQ(words.sums_whole, true);
  EXPECT_EQ(words.graphs, CudaGraphs::FullIteration);
  EXPECT_EQ(words.microbatch_group, 4);
  row["plan"]["optimizer_state_precision"] = {{"master", "fp32"}, {"moments", "fp32"}};
  EXPECT_EQ(describe(row).words.gradients, std::nullopt);
}

TEST(DescribeRow, WhatNoPlanSaysIsTold) {
  Json row = valid_row();
  EXPECT_THAT(describe(row).assumed, testing::Not(testing::Contains(testing::Field(&Assumption::field, "plan.dispatcher"))));
  row["plan"].update({{"dispatcher", "hybridep"}, {"ep_overlap", true}, {"delay_wgrad", false}});
  const std::vector<Assumption> assumed = describe(row).assumed;
  EXPECT_THAT(assumed, testing::Contains(testing::Field(&Assumption::field, "plan.dispatcher")));
  EXPECT_THAT(assumed, testing::Contains(testing::Field(&Assumption::field, "plan.ep_overlap")));
  EXPECT_THAT(assumed, testing::Not(testing::Contains(testing::Field(&Assumption::field, "plan.delay_wgrad"))));
}

TEST(DescribeRow, NullsAreResolvedAndListed) {
  Json row = valid_row();
  row["plan"]["micro_batch"] = nullptr;
  const DescribedRow described = describe(row);
  EXPECT_GT(described.run.layout.micro_batch, 1);
  EXPECT_THAT(described.assumed, testing::Contains(testing::Field(&Assumption::field, "plan.micro_batch")));
  EXPECT_THAT(described.assumed, testing::Contains(testing::Field(&Assumption::field, "plan.overlap.grad_reduce")));
}

TEST(DescribeRow, FormsWithoutRows) {
  Json row = valid_row();
  row["workload"]["moe"] = {{"experts", 8}, {"topk", 2}, {"expert_ffn", 4096}, {"dispatch", "padded"}, {"capacity_factor", 1.25}};
  row["workload"]["lora"] = {{"rank", 8}, {"targets", "attention"}, {"base_precision", "int8"}};
  row["workload"]["attention"] = {{"kind", "mla"}, {"q_lora", 1536}, {"kv_lora", 512}, {"qk_nope", 128}, {"qk_rope", 64}, {"v_dim", 128}};
  const Network net = describe(row).run.network;
  EXPECT_EQ(net.experts->experts, 8);
  EXPECT_EQ(net.experts->dispatch, ExpertDispatch::Padded);
  EXPECT_EQ(net.low_rank->base_bytes, 1);
  EXPECT_EQ(net.attention.kind, AttentionKind::Latent);
}

TEST(DescribeRow, FaultsAreNamed) {
  for (const auto& [block, key, value] : std::vector<std::tuple<std::string, std::string, Json>>{
           {"plan", "precision", "fp7"}, {"plan", "tp", 0}, {"hardware", "gpu", "H800"}, {"workload", "layers", "x"}}) {
    Json row = valid_row();
    row[block][key] = value;
    EXPECT_THROW(describe(row), InputError) << key;
  }
}

}  // namespace
}  // namespace sim
