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
  const std::string last = "2.00 s";
  EXPECT_THAT(proof_of({request, result, false, last}), StartsWith("best, top 3 and Pareto front hold within 1.0 %"));
  request.front = false;
  EXPECT_THAT(proof_of({request, result, false, last}), Not(HasSubstr("Pareto")));
  request.gap = 0;
  EXPECT_TRUE(proves_front(request));
  EXPECT_THAT(proof_of({request, result, false, last}), StartsWith("best, top 3 and Pareto front hold over"));
  result.open = 7;
  EXPECT_THAT(proof_of({request, result, true, last}), StartsWith("ended with 7 candidates left: at best a plan is 0.5 % better"));
}

}  // namespace
}  // namespace planner
