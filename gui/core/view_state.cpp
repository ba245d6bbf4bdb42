#include "gui/core/view_state.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gui {
namespace {

std::int32_t placeOn(GroupBy axis, const sim::MeshCoordinate& at) {
  switch (axis) {
    case GroupBy::Stage: return at.stage.value();
    case GroupBy::Data: return at.data;
    case GroupBy::Tensor: return at.tensor;
    default: return 0;
  }
}

}  // namespace

std::vector<std::size_t> deviceOrder(std::span<const sim::GraphDevice> devices, const sim::DeviceMesh& mesh, const ViewState& state) {
  std::vector<std::size_t> order(devices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](std::size_t device) {
    const sim::Rank rank = devices[device].representative;
    return std::tuple(!state.pinned.contains(rank.value()), placeOn(state.group, mesh.coordinate(rank)), device);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

std::vector<DeviceGroup> groupsOf(std::span<const std::size_t> order, std::span<const sim::GraphDevice> devices,
                                  const sim::DeviceMesh& mesh, const ViewState& state) {
  const GroupBy axis = state.group == GroupBy::Rank ? GroupBy::Stage : state.group;
  std::vector<DeviceGroup> groups;
  for (const std::size_t device : order) {
    const sim::Rank rank = devices[device].representative;
    if (state.pinned.contains(rank.value())) continue;
    const std::int32_t place = placeOn(axis, mesh.coordinate(rank));
    auto group = std::find_if(groups.begin(), groups.end(), [&](const DeviceGroup& one) { return one.place == place; });
    if (group == groups.end()) group = groups.insert(groups.end(), {place, {}});
    group->devices.push_back(device);
  }
  return groups;
}

}  // namespace gui
