#include "gui/pages/actions.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(Actions, StandInTheirMenuWithTheirKey) {
  QMainWindow window;
  Actions actions(&window);
  int times = 0;
  actions.add({"&File", "&Do it", QKeySequence("Ctrl+J")}, [&] { ++times; })->trigger();
  actions.add({"&File", "Do more", QKeySequence("Ctrl+K")}, [] {});
  EXPECT_EQ(times, 1);
  ASSERT_EQ(window.menuBar()->actions().size(), 1);
  EXPECT_EQ(window.menuBar()->actions()[0]->menu()->actions().size(), 2);
  EXPECT_TRUE(actions.keyList().contains("Do it"));
  EXPECT_TRUE(actions.keyList().contains("Ctrl+K"));
}

}  // namespace
}  // namespace gui
