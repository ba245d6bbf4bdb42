#include <QComboBox>

#include "gui/pages/memory_page.h"
#include "gui/pages/table_panel.h"
#include "gui/views/memory_view.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using MemoryJourney = Journey;

TEST_F(MemoryJourney, AMomentListsWhatIsAlive) {
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+3");
  QTest::qWait(10);
  MemoryView* view = window_.memoryPage()->view();
  const sim::SimTime early = window_.session()->plan()->result.step_time / 20;
  QTest::mouseClick(view, Qt::LeftButton, {}, QPoint(static_cast<int>(view->xOf(early)), view->height() / 2));
  waitForAll();
  const auto before = window_.memoryPage()->alive()->table().rows.size();
  picture("memory");
  key(view, Qt::Key_P);
  waitForAll();
  EXPECT_GT(before, 2u);
  window_.memoryPage()->order()->setCurrentIndex(1);
  waitForAll();
  EXPECT_GT(view->numStripes(), 20u);
  picture("memory_layers");
  window_.memoryPage()->order()->setCurrentIndex(0);
  waitForAll();
  EXPECT_GE(window_.memoryPage()->alive()->table().rows.size(), 3u);
}

}  // namespace
}  // namespace gui::test
