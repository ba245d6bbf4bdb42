#include "gui/core/estimate.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "planner/constraints.h"
#include "sim/estimate/network_config.h"

namespace gui {
namespace {

sim::NumberFormat formatOf(const PlanQuestion& question, sim::DeviceKind device) {
  if (question.precision.empty()) return device == sim::DeviceKind::Cpu ? sim::NumberFormat::Fp32 : sim::NumberFormat::Bf16;
  const std::optional<sim::NumberFormat> named = sim::find_number_format(question.precision);
  if (!named) throw sim::InputError("", {{"precision", "is unknown to the closed form", "choose fp32, tf32, fp16, bf16 or fp8"}});
  return *named;
}

planner::LayoutRequest layoutRequest(const PlanQuestion& question) {
  planner::LayoutRequest request;
  request.network = sim::load_network(question.model);
  request.network.sequence = question.sequence;
  request.network.effective_sequence = static_cast<double>(question.sequence);
  request.cluster = sim::load_cluster(question.cluster, sim::DeviceCount{question.devices});
  request.cluster.software = sim::load_software(question.software.empty() ? "meshwright" : question.software);
  request.global_batch = question.global_batch;
  request.format = formatOf(question, request.cluster.hardware.kind);
  request.top = question.top;
  std::vector<sim::Violation> violations;
  const std::optional<sim::Bytes> limit = planner::memory_limit_of({.where = "memory limit", .value = question.memory_limit}, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
  if (limit) request.cluster.hardware.memory = std::min(*limit, request.cluster.hardware.memory);
  return request;
}

// They come fastest first: on the front is what is smaller than all before.
std::vector<bool> frontOf(const std::vector<planner::EstimatedLayout>& ranked) {
  std::vector<bool> front;
  double least = std::numeric_limits<double>::infinity();
  for (const planner::EstimatedLayout& layout : ranked) {
    front.push_back(layout.memory.total_gib < least);
    least = std::min(least, layout.memory.total_gib);
  }
  return front;
}

}  // namespace

SharedEstimate estimateOf(const PlanQuestion& question) {
  auto estimate = std::make_shared<Estimate>();
  estimate->request = layoutRequest(question);
  estimate->result = planner::rank_layouts(estimate->request);
  estimate->on_front = frontOf(estimate->result.ranked);
  return estimate;
}

void requireModel(const std::string& path) {
  try {
    sim::load_network(path);
  } catch (const sim::InputError&) {
    sim::load_model_config(path);  // its reasons are the ones to mend
  }
}

}  // namespace gui
