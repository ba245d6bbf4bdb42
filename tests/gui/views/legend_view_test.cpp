#include "gui/views/legend_view.h"

#include <gmock/gmock.h>

#include "gui/views/theme.h"
#include "tests/gui/views/pictures.h"

namespace gui {
namespace {

TEST(LegendView, ShowsEveryColor) {
  LegendView view;
  std::vector<WorkKind> kinds;
  for (const WorkKindLook& look : allWorkKinds()) kinds.push_back(look.kind);
  view.setKinds(kinds);
  view.resize(2600, 26);
  const QImage image = view.grab().toImage();
  for (const WorkKindLook& look : allWorkKinds()) EXPECT_GT(test::pixelsOf(image, colorOf(look.color)), 20) << look.name;
}

TEST(LegendView, TakesASecondLineWhereItIsNarrow) {
  LegendView view;
  view.resize(2000, 26);
  view.show();
  EXPECT_EQ(view.height(), 26);
  view.resize(500, 26);
  EXPECT_GT(view.height(), 26);
  const QImage image = view.grab().toImage();
  for (const WorkKind kind : planWorkKinds()) EXPECT_GT(test::pixelsOf(image, colorOf(lookOf(kind).color)), 20) << lookOf(kind).name;
}

}  // namespace
}  // namespace gui
