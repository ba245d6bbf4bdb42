#include "gui/core/plan_question.h"

#include <filesystem>
#include <set>

#include "gui/core/file_kind.h"
#include "planner/constraints.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

using Violations = std::vector<sim::Violation>;

std::optional<sim::Bytes> limitOf(const std::string& text, Violations& violations) {
  if (text.empty()) return std::nullopt;
  const std::optional<sim::Bytes> limit = sim::parse_bytes(text);
  if (!limit || *limit <= sim::Bytes(0))
    violations.push_back({"memory limit", "'" + text + "' is no amount of memory with a unit", "write it like \"80 GiB\""});
  return limit;
}

sim::ModelConfig modelOf(const std::string& path) {
  return kindOfFile(path) == FileKind::Plan ? sim::load_plan(path).model : sim::load_model_config(path);
}

}  // namespace

planner::SearchRequest searchRequest(const PlanQuestion& question) {
  if (question.model.empty())
    throw sim::InputError("", {{"model", "no model is chosen", "open a Hugging Face config.json, or drop one on the window"}});
  Violations violations;
  planner::SearchRequest request;
  request.model = modelOf(question.model);
  request.cluster = sim::load_cluster(question.cluster, sim::DeviceCount{question.devices});
  const bool cpu = request.cluster.hardware.kind == sim::DeviceKind::Cpu;
  request.workload = {.sequence = question.sequence,
                      .global_batch = question.global_batch,
                      .precision = cpu ? sim::Precision::Fp32 : sim::Precision::Bf16,
                      .optimizer = sim::OptimizerKind::AdamW};
  request.memory_limit = limitOf(question.memory_limit, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
  if (const Violations found = planner::workload_violations(request); !found.empty()) throw sim::InputError(question.model, found);
  request.top = question.top;
  request.runnable_only = question.runnable_only;
  return request;
}

std::vector<std::string> knownClusters() {
  std::set<std::string> names;
  for (const char* folder :
       {MESHWRIGHT_PROFILES_DIR "/hardware", MESHWRIGHT_PROFILES_DIR "/clusters", "profiles/hardware", "profiles/clusters"}) {
    std::error_code none_there;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none_there))
      if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::string modelsFolder() { return MESHWRIGHT_PROFILES_DIR "/models"; }

}  // namespace gui
