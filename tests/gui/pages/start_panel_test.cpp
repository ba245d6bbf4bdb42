#include "gui/pages/start_panel.h"

#include <gmock/gmock.h>

#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>

namespace gui {
namespace {

TEST(StartPanel, AButtonAStepAndExamplesThatAreThere) {
  StartPanel panel;
  QSignalSpy model(&panel, &StartPanel::modelWanted), measure(&panel, &StartPanel::measureWanted), plan(&panel, &StartPanel::planWanted),
      example(&panel, &StartPanel::exampleChosen);
  const QList<QPushButton*> buttons = panel.findChildren<QPushButton*>();
  ASSERT_EQ(buttons.size(), 4);
  panel.setQuestion({.model = "m.json", .cluster = "a30-24gb-pcie"});
  for (QPushButton* button : buttons)
    if (button->menu() == nullptr) button->click();
  EXPECT_TRUE(model.count() == 1 && measure.count() == 1 && plan.count() == 1);
  const QList<QAction*> examples = panel.findChild<QMenu*>()->actions();
  ASSERT_GT(examples.size(), 5);
  examples.front()->trigger();
  EXPECT_TRUE(QFile::exists(example[0][0].toString())) << example[0][0].toString().toStdString();
}

TEST(StartPanel, SaysWhatIsChosenAndPlansNothingBefore) {
  StartPanel panel;
  panel.show();
  QPushButton* plan = panel.findChildren<QPushButton*>().back();
  EXPECT_FALSE(plan->isEnabled());
  panel.setQuestion({.model = "/models/gpt2-xl.json", .cluster = "a100-80gb-sxm", .devices = 16});
  EXPECT_TRUE(plan->isEnabled());
  QStringList shown;
  for (const QLabel* label : panel.findChildren<QLabel*>())
    if (label->isVisible()) shown << label->text();
  EXPECT_TRUE(shown.contains("✓ <b>gpt2-xl</b>") && shown.contains("✓ <b>16 × a100-80gb-sxm</b>")) << shown.join('|').toStdString();
}

}  // namespace
}  // namespace gui
