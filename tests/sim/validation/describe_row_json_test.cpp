#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

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
  row["asked"] = {{"memory_kind", "device total as a tool shows it, GB"}};
  EXPECT_EQ(describe(row).asked.counter, MemoryCounter::Device);
  row["workload"]["dropout"] = {{"attention", 0.1}, {"hidden", 0.1}};
  EXPECT_TRUE(describe(row).plan.cluster.software.dropout);
}

TEST(DescribeRow, StatedFieldsAreTaken) {
  const DescribedRow described = describe(valid_row());
  const ParallelPlan& plan = described.plan;
  EXPECT_EQ(plan.model.hidden, 2048);
  EXPECT_EQ(described.part, "a100-80gb-sxm");
  EXPECT_EQ(plan.mesh.data, 8);
  EXPECT_EQ(plan.num_microbatches(), 2);
  EXPECT_EQ(plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(plan.cluster.software.name, "megatron-core");
}

TEST(DescribeRow, WordsThatThePlanHasAloneAreTaken) {
  Json row = valid_row();
  row["workload"]["qk_norm"] = true;
  row["plan"].update({{"optimizer_state_precision", {{"master", "none"}, {"moments", "bf16"}}},
                      {"gradient_sync", "all_reduce"},
                      {"cuda_graphs", "full_iteration"}});
  const ParallelPlan plan = describe(row).plan;
  EXPECT_EQ(plan.model.qk_norm, QkNorm::Heads);
  EXPECT_EQ(to_text(plan.workload.precision), "bf16 masters=bf16");
  EXPECT_EQ(plan.cluster.software.accumulate_bytes, 2) << "without masters gradients are of the weights' type";
  EXPECT_EQ(plan.gradient_sync, GradientSync::AllReduce);
  EXPECT_EQ(plan.cuda_graphs, CudaGraphs::FullIteration);
  row["plan"]["optimizer_state_precision"] = {{"master", "fp32"}, {"moments", "fp32"}};
  EXPECT_GE(describe(row).plan.cluster.software.accumulate_bytes, 2);
}

// One program has both: GPTModelProvider of Megatron-Bridge for networks of Llama, and for those of Qwen.
TEST(DescribeRow, FusedOperatorsAreTheRowsWhereItNamesThem) {
  Json row = valid_row();
  EXPECT_TRUE(describe(row).plan.cluster.software.fused_activation);
  EXPECT_TRUE(describe(row).plan.cluster.software.fused_rotary);
  row["plan"]["fused_activation"] = false;
  EXPECT_FALSE(describe(row).plan.cluster.software.fused_activation);
  EXPECT_TRUE(describe(row).plan.cluster.software.fused_rotary);
  row["plan"]["fused_rotary"] = false;
  EXPECT_FALSE(describe(row).plan.cluster.software.fused_rotary);
}

TEST(DescribeRow, TransformerEnginesLossWritesOverTheLogits) {
  Json row = valid_row();
  EXPECT_EQ(describe(row).plan.cluster.software.fused_loss_bytes, 10);
  row["plan"]["cross_entropy_impl"] = "native";
  EXPECT_EQ(describe(row).plan.cluster.software.fused_loss_bytes, 10);
  row["plan"]["cross_entropy_impl"] = "te";
  EXPECT_EQ(describe(row).plan.cluster.software.fused_loss_bytes, 2);
}

TEST(DescribeRow, AProgramMayFuseLayerNormAlone) {
  Json row = valid_row();
  row["plan"]["software"] = {{"framework", "fsdp1"}};
  row["workload"]["norm"] = "layernorm";
  EXPECT_TRUE(describe(row).plan.cluster.software.fused_norm);
  row["workload"]["norm"] = "rmsnorm";
  EXPECT_FALSE(describe(row).plan.cluster.software.fused_norm);
  row["plan"]["fused_norm"] = true;
  const SoftwareStack stated = describe(row).plan.cluster.software;
  EXPECT_TRUE(fuses_norm(stated, true)) << "what a row says is taken";
}

TEST(DescribeRow, DeepSpeedSumsWholeBucketsBelowStageThree) {
  Json row = valid_row();
  row["plan"]["software"] = {{"framework", "deepspeed"}};
  for (const int stage : {1, 2}) {
    row["plan"]["zero_stage"] = stage;
    EXPECT_EQ(describe(row).plan.gradient_sync, GradientSync::AllReduce);
  }
  row["plan"]["zero_stage"] = 3;
  EXPECT_EQ(describe(row).plan.gradient_sync, GradientSync::Scatter);
}

TEST(DescribeRow, MapsLieAsTheRowSays) {
  Json row = valid_row();
  const auto is_first = [&] { return describe(row).plan.cluster.software.channels_first; };
  EXPECT_FALSE(is_first());
  row["plan"]["memory_format"] = "nchw";
  EXPECT_TRUE(is_first());
  row["plan"]["software"] = {{"framework", "nobody's"}};
  EXPECT_TRUE(is_first());
  row["plan"].erase("memory_format");
  EXPECT_TRUE(is_first()) << "PyTorch's usual layout";
  row["plan"]["memory_format"] = "nhwc";
  EXPECT_FALSE(is_first());
  row["plan"]["memory_format"] = "chwn";
  EXPECT_THROW(is_first(), InputError);
}

// fms-acceleration's plugin of GPTQ runs Triton's kernel, whatever else is fused.
TEST(DescribeRow, WholeNumbersOfFourBitsAreUnpackedByOperatorsWhereNoSetOfKernelsSaysOtherwise) {
  const Json lora = {{"rank", 16}, {"targets", "attention"}, {"base_precision", "int4"}};
  Json row = patched(valid_row(), {{"workload", {{"lora", lora}}}, {"plan", {{"software", {{"framework", "transformers"}}}}}});
  const auto unpacks = [&] { return describe(row).plan.cluster.software.unpacks_by_operator; };
  EXPECT_TRUE(unpacks());
  row["plan"]["kernels"] = "liger fused linear cross entropy";
  EXPECT_TRUE(unpacks());
  for (const char* set : {"eager", "foak"}) {
    row["plan"]["kernels"] = set;
    EXPECT_FALSE(unpacks());
  }
}

TEST(DescribeRow, AProgramWithoutMastersSaysSoWhereTheRowDoesNot) {
  Json row = valid_row();
  row["plan"]["software"] = {{"framework", "automodel"}, {"year", 2025}};
  EXPECT_EQ(to_text(describe(row).plan.workload.precision), "bf16 masters=bf16");
  row["plan"]["optimizer_state_precision"] = {{"master", "fp32"}};
  EXPECT_EQ(to_text(describe(row).plan.workload.precision), "bf16");
}

TEST(DescribeRow, ALossInPiecesIsTheProgramsThen) {
  Json row = valid_row();
  EXPECT_FALSE(describe(row).plan.cluster.software.loss_in_pieces);
  row["plan"]["fused_linear_cross_entropy"] = true;
  EXPECT_TRUE(describe(row).plan.cluster.software.loss_in_pieces);
}

TEST(DescribeRow, RecomputationIsWhatItsDetailSays) {
  Json row = valid_row();
  const auto scope = [&](const char* mode, const Json& detail) {
    row["plan"].update({{"recompute", mode}, {"recompute_detail", detail}});
    const ParallelPlan plan = describe(row).plan;
    return std::pair(plan.recompute, to_text(plan.recompute_scope));
  };
  EXPECT_EQ(scope("none", nullptr), std::pair(Recompute::None, std::string()));
  EXPECT_EQ(scope("full", nullptr), std::pair(Recompute::Full, std::string()));
  EXPECT_EQ(scope("selective", "op"), std::pair(Recompute::Selective, std::string("modules op")));
  EXPECT_EQ(scope("full", "gpipe_except_last"), std::pair(Recompute::Full, std::string("but_last")));
  EXPECT_EQ(scope("selective", nullptr), std::pair(Recompute::Selective, std::string()));
  row["plan"]["zero_stage"] = 3;
  EXPECT_EQ(scope("selective", nullptr), std::pair(Recompute::Full, std::string("every 2"))) << "what users of sharded weights mean";
}

TEST(DescribeRow, StagesAreCutAsTheRowSays) {
  const auto cut = [](const Json& partition) {
    return describe(
               patched(valid_row(),
                       {{"workload", {{"layers", 10}}},
                        {"plan", {{"dp", 1}, {"tp", 2}, {"pp", 4}, {"zero_stage", 0}, {"schedule", "1f1b"}, {"partition", partition}}}}))
        .plan.cut.first;
  };
  EXPECT_EQ(cut({{"kind", "first_last_minus_one"}}), (std::vector{LayerIndex(0), LayerIndex(3), LayerIndex(6), LayerIndex(9)}));
  EXPECT_EQ(cut({{"kind", "balance"}, {"balance", {1, 2, 3, 4}}}),
            (std::vector{LayerIndex(0), LayerIndex(2), LayerIndex(4), LayerIndex(7)}));
  EXPECT_EQ(cut({{"kind", "balance"}, {"balance", {5, 5, 0, 0}}}),
            (std::vector{LayerIndex(0), LayerIndex(6), LayerIndex(11), LayerIndex(11)}));
  EXPECT_THROW(cut({{"kind", "balance"}, {"balance", {5, 5}}}), InputError);
}

TEST(DescribeRow, SomeProgramsLightenTheLastStage) {
  const auto cut = [](const Json& plan) {
    Json row =
        patched(valid_row(), {{"workload", {{"layers", 8}}}, {"plan", {{"dp", 2}, {"pp", 4}, {"zero_stage", 0}, {"schedule", "1f1b"}}}});
    return describe(patched(row, {{"plan", plan}})).plan.cut.first;
  };
  const Json oneflow = {{"software", {{"framework", "oneflow"}}}};
  EXPECT_EQ(cut(Json::object()), (std::vector{LayerIndex(0), LayerIndex(3), LayerIndex(5), LayerIndex(7)}));
  EXPECT_EQ(cut(oneflow), (std::vector{LayerIndex(0), LayerIndex(3), LayerIndex(5), LayerIndex(8)}));
  EXPECT_EQ(cut(patched(oneflow, {{"partition", {{"kind", "uniform"}}}})), cut(Json::object())) << "what a row says is taken";
}

TEST(DescribeRow, OversubscriptionIsOfPods) {
  const Json shared = {{"oversubscription", {{"ratio", 7}, {"above_gpus", 16}}}};
  const LinkProfile network = describe(patched(valid_row(), {{"hardware", {{"inter_node", shared}}}})).plan.cluster.hardware.inter_node;
  ASSERT_EQ(network.pods.size(), 1u);
  EXPECT_EQ(network.pods[0].nodes, 2);
  EXPECT_EQ(network.pods[0].oversubscription, 7);
}

TEST(DescribeRow, AMegatronLayoutIsTheCut) {
  const auto plan = [](const char* layout) {
    return describe(patched(valid_row(), {{"workload", {{"layers", 10}}},
                                          {"plan",
                                           {{"dp", 1},
                                            {"tp", 4},
                                            {"pp", 2},
                                            {"zero_stage", 0},
                                            {"schedule", "interleaved"},
                                            {"partition", {{"kind", "uniform"}}},
                                            {"pipeline_layout", layout}}}}))
        .plan;
  };
  EXPECT_EQ(plan("Et*4|(t*2|)*2ttL").chunks, 2);
  EXPECT_EQ(plan("Et*4|(t*2|)*2ttL").cut.first, (std::vector{LayerIndex(0), LayerIndex(5), LayerIndex(7), LayerIndex(9)}));
  EXPECT_FALSE(plan("Et*4|(t*2|)*2ttL").model.mtp_apart);
  EXPECT_THAT([&] { plan("Et*4|t*5L"); }, testing::ThrowsMessage<InputError>(testing::HasSubstr("deals out 9 of 10 layers")));
  EXPECT_THAT([&] { plan("Et*4|x*6L"); }, testing::ThrowsMessage<InputError>(testing::HasSubstr("has a 'x'")));
}

TEST(DescribeRow, AMegatronLayoutMayHavePredictionsApartFromTheHead) {
  const ParallelPlan plan =
      describe(patched(valid_row(),
                       {{"workload", {{"layers", 9}, {"mtp_layers", 1}, {"tied_embeddings", false}}},
                        {"plan",
                         {{"dp", 1}, {"tp", 2}, {"pp", 4}, {"zero_stage", 0}, {"schedule", "1f1b"}, {"pipeline_layout", "Et*5|t*4|m|L"}}}}))
          .plan;
  EXPECT_TRUE(plan.model.mtp_apart);
  EXPECT_EQ(plan.cut.first, (std::vector{LayerIndex(0), LayerIndex(6), LayerIndex(10), LayerIndex(11)}));
}

TEST(DescribeRow, AnEngineIsNoModelOfMegatron) {
  const auto program = [](const char* framework) {
    return describe(patched(valid_row(), {{"plan", {{"software", {{"framework", framework}}}}}})).plan.cluster.software.name;
  };
  EXPECT_EQ(program("deepspeed"), "deepspeed");
  EXPECT_EQ(program("megatron-deepspeed"), "megatron-deepspeed");
}

TEST(DescribeRow, DescentWithoutMomentumKeepsNothing) {
  const auto moments = [](const char* optimizer) {
    const ParallelPlan plan = describe(patched(valid_row(), {{"plan", {{"optimizer", optimizer}}}})).plan;
    return moments_of(plan.workload.optimizer, plan.cluster.software);
  };
  EXPECT_EQ(moments("sgd"), 0);
  EXPECT_EQ(moments("sgd_momentum"), 1);
  EXPECT_EQ(moments("rmsprop_ema"), 2);
}

TEST(DescribeRow, ShardsOfGradientsAreAddedMicrobatchByMicrobatch) {
  const auto accumulation = [](int stage, int pipeline) {
    const Json plan = {{"zero_stage", stage}, {"dp", 8 / pipeline}, {"pp", pipeline},
                       {"global_batch", 64},  {"micro_batch", 1},   {"schedule", pipeline > 1 ? "1f1b" : "none"}};
    return describe(patched(valid_row(), {{"plan", plan}})).plan.accumulation;
  };
  EXPECT_EQ(accumulation(1, 1), Accumulation::ReduceLast);
  EXPECT_EQ(accumulation(2, 1), Accumulation::ReduceEach) << "no rank keeps all gradients";
  EXPECT_EQ(accumulation(3, 1), Accumulation::ReduceEach);
  EXPECT_EQ(accumulation(2, 2), Accumulation::ReduceLast);
}

TEST(DescribeRow, ShardsOverAPartOfTheDataRanksAreReplicas) {
  const auto plan = [](int group) { return describe(patched(valid_row(), {{"plan", {{"zero_stage", 3}, {"zero_group", group}}}})).plan; };
  EXPECT_EQ(plan(2).mesh.replicas, 4);
  EXPECT_EQ(plan(8).mesh.replicas, 1);
  EXPECT_EQ(plan(1).zero_stage, 0);
  EXPECT_THROW(plan(3), InputError);
}

TEST(DescribeRow, Fp8IsThePlansPrecision) {
  const Json patch = {{"hardware", {{"gpu", "H100-SXM5-80GB"}}},
                      {"plan", {{"precision", "fp8"}, {"fp8_recipe", "blockwise"}, {"fp8_params", true}}}};
  EXPECT_EQ(to_text(describe(patched(valid_row(), patch)).plan.workload.precision), "fp8:blockwise gathers=fp8");
  Json parts = patched(valid_row(), patch);
  parts["plan"]["unscaled_products"] = "attention,mlp";
  EXPECT_EQ(to_text(describe(parts).plan.workload.precision), "fp8:blockwise gathers=fp8 products:attention,mlp=bf16");
  Json older = patched(valid_row(), patch);
  older["hardware"]["gpu"] = "A100-SXM4-80GB";
  EXPECT_THAT([&] { describe(older); }, testing::ThrowsMessage<InputError>(testing::HasSubstr("has no fp8 rate")));
}

TEST(DescribeRow, NamedModulesAreRecomputed) {
  const auto scope = [](const Json& modules) {
    return to_text(
        describe(patched(valid_row(), {{"plan", {{"recompute", "selective"}, {"recompute_modules", modules}, {"zero_stage", 1}}}}))
            .plan.recompute_scope);
  };
  EXPECT_EQ(scope({"mlp", "layernorm"}), "modules mlp,layernorm");
  EXPECT_THROW(scope({"mlps"}), InputError);
}

TEST(DescribeRow, SetsOfKernelsFusePositionsAndAdaptersOfPackedWeights) {
  const Json lora = {{"rank", 16}, {"targets", "attention"}};
  Json row = patched(valid_row(),
                     {{"workload", {{"position", "rope"}, {"lora", lora}}}, {"plan", {{"software", {{"framework", "transformers"}}}}}});
  const auto stack = [&] { return describe(row).plan.cluster.software; };
  EXPECT_EQ(describe(row).plan.model.adapters->dropout, 0.05) << "PEFT's usual";
  EXPECT_TRUE(stack().unfused_adapters && !stack().fused_rotary);
  row["plan"]["kernels"] = "foak,liger fused linear cross entropy";
  EXPECT_TRUE(stack().unfused_adapters && stack().fused_rotary) << "weights as they are";
  row["workload"]["lora"]["base_precision"] = "nf4";
  EXPECT_FALSE(stack().unfused_adapters);
  row["workload"]["position"] = "learned";
  EXPECT_TRUE(stack().unfused_adapters) << "its rules are for families with turned positions";
}

// Their workspaces are there where products of experts are grouped.
TEST(DescribeRow, ExpertsOneAfterAnotherHaveNoStreams) {
  Json row = valid_row();
  row["workload"]["moe"] = {{"experts", 8}, {"topk", 2}, {"expert_ffn", 512}};
  EXPECT_EQ(describe(row).plan.cluster.software.expert_workspaces, 4);
  row["workload"]["moe"]["grouped_gemm"] = false;
  EXPECT_EQ(describe(row).plan.cluster.software.expert_workspaces, 0);
}

TEST(DescribeRow, WhatNoPlanSaysIsTold) {
  Json row = valid_row();
  EXPECT_THAT(describe(row).assumed, testing::Not(testing::Contains(testing::Field(&Assumption::field, "plan.allocator"))));
  row["plan"].update({{"allocator", "expandable_segments"}, {"deterministic", true}, {"delay_wgrad", false}});
  const std::vector<Assumption> assumed = describe(row).assumed;
  EXPECT_THAT(assumed, testing::Contains(testing::Field(&Assumption::field, "plan.allocator")));
  EXPECT_THAT(assumed, testing::Contains(testing::Field(&Assumption::field, "plan.deterministic")));
  EXPECT_THAT(assumed, testing::Not(testing::Contains(testing::Field(&Assumption::field, "plan.delay_wgrad"))));
}

TEST(DescribeRow, ExchangesAndGraphsAreAsTheRowHasThem) {
  Json row = valid_row();
  row["plan"].update({{"dp", 4}, {"tp", 2}, {"sequence_parallel", true}, {"async_tp", true}});
  row["plan"].update({{"cuda_graphs", "per_layer"}, {"cuda_graph_scope", {"attn", "moe_preprocess"}}});
  const ParallelPlan plan = describe(row).plan;
  EXPECT_EQ(plan.tensor_overlap, TensorOverlap::AlongProducts);
  EXPECT_EQ(to_text(plan.graph_scope), "attn,moe_router");
  row["plan"]["cuda_graphs"] = "none";
  EXPECT_TRUE(describe(row).plan.graph_scope.is_all());
  row["plan"]["cuda_graph_scope"] = {"heads"};
  EXPECT_THROW(describe(row), InputError);
}

TEST(DescribeRow, NullsAreResolvedAndListed) {
  Json row = valid_row();
  row["plan"]["micro_batch"] = nullptr;
  const DescribedRow described = describe(row);
  EXPECT_GT(described.plan.microbatch_size, 1);
  EXPECT_THAT(described.assumed, testing::Contains(testing::Field(&Assumption::field, "plan.micro_batch")));
  EXPECT_THAT(described.assumed, testing::Contains(testing::Field(&Assumption::field, "plan.overlap.grad_reduce")));
}

TEST(DescribeRow, FaultsAreNamed) {
  for (const auto& [block, key, value] : std::vector<std::tuple<std::string, std::string, Json>>{
           {"plan", "precision", "fp7"}, {"plan", "tp", 0}, {"hardware", "gpu", "H800"}, {"workload", "layers", "x"}}) {
    Json row = valid_row();
    row[block][key] = value;
    EXPECT_THROW(describe(row), InputError) << key;
  }
}

// Also where the rest of the row leaves it without a meaning: a word that is none is told.
TEST(DescribeRow, WordsWithoutAMeaningAreNotDropped) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{{"attention_kernel", "flash9"},
                                                                            {"sequence_parallel", "abc"},
                                                                            {"fp8_params", 7},
                                                                            {"unscaled_products", "mlp"},
                                                                            {"reshard_after_forward", "x"}}) {
    Json row = valid_row();
    row["plan"]["tp"] = 1;
    row["plan"]["dp"] = row["hardware"]["total_gpus"];
    row["plan"]["pp"] = 1;
    row["plan"][key] = value;
    EXPECT_THAT([&] { describe(row); }, testing::ThrowsMessage<InputError>(testing::HasSubstr(key))) << key;
  }
}

}  // namespace
}  // namespace sim
