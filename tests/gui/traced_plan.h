// What a program leaves in a trace that performs a plan as it is: kernels with the names that libraries give them. Tests join it with the plan.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "gui/core/trace_join.h"
#include "sim/cost/task_kernels.h"

namespace gui::test {

inline constexpr sim::SimTime kEach{15'000'000};  // of a kernel

struct TraceWriter {
  TracedRank rank;
  void add(const std::string& name, WorkKind kind) {
    const sim::SimTime at = rank.length;
    rank.kernels.push_back({name, kind, at, at + kEach});
    rank.length += kEach;
  }
  // As PyTorch runs it: a product of the input and one of the weight in the backward, three kernels for attention's, queries, keys and values apart
  // where a program has them so.
  void addTask(const SimulatedPlan& plan, const sim::TaskKey& key, int products_of_query_key_value) {
    const bool forward = key.phase == sim::Phase::Forward;
    std::vector<sim::KernelCall> calls = sim::kernels_of(plan.model, plan.plan, {key.layer, sim::Phase::Forward, key.operation}).calls;
    if (!forward) std::reverse(calls.begin(), calls.end());
    const bool attends =
        std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.kernel == sim::Kernel::AttentionForward; });
    bool query_key_value = attends && forward;
    for (const sim::KernelCall& call : calls) {
      if (call.kernel == sim::Kernel::NormForward) add(forward ? "layer_norm" : "layer_norm_backward", WorkKind::Norm);
      if (call.kernel == sim::Kernel::ActivationForward) add("gelu", WorkKind::Kernel);
      if (call.kernel == sim::Kernel::LinearForward)
        for (int product = 0; product < (query_key_value ? products_of_query_key_value : 1) * (forward ? 1 : 2); ++product)
          add("cutlass_gemm", WorkKind::Product);
      if (call.kernel == sim::Kernel::AttentionForward) {
        for (int part = 0; part < (forward ? 1 : 3); ++part) add(forward ? "flash_fwd" : "flash_bwd", WorkKind::Attention);
        query_key_value = !forward && attends;
      }
    }
  }
};

inline bool isComputed(const sim::Span& span) {
  return span.stream == sim::Stream::Compute && span.key.layer.exists() &&
         (span.key.phase == sim::Phase::Forward || span.key.phase == sim::Phase::Backward) && !sim::moves_data(span.key.operation) &&
         span.key.operation < sim::Operation::Accumulate;
}

// What a program would leave that performs the plan as it is.
inline TracedRank traceOf(const SimulatedPlan& plan, sim::Rank rank, int products_of_query_key_value = 1) {
  TraceWriter writer{{rank, {}, {}}};
  std::vector<sim::Span> spans;
  for (const sim::Span& span : plan.result.timeline.spans)
    if (span.device == deviceOf(plan, rank)) spans.push_back(span);
  std::stable_sort(spans.begin(), spans.end(), [](const sim::Span& a, const sim::Span& b) { return a.start < b.start; });
  for (const sim::Span& span : spans) {
    if (isComputed(span)) writer.addTask(plan, span.key, products_of_query_key_value);
    if (span.key.operation == sim::Operation::AllReduce) writer.add("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", WorkKind::Data);
  }
  writer.add("multi_tensor_apply_kernel", WorkKind::Kernel);
  return writer.rank;
}

// As torch.profiler writes it.
inline std::string kinetoOf(const TracedRank& rank) {
  std::string text = fmt::format(R"({{"distributedInfo": {{"rank": {}}}, "traceEvents": [)", rank.rank.value());
  for (const TracedKernel& kernel : rank.kernels)
    text += fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}}},)", kernel.name,
                        kernel.kind == WorkKind::Data ? 20 : 7, kernel.start.count() / 1'000'000,
                        (kernel.end - kernel.start).count() / 1'000'000);
  return text + R"({"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": "GPU"}}]})";
}

}  // namespace gui::test
