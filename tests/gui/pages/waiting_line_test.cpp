#include "gui/pages/waiting_line.h"

#include <gmock/gmock.h>

#include <QStatusBar>
#include <QTest>

#include "gui/jobs/background_job.h"

namespace gui {
namespace {

BackgroundJob::Work untilCancelled(std::int64_t done) {
  return [done](Progress& progress) -> BackgroundJob::Finish {
    progress.done = done;
    progress.all = 100;
    while (true) {
      progress.stopIfCancelled();
      QThread::msleep(1);
    }
  };
}

TEST(WaitingLine, SaysHowFarHowLongAndHowToStopIt) {
  EXPECT_EQ(WaitingLine::textOf("Opening a.json", 0.25, sim::Seconds(70)), "Opening a.json: 25.0 %, about 1 min 10 s left (Esc cancels)");
  EXPECT_EQ(WaitingLine::textOf("Opening a.json", 0, std::nullopt), "Opening a.json… (Esc cancels)");
}

TEST(WaitingLine, OfSeveralTheFirstStandsThereThenTheNext) {
  QStatusBar bar;
  BackgroundJob first, second, quick;
  WaitingLine line(&bar);
  for (BackgroundJob* job : {&first, &second, &quick}) line.follow(job);
  first.start("First", untilCancelled(10));
  ASSERT_TRUE(QTest::qWaitFor([&] { return bar.currentMessage().startsWith("First: 10.0 %"); }));
  second.start("Second", untilCancelled(20));
  quick.start([](Progress&) { return BackgroundJob::Finish(); });
  QTest::qWait(250);
  EXPECT_TRUE(bar.currentMessage().startsWith("First")) << bar.currentMessage().toStdString();
  first.cancel();
  ASSERT_TRUE(QTest::qWaitFor([&] { return bar.currentMessage().startsWith("Second: 20.0 %"); }));
  second.cancel();
  ASSERT_TRUE(QTest::qWaitFor([&] { return bar.currentMessage() == "Cancelled."; }));
}

TEST(WaitingLine, WhatWasSaidSinceStays) {
  QStatusBar bar;
  BackgroundJob job;
  WaitingLine line(&bar);
  line.follow(&job);
  job.start("Writing", [&](Progress&) -> BackgroundJob::Finish {
    QThread::msleep(250);
    return [&] { bar.showMessage("a.png is written."); };
  });
  ASSERT_TRUE(QTest::qWaitFor([&] { return bar.currentMessage().startsWith("Writing"); }));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !job.isRunning(); }));
  EXPECT_EQ(bar.currentMessage(), "a.png is written.");
}

}  // namespace
}  // namespace gui
