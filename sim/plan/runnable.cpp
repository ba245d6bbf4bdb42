// What the worker performs today, as one table. A row says when a plan is outside it; the executor grows by deleting rows.
#include <array>

#include "sim/plan/parallel_plan.h"

namespace sim {
namespace {

struct Limit {
  std::string_view where;
  bool (*exceeded)(const ParallelPlan&);
  std::string_view problem;
  std::string_view remedy;
};

constexpr std::array kRunnable = std::to_array<Limit>({
    {"/cluster/hardware/kind", [](const ParallelPlan& p) { return p.cluster.hardware.kind != DeviceKind::Cpu; },
     "the worker runs on CPU ranks today", "plan for a measured machine (meshwright measure)"},
    {"/workload/precision", [](const ParallelPlan& p) { return p.workload.precision != Precision::Fp32 && p.workload.precision != Precision::Fp64; },
     "the worker computes in fp32 and fp64 today", "use fp32"},
    {"/sequence_parallel", [](const ParallelPlan& p) { return p.sequence_parallel; }, "the worker has no sequence parallelism yet", "set it to false"},
    {"/recompute", [](const ParallelPlan& p) { return p.recompute == Recompute::Selective; }, "the worker recomputes whole blocks only", "use none or full"},
    {"/schedule", [](const ParallelPlan& p) { return p.splits_backward(); }, "the worker runs the backward pass in one piece", "use 1f1b or interleaved"},
    {"/zero_stage", [](const ParallelPlan& p) { return p.zero_stage > 0 && (p.mesh.tensor > 1 || p.mesh.pipeline > 1); },
     "the worker shards (ZeRO) along the data axis alone", "use zero_stage 0 with tensor or pipeline parallelism"},
    {"/mesh", [](const ParallelPlan& p) { return p.mesh.data > 1 && p.mesh.tensor > 1 && p.mesh.pipeline > 1; },
     "the worker combines two of data, tensor and pipeline parallelism", "set one degree to 1"},
    {"/model/attn_pdrop", [](const ParallelPlan& p) { return p.model.attention_dropout > 0; },
     "attention dropout would draw other masks under another layout", "set attn_pdrop (attention_dropout) to 0"},
});

}  // namespace

std::vector<Violation> why_not_runnable(const ParallelPlan& plan) {
  std::vector<Violation> found;
  for (const Limit& limit : kRunnable)
    if (limit.exceeded(plan)) found.push_back({std::string(limit.where), std::string(limit.problem), std::string(limit.remedy)});
  return found;
}

}  // namespace sim
