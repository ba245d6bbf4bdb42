#include "tests/cli/simulated_run.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sim/engine/simulate.h"
#include "sim/timeline/trace.h"

namespace cli::test {
namespace {

constexpr std::int64_t kSteps = 3;

sim::MeasuredStep measured_step(const sim::ParallelPlan& plan, const sim::TaskGraph& folded, const sim::SimulationResult& result,
                                sim::Rank rank) {
  sim::MeasuredStep step;
  for (const sim::Span& span : result.timeline.spans)
    if (span.device == sim::DeviceId(rank.value())) step.spans.push_back({sim::DeviceId(0), span.stream, span.key, span.start, span.end});
  for (const sim::Task& task : sim::rank_slice(folded, plan, rank))
    if (sim::is_communication(task.key.operation)) step.ledger.push_back({task.key, plan.mesh.data, task.payload});
  step.duration = result.step_time;
  step.peak_memory = result.peak_memory;
  return step;
}

// Forward tasks take longer in place: starts stay, so the file is still a legal trace.
void slow_down(sim::MeasuredStep& step, Slowdown slowdown) {
  for (sim::Span& span : step.spans) {
    const auto length = static_cast<double>((span.end - span.start).count());
    if (span.key.phase == sim::Phase::Forward) span.end = span.start + sim::SimTime(static_cast<std::int64_t>(length * slowdown.factor));
  }
}

}  // namespace

sim::ParallelPlan simulated_plan() {
  sim::ParallelPlan plan;
  plan.model = sim::load_model_config("profiles/models/tiny-gpt2.json");
  plan.cluster = sim::load_cluster("a100-80gb-sxm", sim::DeviceCount{2});
  plan.workload = {.sequence = 64, .global_batch = 4, .precision = sim::Precision::Fp32};
  plan.mesh.data = 2;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

std::string write_simulated_run(const sim::ParallelPlan& plan, const std::string& name, Slowdown slowdown) {
  const std::string folder = testing::TempDir() + "simulated_run_" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  sim::save_plan(plan, folder + "/plan.json");
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const sim::TaskGraph folded = sim::lower(model, plan);
  const sim::SimulationResult result = sim::simulate(model, plan, sim::Detail::Timeline, sim::Fold::None);
  for (sim::Rank rank{0}; rank.value() < plan.mesh.ranks(); ++rank) {
    sim::RankTrace trace{.rank = rank, .plan_hash = sim::plan_hash(plan), .clock_offset = {}, .steps = {}, .mesh = plan.mesh};
    for (std::int64_t step = 0; step < kSteps; ++step) {
      trace.steps.push_back(measured_step(plan, folded, result, rank));
      trace.steps.back().step = step;
      slow_down(trace.steps.back(), slowdown);
    }
    sim::write_rank_trace(trace, folder + "/" + sim::trace_file_name(rank));
  }
  return folder;
}

}  // namespace cli::test
