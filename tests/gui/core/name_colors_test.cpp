#include "gui/core/name_colors.h"

#include <gmock/gmock.h>

#include <set>

namespace gui {
namespace {

// A row of slices that are one after the other, of these lengths and names.
SliceRow rowOf(WorkKind kind, const std::vector<std::int64_t>& lengths) {
  SliceRow row{.stream = "s", .opens_device = true};
  std::int64_t at = 0;
  for (const std::int64_t length : lengths) {
    row.slices->start.push_back(at);
    row.slices->end.push_back(at += length);
    row.slices->kind.push_back(kind);
    row.slices->span.push_back(static_cast<std::uint32_t>(row.slices->span.size()));
  }
  return row;
}

TEST(NameColors, TheLongestHaveColorsOfTheirOwn) {
  std::vector<std::uint32_t> names;
  std::vector<std::int64_t> lengths;
  for (std::uint32_t name = 0; name < 20; ++name) names.push_back(name), lengths.push_back(10 + name);
  const std::vector<NameColor> colors = nameColors(TimelineCore({rowOf(WorkKind::Host, lengths)}), names);
  ASSERT_EQ(colors.size(), 9u);
  std::set<std::uint32_t> seen = {kOtherNames.value};
  for (std::size_t at = 0; at < colors.size(); ++at) {
    EXPECT_EQ(colors[at].name, 19 - at);
    EXPECT_TRUE(seen.insert(colors[at].color.value).second);
  }
}

TEST(NameColors, WhereThereIsADeviceTheHostIsOther) {
  SliceRow kernels = rowOf(WorkKind::Kernel, {5, 9});
  kernels.first = 0;
  SliceRow host = rowOf(WorkKind::Host, {100});
  host.slices->span = {2};
  const std::vector<NameColor> colors = nameColors(TimelineCore({host, kernels}), {0, 1, 2});
  ASSERT_EQ(colors.size(), 2u);
  EXPECT_EQ(colors[0].name, 1u);
  EXPECT_EQ(colors[1].name, 0u);
}

}  // namespace
}  // namespace gui
