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

}  // namespace gui
