#include "planner/layout_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/estimate/device.h"
#include "sim/plan/parallel_plan.h"

namespace planner {
namespace {

using sim::Layout;
using sim::RunDescription;

constexpr std::int64_t kMicroBatches[] = {1, 2, 4, 8};
constexpr std::int64_t kLeastTokens = 1024;  // of a context rank: less leaves its kernels empty
constexpr std::int64_t kMostChunks = 8;

class Space {
 public:
  explicit Space(const LayoutRequest& request) : request_(request), net_(request.network), gpus_(request.cluster.devices) {}
  std::vector<RunDescription> all() &&;

 private:
  RunDescription base() const;
  void add_context(RunDescription run);
  void add_experts(RunDescription run);
  void add_batches(RunDescription run);
  void add_schedules(RunDescription run);
  void add_stages(RunDescription run);
  std::int64_t ranks_of_experts(const Layout& layout) const {
    return layout.data * layout.context * (request_.cluster.software.expert_tensor ? 1 : layout.tensor);
  }

  const LayoutRequest& request_;
  const sim::Network& net_;
  std::int64_t gpus_;
  std::vector<RunDescription> space_;
};

RunDescription Space::base() const {
  const sim::SoftwareStack& stack = request_.cluster.software;
  RunDescription run;
  run.network = net_;
  run.machine.part = request_.cluster.hardware.name;
  run.machine.gpus = gpus_;
  run.machine.gpus_per_node = request_.cluster.devices_per_node();
  run.layout.global_batch = request_.global_batch;
  run.execution = usual_execution(stack);
  run.execution.format = request_.format;
  run.stack = stack.name;
  return run;
}

std::vector<RunDescription> Space::all() && {
  for (std::int64_t tensor = 1; tensor <= request_.cluster.devices_per_node(); tensor *= 2)
    for (std::int64_t pipeline = 1; pipeline <= net_.layers; ++pipeline) {
      if (net_.heads % tensor != 0 || gpus_ % (tensor * pipeline) != 0) continue;
      RunDescription run = base();
      run.layout.tensor = tensor;
      run.layout.pipeline = pipeline;
      run.layout.sequence_parallel = tensor > 1;
      add_context(run);
    }
  return std::move(space_);
}

void Space::add_context(RunDescription run) {
  for (std::int64_t context = 1; context == 1 || net_.sequence / context >= kLeastTokens; context *= 2) {
    const std::int64_t others = run.layout.tensor * run.layout.pipeline * context;
    if (gpus_ % others != 0) return;
    run.layout.context = context;
    run.layout.context_ring = context > 1;
    run.layout.data = gpus_ / others;
    if (request_.global_batch % run.layout.data == 0) add_experts(run);
  }
}

void Space::add_experts(RunDescription run) {
  const std::int64_t experts = net_.experts ? net_.experts->experts : 1;
  for (std::int64_t degree = 1; degree <= experts; degree *= 2) {
    if (experts % degree != 0 || ranks_of_experts(run.layout) % degree != 0) return;
    run.layout.expert = degree;
    run.layout.expert_tensor = request_.cluster.software.expert_tensor || degree == 1;
    add_batches(run);
  }
}

void Space::add_batches(RunDescription run) {
  const std::int64_t each = request_.global_batch / run.layout.data;
  for (const std::int64_t size : kMicroBatches) {
    if (each % size != 0) return;
    run.layout.micro_batch = size;
    run.layout.microbatches = each / size;
    if (run.layout.microbatches > sim::kMostMicrobatches) continue;
    if (run.layout.pipeline == 1 || run.layout.microbatches >= run.layout.pipeline) add_schedules(run);
  }
}

void Space::add_schedules(RunDescription run) {
  run.layout.schedule = run.layout.pipeline > 1 ? "1f1b" : "none";
  add_stages(run);
  if (run.layout.pipeline == 1 || run.layout.microbatches % run.layout.pipeline != 0) return;
  run.layout.schedule = "interleaved";
  for (std::int64_t chunks = 2; chunks <= std::min(kMostChunks, net_.layers / run.layout.pipeline); ++chunks) {
    run.layout.chunks = chunks;
    if (net_.layers % (run.layout.pipeline * chunks) == 0) add_stages(run);
  }
}

// Optimizer states over all replicas; or everything, where there is no pipeline.
void Space::add_stages(RunDescription run) {
  const std::int64_t replicas = run.layout.data * run.layout.context;
  run.layout.zero_group = replicas;
  run.layout.zero_stage = replicas > 1 ? 1 : 0;
  space_.push_back(run);
  if (replicas == 1 || run.layout.pipeline > 1) return;
  run.layout.zero_stage = 3;
  space_.push_back(run);
}

}  // namespace

namespace {

sim::ScaleRecipe usual_scales(const LayoutRequest& request) {
  return request.format == sim::NumberFormat::Fp4 ? sim::ScaleRecipe::Nvfp4 : sim::ScaleRecipe::Delayed;
}

}  // namespace

std::vector<sim::Violation> layout_violations(const LayoutRequest& request) {
  std::vector<sim::Violation> found;
  if (!request.cluster.hardware.kernels)
    found.push_back({"/cluster/hardware", request.cluster.hardware.name + " has no block \"kernels\": nothing says how its kernels behave",
                     "take a profile of profiles/hardware, or add the block"});
  if (sim::is_scaled(request.format))
    if (const std::string why = sim::why_not_scaled(request.cluster.hardware, usual_scales(request)); !why.empty())
      found.push_back({"--precision", why, "use bf16, or a part that has them"});
  if (request.cluster.devices < 1) found.push_back({"/cluster/devices", "is below 1", "correct it"});
  if (request.global_batch < 1) found.push_back({"--global-batch", fmt::format("is {}", request.global_batch), "give at least 1"});
  if (request.network.sequence < 1) found.push_back({"--sequence", fmt::format("is {}", request.network.sequence), "give at least 1"});
  if (request.network.positions > 0 && request.network.sequence > request.network.positions)
    found.push_back({"--sequence",
                     fmt::format("sequence {} exceeds the model's {} positions", request.network.sequence, request.network.positions),
                     fmt::format("use a sequence of at most {}", request.network.positions)});
  return found;
}

std::vector<RunDescription> layout_space(const LayoutRequest& request) { return Space(request).all(); }

}  // namespace planner
