#include "gui/message_bar.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace gui
