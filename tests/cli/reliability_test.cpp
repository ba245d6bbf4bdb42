#include "cli/reliability.h"

#include <gmock/gmock.h>

#include "tests/planner/problems.h"

namespace cli {
namespace {

using testing::SizeIs;

PlanOptions trillion_tokens() {
  PlanOptions options;
  options.tokens = 1e9;
  options.failures.mean_time_between_failures = "5 y";
  return options;
}

planner::SearchRequest asked() {
  planner::SearchRequest request = planner::small_request({.devices = 8, .devices_per_node = 4});
  request.objective = planner::Objective::TimeToTrain;
  request.workload.global_batch = 1000, request.workload.sequence = 1000;
  return request;
}

TEST(Reliability, TokensAreStepsAndSavesTakeWhatTheStateDoes) {
  std::vector<sim::Violation> violations;
  PlanOptions options = trillion_tokens();
  EXPECT_EQ(whole_training_of(options, asked(), violations).steps, 1000);
  EXPECT_EQ(whole_training_of(options, asked(), violations).reliability.save, sim::Seconds(30));
  const planner::SearchRequest request = asked();
  options.write_bandwidth = "12 MB/s";  // 12 B a parameter of 16-bit training with AdamW
  const double parameters = static_cast<double>(sim::num_parameters(sim::make_model_graph(request.model, {request.vocabulary_multiple})));
  EXPECT_NEAR(whole_training_of(options, request, violations).reliability.save.count(), parameters / 1e6, 1e-9);
  EXPECT_THAT(violations, SizeIs(0));
}

TEST(Reliability, SparesAreAtMostSoMany) {
  std::vector<sim::Violation> violations;
  PlanOptions options = trillion_tokens();
  options.failures.spares = 1, options.failures.repair_time = "1 d";
  const planner::WholeTraining whole = whole_training_of(options, asked(), violations);
  EXPECT_EQ(whole.most_spares, 1);
  EXPECT_EQ(whole.reliability.spares, 0);
  EXPECT_EQ(whole.reliability.repair, sim::Seconds(86'400));
}

TEST(Reliability, NamesWhatIsWrongAndWhatCountsForNothing) {
  std::vector<sim::Violation> violations;
  PlanOptions options = trillion_tokens();
  options.failures.repair_time = "soon", options.write_bandwidth = "fast";
  whole_training_of(options, asked(), violations);
  EXPECT_THAT(violations, SizeIs(2));
  violations.clear();
  planner::SearchRequest by_step = asked();
  by_step.objective = planner::Objective::Step;
  whole_training_of(trillion_tokens(), by_step, violations);
  EXPECT_THAT(violations, SizeIs(1));
}

}  // namespace
}  // namespace cli
