#include "planner/sayable.h"

#include <gtest/gtest.h>

#include "planner/search_space.h"
#include "sim/schedule/schedule.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

const PlanCandidate kFull{.recompute = sim::Recompute::Full};

TEST(Sayable, EverythingIsWhereNoProgramIsNamed) { EXPECT_FALSE(why_not_sayable(small_request({.devices = 8}), kFull)); }

TEST(Sayable, ARefusedWordIs) {
  SearchRequest request = small_request({.devices = 8});
  request.why_not = [](const sim::ParallelPlan& plan) {
    std::vector<sim::Violation> refused;
    if (plan.recompute == sim::Recompute::Full) refused.push_back({"/recompute", "there is no word for it", "leave it out"});
    return refused;
  };
  ASSERT_TRUE(why_not_sayable(request, kFull));
  EXPECT_EQ(why_not_sayable(request, kFull)->where, "/recompute");
}

// What is wrong with every plan says nothing of the word.
TEST(Sayable, ARefusedNetworkIsNot) {
  SearchRequest request = small_request({.devices = 8});
  request.why_not = [](const sim::ParallelPlan&) { return std::vector<sim::Violation>{{"/model/activation", "is another", "change it"}}; };
  EXPECT_FALSE(why_not_sayable(request, kFull));
}

// Megatron-LM's: cut unevenly it refuses an interleaved pipeline of some shapes, which is no word on the order.
TEST(Sayable, OrdersThatAProgramDoesNotPerformAreLeftOutAndToldOnce) {
  SearchRequest request = small_request({.devices = 8});
  const auto row = [](std::string_view name) {
    const auto rows = sim::all_schedules();
    return static_cast<std::int32_t>(std::ranges::find(rows, name, &sim::Schedule::name) - rows.begin());
  };
  const std::int32_t gpipe = row("gpipe"), interleaved = row("interleaved");
  EXPECT_FALSE(why_not_performed(request, gpipe));
  const std::size_t all = enumerate(request).candidates.size();
  request.why_not = [](const sim::ParallelPlan& plan) {
    std::vector<sim::Violation> refused;
    if (plan.schedule == "interleaved") refused.push_back({"/cut", "is uneven", "use other stages"});
    if (plan.mesh.pipeline > 1 && plan.schedule != "1f1b" && plan.schedule != "interleaved")
      refused.push_back({"/schedule", "it performs 1f1b and interleaved", "say schedule=1f1b"});
    return refused;
  };
  ASSERT_TRUE(why_not_performed(request, gpipe));
  EXPECT_EQ(why_not_performed(request, gpipe)->where, "/schedule");
  EXPECT_FALSE(why_not_performed(request, interleaved));
  const SearchSpace space = enumerate(request);
  EXPECT_LT(space.candidates.size(), all);
  std::int64_t of_gpipe = 0, of_interleaved = 0;
  for (const PlanCandidate& one : space.candidates.all())
    of_gpipe += one.schedule == gpipe ? 1 : 0, of_interleaved += one.schedule == interleaved ? 1 : 0;
  EXPECT_EQ(of_gpipe, 0);
  EXPECT_GT(of_interleaved, 0);
  EXPECT_EQ(std::ranges::count(space.excluded, "schedule=gpipe", &Exclusion::family), 1);
  request.fixed = {{"schedule", "gpipe"}};  // taken at its word: judged, and refused with the program's reason
  EXPECT_FALSE(enumerate(request).candidates.empty());
}

TEST(Sayable, WeightsOnTheHostAreAskedOfStage3) {
  SearchRequest request = small_request({.devices = 8});
  request.offload = true;
  const auto num_on_host = [&] {
    const std::vector<PlanCandidate> all = enumerate(request).candidates.all();
    return std::ranges::count_if(all, &PlanCandidate::offload_parameters);
  };
  EXPECT_GT(num_on_host(), 0);
  request.why_not = [](const sim::ParallelPlan& plan) {
    std::vector<sim::Violation> refused;
    if (plan.offload_parameters) refused.push_back({"/offload_parameters", "weights stay on the device there", "leave it out"});
    return refused;
  };
  EXPECT_EQ(num_on_host(), 0);
  request.fixed = {{"offload_parameters", "true"}};  // taken at its word: judged, and refused with the program's reason
  EXPECT_GT(num_on_host(), 0);
}

// A program that reduces after each microbatch unless there are several stages, and keeps no weights gathered.
TEST(Sayable, WordsOfShardingAreAskedTogetherAndByKindOfMesh) {
  SearchRequest request = small_request({.devices = 8});
  std::int64_t asked = 0;
  request.why_not = [&](const sim::ParallelPlan& plan) {
    ++asked;
    std::vector<sim::Violation> refused;
    if (plan.zero_stage == 3 && !plan.reshard_after_forward)
      refused.push_back({"/reshard_after_forward", "it always does", "leave it out"});
    if (plan.zero_stage == 3 && plan.mesh.pipeline == 1 && plan.accumulation == sim::Accumulation::ReduceLast)
      refused.push_back({"/accumulation", "it reduces each", "say reduce_each"});
    return refused;
  };
  SayableSharding sharding(request);
  PlanCandidate candidate{.mesh = {.data = 8}};
  EXPECT_FALSE(sharding.why_not(candidate));
  candidate.zero_stage = 3;
  ASSERT_TRUE(sharding.why_not(candidate));
  EXPECT_EQ(sharding.why_not(candidate)->where, "/accumulation");
  candidate.mesh = {.data = 4, .pipeline = 2};
  EXPECT_FALSE(sharding.why_not(candidate));
  candidate.reshard = false;
  ASSERT_TRUE(sharding.why_not(candidate));
  EXPECT_EQ(sharding.why_not(candidate)->where, "/reshard_after_forward");
  const std::int64_t before = asked;
  candidate.mesh = {.data = 2, .pipeline = 4};
  EXPECT_TRUE(sharding.why_not(candidate));
  EXPECT_EQ(asked, before);
}

// Weights that stay among neighbours are a word of their own: without it the same sharding is said.
TEST(Sayable, WhoKeepsWeightsIsToldOnce) {
  SearchRequest request = small_request({.devices = 16, .devices_per_node = 4});
  const auto num_near = [&] {
    const std::vector<PlanCandidate> all = enumerate(request).candidates.all();
    return std::ranges::count_if(all, [](const PlanCandidate& one) { return one.reshard_ranks > 1; });
  };
  ASSERT_GT(num_near(), 0);
  request.why_not = [](const sim::ParallelPlan& plan) {
    std::vector<sim::Violation> refused;
    if (plan.mesh.reshard > 1) refused.push_back({"/mesh/reshard", "all shards are gathered again", "say reshard_ranks=1"});
    return refused;
  };
  EXPECT_EQ(num_near(), 0);
  const SearchSpace space = enumerate(request);
  EXPECT_EQ(std::ranges::count(space.excluded, "reshard_ranks=4", &Exclusion::family), 1);
  EXPECT_EQ(std::ranges::count_if(space.excluded, [](const Exclusion& out) { return out.family.starts_with("zero="); }), 0);
  request.fixed = {{"reshard_ranks", "4"}};  // taken at its word
  EXPECT_GT(num_near(), 0);
}

TEST(Sayable, TensorRanksCutTheSequenceAsTheProgramDoes) {
  SearchRequest request = small_request({.devices = 8});
  request.why_not = [](const sim::ParallelPlan& plan) {
    std::vector<sim::Violation> refused;
    if (plan.mesh.tensor > 1 && !plan.sequence_parallel) refused.push_back({"/sequence_parallel", "it always does", "say true"});
    return refused;
  };
  EXPECT_TRUE(why_not_cut_so(request, false));
  EXPECT_FALSE(why_not_cut_so(request, true));
  const SearchSpace space = enumerate(request);
  const std::vector<PlanCandidate> all = space.candidates.all();
  EXPECT_TRUE(std::ranges::all_of(all, [](const PlanCandidate& one) { return one.sequence_parallel == (one.mesh.tensor > 1); }));
  EXPECT_TRUE(std::ranges::any_of(all, &PlanCandidate::sequence_parallel));
  EXPECT_EQ(std::ranges::count(space.excluded, "sequence_parallel=false", &Exclusion::family), 1);
}

}  // namespace
}  // namespace planner
