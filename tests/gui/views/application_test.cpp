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

}  // namespace
}  // namespace gui
