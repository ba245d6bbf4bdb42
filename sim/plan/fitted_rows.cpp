#include "sim/plan/fitted_rows.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sim {

std::vector<std::vector<std::size_t>> fitted_rows(std::span<const std::int64_t> lengths, std::int64_t row) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t document) { return lengths[document]; });
  std::vector<std::vector<std::size_t>> rows;
  std::multimap<std::int64_t, std::size_t> rooms;  // what is left of a row
  for (const std::size_t document : order) {
    const std::int64_t length = lengths[document];
    auto place = rooms.lower_bound(length);
    if (place == rooms.end()) {
      place = rooms.emplace(row, rows.size());
      rows.emplace_back();
    }
    const auto [room, filled] = *place;
    rooms.erase(place);
    rows[filled].push_back(document);
    if (room > length) rooms.emplace(room - length, filled);
  }
  return rows;
}

}  // namespace sim
