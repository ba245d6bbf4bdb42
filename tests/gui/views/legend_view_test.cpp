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

}  // namespace
}  // namespace gui
