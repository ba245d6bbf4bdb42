// A step of a model cut over context ranks alone, by hand: products and attention at the peak rate, blocks of keys and values round the ring.
// Memory, launches and latencies take no time, so every other task takes none.
#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/closed_form/products_alone.h"

namespace sim {
namespace {

constexpr double kPeak = testing::kProductPeak, kLink = 1e9;
constexpr double kBlocks = 4, kHidden = 64, kFfn = 256, kVocabulary = 256, kSequence = 32, kElement = 4, kMicrobatches = 8;

ParallelPlan plan_of(ContextAlgorithm algorithm, std::int32_t ranks, double link) {
  ParallelPlan plan = testing::products_alone({.context = ranks}, BytesPerSecond(link));
  plan.context_algorithm = algorithm;
  return plan;
}

double step(const ParallelPlan& plan) { return to_seconds(simulate(make_model_graph(plan), plan).step_time).count(); }

struct Attention {
  double forward, backward;
};  // of one block and microbatch, with what is exchanged

double scores(double ranks) { return 2 * kSequence * (kSequence + 1) * kHidden / kPeak / ranks; }  // of one rank, forward
double block_time(double ranks, double link) { return kElement * (kSequence / ranks) * 2 * kHidden / link; }

// Everything but attention: products of the blocks and of the head, and the all-reduce of gradients, 2 (C - 1) / C of them.
double around(double ranks, double parameters, double link) {
  const double weights = kBlocks * (4 * kHidden * kHidden + 2 * kHidden * kFfn) + kVocabulary * kHidden;
  const double products = 6 * weights * (kSequence / ranks) / kPeak * kMicrobatches;
  return products + (2 * (ranks - 1) / ranks * (parameters * kElement) + 2 * (ranks - 1) / ranks * 1088) / link;
}

double parameters_of(const ParallelPlan& plan) {
  double all = 0;
  for (const Bucket& bucket : make_buckets(make_model_graph(plan), plan, StageIndex(0))) all += static_cast<double>(bucket.elements);
  return all;
}

void expect_step(const ParallelPlan& plan, const Attention& attention) {
  const double ranks = plan.mesh.context, link = plan.cluster.hardware.intra_node.bandwidth.value();
  const double expected = around(ranks, parameters_of(plan), link) + kMicrobatches * kBlocks * (attention.forward + attention.backward);
  EXPECT_NEAR(step(plan) / expected, 1, 1e-6);
}

// C - 1 rounds, as long as a block's scores or as its hop; then the last block's. Backward: gradients follow, and go home by themselves.
TEST(ContextParallel, RingIsHiddenBehindScoresOrNot) {
  for (const double link : {kLink, 1000 * kLink})
    for (const std::int32_t ranks : {2, 4}) {
      const double part = scores(ranks) / ranks, back = 2.5 * part, hop = block_time(ranks, link);
      const double middle = (ranks - 2) * std::max(back, 2 * hop);
      expect_step(plan_of(ContextAlgorithm::Ring, ranks, link),
                  {(ranks - 1) * std::max(part, hop) + part, 2 * std::max(back, hop) + middle + hop});
    }
}

TEST(ContextParallel, GatherComesBeforeScores) {
  for (const std::int32_t ranks : {2, 4}) {
    const double gather = (ranks - 1) * block_time(ranks, kLink);
    expect_step(plan_of(ContextAlgorithm::AllGather, ranks, kLink), {gather + scores(ranks), 2 * gather + 2.5 * scores(ranks)});
  }
}

TEST(ContextParallel, UlyssesExchangesHeadsForTokens) {
  for (const std::int32_t ranks : {2, 4}) {
    const double exchanges = 2 * block_time(ranks, kLink) * (ranks - 1) / ranks;  // q, k, v and o: two blocks
    expect_step(plan_of(ContextAlgorithm::AllToAll, ranks, kLink), {exchanges + scores(ranks), exchanges + 2.5 * scores(ranks)});
  }
}

// Heads among A neighbours, then a ring of B neighbourhoods; a step of it computes a B-th of a B-th of the pairs for an A-th of the heads.
TEST(ContextParallel, TwoLevelsExchangeAndGoRound) {
  for (const double link : {kLink, 1000 * kLink}) {
    ParallelPlan plan = plan_of(ContextAlgorithm::Hierarchical, 4, link);
    plan.mesh.context_inner = 2;
    const double part = scores(4) / 2, back = 2.5 * part, hop = block_time(4, link), exchanges = 2 * hop / 2;
    expect_step(plan, {exchanges + std::max(part, hop) + part, exchanges + 2 * std::max(back, hop) + hop});
  }
}

// What a rank keeps of a sample is its part of the tokens; weights stay whole, their states are shared by all context ranks.
TEST(ContextParallel, DividesActivationsAndShardsStates) {
  ParallelPlan one = plan_of(ContextAlgorithm::AllToAll, 1, kLink), two = plan_of(ContextAlgorithm::AllToAll, 2, kLink);
  two.zero_stage = 1;
  const auto at_peak = [](const ParallelPlan& plan, MemoryCategory category) {
    return static_cast<double>(simulate(make_model_graph(plan), plan).devices[0].at_peak[static_cast<std::size_t>(category)].value());
  };
  EXPECT_EQ(at_peak(two, MemoryCategory::Parameters), at_peak(one, MemoryCategory::Parameters));
  EXPECT_NEAR(at_peak(two, MemoryCategory::OptimizerState) / at_peak(one, MemoryCategory::OptimizerState), 0.5, 0.01);
  const double share = at_peak(two, MemoryCategory::Activations) / at_peak(one, MemoryCategory::Activations);
  EXPECT_GT(share, 0.5);  // attention's output is kept twice
  EXPECT_LT(share, 0.56);
}

}  // namespace
}  // namespace sim
