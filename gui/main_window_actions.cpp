#include <QAbstractButton>
#include <QAction>
#include <QActionGroup>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QSettings>
#include <QTableView>

#include "gui/main_window.h"
#include "gui/pages/command_palette.h"
#include "gui/pages/key_list.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/run_page.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/trace_page.h"
#include "gui/views/key_places.h"
#include "gui/views/theme.h"
#include "gui/views/translation.h"
#include "gui/views/view.h"

namespace gui {

// Menu by menu. Returns those of the timeline, which are kept from window to window.
TimelineActions MainWindow::addActions() {
  build();
  documents_.addActions(actions_);
  exports_.addActions(actions_);
  actions_.add({tr("&File"), tr("Start &afresh…"), tr("Ctrl+Shift+N")}, [this] { askToStartAfresh(); });
  actions_.add({tr("&File"), tr("&Quit"), tr("Ctrl+Q")}, [this] { close(); });
  actions_.addExisting({tr("&Edit"), QString(), QKeySequence::Undo}, undo_.createUndoAction(this, tr("&Undo")));
  actions_.addExisting({tr("&Edit"), QString(), tr("Ctrl+Shift+Z")}, undo_.createRedoAction(this, tr("&Redo")));
  actions_.add({tr("&Plan"), tr("&Find the best plans"), tr("Ctrl+Return")}, [this] { plan(); });
  actions_.add({tr("&Plan"), tr("&Measure this machine"), tr("Ctrl+Shift+M")}, [this] { measureMachine(); });
  actions_.add({tr("&Plan"), tr("&Cancel the search"), tr("Ctrl+.")}, [this] { cancelWork(); });
  pages_->run()->setExports(exports_.addRecipeActions(actions_));
  pages_->run()->addActions(actions_);
  return addViewActions();
}

// Neither is light. Kept for the next start.
void MainWindow::addThemes(const QString& menu) {
  auto* themes = new QActionGroup(this);
  themes->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
  const auto add = [&](const ActionText& text, const char* name, QPalette (*colors)()) {
    QAction* theme = actions_.add(text, [] {});
    theme->setCheckable(true);
    theme->setObjectName(QString::fromLatin1(name));
    themes->addAction(theme);
    connect(theme, &QAction::toggled, this, [this, themes, colors](bool chosen) {
      if (!chosen && themes->checkedAction() != nullptr) return;  // the other one is
      setColors(chosen ? colors() : lightPalette());
      if (keeps_state_) QSettings().setValue(QStringLiteral("window/theme"), chosen ? themes->checkedAction()->objectName() : QString());
    });
  };
  add({menu, tr("&Dark theme"), tr("Ctrl+D")}, "dark", darkPalette);
  add({menu, tr("&High contrast"), tr("Ctrl+Shift+D")}, "contrast", highContrastPalette);
}

TimelineActions MainWindow::addViewActions() {
  const QString view = tr("&View");
  for (int page = 0; page < pages_->count(); ++page)
    actions_.add({view, tr("%1 page").arg(pages_->tabText(page)), tr("Ctrl+%1").arg(page + 1)}, [this, page] { pages_->turnTo(page); });
  for (QDockWidget* dock : docks_)
    actions_.addExisting({view, tr("Panel \"%1\"").arg(dock->windowTitle()), tr("Ctrl+Shift+%1").arg(docks_.indexOf(dock) + 1)},
                         dock->toggleViewAction());
  const TimelineActions timeline = pages_->timeline()->addActions(actions_);
  connect(timeline.every_rank, &QAction::toggled, &session_, &Session::showEveryRank);
  pages_->trace()->follow(timeline);
  pages_->trace()->addActions(actions_);
  actions_.add({view, tr("&Search the timeline"), tr("/")}, [this] {
    if (pages_->currentWidget() == pages_->trace()) return pages_->trace()->searchLine()->setFocus();
    pages_->setCurrentWidget(pages_->timeline());
    pages_->timeline()->searchLine()->setFocus();
  });
  actions_.add({view, tr("Fi&lter the plans"), tr("Ctrl+F")}, [this] {
    pages_->setCurrentWidget(pages_->plan());
    pages_->plan()->table()->filterLine()->setFocus();
  });
  addThemes(view);
  QAction* chinese = actions_.add({view, tr("&Chinese from the next start on (中文)"), tr("Ctrl+Shift+C")}, [] {});
  chinese->setCheckable(true);
  chinese->setChecked(wantsChinese());
  connect(chinese, &QAction::toggled, this, &chooseChinese);
  QAction* places = actions_.add({view, tr("&Keys by their place (AZERTY, Dvorak)"), tr("Ctrl+Shift+W")}, [] {});
  places->setCheckable(true);
  places->setChecked(wantsKeyPlaces());
  connect(places, &QAction::toggled, this, &chooseKeyPlaces);
  actions_.add({view, tr("&Close the message"), tr("Shift+Esc")}, [this] { message_->hide(); });
  actions_.add({tr("&Help"), tr("&All commands…"), tr("Ctrl+Shift+P")}, [this] { commands_->open(); });
  actions_.add({tr("&Help"), tr("&Keys"), tr("?")}, [this] { showKeys(actions_, this); });
  return timeline;
}

// What the menus offer for what is in front stands in its context menu, too.
void MainWindow::addContextMenus() {
  const auto of = [this](const char* shortcut) {
    for (QAction* action : actions_.all())
      if (action->shortcut() == QKeySequence(QLatin1String(shortcut))) return action;
    return static_cast<QAction*>(nullptr);
  };
  for (View* view : findChildren<View*>()) {
    view->addAction(of("Ctrl+E"));
    if (view->contextMenuPolicy() == Qt::DefaultContextMenu && view->actions().size() == 1)
      view->setContextMenuPolicy(Qt::ActionsContextMenu);
  }
  for (TablePanel* table : findChildren<TablePanel*>()) table->view()->addAction(of("Ctrl+Shift+E"));
}

// Alt with a letter of a menu opens it: no field or button takes that letter from it.
void MainWindow::keepLettersForMenus() {
  static const QRegularExpression letter(QStringLiteral("&(\\w)"));
  QString taken;
  for (const QAction* menu : menuBar()->actions()) taken += letter.match(menu->text()).captured(1).toUpper();
  const auto without = [&](const QString& text) {
    const QString own = letter.match(text).captured(1).toUpper();
    if (own.isEmpty() || !taken.contains(own)) return text;
    static const QRegularExpression in_brackets(QStringLiteral("\\(&\\w\\)"));  // as Chinese has it
    return QString(text).remove(in_brackets).remove('&');
  };
  for (QAbstractButton* button : centralWidget()->parentWidget()->findChildren<QAbstractButton*>())
    button->setText(without(button->text()));
  for (QLabel* label : findChildren<QLabel*>())
    if (label->buddy() != nullptr) label->setText(without(label->text()));
}

}  // namespace gui
