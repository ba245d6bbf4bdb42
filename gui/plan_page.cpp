#include "gui/plan_page.h"

#include <QLabel>
#include <QSplitter>
#include <QStackedLayout>
#include <QVBoxLayout>

#include "gui/core/simulated_plan.h"
#include "gui/models/cells.h"
#include "gui/models/planning_tables.h"
#include "gui/models/reason_text.h"
#include "gui/start_panel.h"
#include "gui/table_panel.h"
#include "gui/views/scatter_view.h"

namespace gui {

PlanPage::PlanPage(QWidget* parent)
    : QWidget(parent),
      table_(new TablePanel(tr("Plans"), TablePanel::Filter::Shown, this)),
      exclusions_(new TablePanel(tr("What is out, and why"), TablePanel::Filter::Shown, this)),
      scatter_(new ScatterView(this)),
      start_(new StartPanel(this)),
      proof_(new QLabel(this)),
      shown_(new QStackedLayout(this)) {
  shown_->addWidget(start_);
  shown_->addWidget(result());
  link();
}

QWidget* PlanPage::result() {
  auto* all = new QWidget(this);
  scatter_->setAccessibleName(tr("Step time against memory"));
  scatter_->setMinimumSize(300, 200);
  auto* upper = new QSplitter(Qt::Horizontal, all);
  upper->addWidget(table_);
  upper->addWidget(scatter_);
  upper->setSizes({780, 380});
  exclusions_->setStretchedColumn(3);
  auto* pages = new QSplitter(Qt::Vertical, all);
  pages->addWidget(upper);
  pages->addWidget(exclusions_);
  pages->setSizes({620, 260});
  proof_->setWordWrap(true);
  proof_->setContentsMargins(10, 6, 10, 8);
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(pages, 1);
  column->addWidget(proof_);
  return all;
}

void PlanPage::link() {
  connect(table_, &TablePanel::rowChosen, this, [this](int position) {
    scatter_->choose(position);
    Q_EMIT candidateChosen(position);
  });
  connect(scatter_, &ScatterView::pointChosen, table_, &TablePanel::choose);
  scatter_->setTips([this](int position) {
    const planner::RankedPlan& shown = candidates_[static_cast<std::size_t>(position)].plan;
    return QStringLiteral("<b>%1, %2</b><br>%3")
        .arg(timeCell(shown.result.step_time).text, bytesCell(shown.result.peak_memory).text, sentenceText(summaryOf(shown.plan)));
  });
  connect(table_, &TablePanel::filterChanged, this, [this] { scatter_->setVisible(table_->visibleRows()); });
}

void PlanPage::setResult(const planner::SearchResult& result, sim::Bytes limit) {
  shown_->setCurrentIndex(1);
  candidates_ = candidatesOf(result);
  scatter_->setCandidates(candidates_, limit);
  table_->setFilter({});
  table_->setTable(candidatesTable(candidates_));
  exclusions_->setTable(exclusionsTable(result.excluded));
  proof_->setText(sentenceText(result.proof));
  if (!candidates_.empty()) table_->choose(0);
}

}  // namespace gui
