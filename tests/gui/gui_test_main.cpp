#include <gmock/gmock.h>

#include <QApplication>

#include "gui/views/application.h"

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  testing::InitGoogleMock(&argc, argv);
  QApplication application(argc, argv);
  gui::styleApplication();
  return RUN_ALL_TESTS();
}
