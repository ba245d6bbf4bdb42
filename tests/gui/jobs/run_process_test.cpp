#include "gui/jobs/run_process.h"

#include <gmock/gmock.h>

#include <QTest>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

class Started : public testing::Test {
 protected:
  Started() {
    request_.folder = folder_.filePath("run");
    request_.data = "tokens.bin";
  }
  QString program(const QString& body) {
    QFile file(folder_.filePath("program.sh"));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(("#!/bin/sh\n" + body + "\n").toUtf8());
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file.fileName();
  }
  QTemporaryDir folder_;
  RunRequest request_;
};

TEST_F(Started, FollowsWhatTheRunWrites) {
  RunProcess process;
  process.setProgram(
      program("mkdir -p " + request_.folder + "; echo hello; echo '{\"step\": 1, \"loss\": 2}' > " + request_.folder + "/metrics.ndjson"));
  process.start(test::runnablePlan(), request_);
  ASSERT_TRUE(QTest::qWaitFor([&] { return process.steps().size() == 1 && !process.isAlive(); }));
  EXPECT_TRUE(process.words().contains("hello"));
}

TEST_F(Started, OutlivesTheWindowAndIsStoppedByAnInterrupt) {
  RunProcess process;
  process.setProgram(program("trap 'exit 0' INT; while :; do sleep 0.05; done"));
  process.start(test::runnablePlan(), request_);
  ASSERT_TRUE(process.isAlive());
  QTest::qWait(200);  // until the trap is set
  process.stop();
  EXPECT_TRUE(QTest::qWaitFor([&] { return !process.isAlive(); }));
}

TEST_F(Started, IsFoundAgainByALaterWindow) {
  {
    RunProcess first;
    first.setProgram(program("mkdir -p " + request_.folder + "; trap 'exit 0' INT; while :; do sleep 0.05; done"));
    first.start(test::runnablePlan(), request_);
    QTest::qWait(200);
  }
  RunProcess later;
  later.follow(request_.folder);
  ASSERT_TRUE(later.isAlive());
  EXPECT_EQ(later.asked(), 20);
  later.stop();
  EXPECT_TRUE(QTest::qWaitFor([&] { return !later.isAlive(); }));
}

// The same process id at another start time is another process.
TEST_F(Started, AReusedProcessIdIsNotTheRun) {
  QFile known(request_.folder + ".process");
  ASSERT_TRUE(known.open(QIODevice::WriteOnly));
  known.write(QByteArray::number(QCoreApplication::applicationPid()) + " 1\n");
  known.close();
  RunProcess process;
  process.follow(request_.folder);
  EXPECT_FALSE(process.isAlive());
}

TEST_F(Started, AMissingProgramIsTold) {
  RunProcess process;
  QString told;
  QObject::connect(&process, &RunProcess::failed, [&](const Message& message) { told = message.problem; });
  process.setProgram("/no/such/program");
  process.start(test::runnablePlan(), request_);
  EXPECT_TRUE(told.contains("/no/such/program"));
}

TEST_F(Started, ACrashIsToldInTheLaunchersWords) {
  RunProcess process;
  Message told;
  QObject::connect(&process, &RunProcess::failed, [&](const Message& message) { told = message; });
  process.setProgram(program(
      "sleep 0.3; echo 'error: the run failed: rank 1 was ended by signal 9 (Killed)\n  remedy: continue with --resume' >&2; exit 50"));
  process.start(test::runnablePlan(), request_);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !told.problem.isEmpty(); }));
  EXPECT_EQ(told.problem, "the run failed: rank 1 was ended by signal 9 (Killed)");
  EXPECT_EQ(told.remedy, "continue with --resume");
}

TEST_F(Started, GoesOnByThePlanOfItsFolder) {
  RunProcess process;
  process.follow(request_.folder);
  EXPECT_FALSE(process.canResume());
  QDir().mkpath(request_.folder + "/checkpoints/step-4");
  sim::save_plan(test::runnablePlan(), (request_.folder + "/plan.json").toStdString());
  EXPECT_TRUE(process.canResume());
  request_.resume = true;
  EXPECT_THAT(process.command(request_), testing::Contains(QString("--resume")));
  EXPECT_EQ(process.command(request_)[2], request_.folder + "/plan.json");
}

TEST_F(Started, TheCommandCanBePasted) {
  RunProcess process;
  process.setProgram("meshwright");
  EXPECT_EQ(process.commandText(request_),
            "meshwright run " + request_.folder + ".plan.json --data tokens.bin --steps 20 -o " + request_.folder);
  request_.data = "my father's text.bin";
  EXPECT_TRUE(process.commandText(request_).contains("--data 'my father'\\''s text.bin' --steps"))
      << process.commandText(request_).toStdString();
}

TEST_F(Started, AnotherLaunchersScriptIsAskedForWithThePlan) {
  RunProcess process;
  const QStringList words = process.scriptCommand(test::runnablePlan(), request_, "srun");
  EXPECT_THAT(words, testing::IsSupersetOf({QString("run"), QString("--dry-run"), QString("--launcher"), QString("srun")}));
  EXPECT_TRUE(QFile::exists(request_.folder + ".plan.json"));
}

}  // namespace
}  // namespace gui
