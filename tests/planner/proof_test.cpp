#include "planner/proof.h"

#include <gmock/gmock.h>

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
  const sim::SimTime last = sim::to_sim_time(sim::Seconds(2));
  EXPECT_THAT(proof_of({request, result, false, last}), StartsWith("best, top 3 and Pareto front hold within 1.0 %"));
  request.front = false;
  EXPECT_THAT(proof_of({request, result, false, last}), Not(HasSubstr("Pareto")));
  request.gap = 0;
  EXPECT_THAT(proof_of({request, result, false, last}), StartsWith("best and top 3 hold over"));
  request.front = true;
  EXPECT_THAT(proof_of({request, result, false, last}), StartsWith("best, top 3 and Pareto front hold over"));
  result.open = 7;
  EXPECT_THAT(proof_of({request, result, true, last}), StartsWith("ended with 7 candidates left: at best a plan is 0.5 % faster"));
}

}  // namespace
}  // namespace planner
