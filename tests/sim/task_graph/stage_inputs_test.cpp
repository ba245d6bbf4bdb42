#include <gmock/gmock.h>

#include "sim/task_graph/stage_program.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

ParallelPlan sending(DeviceMesh mesh) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  plan.offload_modules = kSentToHost;
  plan.offload_least = 0;
  return plan;
}

// Of a microbatch, in issue order: "F1.0 >1.0", a segment of a block forward and to the host; "<1.0 B1.0", back and backward.
std::vector<std::string> moves(const ParallelPlan& plan, StageIndex stage, MicrobatchIndex microbatch) {
  const ModelGraph model = make_model_graph(plan);
  std::vector<std::string> found;
  for (const Task& task : make_stage_program(model, plan, stage, make_buckets(model, plan, stage)).tasks) {
    const TaskKey& key = task.key;
    if (key.microbatch != microbatch || key.layer == LayerIndex(0) || key.layer == model.head()) continue;
    const bool moves = is_host_copy(key.operation);
    const char* sign = key.operation == Operation::CopyToHost     ? ">"
                       : key.operation == Operation::CopyToDevice ? "<"
                       : key.phase == Phase::Forward              ? "F"
                                                                  : "B";
    const std::int32_t segment = moves ? key.sequence : key.operation == Operation::Attention ? 0 : 1;
    const std::string name = sign + std::to_string(key.layer.value()) + "." + std::to_string(segment);
    const bool goes_on = !found.empty() && found.back() == name;  // experts are three tasks
    if (!goes_on && (moves || task.stream == Stream::Compute)) found.push_back(name);
  }
  return found;
}

// Two blocks a stage. Of the one that comes back next nothing leaves; of the other a segment comes while the one in front of it goes backward.
TEST(StageInputs, GoBehindTheirSegmentAndComeBesideTheOneBefore) {
  EXPECT_THAT(moves(sending({.pipeline = 2}), StageIndex(1), MicrobatchIndex(0)),
              ElementsAre("F3.0", ">3.0", "F3.1", ">3.1", "F4.0", "F4.1", "<3.1", "B4.1", "B4.0", "<3.0", "B3.1", "B3.0"));
  ParallelPlan late = sending({.pipeline = 2});
  late.prefetch = 0;
  EXPECT_THAT(moves(late, StageIndex(1), MicrobatchIndex(0)),
              ElementsAre("F3.0", ">3.0", "F3.1", ">3.1", "F4.0", "F4.1", "B4.1", "B4.0", "<3.1", "B3.1", "<3.0", "B3.0"));
}

// The first stage runs another forward before that microbatch goes back: the last block's leaves, too, and comes when nothing in front of it is left.
TEST(StageInputs, OfABlockWhoseBackwardComesLater) {
  const std::vector<std::string> second = moves(sending({.pipeline = 2}), StageIndex(0), MicrobatchIndex(1));
  EXPECT_THAT(second, ElementsAre("F1.0", ">1.0", "F1.1", ">1.1", "F2.0", ">2.0", "F2.1", ">2.1", "<2.1", "<2.0", "B2.1", "<1.1", "B2.0",
                                  "<1.0", "B1.1", "B1.0"));
}

}  // namespace
}  // namespace sim
