#include <QAction>
#include <QActionGroup>
#include <QDockWidget>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <QTabWidget>
#include <algorithm>

#include "gui/command_palette.h"
#include "gui/main_window.h"
#include "gui/message_bar.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/key_list.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/trace_page.h"
#include "gui/views/key_places.h"
#include "gui/views/theme.h"
#include "gui/views/translation.h"

namespace gui {

void MainWindow::addFileActions() {
  const QString file = tr("&File");
  QAction* model = actions_.add({file, tr("&Open a model, plan, cluster or trace…"), QKeySequence::Open}, [this] {
    choose(Dialog::Files, tr("Open a model, plan, cluster or traces"),
           tr("JSON, snapshots, configurations (*.json *.json.gz *.pickle *.pkl *.zip *.yaml *.yml *.sh *.py *.toml);;All files (*)"),
           &MainWindow::open);
  });
  connect(question_, &QuestionPanel::browseRequested, model, &QAction::trigger);
  QAction* run = actions_.add({file, tr("Open a &run folder…"), tr("Ctrl+Shift+O")},
                              [this] { choose(Dialog::Folder, tr("Open a run folder"), QString(), &MainWindow::open); });
  connect(compare_page_, &ComparePage::runWanted, run, &QAction::trigger);
  recent_ = actions_.addMenu(file, tr("Open a re&cent file"));
  connect(recent_, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
  actions_.add({file, tr("&Save the plan…"), QKeySequence::Save},
               [this] { choose(Dialog::Save, tr("Save the plan"), tr("Plan (*.json)"), &MainWindow::saveShownPlan); });
  actions_.add({file, tr("Save the &view of the timeline…"), tr("Ctrl+Shift+S")},
               [this] { choose(Dialog::Save, tr("Save the view of the timeline"), tr("View (*.json)"), &MainWindow::saveShownView); });
  actions_.add({file, tr("Export the &picture…"), tr("Ctrl+E")}, [this] {
    choose(Dialog::Save, tr("Export the picture"), tr("PNG, SVG, PDF (*.png *.svg *.pdf)"), &MainWindow::exportPicture);
  });
  actions_.add({file, tr("Export the &table…"), tr("Ctrl+Shift+E")},
               [this] { choose(Dialog::Save, tr("Export the table"), tr("CSV (*.csv)"), &MainWindow::exportTable); });
  actions_.add({file, tr("Export the time&line…"), tr("Ctrl+T")}, [this] {
    choose(Dialog::Save, tr("Export the timeline"), tr("Perfetto (*.perfetto-trace);;Chrome trace (*.json)"), &MainWindow::exportTimeline);
  });
  actions_.add({file, tr("Export the &memory…"), tr("Ctrl+Shift+T")}, [this] {
    choose(Dialog::Save, tr("Export the memory"), tr("Memory snapshot of PyTorch (*.pickle)"), &MainWindow::exportMemory);
  });
  actions_.add({file, tr("Export the run as a &bundle…"), tr("Ctrl+B")},
               [this] { choose(Dialog::Save, tr("Export the run as a bundle"), tr("Bundle (*.zip)"), &MainWindow::exportBundle); });
  actions_.add({file, tr("Start &afresh…"), tr("Ctrl+Shift+N")}, [this] { askToStartAfresh(); });
  actions_.add({file, tr("&Quit"), tr("Ctrl+Q")}, [this] { close(); });
}

void MainWindow::addEditActions() {
  const QString edit = tr("&Edit");
  actions_.addExisting({edit, QString(), QKeySequence::Undo}, undo_.createUndoAction(this, tr("&Undo")));
  actions_.addExisting({edit, QString(), tr("Ctrl+Shift+Z")}, undo_.createRedoAction(this, tr("&Redo")));
  actions_.add({tr("&Plan"), tr("&Find the best plans"), tr("Ctrl+Return")}, [this] { plan(); });
  actions_.add({tr("&Plan"), tr("&Measure this machine"), tr("Ctrl+Shift+M")}, [this] { measureMachine(); });
  actions_.add({tr("&Plan"), tr("&Cancel the search"), tr("Ctrl+.")}, [this] { cancelWork(); });
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

void MainWindow::addViewActions() {
  const QString view = tr("&View");
  for (int page = 0; page < pages_->count(); ++page)
    actions_.add({view, tr("%1 page").arg(pages_->tabText(page)), tr("Ctrl+%1").arg(page + 1)}, [this, page] { showPage(page); });
  for (QDockWidget* dock : docks_)
    actions_.addExisting({view, tr("Panel \"%1\"").arg(dock->windowTitle()), tr("Ctrl+Shift+%1").arg(docks_.indexOf(dock) + 1)},
                         dock->toggleViewAction());
  const TimelineActions timeline = timeline_page_->addActions(actions_);
  connect(timeline.every_rank, &QAction::toggled, &session_, &Session::showEveryRank);
  for (QAction* kept : {timeline.every_rank, timeline.dense}) connect(kept, &QAction::toggled, &work_, &Autosave::changed);
  trace_page_->follow(timeline);
  trace_page_->addActions(actions_);
  actions_.add({view, tr("&Search the timeline"), tr("/")}, [this] {
    if (pages_->currentWidget() == trace_page_) return trace_page_->searchLine()->setFocus();
    pages_->setCurrentWidget(timeline_page_);
    timeline_page_->searchLine()->setFocus();
  });
  actions_.add({view, tr("Fi&lter the plans"), tr("Ctrl+F")}, [this] {
    pages_->setCurrentWidget(plan_page_);
    plan_page_->table()->filterLine()->setFocus();
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
}

}  // namespace gui
