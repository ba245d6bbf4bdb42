#include "planner/proof.h"

#include <gmock/gmock.h>

#include "planner/search_space.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Proof, SaysWhatHolds) {
  SearchRequest request = small_request({.devices = 8});
  SearchResult result;
  result.candidates = 12;
  EXPECT_THAT(proof_of({request, result, false, {}}), StartsWith("no plan is feasible; 12 candidates"));
  result.ranked.resize(3);
  result.gap = 0.005;
  const std::string last = "2.00 s";
  EXPECT_THAT(proof_of({request, result, false, last}), StartsWith("best, top 3 and Pareto front hold within 1.0 %"));
  request.front = false;
  EXPECT_THAT(proof_of({request, result, false, last}), Not(HasSubstr("Pareto")));
  request.gap = 0;
  EXPECT_THAT(proof_of({request, result, false, last}), StartsWith("best and top 3 hold over"));
  request.front = true;
  EXPECT_THAT(proof_of({request, result, false, last}), StartsWith("best, top 3 and Pareto front hold over"));
  result.open = 7;
  EXPECT_THAT(proof_of({request, result, true, last}), StartsWith("ended with 7 candidates left: at best a plan is 0.5 % better"));
}

// What is beaten counts by its own bound, what was not looked at by that of its shape; what surely is too risky counts for nothing.
TEST(Proof, TheGapIsToTheLeastThatIsLeftOut) {
  const SearchSpace space = enumerate(small_request({.devices = 4}));
  const sim::SimTime best(1000);
  std::vector<Judgement> judgements(space.candidates.size(), {.verdict = Verdict::Beaten, .time = sim::SimTime(1200)});
  std::vector<sim::SimTime> shape_least(space.candidates.num_shapes(), sim::SimTime(900));
  const auto gap = [&] { return proven_gap({space.candidates, judgements, shape_least, sim::Bytes(100)}, best).value_or(-1); };
  EXPECT_DOUBLE_EQ(gap(), 0);
  judgements[1].time = sim::SimTime(800);
  EXPECT_DOUBLE_EQ(gap(), 0.25);
  judgements[1] = {.verdict = Verdict::Open, .memory = sim::Bytes(101), .time = sim::SimTime(800)};
  EXPECT_DOUBLE_EQ(gap(), 0);
  judgements[2] = {};
  EXPECT_NEAR(gap(), 1000.0 / 900 - 1, 1e-12);
  shape_least.clear();
  EXPECT_EQ(gap(), -1);
}

}  // namespace
}  // namespace planner
