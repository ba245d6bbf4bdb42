#include "gui/pages/context_line.h"

#include <gmock/gmock.h>

#include <QTemporaryDir>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(ContextLine, SaysTheModelUntilThereIsAPlan) {
  ContextLine line;
  EXPECT_TRUE(line.isHidden());
  EXPECT_EQ(line.title(), "Meshwright");
  line.setQuestion({.model = "profiles/models/gpt2-xl.json", .cluster = "a100-80gb-sxm"});
  EXPECT_TRUE(line.text().startsWith("gpt2-xl · 1.56 B parameters")) << line.text().toStdString();
  EXPECT_EQ(line.title(), "gpt2-xl.json – Meshwright");
  line.setPlan(test::examplePlan());
  EXPECT_TRUE(line.text().contains("4 × a100-80gb-sxm")) << line.text().toStdString();
}

// What is shown, not what is asked: another model in the form changes nothing yet.
TEST(ContextLine, StaysWithThePlanThatIsShown) {
  ContextLine line;
  line.setQuestion({.model = "profiles/models/tiny-gpt2.json", .cluster = "a100-80gb-sxm"});
  line.setPlan(test::examplePlan());
  line.setQuestion({.model = "profiles/models/gpt2-xl.json", .cluster = "a100-80gb-sxm"});
  EXPECT_TRUE(line.text().startsWith("tiny-gpt2 · ")) << line.text().toStdString();
}

// Neither "config" nor "plan" names a model.
TEST(ContextLine, AModelIsNamedByItsFolderOrItsFamily) {
  const QTemporaryDir folder;
  ASSERT_TRUE(QDir(folder.path()).mkdir("my-model"));
  ASSERT_TRUE(QFile::copy("profiles/models/tiny-gpt2.json", folder.filePath("my-model/config.json")));
  ContextLine line;
  line.setQuestion({.model = folder.filePath("my-model/config.json").toStdString(), .cluster = "a100-80gb-sxm"});
  EXPECT_TRUE(line.text().startsWith("my-model · ")) << line.text().toStdString();
  sim::save_plan(test::examplePlan(), folder.filePath("plan.json").toStdString());
  ContextLine of_plan;
  of_plan.setQuestion({.model = folder.filePath("plan.json").toStdString(), .cluster = "a100-80gb-sxm"});
  EXPECT_TRUE(of_plan.text().startsWith("gpt2 · ")) << of_plan.text().toStdString();
}

TEST(ContextLine, APageNamesItsOwnDocument) {
  ContextLine line;
  line.nameDocument("/somewhere/plan.json");
  line.setTraces({"/a/rank0.json", "/a/rank1.json"});
  line.setRun(test::examplePlan(), "/runs/first");
  QString title;
  QObject::connect(&line, &ContextLine::titleChanged, [&](const QString& now) { title = now; });
  line.showOf(ContextLine::Of::Trace);
  EXPECT_EQ(title, "rank0.json, rank1.json – Meshwright");
  line.showOf(ContextLine::Of::Run);
  EXPECT_EQ(title, "first – Meshwright");
  line.showOf(ContextLine::Of::Plan);
  EXPECT_EQ(title, "plan.json – Meshwright");
}

}  // namespace
}  // namespace gui
