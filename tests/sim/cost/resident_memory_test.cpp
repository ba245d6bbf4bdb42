#include "sim/cost/resident_memory.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

constexpr std::int64_t kElements = 1'000'000;  // Ψ
constexpr std::int64_t kRanks = 4;             // N

Bytes resident(std::int32_t zero_stage, Precision precision, OptimizerKind optimizer = OptimizerKind::AdamW) {
  ParallelPlan plan = testing::tiny_plan({.data = kRanks, .pipeline = 1, .tensor = 1});
  plan.zero_stage = zero_stage;
  plan.workload.precision = precision;
  plan.workload.optimizer = optimizer;
  return total(resident_memory(plan, {.all = kElements, .owned = kElements / kRanks}));
}

// Rajbhandari et al., ZeRO, SC 2020, figure 1: 16 Ψ, 4 Ψ + 12 Ψ / N, 2 Ψ + 14 Ψ / N, 16 Ψ / N bytes; the other precisions likewise.
TEST(ClosedForm, ZeroMemoryPerPrecisionIsExact) {
  struct Row {
    Precision precision;
    std::int64_t weights, gradients, optimizer;
  };
  constexpr Row kRows[] = {{Precision::Bf16, 2, 2, 12},
                           {Precision::Fp16, 2, 2, 12},
                           {Precision::Fp32, 4, 4, 8},
                           {Precision::Tf32, 4, 4, 8},
                           {Precision::Fp64, 8, 8, 16}};
  for (const Row& row : kRows) {
    const Bytes shard(kElements / kRanks), all(kElements);
    EXPECT_EQ(resident(0, row.precision), all * (row.weights + row.gradients + row.optimizer));
    EXPECT_EQ(resident(1, row.precision), all * (row.weights + row.gradients) + shard * row.optimizer);
    EXPECT_EQ(resident(2, row.precision), all * row.weights + shard * (row.gradients + row.optimizer));
    EXPECT_EQ(resident(3, row.precision), shard * (row.weights + row.gradients + row.optimizer));
  }
  EXPECT_EQ(resident(0, Precision::Bf16), Bytes(16 * kElements));
}

// 2 samples of 32 tokens: a number for every query and key, whatever the heads.
TEST(ResidentMemory, AMaskIsHandedToAttention) {
  ParallelPlan plan = testing::tiny_plan();
  plan.microbatch_size = 2;
  plan.workload.precision = Precision::Bf16;
  const auto held = [&](AttentionWord word) {
    plan.attention = word;
    MemoryBreakdown memory{};
    add_step_data(memory, plan, StageIndex(0));
    return total(memory);
  };
  EXPECT_EQ(held(AttentionWord::EfficientMasked) - held(AttentionWord::Efficient), Bytes(2 * 32 * 32 * 2));
  EXPECT_EQ(held(AttentionWord::Efficient), held(AttentionWord::AsTheProgram));
}

// Bytes of an element under the habits of a program; the worker has none of them.
TEST(ResidentMemory, FollowsTheHabitsOfAProgram) {
  ParallelPlan plan = testing::tiny_plan({.data = kRanks, .pipeline = 1, .tensor = 1});
  plan.workload.precision = Precision::Bf16;
  const auto bytes = [&](std::int32_t zero_stage, void (*change)(SoftwareStack&)) {
    plan.zero_stage = zero_stage;
    plan.cluster.software = worker_software();
    plan.cluster.software.own_memory = true;
    change(plan.cluster.software);
    return total(resident_memory(plan, {.all = kElements, .owned = kElements / kRanks}));
  };
  const Bytes all(kElements), shard(kElements / kRanks);
  const auto wide = [](SoftwareStack& stack) { stack.accumulate_bytes = 4; };
  EXPECT_EQ(bytes(0, wide), all * 18);
  EXPECT_EQ(bytes(2, wide), all * 2 + shard * (4 + 12));
  EXPECT_EQ(bytes(1, [](SoftwareStack& stack) { stack.keeps_both_gradients = true; }), all * (2 + 2 + 2) + shard * 12);
  EXPECT_EQ(bytes(1, [](SoftwareStack& stack) { stack.owner_gradient_bytes = 6; }), all * 4 + shard * 18);
  EXPECT_EQ(bytes(0, [](SoftwareStack& stack) { stack.owner_gradient_bytes = 6; }), all * 16);
  EXPECT_EQ(bytes(3, [](SoftwareStack& stack) { stack.shards_masters = true; }), shard * (4 + 2 + 8));
  plan.workload.precision = Precision::Fp32;
  EXPECT_EQ(bytes(3, [](SoftwareStack& stack) { stack.shards_masters = true; }), shard * 16);
}

TEST(ResidentMemory, MessagesThatAreHeldAreThereFromTheStart) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  const auto held = [&](std::int32_t messages, std::int32_t stage) {
    plan.cluster.software.own_memory = true;
    plan.cluster.software.held_messages = 0;
    MemoryBreakdown without{}, with{};
    add_step_data(without, plan, StageIndex(stage));
    plan.cluster.software.held_messages = messages;
    add_step_data(with, plan, StageIndex(stage));
    return total(with) - total(without);
  };
  const std::int64_t m = plan.num_microbatches();
  const Bytes message = Bytes(4) * (plan.shard_shape().tokens() * plan.model.hidden);
  EXPECT_EQ(held(2, 0), message * m) << "gradients that come back";
  EXPECT_EQ(held(3, 0), message * (2 * m)) << "and activations that went out";
  EXPECT_EQ(held(2, 1), message * m + Bytes(4) * (plan.shard_shape().tokens() * plan.model.vocabulary * m)) << "and logits";
  EXPECT_EQ(held_logits(plan, StageIndex(0)), Bytes{});
}

// Ren et al., ZeRO-Offload, USENIX ATC 2021: 2 Ψ of weights stay on the device; on the host 12 Ψ / N of states, gradients and weights on their way.
TEST(ClosedForm, AnOffloadedOptimizerLeavesTheDevice) {
  ParallelPlan plan = testing::tiny_plan({.data = kRanks, .pipeline = 1, .tensor = 1});
  plan.offload_optimizer = true;
  plan.zero_stage = 2;
  plan.workload.precision = Precision::Bf16;
  const StageElements elements{.all = kElements, .owned = kElements / kRanks};
  EXPECT_EQ(total(resident_memory(plan, elements)), Bytes(2 * kElements + 2 * kElements / kRanks));
  EXPECT_EQ(host_memory(plan, elements), Bytes((12 + 2 + 2) * kElements / kRanks));
  plan.workload.precision = Precision::Fp32;  // the masters go up themselves
  EXPECT_EQ(host_memory(plan, elements), Bytes((8 + 4 + 4) * kElements / kRanks));
  plan.zero_stage = 0;
  EXPECT_EQ(host_memory(plan, elements), Bytes((8 + 4 + 4) * kElements));
  plan.offload_optimizer = false;
  EXPECT_EQ(host_memory(plan, elements), Bytes(0));
}

// Rajbhandari et al., ZeRO-Infinity, SC 2021: nothing of the model's states stays on the device.
TEST(ClosedForm, WeightsOnTheHostLeaveNothingOnTheDevice) {
  ParallelPlan plan = testing::tiny_plan({.data = kRanks, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  plan.offload_optimizer = plan.offload_parameters = true;
  plan.workload.precision = Precision::Bf16;
  const StageElements elements{.all = kElements, .owned = kElements / kRanks};
  EXPECT_EQ(total(resident_memory(plan, elements)), Bytes(0));
  EXPECT_EQ(host_memory(plan, elements), Bytes((12 + 2 + 2) * kElements / kRanks));
}

// Dettmers et al. 2022: two bytes of moments and, in bitsandbytes, two scales in fp32 for 256 elements. Shazeer and Stern 2018: of a matrix no more
// than means of rows and columns, which are left out.
TEST(ClosedForm, SmallOptimizers) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = Precision::Bf16;
  const auto states = [&](OptimizerKind optimizer) {
    plan.workload.optimizer = optimizer;
    const StageElements elements{.all = kElements, .owned = kElements, .stepped_matrices = kElements};
    return resident_memory(plan, elements)[static_cast<std::size_t>(MemoryCategory::OptimizerState)];
  };
  EXPECT_EQ(states(OptimizerKind::AdamW), Bytes(12 * kElements));
  EXPECT_EQ(states(OptimizerKind::AdamW8bit), Bytes(6 * kElements + 8 * ((kElements + 255) / 256)));
  EXPECT_EQ(states(OptimizerKind::Adafactor), Bytes(4 * kElements)) << "the masters";
}

TEST(ResidentMemory, EachKindOfNumberHasItsOwnBytes) {
  ParallelPlan plan = testing::tiny_plan();
  const auto bytes = [&](const PrecisionPolicy& policy) {
    plan.workload.precision = policy;
    return total(resident_memory(plan, {.all = kElements, .owned = kElements}));
  };
  const PrecisionPolicy half(Precision::Bf16), summed = half.with(Numbers::Gradients, Precision::Fp32);
  EXPECT_EQ(bytes(summed), Bytes((2 + 4 + 12) * kElements));
  EXPECT_EQ(bytes(summed.with(Numbers::Wire, Precision::Bf16)), bytes(summed)) << "what travels is not kept";
  EXPECT_EQ(bytes(summed.with(Numbers::Moments, Precision::Bf16)), Bytes((2 + 4 + 4 + 4) * kElements));
  EXPECT_EQ(bytes(half.with(Numbers::Masters, Precision::Bf16)), Bytes((2 + 2 + 4) * kElements)) << "no masters beside the weights";
}

// Of frozen weights those of norms alone are wider: two in each of four blocks and one behind them, 64 numbers each (and their biases).
TEST(ResidentMemory, NormsInFp32AreTwiceAsWide) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.adapters = Adapters{.rank = 8}.on(AdapterTarget::Query);
  plan.workload.precision = Precision::Bf16;
  const auto frozen = [&] {
    const ModelGraph model = make_model_graph(plan);
    return std::pair(unpadded_stage_elements(model, plan, StageIndex(0)).frozen,
                     stage_elements(plan, make_buckets(model, plan, StageIndex(0))).frozen);
  };
  const auto [narrow, narrow_in_buckets] = frozen();
  std::int64_t norms = 0;
  for (const Layer& layer : make_model_graph(plan).layers)
    for (const Parameter& parameter : layer.parameters)
      if (parameter.norm) norms += parameter.elements();
  plan.workload.precision = plan.workload.precision.with(WideKind::Norms, Precision::Fp32);
  EXPECT_GE(norms, 9 * 64);
  const auto [wide, wide_in_buckets] = frozen();
  EXPECT_EQ(wide - narrow, Bytes(2 * norms));
  EXPECT_EQ(wide_in_buckets - narrow_in_buckets, Bytes(2 * norms)) << "and their padding as before";
}

TEST(ResidentMemory, DrawnPlansHaveNormsInFp32) {
  testing::PlanGenerator generator(3);
  std::int32_t found = 0;
  for (std::int32_t at = 0; at < 200; ++at)
    if (generator.next_with_surroundings(DeviceKind::Gpu).workload.precision.of(WideKind::Norms)) ++found;
  EXPECT_GE(found, 2);
}

TEST(ResidentMemory, SgdKeepsOneMoment) {
  EXPECT_EQ(resident(0, Precision::Fp32, OptimizerKind::Sgd), Bytes(12 * kElements));
  EXPECT_EQ(resident(0, Precision::Bf16, OptimizerKind::Sgd), Bytes(12 * kElements));
  SoftwareStack plain;
  plain.plain_optimizer = true;
  const Workload sgd{.precision = Precision::Fp32, .optimizer = OptimizerKind::Sgd};
  EXPECT_EQ(optimizer_bytes_per_element(sgd, SoftwareStack{}), Bytes(4));
  EXPECT_EQ(optimizer_bytes_per_element(sgd, plain), Bytes(0));
}

// One place for the sum of reduced gradients: as large as what the optimizer will read. A tied weight has none.
// Of the matrices of blocks one moment, of the rest AdamW's two.
TEST(ResidentMemory, MuonKeepsTheMomentumOfMatricesAlone) {
  ParallelPlan plan = testing::tiny_plan({.data = kRanks, .pipeline = 1, .tensor = 1});
  plan.workload.precision = Precision::Bf16;
  const ModelGraph model = make_model_graph(plan);
  const auto states = [&](OptimizerKind optimizer, std::int32_t zero) {
    plan.workload.optimizer = optimizer;
    plan.zero_stage = zero;
    return resident_memory(plan,
                           unpadded_stage_elements(model, plan, StageIndex(0)))[static_cast<std::size_t>(MemoryCategory::OptimizerState)];
  };
  std::int64_t matrices = 0;
  for (LayerIndex layer{1}; layer < model.head(); ++layer)
    for (const Parameter& parameter : model.layer(layer).parameters) matrices += parameter.columns > 1 ? parameter.elements() : 0;
  EXPECT_EQ(states(OptimizerKind::AdamW, 0) - states(OptimizerKind::Muon, 0), Bytes(4 * matrices));
  EXPECT_EQ(states(OptimizerKind::AdamW, 1) - states(OptimizerKind::Muon, 1), Bytes(4 * matrices / kRanks));
}

TEST(ResidentMemory, SummingReducedGradientsNeedsAPlace) {
  ParallelPlan plan = testing::tiny_plan({.data = kRanks, .pipeline = 2, .tensor = 1});
  plan.workload.global_batch = 64;
  std::vector<Bucket> buckets(2);
  for (Bucket& bucket : buckets) {
    bucket.elements = kElements;
    bucket.shard_elements = kElements / kRanks;
    bucket.shards = kRanks;
  }
  buckets.back().tied = true;
  const auto summed = [&](std::int32_t zero_stage, Accumulation accumulation) {
    plan.zero_stage = zero_stage;
    plan.accumulation = accumulation;
    return stage_elements(plan, buckets).summed_apart;
  };
  EXPECT_EQ(summed(0, Accumulation::ReduceLast), 0);
  EXPECT_EQ(summed(0, Accumulation::ReduceEach), kElements);
  EXPECT_EQ(summed(2, Accumulation::ReduceEach), kElements / kRanks);
  const auto gradients = static_cast<std::size_t>(MemoryCategory::Gradients);
  plan.zero_stage = 0;
  EXPECT_EQ(resident_memory(plan, {.all = kElements, .owned = 0, .summed_apart = kElements})[gradients], Bytes(8 * kElements));
}

TEST(ResidentMemory, AWorkerHoldsTheTokensOfItsStep) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  MemoryBreakdown memory{};
  add_step_data(memory, plan, StageIndex(0));
  EXPECT_EQ(total(memory), Bytes((16 + 4) * 4 * 32) + kStepSummary);  // ids, targets and losses of four samples, the sums of norm and loss
  plan.model = testing::tiny_llama();
  add_step_data(memory, plan, StageIndex(0));
  EXPECT_EQ(memory[static_cast<std::size_t>(MemoryCategory::Parameters)], Bytes(4 * 32 * 16));
}

// 32 tokens of each of 4 ranks, 64 numbers in fp32; where experts are cut by 2 of 4 tensor ranks, a quarter of them twice.
TEST(ResidentMemory, GatheredTokensHaveAPlaceForTheWholeRun) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 64};
  plan.mesh.expert = 4;
  const auto buffers = [&](TokenDispatcher dispatcher) {
    plan.token_dispatcher = dispatcher;
    MemoryBreakdown memory{};
    add_step_data(memory, plan, StageIndex(0));
    return memory[static_cast<std::size_t>(MemoryCategory::CommunicationBuffers)];
  };
  EXPECT_EQ(buffers(TokenDispatcher::AllToAll), Bytes(0));
  EXPECT_EQ(buffers(TokenDispatcher::AllGather), Bytes(4 * 32 * 64 * 4));
  plan.mesh = {.tensor = 4, .expert_tensor = 2};
  EXPECT_EQ(buffers(TokenDispatcher::AllGather), Bytes(2 * 32 / 4 * 64 * 4));
}

TEST(ResidentMemory, ElementsOfAStageAreThoseOfItsBucketsWithoutPadding) {
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu}) {
    testing::PlanGenerator generator(3);
    for (int i = 0; i < 50; ++i) {
      const ParallelPlan plan = generator.next(kind);
      const ModelGraph model = make_model_graph(plan);
      std::int64_t unpadded_all = 0, slots = 0;
      for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
        const auto buckets = make_buckets(model, plan, stage);
        for (const Bucket& bucket : buckets)
          for (const BucketSlot& slot : bucket.slots) slots += slot.frozen ? 0 : slot.elements;
        const StageElements unpadded = unpadded_stage_elements(model, plan, stage), padded = stage_elements(plan, buckets);
        unpadded_all += unpadded.all;
        EXPECT_LE(unpadded.all, padded.all);
        EXPECT_LE(unpadded.owned, padded.owned);
        EXPECT_LE(unpadded.frozen, padded.frozen) << testing::describe(plan);
      }
      EXPECT_EQ(unpadded_all, slots) << testing::describe(plan);
    }
  }
}

// Of 12 bytes a quarter of the elements' lie on the host, and gradients and weights on their way of those alone.
TEST(ClosedForm, AShareOfTheOptimizerLeavesTheDevice) {
  ParallelPlan plan = testing::tiny_plan({.data = kRanks, .pipeline = 1, .tensor = 1});
  plan.offload_optimizer = true;
  plan.offload_share = 0.25;
  plan.zero_stage = 2;
  plan.workload.precision = Precision::Bf16;
  const StageElements elements{.all = kElements, .owned = kElements / kRanks};
  EXPECT_EQ(total(resident_memory(plan, elements)), Bytes(2 * kElements + (2 + 9) * kElements / kRanks));
  EXPECT_EQ(host_memory(plan, elements), Bytes((12 + 2 + 2) * kElements / kRanks / 4));
}

}  // namespace
}  // namespace sim
