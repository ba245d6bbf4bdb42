// A step of a model of experts cut over expert ranks alone, by hand: products at the peak rate, tokens out to the experts and back. Memory, launches
// and latencies take no time, so every other task takes none.
#include <gtest/gtest.h>

#include "sim/cost/memory_model.h"
#include "sim/engine/simulate.h"
#include "tests/closed_form/products_alone.h"

namespace sim {
namespace {

constexpr double kPeak = testing::kProductPeak, kLink = 1e9;
constexpr double kBlocks = 4, kHidden = 64, kExpertFfn = 96, kShared = 64, kExperts = 4, kTopk = 2, kVocabulary = 256, kSequence = 32,
                 kElement = 4;
constexpr double kSamples = 8;

ParallelPlan plan_of(std::int32_t ranks) {
  ParallelPlan plan = testing::products_alone({.data = ranks, .expert = ranks}, BytesPerSecond(kLink));
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 96, .shared_ffn = 64, .forced_balance = true};
  return plan;
}

std::int64_t elements(const ParallelPlan& plan, bool expert) {
  std::int64_t all = 0;
  for (const Bucket& bucket : make_buckets(make_model_graph(plan), plan, StageIndex(0)))
    if (bucket.expert == expert) all += bucket.elements;
  return all;
}

TEST(ExpertParallel, AStepIsProductsAndTwoExchangesEachWay) {
  for (const std::int32_t ranks : {1, 2, 4}) {
    const ParallelPlan plan = plan_of(ranks);
    const double microbatches = kSamples / ranks, away = (ranks - 1.0) / ranks;
    const double active = 4 * kHidden * kHidden + kHidden * kExperts + 2 * kHidden * (kTopk * kExpertFfn + kShared);  // that a token meets
    const double products = 6 * (kBlocks * active + kVocabulary * kHidden) * kSequence / kPeak;
    const double attention = 3.5 * kBlocks * 2 * kSequence * (kSequence + 1) * kHidden / kPeak;
    const double exchanges = 4 * kBlocks * away * kSequence * kTopk * kHidden * kElement / kLink;
    const double reductions =
        2 * away * (static_cast<double>(elements(plan, false)) * kElement + 1088) / kLink;  // each expert has one owner
    const double expected = microbatches * (products + attention + exchanges) + reductions;
    const SimulationResult result = simulate(make_model_graph(plan), plan);
    EXPECT_NEAR(to_seconds(result.step_time).count() / expected, 1, 1e-6) << ranks << " ranks";
  }
}

// With two copies of each expert, their gradients are summed over two ranks, those of all else over four.
TEST(ExpertParallel, CopiesOfAnExpertShareItsStates) {
  ParallelPlan plan = plan_of(2);
  plan.mesh = {.data = 4, .expert = 2};
  plan.cluster.devices = 4;
  plan.zero_stage = 1;
  const std::int64_t dense = elements(plan, false), experts = elements(plan, true);
  EXPECT_EQ(experts, static_cast<std::int64_t>(kBlocks * kExperts / 2 * 2 * kHidden * kExpertFfn));
  const MemoryBreakdown memory = MemoryModel(make_model_graph(plan), plan).resident(StageIndex(0));
  const auto of = [&](MemoryCategory category) { return memory[static_cast<std::size_t>(category)].value(); };
  EXPECT_EQ(of(MemoryCategory::Parameters), 4 * (dense + experts));
  EXPECT_EQ(of(MemoryCategory::OptimizerState), 8 * (dense / 4 + experts / 2) + kStepSummary.value());
  for (const Task& task : rank_slice(lower(make_model_graph(plan), plan), plan, Rank(0))) {
    if (task.key.group != MeshAxis::ExpertData || task.key.phase != Phase::Gradients) continue;
    EXPECT_EQ(task.payload, Bytes(4 * experts));
  }
}

// Dispatch and combine, forward and backward: four exchanges of n k h / 1 elements, of which (E - 1) / E leave the rank.
TEST(ExpertParallel, TheVolumeIsFourExchangesOfItsTokens) {
  const ParallelPlan plan = plan_of(4);
  Bytes exchanged{};
  for (const Task& task : rank_slice(lower(make_model_graph(plan), plan), plan, Rank(0)))
    if (task.key.group == MeshAxis::Expert && task.key.layer == LayerIndex(2) && task.key.microbatch == MicrobatchIndex(0))
      exchanged += task.payload;
  EXPECT_EQ(exchanged, Bytes(static_cast<std::int64_t>(4 * kSequence * kTopk * kHidden * kElement)));
}

// Loads that differ: the fullest rank's tokens take longer, and more memory.
TEST(ExpertParallel, UnevenLoadsCostTimeAndMemory) {
  const ParallelPlan even = plan_of(4);
  ParallelPlan uneven = even;
  uneven.model.experts->forced_balance = false;
  const SimulationResult one = simulate(make_model_graph(even), even), other = simulate(make_model_graph(uneven), uneven);
  EXPECT_GT(other.step_time, one.step_time);
  EXPECT_GT(other.peak_memory, one.peak_memory);
}

}  // namespace
}  // namespace sim
