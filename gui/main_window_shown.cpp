// The picture, the table, the plan and the view that a person has in front, and keeping them as files.
#include <QFileInfo>
#include <QStatusBar>
#include <QTabWidget>

#include "gui/main_window.h"
#include "gui/models/reason_text.h"
#include "gui/pages/answers_page.h"
#include "gui/pages/cluster_page.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/trace_page.h"
#include "gui/share.h"
#include "gui/views/box_view.h"
#include "gui/views/legend_view.h"
#include "gui/views/memory_view.h"
#include "gui/views/scatter_view.h"
#include "gui/views/timeline_view.h"

namespace gui {

// The picture or table of the page that a person is in; where that is none, the page's main one.
template <class Widget>
Widget* MainWindow::focused() const {
  const QWidget* page = pages_->currentWidget();
  for (QWidget* at = focusWidget(); at != nullptr && page->isAncestorOf(at); at = at->parentWidget())
    if (auto* found = qobject_cast<Widget*>(at)) return found;
  return nullptr;
}

View* MainWindow::shownView() const {
  if (View* chosen = focused<View>()) return chosen;
  QWidget* page = pages_->currentWidget();
  if (page == plan_page_) return plan_page_->scatter();
  if (page == run_page_) return run_page_->timeline();
  if (page == memory_page_) return memory_page_->view();
  if (page == cluster_page_) return cluster_page_->machines();
  if (page == compare_page_) return compare_page_->shownView();
  if (page == trace_page_) return trace_page_->view();
  return timeline_page_->view();
}

TablePanel* MainWindow::shownTable() const {
  if (TablePanel* chosen = focused<TablePanel>()) return chosen;
  QWidget* page = pages_->currentWidget();
  if (page == memory_page_) return memory_page_->alive();
  if (page == compare_page_) return compare_page_->errors();
  if (page == trace_page_) return trace_page_->statistics();
  if (page == answers_page_) return answers_page_->table();
  if (page == plan_page_) return plan_page_->table();
  return timeline_page_->figures();
}

void MainWindow::exportPicture(const QString& path) {
  attempt([&] {
    View* const view = shownView();
    savePicture(*view, path, {captionOf(*view), pages_->currentWidget()->findChild<LegendView*>()});
    tellWritten(path);
  });
}

// "gpt2-xl-timeline.png": what it is of, where it is shown, its kind.
QString MainWindow::suggestedName(const QString& ending) const {
  const QString model = QFileInfo(QString::fromStdString(question_->question().model)).completeBaseName();
  static const char* const kPages[] = {"plans", "timeline", "memory", "cluster", "comparison", "run", "trace", "answers"};
  return QStringLiteral("%1-%2.%3")
      .arg(model.isEmpty() ? QStringLiteral("meshwright") : model, QString::fromLatin1(kPages[pages_->currentIndex()]), ending);
}

QString MainWindow::captionOf(const View& view) const {
  const bool is_of_plan = session_.plan() && pages_->currentWidget() != trace_page_ && pages_->currentWidget() != run_page_;
  return is_of_plan ? view.accessibleName() + QStringLiteral(": ") + sentenceText(summaryOf(session_.plan()->plan)) : view.accessibleName();
}

void MainWindow::exportTable(const QString& path) {
  attempt([&] {
    saveTable(shownTable()->visibleTable(), path);
    tellWritten(path);
  });
}

void MainWindow::saveShownPlan(const QString& path) {
  attempt([&] {
    if (!session_.plan()) return tell({tr("There is no plan to save."), tr("choose one on the Plan page first")});
    sim::save_plan(withPredictions(*session_.plan()), path.toStdString());
    tellWritten(path);
  });
}

void MainWindow::saveShownView(const QString& path) {
  attempt([&] {
    saveView(pages_->currentWidget() == trace_page_ ? trace_page_->viewState() : timeline_page_->viewState(), path.toStdString());
    tellWritten(path);
  });
}

void MainWindow::tellWritten(const QString& path) { statusBar()->showMessage(tr("%1 is written.").arg(path)); }

}  // namespace gui
