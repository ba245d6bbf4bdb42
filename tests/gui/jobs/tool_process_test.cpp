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
  tool.start("Doing", {"-c", "exit 0"}, [&](const QString&) { ended = true; });
  EXPECT_TRUE(QTest::qWaitFor([&] { return ended; }, 60000));
}

TEST(ToolProcess, SaysInItsWordsWhyItFailed) {
  ToolProcess tool;
  tool.setProgram("/bin/sh");
  QSignalSpy failed(&tool, &ToolProcess::failed);
  tool.start("Doing", {"-c", "echo 'error: no mpirun'; echo 'remedy: install it'; exit 30"},
             [](const QString&) { FAIL() << "it did not succeed"; });
  ASSERT_TRUE(QTest::qWaitFor([&] { return failed.count() == 1; }, 60000));
  EXPECT_EQ(failed[0][0].value<Message>().problem, "no mpirun");
  EXPECT_EQ(failed[0][0].value<Message>().remedy, "install it");
}

TEST(ToolProcess, OneAtATimeAndAMissingProgramAreSaid) {
  ToolProcess tool;
  tool.setProgram("/bin/sh");
  QSignalSpy failed(&tool, &ToolProcess::failed);
  tool.start("Doing", {"-c", "sleep 5"}, [](const QString&) {});
  tool.start("Doing", {"-c", "exit 0"}, [](const QString&) {});
  EXPECT_EQ(failed.count(), 1);
  ToolProcess missing;
  missing.setProgram("/no/such/program");
  QSignalSpy told(&missing, &ToolProcess::failed);
  missing.start("Doing", {}, [](const QString&) {});
  EXPECT_TRUE(QTest::qWaitFor([&] { return told.count() == 1; }, 60000));
}

TEST(ToolProcess, SaysHowFarItIsAndIsCancelled) {
  const QTemporaryDir folder;
  QFile program(folder.filePath("slow"));
  ASSERT_TRUE(program.open(QIODevice::WriteOnly));
  program.write("#!/bin/sh\necho 'measure: shape 30 of 120 (25 %), 1 rank'\nexec sleep 60\n");
  program.close();
  program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  ToolProcess tool;
  tool.setProgram(program.fileName());
  double share = 0;
  std::optional<sim::Seconds> left;
  bool cancelled = false, succeeded = false, failed = false;
  QObject::connect(&tool, &ToolProcess::progressed, [&](double part, std::optional<sim::Seconds> time) { share = part, left = time; });
  QObject::connect(&tool, &ToolProcess::cancelled, [&] { cancelled = true; });
  QObject::connect(&tool, &ToolProcess::failed, [&] { failed = true; });
  tool.start("Doing", {}, [&](const QString&) { succeeded = true; });
  ASSERT_TRUE(QTest::qWaitFor([&] { return left.has_value(); }));
  EXPECT_EQ(share, 0.25);
  EXPECT_GT(left->count(), 1);
  const double before = left->count();
  QTest::qWait(700);
  EXPECT_LT(left->count(), before) << "it falls with the clock";
  tool.cancel();
  ASSERT_TRUE(QTest::qWaitFor([&] { return cancelled; }));
  EXPECT_FALSE(succeeded || failed || tool.isRunning());
}

}  // namespace
}  // namespace gui
