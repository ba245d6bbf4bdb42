#include "executor/training/checkpoint.h"

#include <ATen/ops/full.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "executor/training/content_hash.h"
#include "executor/training/refusal.h"
#include "executor/training/saved_state.h"
#include "sim/units/unit_text.h"

namespace executor {
namespace {

namespace fs = std::filesystem;

void flush_folder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

std::map<std::string, std::string> hashes_of(const std::vector<NamedTensor>& tensors) {
  std::map<std::string, std::string> hashes;
  for (const NamedTensor& tensor : tensors)
    hashes[tensor.name] = hash_text(content_hash({static_cast<const std::byte*>(tensor.values.data_ptr()), tensor.values.nbytes()}));
  return hashes;
}

std::vector<std::int64_t> saved_steps(const std::string& folder) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step_") && fs::exists(entry.path() / "index.json")) steps.push_back(std::stoll(name.substr(5)));
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::string step_folder(const std::string& folder, CompletedSteps steps) { return fmt::format("{}/step_{:08}", folder, steps.value); }

}  // namespace

Checkpoints::Checkpoints(std::string folder, const sim::ParallelPlan& plan, MeshCommunicators& communicators, FaultPoints& faults)
    : folder_(std::move(folder)), plan_(plan), communicators_(communicators), faults_(faults) {}

std::string Checkpoints::folder_of(CompletedSteps steps) const { return step_folder(folder_, steps); }
std::string Checkpoints::shard_name(sim::Rank rank) const { return fmt::format("rank_{}.safetensors", rank.value()); }

std::int64_t Checkpoints::sum_over_ranks(std::int64_t here) const {
  const at::Tensor sum = at::full({1}, here, at::kLong);
  communicators_.of(sim::MeshAxis::World).all_reduce(sum, ReduceOperation::Sum, {})->wait();
  return *sum.data_ptr<std::int64_t>();
}
bool Checkpoints::any_rank(bool here) const { return sum_over_ranks(here ? 1 : 0) > 0; }

void Checkpoints::require_space(std::int64_t bytes) const {
  const std::int64_t needed = sum_over_ranks(bytes);
  struct statvfs status {};
  const bool known = statvfs(folder_.c_str(), &status) == 0;
  const std::int64_t free = known ? static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize) : needed;
  if (!any_rank(free < needed)) return;
  refuse(folder_, fmt::format("a checkpoint takes {}, {} are free", sim::to_text(sim::Bytes(needed)), sim::to_text(sim::Bytes(free))),
         "free space on the disk, or name a run folder on another one; the checkpoints that exist are whole");
}

void Checkpoints::save(ParameterStore& parameters, const RunState& state) {
  const CompletedSteps steps = state.steps;
  const std::string aside = fmt::format("{}/.step_{:08}", folder_, steps.value);
  const bool leads = communicators_.rank() == sim::Rank(0);
  std::error_code error;
  if (leads) fs::create_directories(folder_, error);
  communicators_.of(sim::MeshAxis::World).barrier();
  std::vector<NamedTensor> tensors = checkpoint_tensors(parameters, plan_);
  for (NamedTensor& tensor : tensors) tensor.values = tensor.values.cpu();
  require_space(safetensors_bytes(tensors));
  if (leads) {
    fs::remove_all(aside, error);  // of a run that died here
    fs::create_directories(aside, error);
  }
  communicators_.of(sim::MeshAxis::World).barrier();
  faults_.reach(fmt::format("save.{}.begin", steps.value));
  std::string failure;
  try {
    const std::string shard = shard_name(communicators_.rank());
    write_safetensors(aside + "/" + shard, tensors);
    save_index({.state = state, .plan = plan_, .hashes = {{shard, hashes_of(tensors)}}}, aside + "/" + shard + ".json");
  } catch (const std::exception& problem) {
    failure = problem.what();
  }
  faults_.reach(fmt::format("save.{}.shards", steps.value));
  if (any_rank(!failure.empty())) {
    if (leads) fs::remove_all(aside, error);
    refuse(folder_, failure.empty() ? "another rank could not write its shard" : failure,
           "free space on the disk; the checkpoints that exist are whole");
  }
  if (leads) commit(state, aside);
  communicators_.of(sim::MeshAxis::World).barrier();
}

// One rank: joins the ranks' hashes into the index, then renames.
void Checkpoints::commit(const RunState& state, const std::string& aside) {
  const CompletedSteps steps = state.steps;
  CheckpointIndex index{.state = state, .plan = plan_, .hashes = {}};
  for (sim::Rank rank{0}; rank.value() < plan_.mesh.ranks(); ++rank) {
    const std::string part = aside + "/" + shard_name(rank) + ".json";
    index.hashes.merge(load_index(part).hashes);
    fs::remove(part);
  }
  save_index(index, aside + "/index.json");
  flush_folder(aside);
  faults_.reach(fmt::format("save.{}.index", steps.value));
  fs::remove_all(folder_of(steps));  // a damaged one of the same step
  fs::rename(aside, folder_of(steps));
  flush_folder(folder_);
  faults_.reach(fmt::format("save.{}.renamed", steps.value));
  const std::vector<std::int64_t> saved = saved_steps(folder_);
  const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(1, plan_.training.keep_last));
  for (std::size_t at = 0; at + kept < saved.size(); ++at) fs::remove_all(folder_of({saved[at]}));
}

std::string newest_checkpoint(const std::string& folder) {
  const std::vector<std::int64_t> steps = saved_steps(folder);
  if (steps.empty()) refuse(folder, "holds no complete checkpoint", "start without --resume, in a new folder");
  return step_folder(folder, {steps.back()});
}

RunState Checkpoints::load(ParameterStore& parameters) {
  const std::string folder = newest_checkpoint(folder_);
  const CheckpointIndex index = load_index(folder + "/index.json");
  const sim::PlanDifferences differences = sim::differences(index.plan, plan_);
  std::vector<sim::Violation> violations;
  for (const std::string& difference : differences.training)
    violations.push_back(
        {.where = difference.substr(0, difference.find(':')), .problem = difference, .remedy = "resume the training of the checkpoint"});
  if (!violations.empty()) throw sim::InputError(folder + "/index.json", violations);
  if (differences.layout.empty())
    load_own_shard(index, folder, parameters);
  else
    load_from_any_layout(index, folder, parameters);
  for (FlatBucket& bucket : parameters.buckets()) bucket.round_master();
  return index.state;
}

// A whole parameter at a time.
void Checkpoints::load_from_any_layout(const CheckpointIndex& index, const std::string& folder, ParameterStore& parameters) const {
  const SavedState saved(index, folder);
  for (const StatePart& part : state_parts(parameters, plan_))
    take_part(part.values, saved.whole(part.kind, saved.parameter(part.parameter->name)), TensorPart(*part.parameter, part.tensor),
              part.from);
}

void Checkpoints::load_own_shard(const CheckpointIndex& index, const std::string& folder, ParameterStore& parameters) const {
  const std::string shard = shard_name(communicators_.rank());
  const SafetensorsFile file(folder + "/" + shard);
  const std::string remedy = fmt::format("remove {} to resume from the checkpoint before it", folder);
  for (NamedTensor& tensor : checkpoint_tensors(parameters, plan_)) {
    const auto known = index.hashes.find(shard);
    const bool is_known = known != index.hashes.end() && known->second.count(tensor.name) > 0;
    if (!is_known || !file.has(tensor.name)) refuse(folder + "/" + shard, "tensor " + tensor.name + " is missing", remedy);
    if (hash_text(content_hash(file.bytes(tensor.name))) != known->second.at(tensor.name))
      refuse(folder + "/" + shard, "tensor " + tensor.name + " is damaged: its content has another hash than the index says", remedy);
    tensor.values.copy_(file.tensor(tensor.name));
  }
}

}  // namespace executor
