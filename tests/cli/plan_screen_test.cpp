#include "cli/plan_screen.h"

#include <gmock/gmock.h>

#include <sstream>

namespace cli {
namespace {

using testing::HasSubstr;
using testing::Not;

planner::RankedPlan screened(std::int32_t data, const std::string& why) {
  planner::RankedPlan plan;
  plan.plan.mesh.data = data;
  plan.plan.workload.global_batch = 8;
  plan.why_not_best = why;
  return plan;
}

std::string screen_of(const planner::SearchResult& result, const PlanOptions& options = {}) {
  return plan_screen(options, {}, result, Console(Form::Json));
}

TEST(PlanScreen, ColumnsThatDifferAndOneSentenceForTheRest) {
  planner::SearchResult result;
  result.ranked = {screened(4, ""), screened(2, "8.3 % slower: bubble 11.0 % against 4.1 %")};
  result.gap = 0.01;
  EXPECT_THAT(screen_of(result), testing::ContainsRegex("#  data  microbatches +step"));
  EXPECT_THAT(screen_of(result), HasSubstr("in all: tensor 1, pipeline 1, zero 0, recompute none"));
  EXPECT_THAT(screen_of(result), HasSubstr("plan 2 is 8.3 % slower: bubble"));
  EXPECT_THAT(screen_of(result), HasSubstr("no plan is more than 1.0 % faster"));
}

TEST(PlanScreen, WhereNothingNearbyFitsItSaysWhatRemains) {
  planner::SearchResult result;
  result.excluded = {
      {.family = "zero=3", .code = "memory", .reason = "needs at least 205 GiB", .arguments = {}, .nearest_fix = "", .candidates = 2}};
  EXPECT_THAT(screen_of(result), HasSubstr("nothing nearby fits"));
  result.excluded.front().nearest_fix = "tensor=8";
  EXPECT_THAT(screen_of(result), Not(HasSubstr("nothing nearby fits")));
}

TEST(PlanScreen, FitsOneScreen) {
  planner::SearchResult result;
  for (std::int32_t data = 1; data <= 8; data *= 2) {
    result.ranked.push_back(screened(
        data, "8.3 % slower: bubble 11.0 % against 4.1 %, exposed communication 12.0 % against 3.0 %, memory 40 GiB against 30 GiB"));
    result.ranked.back().plan.zero_stage = 3;
    result.ranked.back().plan.reshard_after_forward = false;
    result.excluded.push_back(
        {.family = "tensor=16", .code = "c", .reason = std::string(90, 'r') + " r", .arguments = {}, .nearest_fix = "", .candidates = 7});
  }
  std::istringstream lines(screen_of(result));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_LE(count, 40);
  EXPECT_THAT(screen_of(result), HasSubstr("zero 3 (weights kept until backward)"));
  EXPECT_THAT(screen_of(result), Not(HasSubstr("rrrr")));
  planner::SearchRequest whole;
  whole.objective = planner::Objective::TimeToTrain;
  whole.whole.steps = 1'000'000;
  for (planner::RankedPlan& plan : result.ranked) {
    plan.out_of_memory_chance = 0.01 * plan.plan.mesh.data;
    plan.measure = 1e7;
    plan.plan.mesh.tensor = plan.plan.mesh.pipeline = plan.plan.mesh.data;
  }
  const std::string narrow = plan_screen({}, whole, result, Console(Form::Json));  // headings are brief before columns go
  EXPECT_THAT(narrow, HasSubstr("  memory  OOM\n"));
  EXPECT_THAT(narrow, Not(HasSubstr("OOM chance")));
  PlanOptions why;
  why.why = true;
  EXPECT_THAT(screen_of(result, why), HasSubstr("rrrr"));
}

// Of DeepSeek's plans the parts that are computed again fill half a line each.
TEST(PlanScreen, LongCellsOfATableThatIsTooWideAreLetters) {
  planner::SearchResult result;
  std::vector<sim::Violation> wrong;
  for (std::int32_t data = 1; data <= 4; data *= 2) {
    planner::RankedPlan& one = result.ranked.emplace_back(screened(data, "8.3 % slower"));
    one.plan.mesh.tensor = 8 / data, one.plan.mesh.pipeline = one.plan.chunks = 2 * data, one.plan.schedule = "interleaved";
    one.plan.workload.global_batch = 4096;
    one.plan.recompute = sim::Recompute::Selective;
    one.plan.recompute_scope =
        sim::parse_recompute_scope(data == 1 ? "modules mlp,moe,moe_act,layernorm,shared_experts" : "modules layernorm", wrong);
    one.out_of_memory_chance = 0.01 * data;
  }
  const std::string screen = screen_of(result);
  EXPECT_THAT(screen, HasSubstr("  (a) mlp,moe,moe_act,layernorm,shared_experts\n"));
  EXPECT_THAT(screen, testing::ContainsRegex("\n1 .* \\(a\\) .*%\n2 .* layernorm "));
}

// Where every column differs, a row is one line all the same.
TEST(PlanScreen, RowsOfTheWidestTableAreLinesOfTheirOwn) {
  planner::SearchResult result;
  for (std::int32_t data : {64, 128, 256}) {
    planner::RankedPlan one = screened(data, "");
    one.plan.mesh.context = data / 16, one.plan.mesh.tensor = data / 64, one.plan.mesh.pipeline = data / 16;
    one.plan.mesh.expert = data / 8, one.plan.mesh.expert_tensor = data == 64 ? 0 : 1;
    one.plan.schedule = data == 64 ? "interleaved" : "looped-bfs", one.plan.chunks = data / 16;
    one.plan.zero_stage = 3, one.plan.mesh.reshard = 8, one.plan.layers_per_unit = data / 32;
    one.plan.mesh.replicas = data / 64;
    one.plan.offload_optimizer = one.plan.offload_activations = data == 128;
    one.result.step_time = sim::SimTime(data * 1'000'000'007'000), one.out_of_memory_chance = data / 1000.0;
    one.result.peak_memory = sim::Bytes(data * 1'000'000'007LL), one.measure = data;
    result.ranked.push_back(one);
  }
  for (const char* const number : {"1", "2", "3"})
    EXPECT_THAT(screen_of(result), testing::ContainsRegex("\n" + std::string(number) + " [^\n]*GiB")) << screen_of(result);
}

TEST(PlanScreen, PlansWhoseOrderIsUnsureAreOneTie) {
  planner::SearchResult result;
  result.ranked = {screened(8, ""), screened(4, "slower"), screened(2, "slower"), screened(1, "slower")};
  const double chances[] = {0.5, 0.6, 0.79, 0.8};
  for (std::size_t at = 0; at < 4; ++at) {
    result.ranked[at].slower_chance = chances[at];
    result.ranked[at].result.step_time = sim::SimTime((10 + static_cast<std::int64_t>(at)) * 1'000'000'000'000);
    result.ranked[at].measure = 10 + static_cast<double>(at);
  }
  EXPECT_THAT(screen_of(result), HasSubstr("Best plans: 1 to 3 are one tie, 10.0 s to 12.0 s\n"));
  std::swap(result.ranked[2].slower_chance, result.ranked[3].slower_chance);
  EXPECT_THAT(screen_of(result), HasSubstr("Best plans: 1, 2, 4 are one tie, 10.0 s to 13.0 s\n"));
  std::swap(result.ranked[2].slower_chance, result.ranked[3].slower_chance);
  planner::SearchRequest cheapest;
  cheapest.objective = planner::Objective::Cost;
  PlanOptions priced;
  priced.price = 2;  // of a device for an hour: 1e9 tokens take as many hours as the step takes seconds
  for (planner::RankedPlan& plan : result.ranked) plan.result.tokens_per_second = 1e9 / 3600 / plan.measure;
  for (planner::RankedPlan& plan : result.ranked) plan.plan.cluster.devices = 1;
  const auto screen = [&](const PlanOptions& options) { return plan_screen(options, cheapest, result, Console(Form::Json)); };
  EXPECT_THAT(screen(priced), HasSubstr("are one tie, 20.00 to 24.00 a 1e9 tokens"));
  EXPECT_THAT(screen({}), HasSubstr("are one tie, 10.00 h to 12.00 h a 1e9 tokens"));
  for (planner::RankedPlan& plan : result.ranked) plan.slower_chance = 0.9;
  EXPECT_THAT(screen_of(result), Not(HasSubstr("tie")));
}

TEST(PlanScreen, WithoutAPlanTheLargestFamiliesSayWhy) {
  planner::SearchResult result;
  result.excluded = {
      {.family = "zero=0", .code = "memory", .reason = "needs 4 TiB", .arguments = {}, .nearest_fix = "zero=3", .candidates = 70}};
  EXPECT_THAT(screen_of(result), HasSubstr("needs 4 TiB; nearest fix: zero=3"));
}

}  // namespace
}  // namespace cli
