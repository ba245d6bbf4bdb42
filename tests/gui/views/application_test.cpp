#include "gui/views/application.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(Application, IsStyledTheSameEverywhere) {
  styleApplication();
  EXPECT_EQ(QApplication::style()->name(), "fusion");
  EXPECT_GT(QApplication::palette().color(QPalette::Base).lightness(), 200);
}

}  // namespace
}  // namespace gui
