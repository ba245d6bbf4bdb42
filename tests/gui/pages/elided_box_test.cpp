#include "gui/pages/elided_box.h"

#include <gmock/gmock.h>

#include <QTest>

namespace gui {
namespace {

TEST(ElidedBox, LeavesTheMiddleOut) {
  const QString name = "/home/somebody/runs/llama-of-tuesday: measured, step 12";
  ElidedBox box;
  box.addItem(name);
  box.resize(1000, 30);
  EXPECT_EQ(box.shown(), name);
  box.resize(200, 30);
  EXPECT_THAT(box.shown().toStdString(),
              testing::AllOf(testing::StartsWith("/home"), testing::HasSubstr("…"), testing::EndsWith("step 12")));
  EXPECT_EQ(box.currentText(), name);
  ElidedBox other;
  other.addItem(box.shown());
  other.resize(200, 30);
  EXPECT_EQ(box.grab().toImage(), other.grab().toImage()) << "as it is drawn";
}

}  // namespace
}  // namespace gui
