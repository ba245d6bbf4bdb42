// How fast a step is lowered and simulated: tasks a second on one core. The counter is `tasks`.
//
//   sim_engine_benchmark --benchmark_filter=Simulate
#include <benchmark/benchmark.h>
#include <malloc.h>

#include "sim/engine/simulate.h"

namespace sim {
namespace {

// GPT-3 175B on 1,024 H100: 8-way tensor, 16-way pipeline, 8-way data parallel.
ParallelPlan gpt3_plan(std::int64_t global_batch) {
  ParallelPlan plan;
  plan.model = load_model_config("profiles/models/gpt3-175b.json");
  plan.cluster = load_cluster("profiles/clusters/dgx-h100-1024.json", {});
  plan.workload = {.sequence = 2048, .global_batch = global_batch, .precision = Precision::Bf16};
  plan.mesh = {.data = 8, .pipeline = 16, .tensor = 8};
  plan.cut = even_cut(plan.model.layers, {.stages = 16, .microbatches = 1, .chunks = 1});
  plan.recompute = Recompute::Full;
  plan.zero_stage = 1;
  return plan;
}

void count_tasks(benchmark::State& state, const TaskGraph& graph) {
  const auto tasks = static_cast<double>(graph.tasks().size());
  state.counters["size"] = tasks;
  state.counters["tasks"] = benchmark::Counter(tasks * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void BM_LowerFolded(benchmark::State& state) {
  const ParallelPlan plan = gpt3_plan(state.range(0));
  const ModelGraph model = make_model_graph(plan);
  for (auto _ : state) benchmark::DoNotOptimize(lower(model, plan));
  count_tasks(state, lower(model, plan));
}

void simulate_step(benchmark::State& state, Fold fold) {
  const ParallelPlan plan = gpt3_plan(state.range(0));
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan, fold);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(model, plan, graph, Detail::Summary));
  count_tasks(state, graph);
}

void BM_SimulateFolded(benchmark::State& state) { simulate_step(state, Fold::Symmetric); }
void BM_SimulateUnfolded(benchmark::State& state) { simulate_step(state, Fold::None); }

BENCHMARK(BM_LowerFolded)->Arg(1536)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SimulateFolded)->Arg(1536)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SimulateUnfolded)->Arg(128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sim

int main(int argc, char** argv) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // as cli/main.cpp has it
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
