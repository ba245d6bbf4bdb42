#include <gmock/gmock.h>

#include <QTest>

#include "gui/main_window.h"
#include "gui/pages/command_palette.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

using testing::HasSubstr;

bool showsExample(MainWindow& window) {
  window.session()->show(test::examplePlan(), Session::Origin::Chosen);
  return QTest::qWaitFor([&] { return window.session()->plan() != nullptr; });
}

TEST(Documents, EveryProgramHasAnActionAndStandsOnTheRunPage) {
  MainWindow window;
  ASSERT_NE(window.runPage()->exportButton()->menu(), nullptr);
  EXPECT_EQ(window.runPage()->exportButton()->menu()->actions().size(), static_cast<qsizetype>(sim::all_programs().size()));
  for (QAction* action : window.runPage()->exportButton()->menu()->actions()) EXPECT_TRUE(window.actions().all().contains(action));
}

TEST(Documents, WhatIsLeftOutAndWhatIsRefusedIsTold) {
  MainWindow window;
  const QTemporaryDir folder;
  window.exports()->recipe(sim::kMegatron, folder.filePath("m"));
  EXPECT_THAT(window.message()->text().toStdString(), HasSubstr("no plan"));
  ASSERT_TRUE(showsExample(window));
  window.exports()->recipe(sim::kMegatron, folder.filePath("m"));
  EXPECT_THAT(window.message()->text().toStdString(), HasSubstr("pretrain.sh"));
  EXPECT_THAT(window.message()->text().toStdString(), HasSubstr("data, tokenizer and the number of iterations"));
  EXPECT_TRUE(QFile::exists(folder.filePath("m/pretrain.sh")));
  window.exports()->recipe(sim::kDeepSpeed, folder.filePath("d"));
  EXPECT_THAT(window.message()->text().toStdString(), HasSubstr("PipelineModule"));
  EXPECT_FALSE(QFile::exists(folder.filePath("d")));
}

TEST(Documents, KeysOfAConfigThatNoPlanTakesAreTold) {
  MainWindow window;
  const QTemporaryDir folder;
  QFile model("profiles/models/gpt2.json"), more(folder.filePath("config.json"));
  ASSERT_TRUE(model.open(QIODevice::ReadOnly) && more.open(QIODevice::WriteOnly));
  more.write(model.readAll().replace(0, 1, "{\"memory_tokens\": 16,"));
  more.close();
  window.open(folder.filePath("config.json"));
  EXPECT_THAT(window.message()->text().toStdString(), HasSubstr("memory_tokens is 16"));
  EXPECT_THAT(window.question()->question().model, HasSubstr("config.json"));
  window.open("profiles/models/gpt2.json");
  EXPECT_TRUE(window.message()->isHidden());
}

TEST(Documents, AFileOfAnotherProgramIsReadForTheModelAndClusterOfTheForm) {
  MainWindow window;
  const QTemporaryDir folder;
  ASSERT_TRUE(showsExample(window));
  window.exports()->recipe(sim::kMegatron, folder.path());
  PlanQuestion question = window.question()->question();
  question.model.clear();
  window.question()->setQuestion(question);
  window.open(folder.filePath("pretrain.sh"));
  EXPECT_THAT(window.message()->text().toStdString(), HasSubstr("no model is chosen"));
  question.model = "profiles/models/tiny-gpt2.json";
  question.cluster = "a100-80gb-sxm";
  question.devices = 4;
  question.global_batch = 8;
  question.sequence = 64;
  window.question()->setQuestion(question);
  window.open(folder.filePath("pretrain.sh"));
  ASSERT_TRUE(window.session()->wanted().has_value());
  EXPECT_EQ(window.session()->wanted()->mesh, test::examplePlan().mesh);
}

}  // namespace
}  // namespace gui
