#include "executor/training/checkpoint.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "executor/training/content_hash.h"
#include "executor/training/refusal.h"
#include "executor/training/saved_state.h"
#include "sim/plan/resume_changes.h"

namespace executor {
namespace {

namespace fs = std::filesystem;

// "step_00000020" -> 20; 0: a folder of someone else, such as "step_best".
std::int64_t step_of(std::string_view name) {
  constexpr std::string_view kPrefix = "step_";
  std::int64_t step = 0;
  if (!name.starts_with(kPrefix)) return 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  return error == std::errc{} && end == name.data() + name.size() ? step : 0;
}

}  // namespace

std::vector<std::int64_t> saved_steps(const std::string& folder) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (const std::int64_t step = step_of(name); step > 0 && fs::exists(entry.path() / "index.json")) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::string step_folder(const std::string& folder, CompletedSteps steps) { return fmt::format("{}/step_{:08}", folder, steps.value); }

Checkpoints::Checkpoints(std::string folder, const sim::ParallelPlan& plan, MeshCommunicators& communicators, FaultPoints& faults)
    : folder_(std::move(folder)), plan_(plan), communicators_(communicators), faults_(faults) {}

std::string Checkpoints::shard_name(sim::Rank rank) { return fmt::format("rank_{}.safetensors", rank.value()); }

std::string newest_checkpoint(const std::string& folder) {
  const std::vector<std::int64_t> steps = saved_steps(folder);
  if (steps.empty())
    refuse(folder, "holds no complete checkpoint",
           "name a run that wrote one (at its end, every checkpoint_interval steps, on Ctrl-C), or start anew without --resume");
  return step_folder(folder, {steps.back()});
}

CheckpointIndex load_checkpoint_index(const std::string& folder) {
  CheckpointIndex index = load_index(folder + "/index.json");
  if (const std::string right = step_folder("", index.state.steps).substr(1); fs::path(folder).filename() != right)
    refuse(folder, "holds a checkpoint of step " + std::to_string(index.state.steps.value), "give the folder its name back: " + right);
  return index;
}

void require_header(const CheckpointIndex& index, const std::string& folder, const std::string& file, std::string_view header) {
  const auto known = index.headers.find(file);
  if (known == index.headers.end() && index.headers.empty()) return;  // of the first format
  if (known == index.headers.end() || hash_text(content_hash(std::as_bytes(std::span(header)))) != known->second)
    refuse(folder + "/" + file, "is damaged: its header has another hash than the index says",
           fmt::format("remove {} to resume from the checkpoint before it", folder));
}

RunState Checkpoints::load(ParameterStore& parameters) {
  const std::string folder = newest_checkpoint(folder_);
  CheckpointIndex index = load_checkpoint_index(folder);
  const sim::PlanDifferences differences = sim::differences(index.plan, plan_);
  std::vector<sim::Violation> violations;
  for (const std::string& difference : differences.training)
    if (const bool is_asked_for = !sim::changeable_setting_of(difference).empty(); is_asked_for)
      index.state.changes.push_back(difference);
    else
      violations.push_back(
          {.where = difference.substr(0, difference.find(':')), .problem = difference, .remedy = "resume the training of the checkpoint"});
  if (!violations.empty()) throw sim::InputError(folder + "/index.json", violations);
  const bool is_same_layout = differences.layout.empty();
  if (!parameters.kept().empty() && (!is_same_layout || lacks_kept(index, parameters)))
    index.state.changes.push_back("what wire= had kept of gradients, from nothing: the checkpoint is of another layout, or lacks it");
  if (is_same_layout)
    load_own_shard(index, folder, parameters);
  else
    load_from_any_layout(index, folder, parameters);
  for (FlatBucket& bucket : parameters.buckets()) bucket.round_master();
  parameters.scale_history().load(index.state.scale_history);
  if (!index.state.samples) index.state.samples = {index.state.steps.value * index.plan.workload.global_batch};
  return index.state;
}

// A whole parameter at a time.
void Checkpoints::load_from_any_layout(const CheckpointIndex& index, const std::string& folder, ParameterStore& parameters) const {
  const SavedState saved(index, folder);
  const std::vector<StatePart> parts = state_parts(parameters);
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const StatePart& part = parts[at];
    const auto take = [&](const at::Tensor& into, std::string_view kind) {
      take_part(into, saved.whole(kind, saved.parameter(part.parameter->name)), TensorPart(*part.parameter, part.tensor), part.from);
    };
    if (part.values.scalar_type() != at::kByte) {
      take(part.values, part.kind);
      continue;
    }
    const StatePart& scales = parts[++at];  // they follow their codes
    const CodesElsewhere there{.codes = at::empty_like(part.values), .scales = at::empty({part.elements}, scales.values.options())};
    take(there.codes, part.kind);
    take(there.scales, scales.kind);
    put_codes(part, scales.values, there);
  }
}

bool Checkpoints::lacks_kept(const CheckpointIndex& index, const ParameterStore& parameters) const {
  const auto known = index.hashes.find(shard_name(communicators_.rank()));
  return known != index.hashes.end() &&
         std::ranges::none_of(parameters.kept(), [&](const ParameterStore::Kept& kept) { return known->second.contains(kept.name); });
}

void Checkpoints::load_own_shard(const CheckpointIndex& index, const std::string& folder, ParameterStore& parameters) const {
  const std::string shard = shard_name(communicators_.rank());
  const SafetensorsFile file(folder + "/" + shard);
  require_header(index, folder, shard, file.header());
  const std::string remedy = fmt::format("remove {} to resume from the checkpoint before it", folder);
  std::vector<NamedTensor> tensors = checkpoint_tensors(parameters);
  if (lacks_kept(index, parameters)) tensors.resize(tensors.size() - parameters.kept().size());  // which come last
  for (NamedTensor& tensor : tensors) {
    const auto known = index.hashes.find(shard);
    const bool is_known = known != index.hashes.end() && known->second.count(tensor.name) > 0;
    if (!is_known || !file.has(tensor.name)) refuse(folder + "/" + shard, "tensor " + tensor.name + " is missing", remedy);
    if (hash_text(content_hash(file.bytes(tensor.name))) != known->second.at(tensor.name))
      refuse(folder + "/" + shard, "tensor " + tensor.name + " is damaged: its content has another hash than the index says", remedy);
    tensor.values.copy_(file.tensor(tensor.name));
  }
}

}  // namespace executor
