#include "gui/core/name_colors.h"

#include <algorithm>
#include <array>

#include "gui/core/slice_statistics.h"

namespace gui {
namespace {

constexpr std::array kMuted = std::to_array<Rgb>(
    {{0xffcc6677}, {0xff332288}, {0xffddcc77}, {0xff117733}, {0xff88ccee}, {0xff882255}, {0xff44aa99}, {0xff999933}, {0xffaa4499}});

std::vector<bool> namesOfDevices(const TimelineCore& core, const std::vector<std::uint32_t>& name_of_span) {
  std::vector<bool> names;
  for (const SliceRow& row : core.rows())
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (row.slices->kind[at] == WorkKind::Host) continue;
      const std::uint32_t name = name_of_span[row.slices->span[at]];
      if (name >= names.size()) names.resize(name + 1);
      names[name] = true;
    }
  return names;
}

}  // namespace

std::vector<NameColor> nameColors(const TimelineCore& core, const std::vector<std::uint32_t>& name_of_span) {
  std::vector<SliceStatistics> sums = statisticsOf(core, core.range(), name_of_span);
  if (const std::vector<bool> on_device = namesOfDevices(core, name_of_span); !on_device.empty())
    std::erase_if(sums, [&](const SliceStatistics& one) { return one.name >= on_device.size() || !on_device[one.name]; });
  std::stable_sort(sums.begin(), sums.end(), [](const SliceStatistics& a, const SliceStatistics& b) { return a.self > b.self; });
  std::vector<NameColor> colors;
  for (std::size_t at = 0; at < std::min(sums.size(), kMuted.size()); ++at) colors.push_back({sums[at].name, kMuted[at]});
  return colors;
}

}  // namespace gui
