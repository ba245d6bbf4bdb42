// The state of a run on disk: safetensors shards, one a rank, and an index with a content hash of each tensor.
//
//   checkpoints/  .step_00000020/  being written      step_00000010/  rank_0.safetensors ... index.json
//
// Copied at the end of a step, written aside and flushed by a thread while training goes on, committed by renaming the folder: a checkpoint is
// complete or not there. Every strategy saves the same: each data rank its shard of weights and moments. Counter-based numbers make the step
// (and fp16's loss scale, and delayed scales) all the other state there is, so a run resumes bitwise; under another layout, with the same bits of
// state, but for what a codec of the wire has kept, which is of one rank and its buckets. All that a resume reads is under a hash: tensors, the
// headers of their files, the index with its plan. The folder's name is that of the step in the index.
//
//   step 10 | copy | step 11 | step 12: all say "written" | step 13            begin_save() takes the copy alone
//                  [.... write, hash, flush ....]         [rename]             in threads
#pragma once

#include <future>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/communication/mesh_communicators.h"
#include "executor/training/fault_points.h"
#include "executor/training/loss_scale.h"
#include "executor/training/parameter_store.h"
#include "executor/training/safetensors.h"
#include "executor/training/snapshot.h"

namespace executor {

struct CompletedSteps {
  std::int64_t value = 0;
};
struct SampleCount {
  std::int64_t value = 0;
};

// What goes on beside weights and moments.
struct RunState {
  CompletedSteps steps;
  LossScaleState loss_scale;
  std::optional<SampleCount> samples{};  // trained on so far; a checkpoint of the first format: steps times its plan's batch
  std::string data{};                    // fingerprint() of the token file; empty: not known
  std::vector<float> scale_history{};    // ScaleHistory::saved(); none: scales are of the step itself
  std::vector<std::string> changes{};    // of a loaded one: settings of the training that are others now, and what begins anew
};

struct CheckpointIndex {
  RunState state;
  sim::ParallelPlan plan;
  std::map<std::string, std::map<std::string, std::string>> hashes;  // by file, by tensor
  std::map<std::string, std::string> headers{};                      // by file; none in a checkpoint of the first format
};
void save_index(const CheckpointIndex& index, const std::string& path);
CheckpointIndex load_index(const std::string& path);               // throws sim::InputError: another format, or damaged
CheckpointIndex load_checkpoint_index(const std::string& folder);  // the same, of a step's folder; its name must be the step's
// Throws sim::InputError: the header of this file of the checkpoint is another than the one that was written.
void require_header(const CheckpointIndex& index, const std::string& folder, const std::string& file, std::string_view header);

std::vector<std::int64_t> saved_steps(const std::string& folder);  // of the complete ones, ascending
std::string step_folder(const std::string& folder, CompletedSteps steps);

// The folder of the newest complete one. Throws sim::InputError: there is none.
std::string newest_checkpoint(const std::string& folder);

class Checkpoints {
 public:
  Checkpoints(std::string folder, const sim::ParallelPlan& plan, MeshCommunicators& communicators, FaultPoints& faults);

  // Collective: throws sim::InputError on every rank if the disk has no space for these tensors of each. Asked before the first step, too, not
  // only when hours are to be saved. The folder itself may not be there yet.
  void require_space(std::span<const NamedTensor> tensors) const;
  // Collective over all ranks: copies the state and begins to write it, once the save before is done. Throws sim::InputError on every rank if
  // the disk has no space for it; checkpoints that exist stay as they are.
  void begin_save(ParameterStore& parameters, const RunState& state);
  // What a rank tells the others in each step's sums, and what it does with their answer at the step's end. Throws what a thread could not do.
  bool has_written() const;
  void end_step(bool all_have_written);
  // Collective: until what was begun is there.
  void finish_save();
  void save(ParameterStore& parameters, const RunState& state) {
    begin_save(parameters, state);
    finish_save();
  }
  // The newest one, written under this layout or any other. Throws sim::InputError: none, of another training (naming the field), or damaged
  // (naming the tensor). Own shards only: gather afterwards.
  RunState load(ParameterStore& parameters);

 private:
  void load_own_shard(const CheckpointIndex& index, const std::string& folder, ParameterStore& parameters) const;
  bool lacks_kept(const CheckpointIndex& index, const ParameterStore& parameters) const;  // of codecs, in this rank's shard
  void load_from_any_layout(const CheckpointIndex& index, const std::string& folder, ParameterStore& parameters) const;
  std::string write_shard() const;  // in a thread; returns what went wrong
  void commit() const;              // in a thread of rank 0
  void begin_commit();              // collective
  bool leads() const { return communicators_.rank() == sim::Rank(0); }
  bool any_rank(bool here) const;
  std::int64_t sum_over_ranks(std::int64_t here) const;
  std::string aside() const;
  static std::string shard_name(sim::Rank rank);

  std::string folder_;
  const sim::ParallelPlan& plan_;
  MeshCommunicators& communicators_;
  FaultPoints& faults_;
  Snapshot snapshot_;
  RunState saving_;                   // what the snapshot is of
  bool commits_ = false;              // on every rank: rank 0 renames, or has renamed
  std::future<std::string> writing_;  // a future's end waits for its thread: they come last
  std::future<void> committing_;
};

// Packed frozen weights are no part of it, as PEFT saves adapters alone: they are made again from the seed, or of the weights that the run began with.
//
// This rank's shard as tensors: "weight:layers.0.mlp.up.weight", with "@t1:0-4096" where only a part of the parameter (elements of tensor
// rank 1's part) is here; "@t1e2:0-4096" where experts are dealt out, those of expert rank 2. Weights are what the optimizer steps: of 16-bit ones the fp32 masters.
// Views of the buckets: loading copies into them.
struct StatePart {
  // "weight", "moment1", "moment2"; of moments in 8 bit also "scale1", "scale2", one number a block. Of the scale of a batch norm its "running_mean" and
  // "running_variance".
  std::string_view kind;
  const sim::Parameter* parameter = nullptr;
  TensorPosition tensor;
  FirstElement from;          // of this tensor rank's part
  std::int64_t elements = 0;  // of the parameter that it is of
  at::Tensor values;          // flat
};
std::vector<StatePart> state_parts(ParameterStore& parameters);
// The other layout's codes and scales of the same elements, one scale each: blocks that are the same here keep every bit, others are scaled anew.
struct CodesElsewhere {
  at::Tensor codes, scales;
};
void put_codes(const StatePart& codes, const at::Tensor& scales, const CodesElsewhere& from);
NamedTensor named(const StatePart& part);
std::vector<NamedTensor> checkpoint_tensors(ParameterStore& parameters);

}  // namespace executor
