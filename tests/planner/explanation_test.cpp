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

TEST(Explanation, MemoryFamiliesHaveNumbersAndACheckedFix) {
  SearchRequest request = small_requests()[0];
  request.memory_limit = sim::Bytes(std::int64_t{110} << 20);
  request.risk = 1;
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

// Canceled while it explains: the first fix is simulated, which asks the program about a plan; no other family is told.
TEST(Explanation, EndsWhenItIsToldTo) {
  SearchRequest request = small_requests()[0];
  request.memory_limit = sim::Bytes(1 << 20);
  request.fixed = {{"zero", "0"}};
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const Candidates candidates = enumerate(request).candidates;
  const std::vector<Judgement> judgements(candidates.size(), {.verdict = Verdict::TooLarge, .memory = sim::Bytes(2 << 20)});
  std::atomic<bool> cancel{false};
  std::int64_t asked = 0;
  const auto count = [&](std::int64_t until) {
    asked = 0;
    cancel = until == 0;
    request.why_not = [&, until](const sim::ParallelPlan&) {
      cancel = ++asked >= until;
      return std::vector<sim::Violation>{};
    };
    return excluded_families({request, model, candidates, judgements, &cancel}, {}).size();
  };
  const std::size_t all = count(1 << 30);
  const std::int64_t asked_in_all = asked;
  EXPECT_GT(all, 1u);
  EXPECT_EQ(count(1), 1u);
  EXPECT_LT(asked, asked_in_all);
  EXPECT_EQ(count(0), 0u);
}

// Takes the fix at its word: a plan with these axes fits.
TEST(Explanation, TheFixOfAFixedPlanWorks) {
  SearchRequest request = small_requests()[0];
  request.memory_limit = sim::Bytes(std::int64_t{130} << 20);
  request.risk = 1;
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

// No value is told twice, and none that was simulated and fits is told.
TEST(Explanation, NeighborsAreToldAsOneFamily) {
  SearchRequest request = small_requests()[0];
  request.workload.global_batch = 64;
  request.top = 1;
  const SearchResult found = planner::search(request);
  std::vector<std::string> microbatches;
  for (const Exclusion& out : found.excluded)
    if (out.family.rfind("microbatch=", 0) == 0) microbatches.push_back(out.family);
  EXPECT_THAT(microbatches, Contains(HasSubstr("..")));
}

}  // namespace
}  // namespace planner
