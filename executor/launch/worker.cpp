#include "executor/launch/worker.h"

#include <ATen/Context.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "executor/launch/memory_snapshot.h"
#include "executor/launch/out_of_memory.h"
#include "executor/launch/run_versions.h"
#include "executor/launch/stop_request.h"
#include "executor/training/adapter_files.h"
#include "executor/training/hugging_face.h"
#include "executor/training/hugging_face_files.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace executor {
namespace {

constexpr std::string_view kNote = "note: ";       // what the program that started the ranks shows, too
constexpr TraceRecorder::Steps kTracedSteps{256};  // the last ones of a run

// Time zero of the job: rank 0's clock, which ranks of one host share.
std::chrono::steady_clock::time_point common_origin(MeshCommunicators& communicators) {
  using Clock = std::chrono::steady_clock;
  const at::Tensor origin = at::full({1}, static_cast<std::int64_t>(Clock::now().time_since_epoch().count()), at::kLong);
  communicators.of(sim::MeshAxis::World).broadcast(origin, 0, {})->wait();
  return Clock::time_point(Clock::duration(*origin.data_ptr<std::int64_t>()));
}

sim::TokenType token_type_of(const WorkerOptions& options) {
  return static_cast<sim::TokenType>(std::ranges::find(sim::kTokenTypeNames, options.token_type) - std::begin(sim::kTokenTypeNames));
}

std::string folder_of(const std::string& weights) {
  namespace fs = std::filesystem;
  return fs::is_directory(weights) ? weights : fs::path(weights).parent_path().string();
}

FaultPoints faults_of(const WorkerOptions& options, sim::Rank rank) {
  return rank == options.kill_rank ? FaultPoints(options.kill_at) : FaultPoints();
}

std::optional<GraphRecorder> graph_of(const WorkerOptions& options, const sim::ParallelPlan& plan, const sim::ModelGraph& model,
                                      const DeviceChoice& choice, sim::Rank rank) {
  if (!options.cuda_graphs) return std::nullopt;
  const auto refused = why_no_graph(plan, sim::rank_slice(sim::lower(model, plan), plan, rank),
                                    {.device = choice.device, .is_joined_by_nccl = choice.joint == Joint::Nccl});
  if (!refused.empty()) throw sim::InputError(options.plan, refused);
  return cuda_graph(choice.device);
}

}  // namespace

sim::ParallelPlan load_runnable_plan(const std::string& path) {
  sim::ParallelPlan plan = sim::load_plan(path);
  const std::vector<sim::Violation> refused = sim::why_not_runnable(plan);
  if (!refused.empty()) throw sim::InputError(path, refused);
  return plan;
}

Worker::Worker(const WorkerOptions& options, sim::ParallelPlan plan, const DeviceChoice& choice, const Transport& transport)
    : options_(options),
      device_(choice.device),
      plan_(std::move(plan)),
      model_(sim::make_model_graph(plan_)),
      data_(options.data, plan_.workload.sequence, token_type_of(options), whole_documents(plan_)),
      communicators_(plan_.mesh, transport),
      heartbeat_(options.out, communicators_.rank()),
      waits_reported_(transport.mpi, heartbeat_),
      faults_(faults_of(options, communicators_.rank())),
      graph_(graph_of(options, plan_, model_, choice, communicators_.rank())),
      parameters_(model_, plan_, communicators_.rank(), device_),
      recorder_(kTracedSteps, common_origin(communicators_), device_),
      runner_(model_, plan_, communicators_, parameters_,
              {.recorder = &recorder_, .heartbeat = &heartbeat_, .faults = &faults_, .graph = graph_}),
      checkpoints_(options.out + "/checkpoints", plan_, communicators_, faults_) {
  at::globalContext().setFloat32MatmulPrecision(plan_.workload.precision.compute() == sim::Precision::Tf32 ? "high" : "highest");
  heartbeat_.begin_activity("reading the data");
  data_.check_vocabulary(plan_.model.vocabulary, {.part = rank().value(), .of = plan_.mesh.ranks()});
  prepare();
  if (!options_.no_checkpoint) checkpoints_.require_space(checkpoint_tensors(parameters_));
  if (rank() != sim::Rank(0)) return;
  sim::save_text_file(run_versions(choice), options.out + "/versions.worker.json");
  if (const std::string kept = options.out + "/plan.json"; options.plan != kept)
    sim::save_plan(plan_, kept);  // started by a scheduler's script
  report_ = std::make_unique<StepReport>(options.out + "/metrics.ndjson", start_, CompletedSteps{options.steps});
}

void Worker::prepare() {
  if (rank() == sim::Rank(0) && plan_.model.convolution)
    fmt::print(stderr, "{}images are made up, each of its sample's number and label; the tokens of {} are the labels\n", kNote,
               options_.data);
  if (!options_.resume && !options_.weights.empty()) {
    heartbeat_.begin_activity("loading weights");
    if (rank() == sim::Rank(0)) copy_tokenizer(folder_of(options_.weights), options_.out + "/tokenizer");
    if (rank() == sim::Rank(0) && plan_.model.adapters) keep_base(options_.out, options_.weights);
    return load_hugging_face(parameters_, model_, options_.weights);
  }
  if (!options_.resume) {
    heartbeat_.begin_activity("making initial weights");
    return parameters_.fill_initial_values();
  }
  heartbeat_.begin_activity("loading the checkpoint");
  resume();
}

// What no checkpoint holds.
void Worker::make_packed_weights() {
  if (std::ranges::none_of(parameters_.buckets(), &FlatBucket::is_packed)) return;
  const std::string base = base_of_run(options_.out);
  base.empty() ? parameters_.fill_initial_values() : load_hugging_face(parameters_, model_, base);
}

void Worker::resume() {
  make_packed_weights();
  const RunState saved = checkpoints_.load(parameters_);
  start_ = saved.steps;
  shift_ = {saved.samples->value - start_.value * plan_.workload.global_batch};
  runner_.optimizer().set_loss_scale(saved.loss_scale);
  runner_.gather_whole_state();
  if (rank() != sim::Rank(0)) return;
  for (const std::string& change : saved.changes) fmt::print(stderr, "{}from step {} on {}\n", kNote, start_.value + 1, change);
  if (!saved.data.empty() && saved.data != data_.fingerprint())
    fmt::print(stderr, "{}from step {} on other tokens than before: {} has another content\n", kNote, start_.value + 1, options_.data);
}

bool Worker::is_checkpoint_due(CompletedSteps done) const {
  if (options_.no_checkpoint) return false;
  const std::int64_t interval = plan_.training.checkpoint_interval;
  return done.value == options_.steps || summary_.stop_requested || (interval > 0 && done.value % interval == 0);
}

// All ranks see the same sums, so all end here. What is on disk is from before.
void Worker::require_finite(CompletedSteps done) const {
  constexpr double kNoScale = 1.0;
  if (std::isfinite(summary_.loss) && summary_.skipped && summary_.loss_scale <= kNoScale)
    throw sim::InputError(options_.plan, {{.where = "/workload/precision",
                                           .problem = fmt::format("step {}: gradients overflow fp16 without any loss scale", done.value),
                                           .remedy = "train in bf16, or use a lower learning rate; the checkpoints are from before"}});
  if (std::isfinite(summary_.loss) && (summary_.skipped || std::isfinite(summary_.gradient_norm))) return;
  throw sim::InputError(options_.plan, {{.where = "/training/learning_rate",
                                         .problem = fmt::format("step {}: loss {} and gradient norm {} are no numbers any more", done.value,
                                                                summary_.loss, summary_.gradient_norm),
                                         .remedy = "use a lower learning rate or more warm-up; the checkpoints are from before"}});
}

void Worker::one_step(CompletedSteps done) {
  summary_ = runner_.run_step(load_batch(data_, plan_, rank(), done.value - 1, shift_),
                              {.stop = stop_requested(), .has_written = checkpoints_.has_written()});
  require_finite(done);
  if (report_) {
    const auto tokens = static_cast<double>(plan_.workload.global_batch * plan_.workload.sequence);
    report_->add({.steps = done,
                  .summary = summary_,
                  .learning_rate = learning_rate(plan_.training, {done.value - 1}),
                  .time = recorder_.duration(),
                  .tokens_per_second = tokens / sim::to_seconds(recorder_.duration()).count(),
                  .memory = recorder_.memory()});
  }
  checkpoints_.end_step(summary_.saved);
  if (!is_checkpoint_due(done)) return;
  runner_.settle();
  heartbeat_.begin_activity("copying the state for a checkpoint");
  checkpoints_.begin_save(parameters_, {.steps = done,
                                        .loss_scale = runner_.optimizer().loss_scale(),
                                        .samples = SampleCount{done.value * plan_.workload.global_batch + shift_.value},
                                        .data = data_.fingerprint()});
  heartbeat_.begin_activity("writing the trace");
  write_trace();  // with every checkpoint: who watches the run sees its tasks, and a crash leaves them
}

void Worker::guarded_step(CompletedSteps done) try { one_step(done); } catch (const c10::OutOfMemoryError& error) {
  throw sim::InputError(
      options_.plan,
      {out_of_memory(
          {.plan = plan_, .parameters = parameters_, .memory = device_memory(device_), .words = error.what_without_backtrace()})});
}

RunEnd Worker::run() {
  if (!options_.memory_snapshot.empty()) start_memory_history(device_);
  for (CompletedSteps done{start_.value + 1}; done.value <= options_.steps && !summary_.stop_requested; ++done.value) guarded_step(done);
  heartbeat_.begin_activity("writing a checkpoint");
  checkpoints_.finish_save();
  if (options_.no_checkpoint) write_trace();
  if (report_) report_->finish();
  if (!options_.memory_snapshot.empty()) write_memory_snapshot(options_.memory_snapshot);
  heartbeat_.begin_activity("ended");
  return summary_.stop_requested ? RunEnd::Interrupted : RunEnd::Completed;
}

void Worker::write_trace() {
  sim::write_rank_trace(
      {.rank = rank(), .plan_hash = sim::plan_hash(plan_), .clock_offset = {}, .steps = recorder_.steps(), .mesh = plan_.mesh},
      options_.out + "/" + sim::trace_file_name(rank()));
}

}  // namespace executor
