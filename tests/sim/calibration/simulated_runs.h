// Runs as a machine would have recorded them, if it took the times of a simulation: what calibration must find is then known.
#pragma once

#include "sim/calibration/calibrate.h"
#include "sim/engine/simulate.h"
#include "tests/sim/plan/plans.h"

namespace sim::testing {

// Each rank's spans in each of three steps, on clocks that differ by seconds.
inline CalibrationRun run_of(const ParallelPlan& plan, const std::string& name = "run") {
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan, Fold::None);
  const Timeline timeline = simulate(model, plan, graph, Detail::Timeline).timeline;
  CalibrationRun run{.plan = plan, .traces = {}, .files = {}};
  for (Rank rank(0); rank.value() < plan.mesh.ranks(); ++rank) {
    RankTrace trace;
    trace.rank = rank;
    for (std::int64_t number = 0; number < 3; ++number) {
      MeasuredStep step;
      step.step = number;
      for (Span span : timeline.spans) {
        if (span.device.value() != rank.value()) continue;
        span.device = DeviceId(0);
        span.start += std::chrono::seconds(rank.value());
        span.end += std::chrono::seconds(rank.value());
        step.spans.push_back(span);
      }
      trace.steps.push_back(step);
    }
    run.traces.push_back(trace);
    run.files.push_back(name + "/" + trace_file_name(rank));
  }
  return run;
}

// The plan on a machine that is slower by known factors.
inline ParallelPlan slowed(ParallelPlan plan, std::vector<Correction> truth) {
  plan.cluster.hardware.corrections = std::move(truth);
  return plan;
}

}  // namespace sim::testing
