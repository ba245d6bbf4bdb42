#include "gui/views/application.h"

#include <gmock/gmock.h>

#include <QProxyStyle>

namespace gui {
namespace {

TEST(Application, IsStyledTheSameEverywhere) {
  styleApplication();
  EXPECT_EQ(static_cast<QProxyStyle*>(QApplication::style())->baseStyle()->name(), "fusion");
  EXPECT_GT(QApplication::style()->pixelMetric(QStyle::PM_FocusFrameHMargin), 4);
  EXPECT_GT(QApplication::palette().color(QPalette::Base).lightness(), 200);
}

// As Qt does it when the display goes away.
TEST(ApplicationDeathTest, WithoutADisplayTheLastIsKeptAndNothingElseRuns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exits = [](bool guarded) {
    const DisplayGuard guard([] { std::fputs("kept", stderr); });
    if (!guarded) return;
    std::exit(1);
  };
  EXPECT_EXIT(exits(true), testing::ExitedWithCode(1), "kept");
  EXPECT_EXIT(exits(false); std::exit(0), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gui
