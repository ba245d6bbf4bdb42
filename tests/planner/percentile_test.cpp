#include "planner/percentile.h"

#include <gtest/gtest.h>

#include "sim/cost/prediction_interval.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

TEST(Percentile, IsTheUpperEndOfAPredictionsInterval) {
  SearchRequest request = small_request({.devices = 4});
  const sim::SimTime predicted(1'000'000'000'000);
  EXPECT_EQ(Percentile(request).of(predicted, {}), predicted);
  request.robust = true;
  const Percentile robust(request);
  for (const std::int32_t context : {1, 2})
    for (const bool host : {false, true}) {
      const PlanCandidate candidate{.mesh = {.data = 2, .context = context}, .offload_optimizer = host};
      const sim::Seconds high = sim::prediction_interval(make_plan(request, candidate)).high(sim::to_seconds(predicted));
      EXPECT_NEAR(sim::to_seconds(robust.of(predicted, candidate)) / high, 1, 1e-9);
      EXPECT_GT(robust.of(predicted, candidate), predicted);
    }
}

}  // namespace
}  // namespace planner
