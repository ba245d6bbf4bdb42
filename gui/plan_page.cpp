#include "gui/plan_page.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include "gui/models/planning_tables.h"
#include "gui/table_panel.h"
#include "gui/views/scatter_view.h"

namespace gui {

PlanPage::PlanPage(QWidget* parent)
    : QWidget(parent),
      table_(new TablePanel(tr("Plans"), TablePanel::Filter::Shown, this)),
      exclusions_(new TablePanel(tr("What is out, and why"), TablePanel::Filter::Shown, this)),
      scatter_(new ScatterView(this)),
      proof_(new QLabel(this)) {
  scatter_->setAccessibleName(tr("Step time against memory"));
  scatter_->setMinimumSize(300, 200);
  auto* upper = new QSplitter(Qt::Horizontal, this);
  upper->addWidget(table_);
  upper->addWidget(scatter_);
  upper->setSizes({700, 460});
  exclusions_->setStretchedColumn(3);
  auto* pages = new QSplitter(Qt::Vertical, this);
  pages->addWidget(upper);
  pages->addWidget(exclusions_);
  pages->setSizes({620, 260});
  proof_->setWordWrap(true);
  proof_->setContentsMargins(10, 6, 10, 8);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(pages, 1);
  column->addWidget(proof_);
  link();
}

void PlanPage::link() {
  connect(table_, &TablePanel::rowChosen, this, [this](int position) {
    scatter_->choose(position);
    Q_EMIT candidateChosen(position);
  });
  connect(scatter_, &ScatterView::pointChosen, table_, &TablePanel::choose);
  connect(table_, &TablePanel::filterChanged, this, [this] { scatter_->setVisible(table_->visibleRows()); });
}

void PlanPage::setResult(const planner::SearchResult& result, sim::Bytes limit) {
  candidates_ = candidatesOf(result);
  scatter_->setCandidates(candidates_, limit);
  table_->setFilter({});
  table_->setTable(candidatesTable(candidates_));
  exclusions_->setTable(exclusionsTable(result.excluded));
  proof_->setText(QString::fromStdString(result.proof));
  if (!candidates_.empty()) table_->choose(0);
}

}  // namespace gui
