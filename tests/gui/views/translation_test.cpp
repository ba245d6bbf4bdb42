#include "gui/views/translation.h"

#include <gmock/gmock.h>

#include <QApplication>

namespace gui {
namespace {

TEST(Translation, WhatIsInTheTableIsTranslated) {
  const TableTranslator chinese;
  EXPECT_GT(chinese.size(), 300);
  EXPECT_EQ(chinese.translate("Anything", "Critical path", nullptr, -1), QStringLiteral("关键路径"));
  EXPECT_TRUE(chinese.translate("Anything", "no such text", nullptr, -1).isEmpty());
}

TEST(Translation, ArgumentsFindTheirPlace) {
  TableTranslator chinese;
  QApplication::installTranslator(&chinese);
  EXPECT_EQ(QCoreApplication::translate("MemoryView", "peak %1").arg("3 GiB"), QStringLiteral("峰值 3 GiB"));
  QApplication::removeTranslator(&chinese);
}

}  // namespace
}  // namespace gui
