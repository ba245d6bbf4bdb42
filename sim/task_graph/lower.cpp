// Plan -> task graph. Each stage's program is written once (stage_program) and repeated for its devices; here the devices are tied together:
//
//   stage 0   [program]--Send----------+             folded: one device a stage, data and tensor groups live inside it
//   stage 1   [program]  +--> Receive -+...          unfolded: several devices a stage (fold.h), group members wait for each other (rendezvous)
#include <map>
#include <tuple>

#include "sim/task_graph/source_edges.h"
#include "sim/task_graph/stage_program.h"
#include "sim/task_graph/task_graph.h"
#include "sim/task_graph/task_graph_builder.h"
#include "sim/units/at.h"

namespace sim {
namespace {

class Lowering {
 public:
  Lowering(const ModelGraph& model, const ParallelPlan& plan, const Fold& fold)
      : model_(model),
        plan_(plan),
        fold_(fold),
        placement_(plan.placement()),
        shape_(plan.pipeline_shape()),
        data_(fold.data.classes(plan.mesh.copies())),
        tensor_(fold.tensor.classes(plan.mesh.tensor)) {}

  TaskGraph lower() && {
    write_stage_programs();
    place_devices();
    connect_pipeline();
    join_collectives();
    graph_.set_buckets(std::move(buckets_));
    graph_.set_fold(fold_);
    graph_.set_credit(plan_.credit_size);
    return std::move(graph_).freeze();
  }

 private:
  struct Classes {
    StageIndex stage;
    std::size_t data = 0, tensor = 0;
  };  // where a device stands
  struct Placed {
    Classes at;
    std::int32_t first_task;
  };

  const StageProgram& program(const Placed& placed) const { return programs_[placed.at.stage.position()]; }
  std::size_t lines() const { return data_.size() * tensor_.size(); }  // devices of a stage: one pipeline through all stages each
  void write_stage_programs();
  void place_devices();
  void place(const Classes& at);
  void connect_pipeline();
  void join_collectives();
  Classes first_of_experts(const Classes& at, MeshAxis axis) const;
  std::size_t transfer_slot(const TaskKey& key, bool sends) const;
  std::size_t num_told() const { return count_of(plan_.mesh.pipeline * 2); }
  std::size_t num_slots() const {
    return num_transfers() + num_told() + (plan_.direct_source ? num_told() * count_of(plan_.num_pieces()) : 0);
  }
  std::size_t num_transfers() const { return count_of(plan_.mesh.pipeline * plan_.chunks) * 2 * count_of(plan_.num_pieces()); }
  bool meets_others(const TaskKey& key, const Classes& at) const;
  // Data classes of one shard group: replicas of shards are folded together, or each rank stands alone (fold_of).
  std::size_t shards() const { return plan_.mesh.shards() == plan_.mesh.copies() ? data_.size() : count_of(plan_.mesh.shards()); }

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  const Fold& fold_;
  ChunkPlacement placement_;
  PipelineShape shape_;
  std::vector<IndexClass> data_, tensor_;
  TaskGraphBuilder graph_;
  std::vector<StageProgram> programs_;  // by stage
  std::vector<std::vector<Bucket>> buckets_;
  std::vector<Placed> placed_;
};

void Lowering::write_stage_programs() {
  for (StageIndex stage{0}; stage.value() < plan_.mesh.pipeline; ++stage) {
    buckets_.push_back(make_buckets(model_, plan_, stage));
    programs_.push_back(make_stage_program(model_, plan_, stage, buckets_.back()));
  }
  TaskGraphBuilder::Expected expected;
  for (const StageProgram& program : programs_) {
    expected.tasks += program.tasks.size() * lines();
    expected.edges += (program.edges.size() + count_of(2 * plan_.num_pieces() * plan_.chunks)) * lines();
  }
  graph_.reserve(expected);
}

void Lowering::place(const Classes& at) {
  const IndexClass &data = data_[at.data], &tensor = tensor_[at.tensor];
  const Rank rank = plan_.mesh.rank_of({.data = data.first, .stage = at.stage, .tensor = tensor.first});
  const DeviceId device = graph_.add_device({.representative = rank, .stage = at.stage, .multiplicity = data.size * tensor.size});
  placed_.push_back({at, graph_.num_tasks()});
  for (Task task : program(placed_.back()).tasks) {
    task.device = device;
    graph_.add_task(std::move(task));
  }
  const std::int32_t first = placed_.back().first_task;
  for (const auto& [before, after] : program(placed_.back()).edges) graph_.add_edge(TaskId(first + before), TaskId(first + after));
  for (const auto& [before, after] : program(placed_.back()).edges_between_steps)
    graph_.add_edge_between_steps(TaskId(first + before), TaskId(first + after));
}

void Lowering::place_devices() {
  for (StageIndex stage{0}; stage.value() < plan_.mesh.pipeline; ++stage)
    for (std::size_t data = 0; data < data_.size(); ++data)
      for (std::size_t tensor = 0; tensor < tensor_.size(); ++tensor) place({stage, data, tensor});
}

// A number for each transfer of one pipeline: (virtual stage that receives, direction, piece); behind them what stages tell each other of a
// step (stage that is told, before or after it), and what a source leaves (stage that reads it, direction, piece).
std::size_t Lowering::transfer_slot(const TaskKey& key, bool sends) const {
  if (key.phase == Phase::Step) {
    const std::int32_t onward = key.sequence == kBeforeStep ? 1 : -1, told = key.stage.value() + (sends ? onward : 0);
    return num_transfers() + count_of(told * 2 + key.sequence);
  }
  const std::int32_t virtual_stage = sim::virtual_stage(placement_, shape_, {key.stage, key.chunk});
  const bool forward = key.phase == Phase::Forward;
  if (is_of_source(key))
    return num_transfers() + num_told() + count_of(key.sequence * 2 + (forward ? 0 : 1)) * count_of(plan_.num_pieces()) +
           plan_.piece_of(key);
  const std::int32_t receiver = sends ? (forward ? virtual_stage + 1 : virtual_stage - 1) : virtual_stage;
  return (count_of(receiver) * 2 + (forward ? 0 : 1)) * count_of(plan_.num_pieces()) + plan_.piece_of(key);
}

void Lowering::connect_pipeline() {
  if (plan_.mesh.pipeline == 1) return;
  const std::size_t slots = num_slots();
  std::vector<TaskId> senders(slots * lines()), receivers(slots * lines());
  for (const Placed& placed : placed_) {
    const std::size_t line = placed.at.data * tensor_.size() + placed.at.tensor;
    const auto& tasks = program(placed).tasks;
    for (std::size_t at = 0; at < tasks.size(); ++at) {
      const Operation operation = tasks[at].key.operation;
      if (operation != Operation::Send && operation != Operation::Receive) continue;
      auto& side = operation == Operation::Send ? senders : receivers;
      side[line * slots + transfer_slot(tasks[at].key, operation == Operation::Send)] =
          TaskId(placed.first_task + static_cast<std::int32_t>(at));
    }
  }
  for (std::size_t slot = 0; slot < senders.size(); ++slot)
    if (senders[slot].exists()) graph_.pair(senders[slot], receivers[slot]);
}

// A group whose members are one device is inside it; the embedding and world groups span stages in any case.
// Experts, neighbours after forward: all ranks are folded, or each stands alone (fold_of). Ranks that share a sample are folded, or stand apart, together (fold_of).
bool Lowering::meets_others(const TaskKey& key, const Classes& at) const {
  switch (key.group) {
    case MeshAxis::Data:
    case MeshAxis::Replica: return data_.size() > 1 && is_communication(key.operation);
    case MeshAxis::ExpertData: return data_.size() > 1 || (plan_.mesh.cuts_experts_apart() && tensor_.size() > 1);
    case MeshAxis::ExpertTensor:
    case MeshAxis::Expert:
    case MeshAxis::Reshard:
    case MeshAxis::Distant:
    case MeshAxis::ContextInner:
    case MeshAxis::ContextOuter:
    case MeshAxis::Context: return data_[at.data].size == 1 && is_communication(key.operation);
    case MeshAxis::Tensor: return tensor_.size() > 1 && is_communication(key.operation);
    case MeshAxis::Embedding:
    case MeshAxis::World: return true;
    default: return false;
  }
}

// Of a group's first rank. Data ranks stand alone; tensor ranks, too, where experts are cut by a degree of their own (fold_of).
Lowering::Classes Lowering::first_of_experts(const Classes& at, MeshAxis axis) const {
  const DeviceMesh& mesh = plan_.mesh;
  const Rank here = mesh.rank_of({.data = data_[at.data].first, .stage = at.stage, .tensor = tensor_[at.tensor].first});
  const MeshCoordinate first = mesh.coordinate(Rank(mesh.of_experts(here, axis).first));
  return {at.stage, count_of(first.data), mesh.cuts_experts_apart() ? count_of(first.tensor) : at.tensor};
}

void Lowering::join_collectives() {
  std::map<std::tuple<MeshAxis, std::int32_t, std::size_t, std::size_t, std::size_t>, std::int32_t>
      meetings;  // (axis, stage, classes, position)
  for (const Placed& placed : placed_) {
    const auto& tasks = program(placed).tasks;
    for (std::size_t position = 0; position < tasks.size(); ++position) {
      const MeshAxis axis = tasks[position].key.group;
      if (!meets_others(tasks[position].key, placed.at)) continue;
      const bool spans_stages = axis == MeshAxis::Embedding || axis == MeshAxis::World;
      Classes first = placed.at;
      if (axis == MeshAxis::World) first.data = 0;
      if (axis == MeshAxis::Data) first.data -= first.data % shards();
      if (axis == MeshAxis::Replica) first.data %= shards();
      if (axis == MeshAxis::Context) first.data -= count_of(data_[placed.at.data].first % plan_.mesh.context);
      if (axis == MeshAxis::ContextInner) first.data -= count_of(data_[placed.at.data].first % plan_.mesh.context_inner);
      if (axis == MeshAxis::ContextOuter) {
        const std::int32_t place = data_[placed.at.data].first % plan_.mesh.context;
        first.data -= count_of(place - place % plan_.mesh.context_inner);
      }
      if (axis == MeshAxis::Reshard) first.data -= count_of(data_[placed.at.data].first % plan_.mesh.reshard);
      if (axis == MeshAxis::Distant) first.data -= placed.at.data % shards() / count_of(plan_.mesh.reshard) * count_of(plan_.mesh.reshard);
      if (axis == MeshAxis::Expert || axis == MeshAxis::ExpertData || axis == MeshAxis::ExpertTensor)
        first = first_of_experts(placed.at, axis);
      if (axis == MeshAxis::Tensor || axis == MeshAxis::World) first.tensor = 0;
      if (spans_stages) first.stage = StageIndex(0);
      const std::size_t of_stages = axis == MeshAxis::World ? count_of(tasks[position].key.sequence) : 0;  // a step's sums, and its maxima
      const auto [meeting, is_new] =
          meetings.try_emplace({axis, first.stage.value(), first.data, first.tensor, spans_stages ? of_stages : position}, 0);
      if (is_new) meeting->second = graph_.add_rendezvous();
      graph_.join(TaskId(placed.first_task + static_cast<std::int32_t>(position)), meeting->second);
    }
  }
}

}  // namespace

TaskGraph lower(const ModelGraph& model, const ParallelPlan& plan, const Fold& fold) { return Lowering(model, plan, fold).lower(); }

std::vector<Task> rank_slice(const TaskGraph& folded, const ParallelPlan& plan, Rank rank) {
  const StageIndex stage = plan.mesh.coordinate(rank).stage;
  std::vector<Task> slice;
  for (std::int32_t device = 0; device < static_cast<std::int32_t>(folded.devices().size()); ++device) {
    if (sim::at(folded.devices(), device).stage != stage) continue;
    for (const TaskId id : folded.issue_order(DeviceId(device))) slice.push_back(folded.task(id));
    return slice;
  }
  return slice;
}

}  // namespace sim
