#include "gui/pages/page_stack.h"

#include <QLineEdit>
#include <QListWidget>

#include "gui/pages/actions.h"
#include "gui/pages/answers_page.h"
#include "gui/pages/cluster_page.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/run_page.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/trace_page.h"
#include "gui/views/box_view.h"
#include "gui/views/memory_view.h"
#include "gui/views/scatter_view.h"
#include "gui/views/timeline_view.h"

namespace gui {

PageStack::PageStack(QWidget* parent)
    : QTabWidget(parent),
      plan_(new PlanPage(this)),
      timeline_(new TimelinePage(this)),
      memory_(new MemoryPage(this)),
      cluster_(new ClusterPage(this)),
      compare_(new ComparePage(this)),
      run_(new RunPage(this)),
      trace_(new TracePage(this)),
      answers_(new AnswersPage(this)) {
  setDocumentMode(true);
  const auto figures = [this] { return timeline_->figures(); };
  rows_ = {
      {plan_, tr("Plan"), "plans", [this] { return plan_->scatter(); }, [this] { return plan_->table(); }, nullptr},
      {timeline_, tr("Timeline"), "timeline", [this] { return timeline_->view(); }, figures, nullptr},
      {memory_, tr("Memory"), "memory", [this] { return memory_->view(); }, [this] { return memory_->alive(); }, nullptr},
      {cluster_, tr("Cluster"), "cluster", [this] { return cluster_->machines(); }, figures, nullptr},
      {compare_, tr("Compare"), "comparison", [this] { return compare_->shownView(); }, [this] { return compare_->errors(); }, nullptr},
      {run_, tr("Run"), "run", [this] { return run_->timeline(); }, [this] { return run_->history(); }, run_->dataLine()},
      {trace_, tr("Trace"), "trace", [this] { return trace_->view(); }, [this] { return trace_->statistics(); }, nullptr},
      {answers_, tr("Answers"), "answers", [this] { return timeline_->view(); }, [this] { return answers_->table(); },
       answers_->questions()}};
  for (const Row& row : rows_) addTab(row.page, row.title);
}

void PageStack::setPlan(const SharedPlan& now, const SharedPlan& before) {
  timeline_->setPlan(now, before);
  memory_->setPlan(now);
  cluster_->setPlan(now);
  answers_->setPlan(now);
  run_->setPlan(withPredictions(*now));
  compare_->setPlan(now);
  trace_->allowComparison(true);
}

void PageStack::addActions(Actions& actions) {
  const QString view = tr("&View");
  for (int page = 0; page < count(); ++page)
    actions.add({view, tr("%1 page").arg(tabText(page)), tr("Ctrl+%1").arg(page + 1)}, [this, page] { turnTo(page); });
  actions.add({view, tr("&Search the timeline"), tr("/")}, [this] {
    if (currentWidget() == trace_) return trace_->searchLine()->setFocus();
    setCurrentWidget(timeline_);
    timeline_->searchLine()->setFocus();
  });
  actions.add({view, tr("Fi&lter the plans"), tr("Ctrl+F")}, [this] {
    setCurrentWidget(plan_);
    plan_->table()->filterLine()->setFocus();
  });
}

void PageStack::turnTo(int page) {
  setCurrentIndex(page);
  QWidget* target = shown().keys != nullptr ? shown().keys : shownView();
  if (!target->isVisible()) target = shown().page->nextInFocusChain();
  target->setFocus(Qt::ShortcutFocusReason);
}

template <class Widget>
Widget* PageStack::focused() const {
  const QWidget* page = currentWidget();
  for (QWidget* at = window()->focusWidget(); at != nullptr && page->isAncestorOf(at); at = at->parentWidget())
    if (auto* found = qobject_cast<Widget*>(at)) return found;
  return nullptr;
}

View* PageStack::shownView() const {
  View* const chosen = focused<View>();
  return chosen != nullptr ? chosen : shown().view();
}

TablePanel* PageStack::shownTable() const {
  TablePanel* const chosen = focused<TablePanel>();
  return chosen != nullptr ? chosen : shown().table();
}

QString PageStack::shownName() const { return QString::fromLatin1(shown().name); }
bool PageStack::showsPlan() const { return currentWidget() != trace_ && currentWidget() != run_; }

}  // namespace gui
