#include "gui/pages/preparation.h"

#include <gmock/gmock.h>

#include <QTest>

#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"

namespace gui {
namespace {

class Prepared : public testing::Test {
 protected:
  Prepared() { QStandardPaths::setTestModeEnabled(true); }
  // Stands in for meshwright: says how far it is, then writes what it is asked for.
  void meshwrightDoes(const char* script) {
    QFile program(folder_.filePath("meshwright"));
    ASSERT_TRUE(program.open(QIODevice::WriteOnly));
    program.write(QByteArray("#!/bin/sh\n") + script + "\nfor last; do :; done\n: > \"$last\"\n");
    program.close();
    program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    preparation_.tools()->setProgram(program.fileName());
  }
  QTemporaryDir folder_;
  QuestionPanel question_;
  RunPage run_;
  Preparation preparation_{{question_, run_}, nullptr};
};

TEST_F(Prepared, MeasuringSaysHowLongItTakesAndEndsWithAProfileInTheForm) {
  meshwrightDoes("echo 'measure: shape 60 of 120 (50 %), 1 rank at once'; sleep 1.6");
  std::optional<sim::Seconds> left;
  QObject::connect(preparation_.tools(), &ToolProcess::progressed, [&](double, std::optional<sim::Seconds> time) {
    if (time) left = time;
  });
  preparation_.measureMachine();
  ASSERT_TRUE(QTest::qWaitFor([&] { return question_.question().program == kWorker; }, 60000));
  ASSERT_TRUE(left.has_value());
  EXPECT_LT(left->count(), 3);
  EXPECT_THAT(question_.question().cluster, testing::EndsWith("this_machine.json"));
}

TEST_F(Prepared, MakingTokensSaysHowFarItIsAndPutsThemIntoTheForm) {
  meshwrightDoes("echo 'tokenize: byte 3000000 of 12000000 (25 %)'; sleep 1.6");
  double share = 0;
  std::optional<sim::Seconds> left;
  QObject::connect(preparation_.tools(), &ToolProcess::progressed, [&](double part, std::optional<sim::Seconds> time) {
    share = part;
    if (time) left = time;
  });
  run_.setRequest({.data = {}, .folder = folder_.filePath("run"), .steps = 20});
  preparation_.useData(folder_.filePath("book.txt"));
  EXPECT_EQ(preparation_.tools()->doing(), "Making tokens of book.txt");
  ASSERT_TRUE(QTest::qWaitFor([&] { return !run_.request().data.isEmpty(); }, 60000));
  EXPECT_EQ(share, 0.25);
  EXPECT_TRUE(left.has_value());
  EXPECT_EQ(run_.request().data, folder_.filePath("run.tokens.bin"));
}

TEST_F(Prepared, MeasuringIsCancelledAndTheFormStaysAsItWas) {
  meshwrightDoes("exec sleep 60");
  const std::string before = question_.question().cluster;
  bool cancelled = false;
  QObject::connect(preparation_.tools(), &ToolProcess::cancelled, [&] { cancelled = true; });
  preparation_.measureMachine();
  ASSERT_TRUE(QTest::qWaitFor([&] { return preparation_.tools()->isRunning(); }));
  preparation_.tools()->cancel();
  ASSERT_TRUE(QTest::qWaitFor([&] { return cancelled; }));
  EXPECT_EQ(question_.question().cluster, before);
}

}  // namespace
}  // namespace gui
