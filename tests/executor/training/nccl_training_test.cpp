// Ranks as threads, joined by the fake NCCL on the checked device: no host waits for a collective, so memory that is freed while another stream may
// still use it is seen by its next use.
#include <c10/core/impl/VirtualGuardImpl.h>

#include <mutex>

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/communication/fake_nccl.h"
#include "tests/executor/training/checked_graph.h"
#include "tests/executor/training/tiny_training.h"
#include "tests/planted/planted_bug.h"

namespace executor {
namespace {

constexpr std::int64_t kJoinedSteps = 3;
constexpr std::chrono::milliseconds kShort{2};

struct Ended {  // of rank 0
  std::vector<double> losses;
  Ledger ledger;  // of the last step
  at::Tensor weights;
  std::string caught;  // what the device said to any rank
};
struct Joined {
  sim::Seconds compare_after{1};
  bool replays = false;  // steps come from a graph, as soon as they can
  std::chrono::milliseconds lasts{100};
  std::int64_t steps = kJoinedSteps;
};

Transport joined_by_nccl(NcclPlace place, sim::Seconds compare_after) {
  return {nullptr, std::make_shared<NcclSession>(NcclSession::Settings{.library = &fake_nccl(),
                                                                       .device = checked_device(),
                                                                       .rendezvous = fake_rendezvous(),
                                                                       .place = place,
                                                                       .options = {.time_limit = sim::Seconds(2)},
                                                                       .compare_after = compare_after})};
}

void train_rank(const sim::ParallelPlan& plan, NcclPlace place, const Joined& how, Ended& ended) {
  Training training(plan, checked_device(), {.graph = how.replays ? std::optional(checked_graph()) : std::nullopt},
                    joined_by_nccl(place, how.compare_after));
  for (std::int64_t step = 0; step < how.steps; ++step) {
    const double loss = training.step(step).loss;
    if (place.rank == 0) ended.losses.push_back(loss);
  }
  if (place.rank != 0) return;
  ended.ledger = training.recorder.last().ledger;
  ended.weights = training.parameters.buckets().front().weight_shard().cpu();
}

Ended train_joined(const sim::ParallelPlan& plan, const Joined& how = {}) {
  reset_fake_nccl({.patience = std::chrono::milliseconds(1000), .lasts = how.lasts});
  std::mutex mutex;
  Ended ended;
  run_ranks(plan.mesh.ranks(), [&](NcclPlace place) {
    const c10::impl::VirtualGuardImpl device(checked_device().type());
    device.exchangeStream(device.getStreamFromGlobalPool(checked_device()));  // computing of each rank on a stream of its own
    try {
      train_rank(plan, place, how, ended);
    } catch (const c10::Error& error) {
      const std::lock_guard lock(mutex);
      ended.caught = error.what_without_backtrace();
      give_up_recording();
    } catch (const CollectiveError&) {  // of the ranks that such a one leaves alone
    }
  });
  c10::impl::VirtualGuardImpl(checked_device().type()).synchronizeDevice(0);  // behind what was left undone
  return ended;
}

// So many layers and buckets that gradients are taken where others have been given up.
sim::ParallelPlan sharded_over_two(std::int32_t zero_stage) {
  sim::ParallelPlan plan = tiny_plan({.data = 2});
  plan.zero_stage = zero_stage;
  plan.bucket_size = sim::Bytes(4096);
  plan.model.layers = 4;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

void expect_the_losses_of_one_rank(sim::ParallelPlan plan) {
  const Ended ended = train_joined(plan);
  EXPECT_EQ(ended.caught, "");
  plan.mesh = {};
  plan.zero_stage = 0;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  Training alone(plan);
  ASSERT_EQ(ended.losses.size(), kJoinedSteps);
  for (std::int64_t step = 0; step < kJoinedSteps; ++step)
    EXPECT_NEAR(ended.losses[static_cast<std::size_t>(step)] / alone.step(step).loss, 1, 1e-12);
}

TEST(NcclTraining, FreesNothingThatAnotherStreamUses) {
  for (const std::int32_t zero_stage : {0, 1, 2, 3}) expect_the_losses_of_one_rank(sharded_over_two(zero_stage));
  expect_the_losses_of_one_rank(tiny_plan({.pipeline = 2}));
  expect_the_losses_of_one_rank(tiny_plan({.tensor = 2}));
}

TEST(NcclTraining, AsksNothingOfOperationsThatGoWell) {
  const Ended ended =
      train_joined(sharded_over_two(3), {.compare_after = sim::Seconds(1000)});  // without the watch, which asks by the clock
  EXPECT_EQ(ended.caught, "");
  const FakeNcclCalls calls = fake_nccl_calls();
  EXPECT_GT(calls.operations, 2 * kJoinedSteps * 10);  // of both ranks
  EXPECT_LT(calls.states, calls.operations / 4);       // where the host reads the step's sums
  EXPECT_EQ(calls.finalised, calls.destroyed);
  EXPECT_GT(calls.destroyed, 0);
  EXPECT_EQ(calls.aborted, 0);
}

// What a step asks of the library, of both ranks: what the ledger has, and nothing beside it.
TEST(NcclTraining, AStepCallsItOnceAnExchange) {
  constexpr std::int64_t kRanks = 2, kFew = 1, kMore = 3;
  for (const sim::ParallelPlan& plan : {sharded_over_two(1), sharded_over_two(3), tiny_plan({.tensor = 2})}) {
    const auto calls_of = [&](std::int64_t steps) {
      const Ended ended = train_joined(plan, {.compare_after = sim::Seconds(1000), .steps = steps});
      EXPECT_EQ(ended.caught, "");
      return std::pair(fake_nccl_calls(), std::ssize(ended.ledger));
    };
    const auto [few, in_ledger] = calls_of(kFew);
    const auto [more, same_ledger] = calls_of(kMore);
    EXPECT_EQ(same_ledger, in_ledger);
    EXPECT_GT(in_ledger, 0);
    EXPECT_EQ(more.operations - few.operations, kRanks * (kMore - kFew) * in_ledger);
    EXPECT_EQ(more.states, few.states);
  }
}

// How often the host waits for a number of the device in a step, of one rank.
std::int64_t reads_of_a_step(const sim::ParallelPlan& plan) {
  constexpr std::int64_t kRanks = 2, kFew = 1, kMore = 3;
  const auto reads_of = [&](std::int64_t steps) {
    const std::int64_t before = checked_reads();
    EXPECT_EQ(train_joined(plan, {.compare_after = sim::Seconds(1000), .lasts = kShort, .steps = steps}).caught, "");
    return checked_reads() - before;
  };
  const std::int64_t few = reads_of(kFew), more = reads_of(kMore);
  return (more - few) / (kRanks * (kMore - kFew));
}

// Rows are ordered there. How many come from other ranks the host must know to make room for them: once a layer of each microbatch, and not again for what runs
// again; where each expert is padded to its capacity it knows.
TEST(NcclTraining, TheHostReadsHowManyRowsComeAndNothingElseOfExperts) {
  sim::ParallelPlan plan = tiny_plan({.data = 2});
  const std::int64_t dense = reads_of_a_step(plan);
  plan = tiny_plan({.data = 2, .expert = 2});
  plan.model.experts = sim::ExpertForm{.experts = 4, .shared_experts = 1, .topk = 2, .expert_ffn = 12, .shared_ffn = 8};
  const std::int64_t layers = plan.model.layers * plan.num_microbatches();
  for (const sim::Recompute recompute : {sim::Recompute::None, sim::Recompute::Full}) {
    plan.recompute = recompute;
    EXPECT_EQ(reads_of_a_step(plan), dense + layers);
  }
  plan.model.experts->dispatch = sim::ExpertDispatch::Padded;
  plan.model.experts->capacity_factor = 1;
  EXPECT_EQ(reads_of_a_step(plan), dense);
}

TEST(NcclTraining, ContextRanksExchangeKeysOrHeads) {
  for (const sim::ContextAlgorithm algorithm :
       {sim::ContextAlgorithm::Ring, sim::ContextAlgorithm::AllGather, sim::ContextAlgorithm::AllToAll}) {
    sim::ParallelPlan plan = tiny_plan({.context = 2});
    plan.workload.sequence = 8;
    plan.context_algorithm = algorithm;
    plan.zero_stage = 2;
    expect_the_losses_of_one_rank(plan);
  }
}

TEST(NcclTraining, MemoryFreedTooEarlyIsCaught) {
  if (!has_copies()) GTEST_SKIP() << "planted_training_test plants bugs";
  const Planting planting(PlantedBug::EarlyFree);
  for (const std::int32_t zero_stage : {2, 3})
    EXPECT_THAT(train_joined(sharded_over_two(zero_stage)).caught, testing::HasSubstr("without waiting for it")) << "zero" << zero_stage;
  EXPECT_THAT(train_joined(tiny_plan({.pipeline = 2})).caught, testing::HasSubstr("without waiting for it")) << "what is sent";
}

constexpr std::int64_t kStepsWithGraphs = 6;  // the fourth is recorded
void expect_the_same_from_graphs(const sim::ParallelPlan& plan) {
  const Ended issued = train_joined(plan, {.lasts = kShort, .steps = kStepsWithGraphs});
  const Ended replayed = train_joined(plan, {.replays = true, .lasts = kShort, .steps = kStepsWithGraphs});
  EXPECT_EQ(replayed.caught, "");
  EXPECT_EQ(replayed.losses, issued.losses);
  ASSERT_TRUE(replayed.weights.defined());
  EXPECT_TRUE(at::equal(replayed.weights, issued.weights));
  EXPECT_EQ(replayed.ledger.size(), issued.ledger.size());
  const auto same = [](const sim::LedgerEntry& one, const sim::LedgerEntry& other) {
    return one.key == other.key && one.group_size == other.group_size && one.payload == other.payload;
  };
  EXPECT_TRUE(std::equal(replayed.ledger.begin(), replayed.ledger.end(), issued.ledger.begin(), issued.ledger.end(), same));
  const FakeNcclCalls calls = fake_nccl_calls();
  EXPECT_EQ(calls.aborted, 0);
  EXPECT_EQ(calls.finalised, calls.destroyed);
  EXPECT_GT(calls.destroyed, 0);
}

TEST(NcclTraining, GraphsHoldSumsOfDataRanks) {
  for (const std::int32_t zero_stage : {0, 1}) expect_the_same_from_graphs(sharded_over_two(zero_stage));
}

TEST(NcclTraining, GraphsHoldExchangesOfContextRanks) {
  sim::ParallelPlan plan = tiny_plan({.context = 2});
  plan.workload.sequence = 8;
  plan.context_algorithm = sim::ContextAlgorithm::Ring;
  expect_the_same_from_graphs(plan);
}

TEST(NcclTraining, GraphsHoldExchangesOfTensorRanks) {
  sim::ParallelPlan plan = tiny_plan({.tensor = 2});
  expect_the_same_from_graphs(plan);
  plan.sequence_parallel = true;
  expect_the_same_from_graphs(plan);
}

sim::ParallelPlan over_tensor_ranks(bool sequence_parallel, bool beside_weights) {
  sim::ParallelPlan plan = tiny_plan({.tensor = 2});
  plan.sequence_parallel = sequence_parallel;
  if (beside_weights) plan.tensor_overlap = sim::TensorOverlap::BesideWeights;
  return plan;
}

TEST(NcclTraining, TensorRanksSumInputGradientsBesideThoseOfWeights) {
  for (const bool sequence_parallel : {false, true}) {
    const Ended behind = train_joined(over_tensor_ranks(sequence_parallel, false)),
                beside = train_joined(over_tensor_ranks(sequence_parallel, true));
    EXPECT_EQ(beside.caught, "");
    EXPECT_EQ(beside.losses, behind.losses);
    EXPECT_EQ(beside.ledger.size(), behind.ledger.size());
    ASSERT_TRUE(beside.weights.defined());
    EXPECT_TRUE(at::equal(beside.weights, behind.weights));
    expect_the_same_from_graphs(over_tensor_ranks(sequence_parallel, true));
  }
}

// Without a stream of theirs neither wait would be missed, and nothing would be computed between the two.
TEST(NcclTraining, SumsBesideWeightGradientsAreWaitedFor) {
  if (!has_copies()) GTEST_SKIP() << "planted_training_test plants bugs";
  for (const bool sequence_parallel : {false, true}) {
    const sim::ParallelPlan plan = over_tensor_ranks(sequence_parallel, true);
    for (const PlantedBug bug : {PlantedBug::MissingWait, PlantedBug::EarlyRead}) {
      const Planting planting(bug);
      EXPECT_THAT(train_joined(plan).caught, testing::HasSubstr("without waiting for it")) << sequence_parallel;
    }
    const at::Tensor right = train_joined(plan).weights;
    const Planting planting(PlantedBug::ForgottenWeights);
    EXPECT_FALSE(at::equal(train_joined(plan).weights, right)) << sequence_parallel;
  }
}

}  // namespace
}  // namespace executor
