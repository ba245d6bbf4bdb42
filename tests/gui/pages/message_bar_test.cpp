#include "gui/pages/message_bar.h"

#include <gmock/gmock.h>

#include "gui/views/theme.h"

namespace gui {
namespace {

TEST(MessageBar, IsHiddenUntilThereIsSomethingToSay) {
  MessageBar bar;
  EXPECT_TRUE(bar.isHidden());
  bar.tell({"<b>x</b> is wrong", "do y"});
  EXPECT_FALSE(bar.isHidden());
  EXPECT_TRUE(bar.text().contains("&lt;b&gt;x"));
  EXPECT_TRUE(bar.text().contains("do y"));
  bar.findChild<QToolButton*>()->click();
  EXPECT_TRUE(bar.isHidden());
  EXPECT_TRUE(bar.text().isEmpty());
}

TEST(MessageBar, FollowsADarkWindow) {
  MessageBar bar;
  bar.tell({"x", "y"});
  const auto lightness = [&] { return bar.grab().toImage().pixelColor(3, 3).lightness(); };
  EXPECT_GT(lightness(), 200);
  QApplication::setPalette(darkPalette());
  QCoreApplication::processEvents();
  EXPECT_LT(lightness(), 100);
  QApplication::setPalette(lightPalette());
}

}  // namespace
}  // namespace gui
