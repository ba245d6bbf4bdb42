#include "executor/training/step_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "executor/model/experts.h"
#include "executor/training/precision.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"

#if MESHWRIGHT_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#endif

namespace executor {
namespace {

// Libraries choose their algorithms and take their workspaces in the first steps, which may not be captured.
constexpr int kStepsBefore = 3;

using Slice = std::vector<sim::Task>;
struct Occasion {
  const sim::ParallelPlan& plan;
  const Slice& slice;
  GraphSite site;
};
using Why = std::optional<std::string>;

bool computes_gradients(const sim::Task& task) { return task.key.phase < sim::Phase::Gradients && !is_communication(task.key.operation); }

Why no_graphs_here(const Occasion& at) {
  if (!at.site.device.is_cpu()) return std::nullopt;
  return "a CPU performs what it is told at once";
}

// The loss reads its scale on the device, where the host writes it between two steps; the routers' loss takes it from the host.
Why scale_of_the_host(const Occasion& at) {
  const auto& experts = at.plan.model.experts;
  if (at.plan.workload.precision.compute() != sim::Precision::Fp16 || !experts || experts->balance_loss == 0) return std::nullopt;
  return "in fp16 the host scales the routers' loss, after each step by another number";
}

// The host asks whether what stages hand on has arrived; and branches of a graph that wait for other ranks may stand in each other's way.
bool needs_the_host(const sim::Task& task, const GraphSite& site) {
  if (!is_communication(task.key.operation)) return false;
  return !site.is_joined_by_nccl || task.key.group == sim::MeshAxis::Pipeline;
}

Why talks_inside(const Occasion& at) {
  const auto end = at.slice.begin() + static_cast<std::ptrdiff_t>(captured_tasks(at.slice));
  const auto first = std::find_if(at.slice.begin(), end, [&](const sim::Task& task) { return needs_the_host(task, at.site); });
  if (first == end) return std::nullopt;
  return fmt::format("{} before the last gradient is computed: {}",
                     at.site.is_joined_by_nccl ? "stages wait for each other" : "ranks communicate through the host",
                     sim::to_text(first->key));
}

Why rows_are_counted(const Occasion& at) {
  if (!at.plan.model.experts) return std::nullopt;
  const TensorPosition position{
      .degree = at.plan.mesh.tensor, .expert_degree = at.plan.mesh.expert, .expert_cut = at.plan.mesh.expert_cut()};
  const auto type = scalar_type(at.plan.workload.precision.of(sim::Numbers::Weights));
  if (orders_on_card(at.plan.model, position, {.type = type, .card = card_of(at.site.device)})) return std::nullopt;
  return "the host counts the rows of each expert, which differ from step to step";
}

Why documents_end_elsewhere(const Occasion& at) {
  if (!at.plan.workload.samples.has_documents()) return std::nullopt;
  return "documents end elsewhere in each step";
}

Why memory_moves(const Occasion& at) {
  if (at.plan.mesh.copies() == 1 || !sim::sharding_strategy(at.plan).shards_gradients) return std::nullopt;
  return fmt::format("zero_stage {} gives the memory of whole gradients back in each step", at.plan.zero_stage);
}

Why host_takes_part(const Occasion& at) {
  if (at.plan.offload_activations) return "the host takes inputs of blocks and gives them back";
  if (!at.plan.offload_optimizer) return std::nullopt;
  return "the host takes gradients while others are computed";
}

Why steps_inside(const Occasion& at) {
  if (!at.plan.optimizer_in_backward) return std::nullopt;
  return "weights are stepped before the last gradient is computed, each step by a rate of its own";
}

struct Rule {
  const char* where;
  Why (*why)(const Occasion& at);
  const char* remedy;
};
constexpr auto kForbids = std::to_array<Rule>({
    {"--device", no_graphs_here, "leave --cuda-graphs out, or compute on a GPU"},
    {"/workload/precision", scale_of_the_host, "train in bf16, or leave --cuda-graphs out"},
    {"/mesh", talks_inside, "leave --cuda-graphs out, or give each rank all layers and a GPU of its own"},
    {"/model/num_experts", rows_are_counted, "leave --cuda-graphs out"},
    {"/workload/samples", documents_end_elsewhere, "leave --cuda-graphs out"},
    {"/optimizer_in_backward", steps_inside, "leave it out, or leave --cuda-graphs out"},
    {"/offload_optimizer", host_takes_part, "keep all on the device, or leave --cuda-graphs out"},
    {"/zero_stage", memory_moves, "use zero_stage 0 or 1, or leave --cuda-graphs out"},
});

}  // namespace

std::optional<GraphRecorder> with_communication(const std::optional<GraphRecorder>& graph, MeshCommunicators& communicators) {
  if (!graph) return std::nullopt;
  return GraphRecorder{.begin =
                           [graph, &communicators] {
                             graph->begin();
                             communicators.begin_recording();
                           },
                       .end =
                           [graph, &communicators] {
                             communicators.end_recording();
                             graph->end();
                           },
                       .replay =
                           [graph, &communicators] {
                             graph->replay();
                             communicators.replayed();
                           }};
}

std::size_t captured_tasks(const Slice& slice) {
  return sim::position_in(slice, std::find_if(slice.rbegin(), slice.rend(), computes_gradients).base());
}

std::vector<sim::Violation> why_no_graph(const sim::ParallelPlan& plan, const Slice& slice, const GraphSite& site) {
  std::vector<sim::Violation> found;
  for (const Rule& rule : kForbids)
    if (const Why why = rule.why({.plan = plan, .slice = slice, .site = site}))
      found.push_back({rule.where, "no CUDA graph: " + *why, rule.remedy});
  return found;
}

#if MESHWRIGHT_CUDA
GraphRecorder cuda_graph(c10::Device device) {
  c10::cuda::setCurrentCUDAStream(
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index()));  // the default one cannot be captured
  const auto graph = std::make_shared<at::cuda::CUDAGraph>();
  const auto begin = [graph,
                      device] {  // other threads may ask CUDA meanwhile; what was freed before must not be taken back while it is captured
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
    c10::getDeviceAllocator(device.type())->emptyCache();
    graph->capture_begin(/*pool=*/{0, 0}, cudaStreamCaptureModeThreadLocal);
  };
  return {.begin = begin, .end = [graph] { graph->capture_end(); }, .replay = [graph] { graph->replay(); }};
}
#else
GraphRecorder cuda_graph(c10::Device device) { TORCH_CHECK(false, "this build knows no graphs of ", device); }
#endif

void StepGraph::run(const std::function<void()>& tasks) {
  if (!recorder_ || issued_steps_ < kStepsBefore) {
    ++issued_steps_;
    return tasks();
  }
  if (state_ == State::Issued) {
    state_ = State::Capturing;
    recorder_->begin();
    tasks();
    recorder_->end();
    state_ = State::Replayed;
  }
  recorder_->replay();
}

}  // namespace executor
