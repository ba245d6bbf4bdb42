#include "planner/explanation.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

sim::SimulationResult result(std::int64_t milliseconds, double bubble, double exposed) {
  const sim::SimTime step(milliseconds * 1'000'000'000);
  sim::SimulationResult result;
  result.step_time = step;
  result.bubble = bubble;
  result.exposed_communication = exposed;
  result.peak_memory = sim::Bytes(milliseconds << 20);
  result.devices = {{.multiplicity = 4, .busy = sim::SimTime(static_cast<std::int64_t>(static_cast<double>(step.count()) * (1 - bubble - exposed)))}};
  return result;
}

TEST(Explanation, NamesTheTermsThatCostTime) {
  const std::vector<Reason> reasons = why_not_best(result(1100, 0.2, 0.1), result(1000, 0.05, 0.1));
  EXPECT_EQ(to_sentence(reasons), "10.0 % slower: bubble 20.0 % against 5.0 %, exposed communication 10.0 % against 10.0 %, memory 1.07 GiB against 1000 MiB");
}

TEST(Explanation, EqualTimesDifferInMemory) {
  EXPECT_EQ(why_not_best(result(1000, 0.1, 0.1), result(1000, 0.1, 0.1)).front().code, "as_fast");
}

TEST(Explanation, MemoryFamiliesHaveNumbersAndACheckedFix) {
  SearchRequest request = small_requests()[0];
  request.memory_limit = sim::Bytes(std::int64_t{110} << 20);
  const SearchResult found = planner::search(request);
  bool any = false;
  for (const Exclusion& out : found.excluded) {
    if (out.code != "memory") continue;
    any = true;
    EXPECT_THAT(out.reason, HasSubstr("110 MiB are allowed"));
    EXPECT_GT(out.candidates, 0);
    EXPECT_NE(out.nearest_fix, "") << out.family;
  }
  EXPECT_TRUE(any);
}

// Takes the fix at its word: a plan with these axes fits.
TEST(Explanation, TheFixOfAFixedPlanWorks) {
  SearchRequest request = small_requests()[0];
  request.memory_limit = sim::Bytes(std::int64_t{130} << 20);
  request.fixed = {{"data", "4"}, {"tensor", "1"}, {"pipeline", "1"}, {"zero", "0"}, {"recompute", "none"}, {"microbatch", "2"}};
  const SearchResult refused = planner::search(request);
  ASSERT_TRUE(refused.ranked.empty());
  ASSERT_FALSE(refused.excluded.empty());
  const Exclusion& out = refused.excluded.back();
  EXPECT_EQ(out.family, "data=4 tensor=1 pipeline=1");
  EXPECT_EQ(out.code, "memory");
  std::istringstream changes(out.nearest_fix);
  for (std::string change; changes >> change;) request.fixed[change.substr(0, change.find('='))] = change.substr(change.find('=') + 1);
  EXPECT_FALSE(planner::search(request).ranked.empty()) << out.nearest_fix;
}

TEST(Explanation, ARuleOfTheWorkloadRefusesEverything) {
  SearchRequest request = small_requests()[0];
  request.workload.sequence = 4096;
  const SearchResult found = planner::search(request);
  EXPECT_TRUE(found.ranked.empty());
  EXPECT_THAT(found.excluded, Contains(AllOf(Field(&Exclusion::code, "shape"), Field(&Exclusion::reason, HasSubstr("2048 positions")))));
}

TEST(Explanation, AFamilyThatIsTooSlowNamesItsBound) {
  SearchRequest request = small_requests()[1];
  request.top = 1;
  const SearchResult found = planner::search(request);
  EXPECT_THAT(found.excluded, Contains(AllOf(Field(&Exclusion::code, "bound"), Field(&Exclusion::reason, HasSubstr("takes at least")))));
}

}  // namespace
}  // namespace planner
