// How long the search takes for GPT-3 175B on 1,024 H100 over the full space. Not a test: prints what it measured.
//
//   planner_benchmark      (from the root of the repository)
#include <fmt/format.h>

#include <chrono>

#include "planner/search.h"
#include "planner/search_space.h"
#include "sim/units/unit_text.h"

namespace {

using sim::to_text;

planner::SearchRequest gpt3_on_1024_h100() {
  planner::SearchRequest request;
  request.model = sim::load_model_config("profiles/models/gpt3-175b.json");
  request.cluster = sim::load_cluster("profiles/clusters/dgx-h100-1024.json", {});
  request.workload = {.sequence = 2048, .global_batch = 1536, .precision = sim::Precision::Bf16, .optimizer = sim::OptimizerKind::AdamW};
  return request;
}

std::string line(const planner::RankedPlan& ranked) {
  const sim::ParallelPlan& plan = ranked.plan;
  return fmt::format("{:>9} {:>9}  D{} T{} P{} v{} {} mb{} zero{}{}{} recompute {} | mfu {:.3f} | {}",
                     to_text(sim::to_seconds(ranked.result.step_time)), to_text(ranked.result.peak_memory), plan.mesh.data,
                     plan.mesh.tensor, plan.mesh.pipeline, plan.chunks, plan.schedule, plan.microbatch_size, plan.zero_stage,
                     plan.zero_stage == 3 ? (plan.reshard_after_forward ? " reshard" : " keep") : "", plan.sequence_parallel ? " sp" : "",
                     sim::kRecomputeNames[static_cast<std::size_t>(plan.recompute)], ranked.result.mfu, ranked.why_not_best);
}

}  // namespace

int main() {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const planner::SearchRequest request = gpt3_on_1024_h100();
  double last = 0;
  const planner::SearchResult result = planner::search(request, [&](planner::SearchProgress progress) {
    if (seconds() - last < 1) return;
    last = seconds();
    fmt::print(stderr, "{:6.1f} s  {} of {}\n", last, progress.done, progress.all);
  });
  fmt::print("search: {:.2f} s wall\n{}\n\nbest {} plans\n", seconds(), result.proof, result.ranked.size());
  for (const planner::RankedPlan& plan : result.ranked) fmt::print("{}\n", line(plan));
  fmt::print("\nPareto front: {} plans\n", result.pareto.size());
  for (const planner::RankedPlan& plan : result.pareto) fmt::print("{}\n", line(plan));
  fmt::print("\nexcluded families\n");
  for (const planner::Exclusion& out : result.excluded)
    fmt::print("{} ({}, {}): {}; fix: {}\n", out.family, out.code, out.candidates, out.reason, out.nearest_fix);
}
