#include "gui/pages/key_list.h"

#include <gmock/gmock.h>

#include <QTextBrowser>

#include "gui/pages/actions.h"

namespace gui {
namespace {

TEST(KeyList, SaysTheKeysOfTimelinesAndOfActions) {
  QMainWindow window;
  Actions actions(&window);
  actions.add({"&File", "Do it", QKeySequence("Ctrl+J")}, [] {});
  showKeys(actions, &window);
  const auto* text = window.findChild<QTextBrowser*>();
  ASSERT_NE(text, nullptr);
  EXPECT_TRUE(text->toPlainText().contains("Ctrl+J"));
  EXPECT_TRUE(text->toPlainText().contains("W S zoom"));
}

}  // namespace
}  // namespace gui
