#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "sim/check/graph_rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

bool is_collective(const Task& task) {
  return is_communication(task.key.operation) && task.key.operation != Operation::Send && task.key.operation != Operation::Receive;
}

class CollectiveWatch {
 public:
  CollectiveWatch(const CheckedGraph& checked, Findings& findings) : checked_(checked), findings_(findings) {
    meetings_.resize(checked.graph.rendezvous_sizes().size());
    for (const Task& task : checked.graph.tasks()) {
      if (task.rendezvous < 0) continue;
      if (std::cmp_greater_equal(task.rendezvous, meetings_.size()))
        tell(task, "meets in an unknown place");
      else
        sim::at(meetings_, task.rendezvous).push_back(&task);
    }
  }

  void watch() {
    for (const Task& task : checked_.graph.tasks())
      if (is_collective(task))
        see_members(task);
      else if (task.rendezvous >= 0)
        tell(task, "is no collective, but waits for others like one");
    for (std::size_t at = 0; at < meetings_.size(); ++at) see_meeting(at);
    for (DeviceId device(0); device.position() < checked_.graph.devices().size(); ++device) see_order(device);
  }

 private:
  using Devices = std::vector<DeviceId>;
  void tell(const Task& task, std::string_view what) { findings_.add(fmt::format("{} {}", name_of(checked_.graph, task), what)); }

  // Folded, a group along data or tensor is inside its device.
  const Devices& group(DeviceId device, MeshAxis axis) {
    const auto [entry, is_new] = groups_.try_emplace({device, axis});
    if (!is_new) return entry->second;
    const auto devices = checked_.graph.devices();
    const std::vector<Rank> ranks = checked_.plan.group(devices[device.position()].representative, axis);
    for (DeviceId other(0); other.position() < devices.size(); ++other)
      if (std::binary_search(ranks.begin(), ranks.end(), devices[other.position()].representative)) entry->second.push_back(other);
    return entry->second;
  }

  void see_members(const Task& task) {
    const Devices& expected = group(task.device, task.key.group);
    Devices present;
    if (task.rendezvous >= 0 && std::cmp_less(task.rendezvous, meetings_.size()))
      for (const Task* member : sim::at(meetings_, task.rendezvous)) present.push_back(member->device);
    else
      present = {task.device};
    std::sort(present.begin(), present.end());
    if (present != expected) tell(task, fmt::format("meets {} devices instead of the {} of its group", present.size(), expected.size()));
  }

  void see_meeting(std::size_t at) {
    const std::vector<const Task*>& members = meetings_[at];
    if (static_cast<std::int32_t>(members.size()) != checked_.graph.rendezvous_sizes()[at])
      findings_.add(
          fmt::format("{} tasks meet in place {}, which waits for {}", members.size(), at, checked_.graph.rendezvous_sizes()[at]));
    for (const Task* member : members) {
      const Task& first = *members.front();
      if (member->key.operation != first.key.operation || member->key.group != first.key.group || member->key.phase != first.key.phase ||
          member->payload != first.payload)
        tell(*member, "meets " + to_text(first.key) + ", which is another collective");
    }
  }

  std::vector<std::int32_t> meetings_along(DeviceId device, MeshAxis axis) const {
    std::vector<std::int32_t> places;
    for (const TaskId id : checked_.graph.issue_order(device)) {
      const Task& task = checked_.graph.task(id);
      if (is_collective(task) && task.key.group == axis) places.push_back(task.rendezvous);
    }
    return places;
  }

  void see_order(DeviceId device) {
    for (const MeshAxis axis : {MeshAxis::Data, MeshAxis::Tensor, MeshAxis::Embedding, MeshAxis::World, MeshAxis::Replica,
                                MeshAxis::Context, MeshAxis::Expert, MeshAxis::ExpertData, MeshAxis::Reshard, MeshAxis::ExpertTensor,
                                MeshAxis::Distant, MeshAxis::ContextInner, MeshAxis::ContextOuter}) {
      const StageIndex stage = checked_.graph.devices()[device.position()].stage;
      if (axis == MeshAxis::Embedding && stage != StageIndex(0) && stage != checked_.plan.reader_stage()) continue;
      const Devices& members = group(device, axis);
      if (members.empty() || members.front() == device) continue;
      if (meetings_along(device, axis) != meetings_along(members.front(), axis))
        findings_.add(fmt::format("ranks {} and {} go through the collectives of their {} group in different orders",
                                  checked_.graph.devices()[members.front().position()].representative.value(),
                                  checked_.graph.devices()[device.position()].representative.value(), sim::at(kMeshAxisNames, axis)));
    }
  }

  const CheckedGraph& checked_;
  Findings& findings_;
  std::vector<std::vector<const Task*>> meetings_;
  std::map<std::pair<DeviceId, MeshAxis>, Devices> groups_;
};

}  // namespace

void check_collectives(const CheckedGraph& checked, Findings& findings) { CollectiveWatch(checked, findings).watch(); }

}  // namespace sim
