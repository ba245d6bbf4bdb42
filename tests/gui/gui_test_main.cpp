#include <gmock/gmock.h>

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include "gui/views/application.h"

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  testing::InitGoogleMock(&argc, argv);
  QApplication application(argc, argv);
  gui::styleApplication();
  const QTemporaryDir nobodys;
  const QString folder = qEnvironmentVariable("MESHWRIGHT_TEST_HOME", nobodys.path());  // where two windows follow each other
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder);
  qputenv("XDG_DATA_HOME", folder.toUtf8());
  return RUN_ALL_TESTS();
}
