#include "sim/task_graph/fold.h"

#include <algorithm>

namespace sim {
namespace {

// The lowest index that does not stand apart; the degree when none is left.
std::int32_t first_of_rest(const std::vector<std::int32_t>& apart) {
  std::int32_t first = 0;
  for (const std::int32_t index : apart) first += index == first ? 1 : 0;
  return first;
}

}  // namespace

std::vector<IndexClass> AxisFold::classes(std::int32_t degree) const {
  std::vector<IndexClass> found;
  if (all_apart)
    for (std::int32_t index = 0; index < degree; ++index) found.push_back({index, 1});
  if (all_apart) return found;
  for (const std::int32_t index : apart) found.push_back({index, 1});
  const std::int32_t rest = degree - static_cast<std::int32_t>(apart.size());
  if (rest > 0) found.push_back({first_of_rest(apart), rest});
  std::sort(found.begin(), found.end(), [](const IndexClass& a, const IndexClass& b) { return a.first < b.first; });
  return found;
}

std::int32_t AxisFold::class_of(std::int32_t index) const {
  if (all_apart) return index;
  const std::int32_t rest = first_of_rest(apart);
  if (!std::binary_search(apart.begin(), apart.end(), index)) return rest;  // all below the rest's first stand apart
  const auto below = static_cast<std::int32_t>(std::lower_bound(apart.begin(), apart.end(), index) - apart.begin());
  return below + (rest < index ? 1 : 0);
}

std::int32_t AxisFold::num_classes(std::int32_t degree) const {
  const auto alone = static_cast<std::int32_t>(apart.size());
  return all_apart || alone == degree ? degree : alone + 1;
}

DeviceId device_of(const Fold& fold, const DeviceMesh& mesh, Rank rank) {
  const MeshCoordinate at = mesh.coordinate(rank);
  const std::int32_t data = at.stage.value() * fold.data.num_classes(mesh.copies()) + fold.data.class_of(at.data);
  return DeviceId(data * fold.tensor.num_classes(mesh.tensor) + fold.tensor.class_of(at.tensor));
}

}  // namespace sim
