#include "sim/calibration/measured_work.h"

#include <gmock/gmock.h>

#include "tests/sim/calibration/simulated_runs.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A pipeline of two, and D = 2: ranks 0 1 | 2 3. One step by hand; the clock of rank r is r seconds ahead.
struct HandMade {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  std::vector<RankTrace> traces;

  HandMade() {
    for (Rank rank(0); rank.value() < 4; ++rank) {
      traces.emplace_back();
      traces.back().rank = rank;
      traces.back().steps.resize(1);
      add(rank, world(plan.mesh.coordinate(rank).stage), 90, 100);
    }
  }
  static TaskKey world(StageIndex stage) {
    return {.stage = stage, .phase = Phase::Step, .operation = Operation::AllReduce, .group = MeshAxis::World};
  }
  void add(Rank rank, const TaskKey& key, std::int64_t start, std::int64_t end) {
    const SimTime ahead = std::chrono::seconds(rank.value());
    traces[rank.position()].steps[0].spans.push_back({DeviceId(0), Stream::Compute, key, ahead + SimTime(start), ahead + SimTime(end)});
  }
  std::vector<std::int64_t> durations_of(Operation operation, MeshAxis group = MeshAxis::None) const {
    std::vector<std::int64_t> durations;
    for (const MeasuredWork& work : measured_work(plan, traces))
      if (work.key.operation == operation && work.key.group == group) durations.push_back(work.duration.count());
    return durations;
  }
};

TEST(MeasuredWork, ComputationIsItsSpan) {
  HandMade run;
  run.add(Rank(0), {.stage = StageIndex(0), .operation = Operation::Mlp}, 10, 17);
  run.add(Rank(3), {.stage = StageIndex(1), .operation = Operation::Mlp}, 10, 12);
  EXPECT_THAT(run.durations_of(Operation::Mlp), UnorderedElementsAre(7, 2));
}

TEST(MeasuredWork, ACollectiveIsItsShortestSpan) {
  HandMade run;
  const TaskKey first{.stage = StageIndex(0), .phase = Phase::Gradients, .operation = Operation::AllReduce, .group = MeshAxis::Data};
  TaskKey second = first;
  second.stage = StageIndex(1);
  run.add(Rank(0), first, 10, 50);
  run.add(Rank(1), first, 38, 50);
  run.add(Rank(2), second, 20, 25);
  run.add(Rank(3), second, 10, 25);
  EXPECT_THAT(run.durations_of(Operation::AllReduce, MeshAxis::Data), UnorderedElementsAre(12, 5));
  EXPECT_THAT(run.durations_of(Operation::AllReduce, MeshAxis::World), ElementsAre(10));  // one for all stages
}

TEST(MeasuredWork, AReceiveDoesNotWaitForItsSend) {
  HandMade run;
  const TaskKey send{.stage = StageIndex(0),
                     .chunk = ChunkIndex(0),
                     .microbatch = MicrobatchIndex(0),
                     .layer = LayerIndex(2),
                     .phase = Phase::Forward,
                     .operation = Operation::Send,
                     .group = MeshAxis::Pipeline};
  TaskKey receive = send;
  receive.stage = StageIndex(1);
  receive.layer = LayerIndex(3);
  receive.operation = Operation::Receive;
  run.add(Rank(1), send, 40, 41);
  run.add(Rank(3), receive, 5, 48);
  EXPECT_THAT(run.durations_of(Operation::Receive, MeshAxis::Pipeline), ElementsAre(7));
  EXPECT_THAT(run.durations_of(Operation::Send, MeshAxis::Pipeline), ElementsAre(1));
}

TEST(MeasuredWork, AReceiveThatCannotBeAlignedIsLeftOut) {
  HandMade run;
  TaskKey receive{.stage = StageIndex(1),
                  .chunk = ChunkIndex(0),
                  .microbatch = MicrobatchIndex(0),
                  .phase = Phase::Forward,
                  .operation = Operation::Receive,
                  .group = MeshAxis::Pipeline};
  run.add(Rank(2), receive, 5, 48);  // nobody sent
  EXPECT_THAT(run.durations_of(Operation::Receive, MeshAxis::Pipeline), IsEmpty());
  TaskKey send = receive;
  send.stage = StageIndex(0);
  send.operation = Operation::Send;
  run.add(Rank(0), send, 60, 61);  // sent after it came
  EXPECT_THAT(run.durations_of(Operation::Receive, MeshAxis::Pipeline), IsEmpty());
}

// Weight gradients of the task in front are computed inside the exchange: 7 + 12, of the member that waits for nobody.
TEST(MeasuredWork, AnExchangeBesideWeightGradientsIsOneWithTheTaskInFront) {
  const TaskKey mlp{.stage = StageIndex(0), .layer = LayerIndex(1), .phase = Phase::Backward, .operation = Operation::Mlp};
  TaskKey exchange = mlp, attention = mlp;
  exchange.operation = Operation::AllReduce;
  exchange.group = MeshAxis::Tensor;
  attention.operation = Operation::Attention;
  HandMade run;
  run.plan = testing::tiny_plan({.data = 2, .tensor = 2});
  for (const auto& [rank, end] : {std::pair(Rank(0), 40), {Rank(1), 29}}) {
    run.add(rank, mlp, 10, 17);
    run.add(rank, exchange, 17, end);
    run.add(rank, attention, 40, 41);
  }
  EXPECT_THAT(run.durations_of(Operation::AllReduce, MeshAxis::Tensor), ElementsAre(12)) << "of a CPU, whose exchange is performed at once";
  run.plan.cluster.software.overlap_input_gradient = true;
  EXPECT_THAT(run.durations_of(Operation::Mlp), ElementsAre(7, 7));
  run.plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(run.durations_of(Operation::Mlp), ElementsAre(19, 19));
  EXPECT_THAT(run.durations_of(Operation::AllReduce, MeshAxis::Tensor), IsEmpty());
  EXPECT_THAT(run.durations_of(Operation::Attention), ElementsAre(1, 1));
}

TEST(MeasuredWork, TheFirstOfSeveralStepsIsAWarmUp) {
  HandMade run;
  for (RankTrace& trace : run.traces) {
    trace.steps.push_back(trace.steps[0]);
    trace.steps[1].step = 1;
    trace.steps[0].spans.clear();
  }
  EXPECT_THAT(run.durations_of(Operation::AllReduce, MeshAxis::World), ElementsAre(10));
}

}  // namespace
}  // namespace sim
