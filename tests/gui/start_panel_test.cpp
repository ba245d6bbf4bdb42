#include "gui/start_panel.h"

#include <gmock/gmock.h>

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
  for (QPushButton* button : buttons)
    if (button->menu() == nullptr) button->click();
  EXPECT_TRUE(model.count() == 1 && measure.count() == 1 && plan.count() == 1);
  const QList<QAction*> examples = panel.findChild<QMenu*>()->actions();
  ASSERT_GT(examples.size(), 5);
  examples.front()->trigger();
  EXPECT_TRUE(QFile::exists(example[0][0].toString())) << example[0][0].toString().toStdString();
}

}  // namespace
}  // namespace gui
