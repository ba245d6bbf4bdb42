#include "sim/validation/lowered_row.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "sim/validation/predict_rows.h"
#include "sim/validation/score.h"
#include "tests/sim/estimate/runs.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

using testing::HasSubstr;

// One rank, no exchange: the engine adds up the same kernels.
TEST(LoweredRow, WithoutCommunicationTheEngineSaysWhatTheEstimateSays) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.layout.data = run.layout.zero_group = 1;
  run.layout.global_batch = 8;
  for (const RecomputeKind recompute : {RecomputeKind::None, RecomputeKind::Full}) {
    run.execution.recompute = recompute;
    EXPECT_NEAR(simulated_step(run, plain_setting()).count() / step_seconds(run), 1, 0.01);
  }
}

TEST(LoweredRow, ExpertsOnOneRankTakeTheSameTime) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.layout.data = run.layout.zero_group = 1;
  run.layout.global_batch = 8;
  run.network.experts =
      ExpertForm{.experts = 8, .topk = 2, .expert_ffn = run.network.ffn / 4, .shared_ffn = run.network.ffn / 4, .first_dense_layers = 2};
  EXPECT_NEAR(simulated_step(run, plain_setting()).count() / step_seconds(run), 1, 0.02);
}

// Both ask one clock where tokens cross to a node once, and exchange them again where the forward is run again.
TEST(LoweredRow, TokensThatCrossOnceTakeTheSameTime) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.layout.data = run.layout.zero_group = 16;
  run.layout.global_batch = 8 * 16 * run.layout.micro_batch;
  run.layout.microbatches = 8;
  run.layout.expert = 16;
  SoftwareStack stack = plain_setting().stack;
  stack.dispatch_share = 0.9;
  const Setting setting{a100(), stack};
  for (const ExpertDispatch dispatch : {ExpertDispatch::Dropless, ExpertDispatch::Padded})
    for (const RecomputeKind recompute : {RecomputeKind::None, RecomputeKind::Full}) {
      run.network.experts = ExpertForm{.experts = 16, .topk = 4, .expert_ffn = run.network.ffn / 8, .dispatch = dispatch};
      run.execution.recompute = recompute;
      const bool again = recompute == RecomputeKind::Full;  // tasks leave out what makes the output alone: tokens on their way back
      EXPECT_NEAR(simulated_step(run, setting) / estimate_step(run, setting).time, 1, again ? 0.1 : 0.02);
    }
}

// What the engine plays out and the estimate sums: exchanges that nothing hides.
TEST(LoweredRow, ExchangesTakeTheSameTime) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.machine.gpus_per_node = 8;
  run.layout.data = 8;
  run.layout.zero_group = 8;
  run.layout.global_batch = 8 * run.layout.micro_batch;
  run.layout.microbatches = 1;
  run.network.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = run.network.ffn / 4};
  run.layout.expert = 8;
  EXPECT_NEAR(simulated_step(run, plain_setting()).count() / step_seconds(run), 1, 0.05);
  run = gpt_run();
  run.machine.gpus = run.machine.gpus_per_node = 8;
  run.layout.data = 4;
  run.layout.zero_group = 8;
  run.layout.context = 2;
  run.layout.context_all_to_all = true;
  run.layout.global_batch = 4 * run.layout.micro_batch;
  run.layout.microbatches = 1;
  EXPECT_NEAR(simulated_step(run, plain_setting()).count() / step_seconds(run), 1, 0.05);
}

TEST(LoweredRow, KeepsWhatTheRunSays) {
  RunDescription run = gpt_run();
  run.machine.network_gbits = 400;
  run.execution.attention = AttentionKernel::FusedSoftmax;
  run.layout.zero_stage = 2;
  const ParallelPlan plan = lowered_plan(run, plain_setting());
  EXPECT_EQ(plan.cluster.hardware.inter_node.peak_bandwidth.value(), 50e9);
  EXPECT_EQ(attention_kernel(plan.cluster.software), AttentionKernel::FusedSoftmax);
  EXPECT_EQ(plan.zero_stage, 2);
  EXPECT_EQ(plan.num_microbatches(), 4);
}

TEST(LoweredRow, SaysWhyNot) {
  RunDescription run = gpt_run();
  EXPECT_EQ(why_not_lowered(run), "");
  run.network.experts = ExpertForm{};
  run.layout.tensor = 2;
  run.layout.expert_tensor = false;
  EXPECT_THAT(why_not_lowered(run), HasSubstr("experts"));
  run = gpt_run();
  run.layout.pipeline = 2;
  run.layout.schedule = "unheard of";
  EXPECT_THAT(why_not_lowered(run), HasSubstr("schedule"));
}

// Korthikanti et al. (arXiv 2205.05198), with sequence parallelism and selective recomputation: activations of the fullest stage, GiB. 1T ran.
TEST(LoweredRow, ActivationsOfMegatronAreThePapers) {
  const std::map<std::string, double> measured{{"22B", 9.6}, {"175B", 12.4}, {"530B", 23.1}, {"1T", 26.6}};
  const Json document = load_json_file("profiles/published/checks.json");
  const SoftwareCatalog catalog = load_software_catalog();
  std::size_t seen = 0;
  for (const Json& row : rows_of(document, "checks.json")) {
    const std::string id = row["id"];
    if (!id.starts_with("sequence-parallel/") || !id.ends_with("-selective") || id.find("-layer-") != std::string::npos) continue;
    const RunDescription run = describe_row(row, id, catalog).run;
    const Device device = load_device(run.machine.part);
    const LoweredRow lowered = simulated_row(run, {device, catalog.named(run.stack)});
    Bytes most{};
    for (const DeviceResult& stage : lowered.result.devices)
      most = std::max(most, stage.at_peak[static_cast<std::size_t>(MemoryCategory::Activations)]);
    const double gib = static_cast<double>(most.value()) / (1 << 30), paper = measured.at(row["workload"]["model"]);
    EXPECT_NEAR(gib / paper, 1, 0.08) << id << " " << gib;
    EXPECT_TRUE(lowered.result.fits) << id;
    ++seen;
  }
  EXPECT_EQ(seen, measured.size());
}

// Of the counter, and of the rank, that is asked for.
TEST(LoweredRow, MemoryIsThatOfTheQuestion) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.machine.gpus_per_node = run.layout.pipeline = 4;
  run.layout.data = run.layout.zero_group = 1;
  run.layout.schedule = "1f1b";
  run.layout.microbatches = 8;
  run.layout.global_batch = 8 * run.layout.micro_batch;
  const LoweredRow row = simulated_row(run, plain_setting());
  const auto shown = [&](std::optional<MemoryCounter> counter, AskedRank rank) { return counted_memory(row, {counter, rank}).shown; };
  using enum MemoryCounter;
  EXPECT_EQ(shown(Allocated, AskedRank::First), row.result.devices.front().peak_memory);
  EXPECT_EQ(shown(Allocated, AskedRank::Last), row.result.devices.back().peak_memory);
  EXPECT_NE(row.result.devices.front().peak_memory, row.result.devices.back().peak_memory);
  EXPECT_EQ(shown(Allocated, AskedRank::Fullest), row.result.peak_memory);
  EXPECT_GT(shown(Reserved, AskedRank::First), shown(Allocated, AskedRank::First));
  EXPECT_EQ(shown(std::nullopt, AskedRank::First), shown(Device, AskedRank::First));
  EXPECT_EQ(counted_memory(row, {Allocated, AskedRank::First}).needed, shown(Device, AskedRank::Fullest));
}

TEST(LoweredRow, StagesAreCutAsTheRunSays) {
  RunDescription run = gpt_run();
  run.network.layers = 10;
  run.machine.gpus = run.machine.gpus_per_node = run.layout.pipeline = 4;
  run.layout.data = run.layout.zero_group = 1;
  run.layout.schedule = "1f1b";
  run.layout.microbatches = 8;
  run.layout.global_batch = 8 * run.layout.micro_batch;
  run.layout.cut = CutKind::FirstLastMinusOne;
  const auto cut = [&] { return lowered_plan(run, plain_setting()).cut.first; };
  EXPECT_EQ(cut(), (std::vector{LayerIndex(0), LayerIndex(3), LayerIndex(6), LayerIndex(9)}));
  run.layout.cut = CutKind::Balance;
  run.layout.balance = {1, 2, 3, 4};
  EXPECT_EQ(cut(), (std::vector{LayerIndex(0), LayerIndex(2), LayerIndex(4), LayerIndex(7)}));
  run.layout.balance = {5, 5, 0, 0};
  EXPECT_EQ(cut(), (std::vector{LayerIndex(0), LayerIndex(6), LayerIndex(11), LayerIndex(11)}));
}

TEST(LoweredRow, ShardsOverAPartOfTheDataRanksAreReplicas) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.layout.data = 8;
  run.layout.global_batch = 8 * run.layout.micro_batch * run.layout.microbatches;
  run.layout.zero_stage = 3;
  run.layout.zero_group = 2;
  EXPECT_EQ(lowered_plan(run, plain_setting()).mesh.replicas, 4);
  run.layout.zero_group = 1;
  EXPECT_EQ(lowered_plan(run, plain_setting()).zero_stage, 0);
  run.layout.zero_group = 3;
  EXPECT_THAT(why_not_lowered(run), HasSubstr("does not divide"));
}

TEST(LoweredRow, Fp8IsThePlansPrecision) {
  RunDescription run = gpt_run();
  run.execution.format = NumberFormat::Fp8;
  run.execution.scales = ScaleRecipe::Blockwise;
  const Setting setting{load_device("h100-80gb-sxm"), plain_setting().stack};
  EXPECT_EQ(to_text(lowered_plan(run, setting).workload.precision), "fp8:blockwise");
  run.execution.fp8_parameters = true;
  EXPECT_EQ(to_text(lowered_plan(run, setting).workload.precision), "fp8:blockwise gathers=fp8");
  try {
    lowered_plan(run, plain_setting());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no fp8 rate"));
  }
}

// Casts, scales and the halves that travel: as the estimate, which both ask the same clocks.
TEST(LoweredRow, Fp8TakesTheSameTime) {
  RunDescription run = gpt_run();
  run.machine.gpus = run.layout.data = run.layout.zero_group = 1;
  run.layout.global_batch = 8;
  run.execution.format = NumberFormat::Fp8;
  const Device h100 = load_device("h100-80gb-sxm");
  for (const ScaleRecipe recipe : {ScaleRecipe::Delayed, ScaleRecipe::Tensorwise, ScaleRecipe::Rowwise, ScaleRecipe::Blockwise})
    for (const bool caches : {false, true}) {
      run.execution.scales = recipe;
      SoftwareStack stack = plain_setting().stack;
      stack.cached_fp8_weights = caches;
      const Setting setting{h100, stack};
      EXPECT_NEAR(simulated_step(run, setting) / estimate_step(run, setting).time, 1, 0.02);
    }
}

TEST(LoweredRow, EncodersTakeTheSameTime) {
  RunDescription run = gpt_run();
  run.network.kind = NetworkKind::Encoder;
  run.machine.gpus = run.layout.data = run.layout.zero_group = 1;
  run.layout.global_batch = 8;
  run.execution.optimizer = StepOptimizer::Lamb;
  for (const bool masked : {false, true})
    for (const AttentionKernel attention : {AttentionKernel::FusedSoftmax, AttentionKernel::Flash2}) {
      run.execution.attention = attention;
      SoftwareStack stack = plain_setting().stack;
      stack.masked_loss = masked;
      const Setting setting{a100(), stack};
      EXPECT_NEAR(simulated_step(run, setting) / estimate_step(run, setting).time, 1, 0.03);
    }
  EXPECT_EQ(lowered_plan(run, plain_setting()).workload.optimizer, OptimizerKind::Lamb);
}

TEST(LoweredRow, WindowsAreThoseOfEverySoManyBlocks) {
  RunDescription run = gpt_run();
  run.network.attention = {.kind = AttentionKind::Sliding, .window = 256, .every = 2};
  const ModelConfig model = lowered_plan(run, plain_setting()).model;
  EXPECT_EQ(window_of(model, 0), 256);
  EXPECT_EQ(window_of(model, 1), 0);
}

TEST(LoweredRow, WordsOfTheRowAreThePlans) {
  RunDescription run = gpt_run();
  run.layout.zero_stage = 1;
  RowWords words;
  words.qk_norm = words.sinks = true;
  words.sums_whole = true;
  words.graphs = CudaGraphs::FullIteration;
  const ParallelPlan plan = lowered_plan(run, plain_setting(), words);
  EXPECT_EQ(plan.model.qk_norm, QkNorm::Heads);
  EXPECT_TRUE(plan.model.sinks);
  EXPECT_EQ(plan.gradient_sync, GradientSync::AllReduce);
  EXPECT_EQ(plan.cuda_graphs, CudaGraphs::FullIteration);
}

TEST(LoweredRow, WithoutMastersTheStatesAreThoseOfTheWeights) {
  RunDescription run = gpt_run();
  run.execution.format = NumberFormat::Bf16;
  RowWords pure;
  pure.masters = pure.moments = pure.gradients = Precision::Bf16;
  const ParallelPlan plan = lowered_plan(run, plain_setting(), pure);
  EXPECT_EQ(to_text(plan.workload.precision), "bf16 masters=bf16");
  EXPECT_EQ(plan.cluster.software.accumulate_bytes, 2);
  EXPECT_LT(simulated_row(run, plain_setting(), pure).result.peak_memory, simulated_row(run, plain_setting()).result.peak_memory);
}

// What docs/figures/accuracy.md records of the planner's own prices and memory. 754 of the 756 rows can be lowered.
TEST(LoweredRow, TheEngineIsAsTrueToTheRecordAsTheEstimate) {
  const Score result = score(predict_file("profiles/published/rows.json", PredictedBy::Engine));
  EXPECT_EQ(result.predicted, 754);
  EXPECT_LE(result.memory_mape, 0.033);
  EXPECT_LE(result.macro_mape, 0.049);
  for (const TimeScore& source : result.sources) EXPECT_LE(source.mape, 0.09) << source.source;
}

TEST(LoweredRow, MemoryOfRunsThatNothingIsFittedTo) {
  const Score result = score(predict_file("profiles/published/checks.json", PredictedBy::Engine));
  EXPECT_EQ(result.predicted, 354);
  EXPECT_LE(result.memory_mape, 0.05);
}

// Each counter by itself: docs/figures/memory.md. Tensors of Megatron's tests, of their last rank; what nanotron's first rank reserved.
TEST(LoweredRow, MemoryByCounterAndRank) {
  const Score result = score(predict_file("profiles/published/rows2.json", PredictedBy::Engine));
  std::map<std::string, MemoryScore> sources;
  for (const MemoryScore& one : result.memory) sources[one.source] = one;
  EXPECT_EQ(sources["megatron-ci"].rows, 114);
  EXPECT_LE(sources["megatron-ci"].mape, 0.04);
  EXPECT_EQ(sources["ultrascale"].rows, 522);
  EXPECT_LE(sources["ultrascale"].mape, 0.12);
  EXPECT_LE(sources["fms-acceleration"].mape, 0.2) << "pure bf16: no masters";
}

}  // namespace
}  // namespace sim
