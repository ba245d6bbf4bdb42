#include <ATen/ops/full.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "executor/training/checkpoint.h"
#include "executor/training/content_hash.h"
#include "executor/training/refusal.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace executor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFreeSpace = "free space on the disk; the checkpoints that exist are whole";

void flush_folder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

// Invisible first: a checkpoint is never seen with some of its files.
void remove_whole(const std::string& folder) {
  const std::string hidden = fs::path(folder).parent_path().string() + "/.removed";
  std::error_code error;
  fs::rename(folder, hidden, error);
  fs::remove_all(hidden, error);
}

// Of a run that died while it wrote or removed.
void remove_hidden(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(".")) fs::remove_all(entry.path(), error);
}

std::map<std::string, std::string> hashes_of(const std::vector<NamedTensor>& tensors) {
  std::map<std::string, std::string> hashes;
  for (const NamedTensor& tensor : tensors)
    hashes[tensor.name] = hash_text(content_hash({static_cast<const std::byte*>(tensor.values.data_ptr()), tensor.values.nbytes()}));
  return hashes;
}

template <class Value>
bool is_ready(const std::future<Value>& job) {
  return job.valid() && job.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

std::string Checkpoints::aside() const { return fmt::format("{}/.step_{:08}", folder_, saving_.steps.value); }

std::int64_t Checkpoints::sum_over_ranks(std::int64_t here) const {
  const at::Tensor sum = at::full({1}, here, at::kLong);
  communicators_.of(sim::MeshAxis::World).all_reduce(sum, ReduceOperation::Sum, {})->wait();
  return *sum.data_ptr<std::int64_t>();
}
bool Checkpoints::any_rank(bool here) const { return sum_over_ranks(here ? 1 : 0) > 0; }

void Checkpoints::require_space(std::span<const NamedTensor> tensors) const {
  const std::int64_t needed = sum_over_ranks(safetensors_bytes(tensors));
  struct statvfs status {};
  const bool known = statvfs(folder_.c_str(), &status) == 0 || statvfs(fs::path(folder_).parent_path().c_str(), &status) == 0;
  const std::int64_t free = known ? static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize) : needed;
  if (!any_rank(free < needed)) return;
  refuse(folder_, fmt::format("a checkpoint takes {}, {} are free", sim::to_text(sim::Bytes(needed)), sim::to_text(sim::Bytes(free))),
         "free space on the disk, or name a run folder on another one; the checkpoints that exist are whole");
}

void Checkpoints::begin_save(ParameterStore& parameters, const RunState& state) {
  finish_save();
  saving_ = state;
  saving_.scale_history = parameters.scale_history().saved();
  std::error_code error;
  if (leads()) {
    fs::create_directories(folder_, error);
    remove_hidden(folder_);
  }
  communicators_.of(sim::MeshAxis::World).barrier();
  const std::vector<NamedTensor> tensors = checkpoint_tensors(parameters);
  require_space(tensors);
  if (leads()) fs::create_directories(aside(), error);
  communicators_.of(sim::MeshAxis::World).barrier();
  faults_.reach(fmt::format("save.{}.begin", state.steps.value));
  snapshot_.take(tensors);
  faults_.reach(fmt::format("save.{}.copied", state.steps.value));
  writing_ = std::async(std::launch::async, [this] { return write_shard(); });
}

std::string Checkpoints::write_shard() const try {
  const std::string shard = shard_name(communicators_.rank());
  write_safetensors(aside() + "/" + shard, snapshot_.tensors());
  faults_.reach(fmt::format("save.{}.tensors", saving_.steps.value));
  const std::string header = safetensors_header(snapshot_.tensors());
  save_index({.state = saving_,
              .plan = plan_,
              .hashes = {{shard, hashes_of(snapshot_.tensors())}},
              .headers = {{shard, hash_text(content_hash(std::as_bytes(std::span(header))))}}},
             aside() + "/" + shard + ".json");
  faults_.reach(fmt::format("save.{}.shards", saving_.steps.value));
  return {};
} catch (const std::exception& problem) {
  return problem.what();
}

bool Checkpoints::has_written() const { return is_ready(writing_); }

void Checkpoints::end_step(bool all_have_written) {
  if (all_have_written) begin_commit();
  if (is_ready(committing_)) committing_.get();
}

void Checkpoints::begin_commit() {
  const std::string failure = writing_.get();
  if (any_rank(!failure.empty())) {
    if (leads()) remove_hidden(folder_);
    refuse(folder_, failure.empty() ? "another rank could not write its shard" : failure, std::string(kFreeSpace));
  }
  commits_ = true;
  if (leads()) committing_ = std::async(std::launch::async, [this] { commit(); });
}

void Checkpoints::finish_save() {
  if (writing_.valid()) begin_commit();
  if (!std::exchange(commits_, false)) return;
  if (committing_.valid()) committing_.get();
  communicators_.of(sim::MeshAxis::World).barrier();
}

// Joins the ranks' hashes into the index, then renames.
void Checkpoints::commit() const {
  CheckpointIndex index{.state = saving_, .plan = plan_, .hashes = {}};
  for (sim::Rank rank{0}; rank.value() < plan_.mesh.ranks(); ++rank) {
    const std::string part = aside() + "/" + shard_name(rank) + ".json";
    CheckpointIndex of_rank = load_index(part);
    index.hashes.merge(of_rank.hashes);
    index.headers.merge(of_rank.headers);
    fs::remove(part);
  }
  save_index(index, aside() + "/index.json");
  flush_folder(aside());
  faults_.reach(fmt::format("save.{}.index", saving_.steps.value));
  remove_whole(step_folder(folder_, saving_.steps));  // a damaged one of the same step
  fs::rename(aside(), step_folder(folder_, saving_.steps));
  flush_folder(folder_);
  faults_.reach(fmt::format("save.{}.renamed", saving_.steps.value));
  const std::vector<std::int64_t> saved = saved_steps(folder_);
  const auto kept = sim::count_of(std::max<std::int64_t>(1, plan_.training.keep_last));
  for (std::size_t at = 0; at + kept < saved.size(); ++at) remove_whole(step_folder(folder_, {saved[at]}));
  faults_.reach(fmt::format("save.{}.removed", saving_.steps.value));
}

}  // namespace executor
