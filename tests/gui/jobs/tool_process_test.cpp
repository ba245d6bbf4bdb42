#include "gui/jobs/tool_process.h"

#include <gmock/gmock.h>

#include <QCoreApplication>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTest>

namespace gui {
namespace {

TEST(ToolProcess, TheNameIsEnoughWhereAShellFindsTheSameProgram) {
  const QFileInfo own(QCoreApplication::applicationFilePath());
  const QByteArray path = qgetenv("PATH");
  EXPECT_EQ(programBesideUs(own.fileName()), own.absoluteFilePath());
  qputenv("PATH", own.absolutePath().toLocal8Bit() + ":" + path);
  EXPECT_EQ(programBesideUs(own.fileName()), own.fileName());
  qputenv("PATH", path);
}

TEST(ToolProcess, TellsThatItHasEnded) {
  ToolProcess tool;
  tool.setProgram("/bin/sh");
  bool ended = false;
  tool.start({"-c", "exit 0"}, [&](const QString&) { ended = true; });
  EXPECT_TRUE(QTest::qWaitFor([&] { return ended; }, 5000));
}

TEST(ToolProcess, SaysInItsWordsWhyItFailed) {
  ToolProcess tool;
  tool.setProgram("/bin/sh");
  QSignalSpy failed(&tool, &ToolProcess::failed);
  tool.start({"-c", "echo 'error: no mpirun'; echo 'remedy: install it'; exit 30"}, [](const QString&) { FAIL() << "it did not succeed"; });
  ASSERT_TRUE(QTest::qWaitFor([&] { return failed.count() == 1; }, 5000));
  EXPECT_EQ(failed[0][0].value<Message>().problem, "no mpirun");
  EXPECT_EQ(failed[0][0].value<Message>().remedy, "install it");
}

TEST(ToolProcess, OneAtATimeAndAMissingProgramAreSaid) {
  ToolProcess tool;
  tool.setProgram("/bin/sh");
  QSignalSpy failed(&tool, &ToolProcess::failed);
  tool.start({"-c", "sleep 5"}, [](const QString&) {});
  tool.start({"-c", "exit 0"}, [](const QString&) {});
  EXPECT_EQ(failed.count(), 1);
  ToolProcess missing;
  missing.setProgram("/no/such/program");
  QSignalSpy told(&missing, &ToolProcess::failed);
  missing.start({}, [](const QString&) {});
  EXPECT_TRUE(QTest::qWaitFor([&] { return told.count() == 1; }, 5000));
}

}  // namespace
}  // namespace gui
