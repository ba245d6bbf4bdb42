// Plan -> task graph. Each stage's program is written once (stage_program) and repeated for its devices; here the devices are tied together:
//
//   stage 0   [program]--Send----------+             folded: one device a stage, data and tensor groups live inside it
//   stage 1   [program]  +--> Receive -+...          unfolded: a device a rank, each group member waits for the others (rendezvous)
#include <map>
#include <tuple>

#include "sim/task_graph/stage_program.h"
#include "sim/task_graph/task_graph.h"
#include "sim/task_graph/task_graph_builder.h"

namespace sim {
namespace {

class Lowering {
 public:
  Lowering(const ModelGraph& model, const ParallelPlan& plan, Fold fold) : model_(model), plan_(plan), fold_(fold) {}

  TaskGraph lower() && {
    write_stage_programs();
    place_devices();
    connect_pipeline();
    join_collectives();
    graph_.set_buckets(std::move(buckets_));
    return std::move(graph_).freeze();
  }

 private:
  struct Placed { DeviceId device; StageIndex stage; Rank rank; std::int32_t first_task; };

  const StageProgram& program(const Placed& placed) const { return programs_[placed.stage.position()]; }
  void write_stage_programs();
  void place_devices();
  void place(Rank rank, std::int32_t multiplicity);
  void connect_pipeline();
  void join_collectives();
  std::size_t transfer_slot(const TaskKey& key, bool sends) const;

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  Fold fold_;
  TaskGraphBuilder graph_;
  std::vector<StageProgram> programs_;             // by stage
  std::vector<std::vector<Bucket>> buckets_;
  std::vector<Placed> placed_;
};

void Lowering::write_stage_programs() {
  for (StageIndex stage{0}; stage.value() < plan_.mesh.pipeline; ++stage) {
    buckets_.push_back(make_buckets(model_, plan_, stage));
    programs_.push_back(make_stage_program(model_, plan_, stage, buckets_.back()));
  }
  const std::size_t repeats = fold_ == Fold::Symmetric ? 1 : static_cast<std::size_t>(plan_.mesh.data * plan_.mesh.tensor);
  TaskGraphBuilder::Expected expected;
  for (const StageProgram& program : programs_) {
    expected.tasks += program.tasks.size() * repeats;
    expected.edges += (program.edges.size() + static_cast<std::size_t>(2 * plan_.num_microbatches() * plan_.chunks)) * repeats;
  }
  graph_.reserve(expected);
}

void Lowering::place(Rank rank, std::int32_t multiplicity) {
  const StageIndex stage = plan_.mesh.coordinate(rank).stage;
  const DeviceId device = graph_.add_device({.representative = rank, .stage = stage, .multiplicity = multiplicity});
  placed_.push_back({device, stage, rank, graph_.num_tasks()});
  for (Task task : program(placed_.back()).tasks) {
    task.device = device;
    graph_.add_task(std::move(task));
  }
  const std::int32_t first = placed_.back().first_task;
  for (const auto& [before, after] : program(placed_.back()).edges) graph_.add_edge(TaskId(first + before), TaskId(first + after));
}

void Lowering::place_devices() {
  const std::int32_t replicas = plan_.mesh.data * plan_.mesh.tensor;
  if (fold_ == Fold::Symmetric)
    for (StageIndex stage{0}; stage.value() < plan_.mesh.pipeline; ++stage) place(plan_.mesh.rank_of({.stage = stage}), replicas);
  else
    for (Rank rank{0}; rank.value() < plan_.mesh.ranks(); ++rank) place(rank, 1);
}

// A number for each transfer of one pipeline: (virtual stage that receives, direction, microbatch).
std::size_t Lowering::transfer_slot(const TaskKey& key, bool sends) const {
  const std::int32_t virtual_stage = key.chunk.value() * plan_.mesh.pipeline + key.stage.value();
  const bool forward = key.phase == Phase::Forward;
  const std::int32_t receiver = sends ? (forward ? virtual_stage + 1 : virtual_stage - 1) : virtual_stage;
  return (static_cast<std::size_t>(receiver) * 2 + (forward ? 0 : 1)) * static_cast<std::size_t>(plan_.num_microbatches()) + key.microbatch.position();
}

void Lowering::connect_pipeline() {
  if (plan_.mesh.pipeline == 1) return;
  const std::size_t slots = static_cast<std::size_t>(plan_.mesh.pipeline * plan_.chunks) * 2 * static_cast<std::size_t>(plan_.num_microbatches());
  const std::size_t lines = fold_ == Fold::Symmetric ? 1 : static_cast<std::size_t>(plan_.mesh.data * plan_.mesh.tensor);
  std::vector<TaskId> senders(slots * lines), receivers(slots * lines);
  for (const Placed& placed : placed_) {
    const std::size_t line = fold_ == Fold::Symmetric ? 0 : static_cast<std::size_t>(placed.rank.value() % (plan_.mesh.data * plan_.mesh.tensor));
    const auto& tasks = program(placed).tasks;
    for (std::size_t at = 0; at < tasks.size(); ++at) {
      const Operation operation = tasks[at].key.operation;
      if (operation != Operation::Send && operation != Operation::Receive) continue;
      auto& side = operation == Operation::Send ? senders : receivers;
      side[line * slots + transfer_slot(tasks[at].key, operation == Operation::Send)] = TaskId(placed.first_task + static_cast<std::int32_t>(at));
    }
  }
  for (std::size_t slot = 0; slot < senders.size(); ++slot)
    if (senders[slot].exists()) graph_.pair(senders[slot], receivers[slot]);
}

// Members of a group meet. Folded, a data or tensor group is inside one device; the embedding and world groups span stages in any case.
void Lowering::join_collectives() {
  std::map<std::tuple<MeshAxis, std::int32_t, std::size_t>, std::int32_t> meetings;   // (axis, group's first rank, position in the program)
  for (const Placed& placed : placed_) {
    const auto& tasks = program(placed).tasks;
    const MeshCoordinate at = plan_.mesh.coordinate(placed.rank);
    for (std::size_t position = 0; position < tasks.size(); ++position) {
      const MeshAxis axis = tasks[position].key.group;
      const bool spans_stages = axis == MeshAxis::Embedding || axis == MeshAxis::World;
      const bool inside_stage = axis == MeshAxis::Data || axis == MeshAxis::Tensor || axis == MeshAxis::Replica;
      if (!spans_stages && !(inside_stage && fold_ == Fold::None && is_communication(tasks[position].key.operation))) continue;
      MeshCoordinate first = at;
      if (axis == MeshAxis::World) first.data = 0;
      if (axis == MeshAxis::Data) first.data -= first.data % plan_.mesh.shards();
      if (axis == MeshAxis::Replica) first.data %= plan_.mesh.shards();
      if (axis == MeshAxis::Tensor || axis == MeshAxis::World) first.tensor = 0;
      if (spans_stages) first.stage = StageIndex(0);
      const auto [meeting, is_new] = meetings.try_emplace({axis, plan_.mesh.rank_of(first).value(), spans_stages ? 0 : position}, 0);
      if (is_new) meeting->second = graph_.add_rendezvous();
      graph_.join(TaskId(placed.first_task + static_cast<std::int32_t>(position)), meeting->second);
    }
  }
}

}  // namespace

TaskGraph lower(const ModelGraph& model, const ParallelPlan& plan, Fold fold) { return Lowering(model, plan, fold).lower(); }

std::vector<Task> rank_slice(const TaskGraph& folded, const ParallelPlan& plan, Rank rank) {
  const StageIndex stage = plan.mesh.coordinate(rank).stage;
  std::vector<Task> slice;
  for (std::int32_t device = 0; device < static_cast<std::int32_t>(folded.devices().size()); ++device) {
    if (folded.devices()[static_cast<std::size_t>(device)].stage != stage) continue;
    for (const TaskId id : folded.issue_order(DeviceId(device))) slice.push_back(folded.task(id));
    return slice;
  }
  return slice;
}

}  // namespace sim
