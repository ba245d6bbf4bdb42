// Each oracle can fail: a planted bug must be seen by the comparison that is there to see it.
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include "tests/planted/mutations.h"

namespace parity {
namespace {

sim::ParallelPlan with_first_frozen(sim::ParallelPlan plan, std::int64_t blocks) {
  plan.model.frozen.first = blocks;
  return plan;
}

sim::ParallelPlan with_gather_beside(sim::ParallelPlan plan) {
  plan.overlap_weight_gather = true;
  return plan;
}

using Mutations = OnTwoRanks;

// Learned positions, and those that are turned.
sim::ParallelPlan in_slices(sim::ModelConfig model, std::int32_t slices) {
  model.attention_dropout = 0;
  sim::ParallelPlan plan = tiny_plan(model, {.pipeline = 2});
  plan.slices = slices;
  return plan;
}
TEST_F(Mutations, LostCacheGradient) {
  for (const std::int32_t slices : {2, 4}) expect_caught_in_fp64(in_slices(tiny_gpt2(), slices), PlantedBug::LostCacheGradient);
}
TEST_F(Mutations, RestartedSlice) {
  for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama(), tiny_deepseek()})
    expect_caught_in_fp64(in_slices(model, 2), PlantedBug::RestartedSlice);
}

TEST_F(Mutations, LocalStatistics) {
  for (const PlantedBug bug : {PlantedBug::LocalStatistics, PlantedBug::LocalSums})
    expect_caught_in_fp64(tiny_plan(tiny_resnet(), {.data = 2}), bug);
  for (const bool shares : {true, false}) {
    sim::ParallelPlan plan = tiny_plan(tiny_resnet(), {.data = 2});
    plan.sync_batch_norm = shares;
    expect_caught_in_fp64(plan, PlantedBug::RunningForBatch);
  }
}

// Of an encoder and its decoder; of two samples one is the other's neighbour.
TEST_F(Mutations, OtherSource) {
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.tensor = 2}, sim::DeviceMesh{.pipeline = 2}}) {
    expect_caught_in_fp64(tiny_plan(tiny_bart(), mesh), PlantedBug::OwnKeys);
    sim::ParallelPlan plan = tiny_plan(tiny_mbart(), mesh);
    plan.microbatch_size = 2;
    expect_caught_in_fp64(plan, PlantedBug::SourceOfNeighbour);
  }
}

TEST_F(Mutations, OtherDistances) { expect_caught_in_fp64(tiny_plan(tiny_t5(), {.tensor = 2}), PlantedBug::OtherDistances); }

TEST_F(Mutations, WrongAverage) {
  expect_caught_in_fp64(data_, PlantedBug::WrongAverage);
  expect_caught_in_fp64(pipeline_, PlantedBug::WrongAverage);
}
TEST_F(Mutations, DividedTwice) {
  expect_caught_in_fp64(data_, PlantedBug::DividedTwice);
  expect_caught_in_fp64(pipeline_, PlantedBug::DividedTwice);
}
TEST_F(Mutations, LocalVocabulary) { expect_caught_in_fp64(tensor_, PlantedBug::LocalVocabulary); }
TEST_F(Mutations, EarlyRead) {
  expect_caught_in_fp64(pipeline_, PlantedBug::EarlyRead);
  for (const std::int32_t stage : {1, 2, 3}) expect_caught_bitwise(with_zero(data_, stage), PlantedBug::EarlyRead);
  for (const auto algorithm : {kRing, kAllGather, kAllToAll}) expect_caught_in_fp64(context(algorithm), PlantedBug::EarlyRead);
}
TEST_F(Mutations, UnscaledMerge) {
  for (const auto algorithm : {kRing, kAllGather}) expect_caught_in_fp64(context(algorithm), PlantedBug::UnscaledMerge);
}
TEST_F(Mutations, FutureBlock) {
  for (const auto algorithm : {kRing, kAllGather}) expect_caught_in_fp64(context(algorithm), PlantedBug::FutureBlock);
}
TEST_F(Mutations, MissingTensorSum) {
  expect_caught_in_fp64(tensor_, PlantedBug::MissingTensorSum);
  expect_caught_in_fp64(sequence_, PlantedBug::MissingTensorSum);
}
TEST_F(Mutations, MissingReplicatedSum) {
  expect_caught_in_fp64(sequence_, PlantedBug::MissingReplicatedSum);
  expect_caught_in_fp64(tiny_plan(tiny_deepseek(), {.tensor = 2}), PlantedBug::MissingReplicatedSum);  // what leads down
}
TEST_F(Mutations, ForgottenWeights) { expect_caught_in_fp64(with_schedule(pipeline_, "zb-1p", 1), PlantedBug::ForgottenWeights); }
// A head by itself has a norm, and what it reads is summed in front of it.
TEST_F(Mutations, ForgottenSum) {
  sim::ParallelPlan head_alone = pipeline_;
  head_alone.cut.first.back() = head_alone.head();
  for (const sim::ParallelPlan& plan : {pipeline_, head_alone}) expect_caught_in_fp64(plan, PlantedBug::ForgottenSum);
}
TEST_F(Mutations, SwappedMicrobatches) {
  expect_caught_in_fp64(data_, PlantedBug::SwappedMicrobatches);
  expect_caught_in_fp64(pipeline_, PlantedBug::SwappedMicrobatches);
}
TEST_F(Mutations, LocalHeadMasks) {
  expect_caught_in_fp64(tensor_, PlantedBug::LocalHeadMasks);
  sim::ParallelPlan paired = tiny_plan(tiny_bart(), {.tensor = 2});
  paired.model.residual_dropout = paired.model.embedding_dropout = 0;
  expect_caught_in_fp64(paired, PlantedBug::LocalHeadMasks);
}
TEST_F(Mutations, OtherMasksAgain) {
  sim::ParallelPlan plan = tensor_;
  plan.recompute = sim::Recompute::Full;
  expect_caught_in_fp64(plan, PlantedBug::OtherMasksAgain);
  plan.recompute_scope.every = 2;
  expect_caught_in_fp64(plan, PlantedBug::OtherMasksAgain);
}
TEST_F(Mutations, StrayInput) {
  sim::ParallelPlan sliced = in_slices(tiny_gpt2(), 2);
  for (sim::ParallelPlan plan : {data_, sequence_, context(kRing), context(kAllToAll), sliced}) {
    plan.recompute = sim::Recompute::Selective;
    for (const sim::Module module : {sim::Module::Mlp, sim::Module::LayerNorm}) {
      if (module == sim::Module::LayerNorm && plan.sequence_parallel) continue;
      plan.recompute_scope.modules = module;
      expect_caught_in_fp64(plan, PlantedBug::StrayInput);
    }
  }
}
sim::ParallelPlan in_units(sim::ParallelPlan plan) {
  plan.layers_per_unit = 2;
  return with_zero(plan, 3);
}

TEST_F(Mutations, ShiftedShard) {
  for (const std::int32_t stage : {0, 1, 2, 3}) expect_caught_bitwise(with_zero(data_, stage), PlantedBug::ShiftedShard);
}
TEST_F(Mutations, StaleWeights) {
  for (const std::int32_t stage : {1, 2, 3}) expect_caught_bitwise(with_zero(data_, stage), PlantedBug::StaleWeights);
  expect_caught_bitwise(in_units(data_), PlantedBug::StaleWeights);
  for (const std::int32_t stage : {1, 2}) expect_caught_bitwise(with_gather_beside(with_zero(data_, stage)), PlantedBug::StaleWeights);
}
sim::ParallelPlan with_weights_on_host(sim::ParallelPlan plan) {
  plan.offload_optimizer = plan.offload_parameters = true;
  plan.accumulation = sim::Accumulation::ReduceEach;
  return with_zero(plan, 3);
}
TEST_F(Mutations, OfWeightsOnTheHost) {
  const sim::ParallelPlan plan = with_weights_on_host(data_);
  expect_caught_bitwise(plan, PlantedBug::StaleHostCopy);
  expect_caught_bitwise(with_precision(plan, sim::Precision::Bf16), PlantedBug::StaleHostCopy);
  for (const sim::ParallelPlan& gathers : {plan, with_weights_on_host(in_units(data_))})  // those of the step before
    expect_caught_bitwise(gathers, PlantedBug::StaleWeights);
  for (const PlantedBug bug : {PlantedBug::LostMicrobatch, PlantedBug::ShiftedShard, PlantedBug::LastBucketNotReduced})
    expect_caught_in_fp64(plan, bug);
  expect_caught_bitwise(with_weights_on_host(with_adapters(data_)), PlantedBug::StaleHostCopy);
}
TEST_F(Mutations, OtherOwner) {
  for (const std::int32_t stage : {1, 2}) expect_caught_bitwise(by_owner(data_, stage, sim::WeightSync::Broadcast), PlantedBug::OtherOwner);
}
TEST_F(Mutations, StaleBroadcast) {
  for (const sim::WeightSync sync : {sim::WeightSync::Broadcast, sim::WeightSync::BroadcastFp16})
    expect_caught_bitwise(by_owner(data_, 2, sync), PlantedBug::StaleBroadcast);
}
TEST_F(Mutations, OwnersOfMuon) {
  sim::ParallelPlan plan = by_owner(data_, 2, sim::WeightSync::Broadcast);
  plan.workload.optimizer = sim::OptimizerKind::Muon;
  for (const PlantedBug bug : {PlantedBug::OtherOwner, PlantedBug::StaleBroadcast, PlantedBug::ShiftedShard})
    expect_caught_in_fp64(plan, bug);
}
TEST_F(Mutations, StaleWeightsOfOwners) { expect_caught_bitwise(by_owner(data_, 1), PlantedBug::StaleWeights); }
TEST_F(Mutations, ShiftedShardOfOwners) { expect_caught_bitwise(by_owner(data_, 2), PlantedBug::ShiftedShard); }
TEST_F(Mutations, SharedCountedTwice) {
  expect_caught_in_fp64(tensor_, PlantedBug::SharedCountedTwice);
  expect_caught_in_fp64(pipeline_, PlantedBug::SharedCountedTwice);  // the tied embedding
}
TEST_F(Mutations, LastBucketNotReduced) {
  for (const std::int32_t stage : {0, 1, 2, 3}) expect_caught_bitwise(with_zero(data_, stage), PlantedBug::LastBucketNotReduced);
  expect_caught_bitwise(in_units(data_), PlantedBug::LastBucketNotReduced);
  expect_caught_in_fp64(pipeline_, PlantedBug::LastBucketNotReduced);  // the tied embedding's
}

// What is stepped is a rank's own gradient, or a sum that is not whole.
TEST_F(Mutations, EarlyLayer) {
  sim::ParallelPlan plan = with_precision(data_, sim::Precision::Fp64);
  plan.training.gradient_clip = 0;
  plan.partition_size = plan.credit_size = sim::Bytes(1 << 16);
  EXPECT_NE(train({.plan = plan, .steps = kFewSteps, .bug = PlantedBug::EarlyLayer}).losses,
            train({.plan = plan, .steps = kFewSteps}).losses);
}

// The tied embedding's, of which the head knows the half; and sums that have not come.
TEST_F(Mutations, EarlyShared) {
  sim::ParallelPlan plan = data_;
  plan.microbatch_size = plan.workload.global_batch / plan.mesh.data;
  plan.training.gradient_clip = 0;
  plan.bucket_size = sim::Bytes(4096);
  plan.optimizer_in_backward = true;
  for (const PlantedBug bug : {PlantedBug::EarlyShared, PlantedBug::LastBucketNotReduced}) expect_caught_bitwise(plan, bug);
}

TEST_F(Mutations, BoundaryCrossed) {
  sim::ParallelPlan attends_again = data_;
  attends_again.recompute = sim::Recompute::Selective;
  attends_again.recompute_scope.modules = sim::Module::CoreAttention;
  for (const sim::ParallelPlan& plan : {data_, tensor_, pipeline_, attends_again})
    expect_caught_in_fp64(with_documents(plan), PlantedBug::BoundaryCrossed);
}
// Learned ones: rotary positions tell distances alone, and inside a document those are the same.
TEST_F(Mutations, RunningPositions) {
  for (const sim::ParallelPlan& plan : {data_, tensor_, pipeline_})
    expect_caught_in_fp64(with_documents(plan), PlantedBug::RunningPositions);
}
TEST_F(Mutations, CrossedAtEdge) {
  for (const auto algorithm : {kRing, kAllGather}) expect_caught_in_fp64(with_documents(context(algorithm)), PlantedBug::CrossedAtEdge);
}
TEST_F(Mutations, RowsAsFiled) {
  sim::ParallelPlan plan = with_documents(context(kRing));
  plan.context_by_document = true;
  for (const PlantedBug bug : {PlantedBug::RowsAsFiled, PlantedBug::CrossedAtEdge}) expect_caught_in_fp64(plan, bug);
}
TEST_F(Mutations, LateDocuments) {
  sim::ParallelPlan plan = with_documents(data_);
  plan.workload.samples.filling = sim::RowFilling::Fitted;
  for (const PlantedBug bug : {PlantedBug::LateDocuments, PlantedBug::BoundaryCrossed, PlantedBug::MeanOfMeans})
    expect_caught_in_fp64(plan, bug);
}
TEST_F(Mutations, BalanceByLoss) {
  expect_caught_in_fp64(with_documents(tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2})), PlantedBug::BalanceByLoss);
}
TEST_F(Mutations, MeanOfMeans) {
  for (const sim::ParallelPlan& plan : {data_, context(kRing), context(kAllToAll)})
    expect_caught_in_fp64(with_documents(plan), PlantedBug::MeanOfMeans);
}

TEST_F(Mutations, FrozenStepped) {
  for (const std::int32_t stage : {0, 3}) expect_caught_bitwise(with_zero(with_adapters(data_), stage), PlantedBug::FrozenStepped);
  expect_caught_in_fp64(with_adapters(tensor_), PlantedBug::FrozenStepped);
  expect_caught_in_fp64(with_first_frozen(pipeline_, 2), PlantedBug::FrozenStepped);
  expect_caught_bitwise(with_zero(with_first_frozen(data_, 1), 3), PlantedBug::FrozenStepped);
}

TEST_F(Mutations, OfMoments) {
  for (const std::int32_t stage : {0, 3}) {
    sim::ParallelPlan in_eight_bits = with_zero(data_, stage), in_bf16 = with_precision(with_zero(data_, stage), sim::Precision::Fp64);
    in_eight_bits.workload.optimizer = sim::OptimizerKind::AdamW8bit;
    for (const PlantedBug bug : {PlantedBug::ShiftedMomentScale, PlantedBug::SignedSecondMoment}) expect_caught_in_fp64(in_eight_bits, bug);
    in_bf16.workload.precision = in_bf16.workload.precision.with(sim::Numbers::Moments, sim::Precision::Bf16);
    expect_caught_beside_one_process(in_bf16, PlantedBug::UnroundedMoments);
  }
}

// In one process nobody else has seen larger ones, and the scales are those of the step before.
TEST_F(Mutations, DelayedScales) {
  for (sim::ParallelPlan plan : {data_, tensor_, pipeline_}) {
    plan.workload.precision = plan.workload.precision.with(sim::ScaleRecipe::Delayed, /*gathers_scaled=*/false);
    expect_caught_in_fp64(plan, PlantedBug::StaleScales);
    if (plan.mesh.pipeline == 1) expect_caught_in_fp64(plan, PlantedBug::LocalMaximum);  // each stage has layers of its own
  }
}

// A part of a tensor, or of a row, has a smaller one.
TEST_F(Mutations, ScalesOfShards) {
  for (const sim::ScaleRecipe recipe : {sim::ScaleRecipe::Tensorwise, sim::ScaleRecipe::Rowwise}) {
    sim::ParallelPlan plan = tensor_;
    plan.workload.precision = plan.workload.precision.with(recipe, /*gathers_scaled=*/false);
    expect_caught_in_fp64(plan, PlantedBug::LocalMaximum);
  }
}

sim::ParallelPlan scaled(sim::ParallelPlan plan, sim::ScaleRecipe recipe) {
  plan.workload.precision = plan.workload.precision.with(recipe, /*gathers_scaled=*/false);
  return plan;
}
TEST_F(Mutations, GradientsBehindWholeProducts) {
  for (const sim::ScaleRecipe recipe : {sim::ScaleRecipe::Delayed, sim::ScaleRecipe::Tensorwise})
    expect_caught_in_fp64(scaled(tiny_plan(tiny_deepseek(), {.tensor = 2}), recipe), PlantedBug::PartialGradients);
}
// Two tiles of 32, of each of which both ranks have a part.
TEST_F(Mutations, TilesOfTokens) {
  for (const sim::ContextAlgorithm algorithm : {kRing, kAllToAll}) {
    sim::ParallelPlan plan = scaled(context(algorithm), sim::ScaleRecipe::Mx);
    plan.workload.sequence = plan.model.max_positions = 48;
    for (const PlantedBug bug : {PlantedBug::LocalMaximum, PlantedBug::OwnTiles}) expect_caught_in_fp64(plan, bug);
  }
}

TEST_F(Mutations, IgnoredChoice) { expect_caught_in_fp64(tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2}), PlantedBug::IgnoredChoice); }
// Each rank's gradients are mostly zeros, and others than its neighbour's.
TEST_F(Mutations, ExpertsThatNobodyChose) {
  sim::ParallelPlan plan = tiny_plan(tiny_mixtral(), {.data = 2});
  plan.model.experts = sim::ExpertForm{.experts = 4, .topk = 1, .expert_ffn = 20};
  plan.workload.sequence = 1;
  plan.workload.global_batch = 2;
  for (const PlantedBug bug : {PlantedBug::LastBucketNotReduced, PlantedBug::WrongAverage}) expect_caught_in_fp64(plan, bug);
}
TEST_F(Mutations, StrayRows) { expect_caught_in_fp64(tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2}), PlantedBug::StrayRows); }
// Rows as even choices send them, and as the router does.
TEST_F(Mutations, OtherExchange) {
  sim::ParallelPlan plan = tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2});
  plan.expert_overlap = true;
  for (const bool is_even : {true, false}) {
    plan.model.experts->forced_balance = is_even;
    expect_caught_in_fp64(plan, PlantedBug::OtherExchange);
  }
}
TEST(ExpertMutations, OtherExchangeOfDualPipeV) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  sim::ParallelPlan plan = with_schedule(tiny_plan(tiny_mixtral(), {.data = 2, .pipeline = 2, .expert = 2}), "dualpipev", 2);
  plan.expert_overlap = true;
  expect_caught_bitwise(plan, PlantedBug::OtherExchange);
}
TEST_F(Mutations, SharedExperts) {
  const sim::ParallelPlan plan = tiny_plan(tiny_mixtral(), {.data = 2, .expert_tensor = 2});
  for (const PlantedBug bug : {PlantedBug::UnsummedRows, PlantedBug::IgnoredChoice, PlantedBug::StrayRows})
    expect_caught_in_fp64(plan, bug);
}

TEST_F(Mutations, LateRouter) {
  sim::ParallelPlan plan = tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2});
  plan.expert_overlap = plan.delay_wgrad = true;
  expect_caught_in_fp64(plan, PlantedBug::LateRouter);
}
TEST_F(Mutations, MissingSumOfRouters) {
  expect_caught_in_fp64(tiny_plan(tiny_mixtral(), {.tensor = 2}), PlantedBug::MissingReplicatedSum);
}

// Not cut by the tensor ranks. The auxiliary loss would be another one: that of each rank's own tokens.
sim::ParallelPlan with_whole_experts(sim::DeviceMesh mesh) {
  sim::ParallelPlan plan = tiny_plan(tiny_mixtral(), mesh);
  plan.sequence_parallel = true;
  plan.model.experts->balance_loss = 0;
  return plan;
}

TEST(ExpertMutations, WrongExpertGroup) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  expect_caught_in_fp64(tiny_plan(tiny_mixtral(), {.data = 4, .expert = 2}), PlantedBug::WrongExpertGroup);
  expect_caught_in_fp64(with_whole_experts({.data = 2, .tensor = 2, .expert_tensor = 1}), PlantedBug::WrongExpertGroup);
}

TEST_F(Mutations, WholeExperts) {
  expect_caught_in_fp64(with_whole_experts({.tensor = 2, .expert_tensor = 1}), PlantedBug::WrongExpertGroup);
  const sim::ParallelPlan dealt = with_whole_experts({.tensor = 2, .expert = 2, .expert_tensor = 1});
  for (const PlantedBug bug : {PlantedBug::IgnoredChoice, PlantedBug::StrayRows, PlantedBug::MissingReplicatedSum})
    expect_caught_in_fp64(dealt, bug);
}

TEST(ReplicaMutations, MissingReplicaSum) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  for (const std::int32_t stage : {0, 1, 2, 3})
    expect_caught_bitwise(with_zero(tiny_plan(tiny_gpt2(), {.data = 4, .replicas = 2}), stage), PlantedBug::MissingReplicaSum);
}

TEST(ContextMutations, TwoLevels) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  sim::ParallelPlan plan = tiny_plan(tiny_llama(), {.context = 4, .context_inner = 2});
  plan.context_algorithm = sim::ContextAlgorithm::Hierarchical;
  plan.workload.sequence = 16;
  for (const PlantedBug bug : {PlantedBug::SwappedLevels, PlantedBug::InnerOrder}) expect_caught_in_fp64(plan, bug);
}

TEST_F(Mutations, StalePersistent) {
  sim::ParallelPlan plan = with_zero(data_, 3);
  plan.persistence_threshold = 100;
  expect_caught_bitwise(plan, PlantedBug::StalePersistent);
  expect_caught_in_fp64(plan, PlantedBug::StalePersistent);
  plan.model = tiny_t5();  // whose blocks share a table that stays whole
  expect_caught_bitwise(plan, PlantedBug::StalePersistent);
}

TEST(ReshardMutations, OtherPart) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  expect_caught_bitwise(with_zero(tiny_plan(tiny_gpt2(), {.data = 4, .reshard = 2}), 3), PlantedBug::OtherPart);
}

sim::ParallelPlan plan_in(sim::Precision precision, sim::DeviceMesh mesh, const sim::ModelConfig& model) {
  sim::ParallelPlan plan = with_precision(tiny_plan(model, mesh), precision);
  plan.training.initial_loss_scale = 1024;
  return plan;
}

TEST(PrecisionMutations, AreCaught) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const auto caught = [](const sim::ParallelPlan& plan, PlantedBug bug) {
    const TrainingResult right = train({.plan = plan, .steps = kFewSteps}), wrong = train({.plan = plan, .steps = kFewSteps, .bug = bug});
    return bitwise_difference(wrong, right) != "";
  };
  EXPECT_TRUE(caught(plan_in(sim::Precision::Fp16, {.data = 2}, tiny_gpt2()), PlantedBug::ClipBeforeUnscale));
  for (const std::int32_t stage : {0, 3})
    EXPECT_TRUE(caught(with_zero(plan_in(sim::Precision::Bf16, {.data = 2}, tiny_gpt2()), stage), PlantedBug::StaleMaster));
}

// Weights and moments in bf16 alone: beyond the band of one process.
TEST(PrecisionMutations, WithoutMasters) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const auto run = [](const sim::ParallelPlan& of, PlantedBug bug) { return train({.plan = of, .steps = kFewSteps, .bug = bug}); };
  const auto expect_caught = [&](sim::DeviceMesh mesh, std::int32_t stage, PlantedBug bug) {
    sim::ParallelPlan plan = with_zero(plan_in(sim::Precision::Bf16, mesh, tiny_llama()), stage);
    plan.workload.precision = plan.workload.precision.with(sim::Numbers::Masters, sim::Precision::Bf16);
    const auto alone = [&](const sim::ParallelPlan& of) { return train({.plan = of, .steps = kFewSteps, .ranks = Ranks::Alone}); };
    const TrainingResult exact = alone(with_precision(on_one_rank(plan), sim::Precision::Fp64));
    const Distance band = distance(alone(on_one_rank(plan)), exact), wrong = distance(run(plan, bug), exact);
    EXPECT_TRUE(wrong.gradients > 2 * band.gradients || wrong.weights > 2 * band.weights) << static_cast<int>(bug) << " went unseen";
  };
  expect_caught({.data = 2}, 3, PlantedBug::ShiftedShard);
  expect_caught({.tensor = 2}, 0, PlantedBug::MissingTensorSum);
  expect_caught({.pipeline = 2}, 0, PlantedBug::ForgottenSum);
}

TEST(PrecisionMutations, LeftOnWire) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  sim::ParallelPlan plan = plan_in(sim::Precision::Fp32, {.data = 2}, tiny_gpt2());
  plan.workload.precision = plan.workload.precision.with(sim::Numbers::Wire, sim::Precision::Bf16);
  for (const std::int32_t stage : {0, 2}) {
    plan.zero_stage = stage;
    EXPECT_NE(bitwise_difference(train({.plan = plan, .steps = 2, .bug = PlantedBug::LeftOnWire}), train({.plan = plan, .steps = 2})), "");
  }
}

TEST(PrecisionMutations, FullUnits) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  sim::ParallelPlan plan = plan_in(sim::Precision::Bf16, {.data = 2}, tiny_gpt2());
  plan.workload.precision = plan.workload.precision.with_full(sim::EndUnit::Embedding).with_full(sim::EndUnit::Head);
  for (const std::int32_t stage : {0, 2, 3}) expect_caught_bitwise(with_zero(plan, stage), PlantedBug::RoundedOnWire);
  expect_caught_bitwise(with_zero(plan, 3), PlantedBug::GatheredInHalf);
}

TEST(PrecisionMutations, UnscaledBlocks) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  sim::ParallelPlan plan = plan_in(sim::Precision::Bf16, {.data = 2}, tiny_llama());
  plan.workload.precision = plan.workload.precision.with(sim::ScaleRecipe::Tensorwise, /*gathers_scaled=*/false);
  for (const sim::BlockRanges& blocks : {sim::BlockRanges{{0, 3}}, sim::BlockRanges{{0, 0}, {3, 3}}}) {
    plan.workload.precision = plan.workload.precision.with_unscaled(blocks);
    expect_caught_bitwise(plan, PlantedBug::ScaledAnyway);
  }
}

TEST(PrecisionMutations, FullBlocks) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  sim::ParallelPlan plan = plan_in(sim::Precision::Bf16, {.data = 2}, tiny_llama());
  plan.workload.precision = plan.workload.precision.with_full(sim::BlockRanges{{1, 2}});
  for (const std::int32_t stage : {0, 2, 3}) expect_caught_bitwise(with_zero(plan, stage), PlantedBug::RoundedOnWire);
  expect_caught_bitwise(with_zero(plan, 3), PlantedBug::GatheredInHalf);
  const auto run = [](const sim::ParallelPlan& of, PlantedBug bug = PlantedBug::None) {
    return train({.plan = of, .steps = 1, .bug = bug});
  };
  const TrainingResult exact = run(with_precision(plan, sim::Precision::Fp64));
  const double lost = distance(run(plan_in(sim::Precision::Bf16, {.data = 2}, tiny_llama())), exact).gradients;
  EXPECT_LT(distance(run(plan), exact).gradients, 2 * lost);
  EXPECT_GT(distance(run(plan, PlantedBug::LostAtEntry), exact).gradients, 2 * lost) << "as far as the band of bf16 reaches";
}

sim::ParallelPlan with_codecs(sim::ParallelPlan plan, std::int32_t stage, const char* precision) {
  std::vector<sim::Violation> wrong;
  plan.workload.precision = sim::parse_precision_policy(precision, wrong);
  return with_zero(plan, stage);
}

TEST_F(Mutations, ErrorDropped) { expect_caught_bitwise(with_codecs(data_, 0, "fp32 wire=powersgd:2"), PlantedBug::ErrorDropped); }
TEST_F(Mutations, NeighbourScale) {
  expect_caught_bitwise(with_codecs(data_, 2, "fp32 wire=int8"), PlantedBug::NeighbourScale);
  expect_caught_bitwise(with_codecs(data_, 3, "fp32 wire=int4"), PlantedBug::NeighbourScale);
  expect_caught_bitwise(with_codecs(data_, 3, "fp32 gathers=int8"), PlantedBug::NeighbourScale);
}
TEST_F(Mutations, LostMicrobatch) {
  sim::ParallelPlan plan = data_;
  plan.accumulation = sim::Accumulation::ReduceEach;
  expect_caught_in_fp64(plan, PlantedBug::LostMicrobatch);
  expect_caught_bitwise(with_codecs(plan, 0, "fp32 wire=powersgd:2"), PlantedBug::LostMicrobatch);
}

class StreamMutations : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
  // What a refused step left under way ends here: the next training may get its memory.
  static void expect_refused(const sim::ParallelPlan& plan, std::int32_t steps, PlantedBug bug, const char* why) {
    EXPECT_THROW(train({.plan = plan, .steps = steps, .bug = bug}), c10::Error) << "zero" << plan.zero_stage << ": " << why;
    c10::impl::VirtualGuardImpl(device().type()).synchronizeDevice(0);
  }

  const sim::ParallelPlan sharded_ = with_zero(tiny_plan(tiny_gpt2(), {.data = 2}), 3);
};

TEST_F(StreamMutations, AMissingWaitIsCaught) {
  if (!device().is_privateuseone()) GTEST_SKIP() << "only the checked device sees it every time";
  for (const std::int32_t stage : {0, 2, 3})
    expect_refused(with_zero(sharded_, stage), 1, PlantedBug::MissingWait, "nobody waits for what was sent");
}

TEST_F(StreamMutations, AHostAheadOfItsGradientsIsCaught) {
  if (!device().is_privateuseone()) GTEST_SKIP() << "only the checked device sees it every time";
  for (const std::int32_t stage : {0, 2, 3}) {
    sim::ParallelPlan plan = with_precision(with_zero(sharded_, stage), sim::Precision::Fp64);
    const TrainingResult here = train({.plan = plan, .steps = 2});
    plan.offload_optimizer = true;
    EXPECT_EQ(difference(train({.plan = plan, .steps = 2}), here, {1e-10}), "") << "zero" << stage;
    expect_refused(plan, 2, PlantedBug::HostAhead, "the factor that clips is not there yet");
  }
}

}  // namespace
}  // namespace parity
