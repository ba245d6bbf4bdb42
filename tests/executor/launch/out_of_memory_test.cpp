#include "executor/launch/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(OutOfMemory, ComparesWithThePredictionAndNamesWhoHoldsIt) {
  sim::ParallelPlan plan = tiny_plan();
  plan.predictions = {.step_time = {}, .peak_memory = sim::Bytes(3 << 20), .hash = {}};
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const ParameterStore parameters(model, plan, sim::Rank(0), c10::kCPU);
  const sim::Violation violation = out_of_memory({.plan = plan,
                                                  .parameters = parameters,
                                                  .memory = {.allocated = sim::Bytes(5 << 20), .device_total = sim::Bytes(8 << 20)},
                                                  .words = "CUDA out of memory. Tried to allocate 2.00 MiB"});
  EXPECT_THAT(violation.problem, testing::AllOf(testing::HasSubstr("5.00 MiB of 8.00 MiB"), testing::HasSubstr("a peak of 3.00 MiB"),
                                                testing::HasSubstr("optimizer state"), testing::HasSubstr("mlp.up.weight"),
                                                testing::HasSubstr("Tried to allocate")));
}

}  // namespace
}  // namespace executor
