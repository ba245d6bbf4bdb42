#include <gmock/gmock.h>

#include <QStandardPaths>
#include <QTest>

#include "gui/main_window.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/start_panel.h"

namespace gui {
namespace {

class Start : public testing::Test {
 protected:
  Start() {
    QStandardPaths::setTestModeEnabled(true);
    QFile program(folder_.filePath("meshwright"));  // writes what it is asked for, empty
    EXPECT_TRUE(program.open(QIODevice::WriteOnly));
    program.write("#!/bin/sh\nfor last; do :; done\n: > \"$last\"\n");
    program.close();
    program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    window_.preparation()->tools()->setProgram(program.fileName());
  }
  QTemporaryDir folder_;
  MainWindow window_;
};

TEST_F(Start, AMeasuredMachineStandsInTheForm) {
  Q_EMIT window_.planPage()->start()->measureWanted();
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_.question()->question().program == kWorker; }, 60000));
  EXPECT_TRUE(QString::fromStdString(window_.question()->question().cluster).endsWith("this_machine.json"));
  EXPECT_EQ(window_.question()->question().devices, 2);
}

// The example that the first page offers is planned as it stands in the form: it has 256 positions.
TEST_F(Start, AnOpenedModelTakesASequenceThatItCanHave) {
  ASSERT_EQ(window_.question()->question().sequence, 1024);
  window_.open(QFileInfo("profiles/models/tiny-gpt2.json").absoluteFilePath());
  EXPECT_EQ(window_.question()->question().sequence, 256);
  EXPECT_NO_THROW(searchRequest(window_.question()->question()));
}

TEST_F(Start, ATextBecomesTokensAndTokensStayWhatTheyAre) {
  RunPage* run = window_.runPage();
  run->setRequest({.data = {}, .folder = folder_.filePath("runs/first")});
  window_.preparation()->useData("text.txt");
  ASSERT_TRUE(QTest::qWaitFor([&] { return !run->request().data.isEmpty(); }, 60000));
  EXPECT_TRUE(QFile::exists(run->request().data));
  window_.preparation()->useData("/some/tokens.bin");
  EXPECT_EQ(run->request().data, "/some/tokens.bin");
}

}  // namespace
}  // namespace gui
