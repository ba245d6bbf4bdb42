#include "gui/pages/plan_page.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/core/simulated_plan.h"
#include "gui/models/cells.h"
#include "gui/models/planning_tables.h"
#include "gui/models/reason_text.h"
#include "gui/pages/start_panel.h"
#include "gui/pages/table_panel.h"
#include "gui/views/scatter_view.h"
#include "sim/cluster/whose_speed.h"
#include "sim/units/at.h"

namespace gui {
namespace {

// How many plans there are and what became of them, one that was left aside, whose speed it is, what all of them have alike: a sentence each.
QString footText(const PlanAnswer& answer, const std::vector<Candidate>& candidates) {
  const planner::SearchResult& result = answer.result;
  QStringList sentences = {searchText(answer)};
  if (const QString proven = provenText(answer); !proven.isEmpty()) sentences << proven;
  if (const QString tied = tieText(answer); !tied.isEmpty()) sentences << tied;
  if (const QString training = trainingText(answer); !training.isEmpty()) sentences << training;
  for (const planner::RankedPlan& risky : result.risky)
    sentences << PlanPage::tr(
                     "Left aside: %1 a step (%2), but a chance of %3 to run out of memory; raise the accepted risk to let it compete")
                     .arg(timeCell(risky.result.step_time).text, sentenceText(summaryOf(risky.plan)),
                          shareCell(risky.out_of_memory_chance).text);
  if (!result.ranked.empty()) {
    const sim::WhoseSpeed speed = sim::whose_speed(result.ranked.front().plan.cluster);
    sentences << PlanPage::tr("Speed of %1 on %2").arg(textOf(speed.program), textOf(speed.part));
  }
  if (const QString common = commonSettings(candidates); !common.isEmpty()) sentences << PlanPage::tr("All plans: %1").arg(common);
  return sentences.join(QStringLiteral(". ")) + '.';
}

}  // namespace

PlanPage::PlanPage(QWidget* parent)
    : QWidget(parent),
      table_(new TablePanel(tr("Plans"), TablePanel::Filter::Shown, this)),
      exclusions_(new TablePanel(tr("What is out, and why"), TablePanel::Filter::Shown, this)),
      scatter_(new ScatterView(this)),
      start_(new StartPanel(this)),
      foot_(new QLabel(this)),
      shown_(new QStackedLayout(this)) {
  auto* area = new QScrollArea(this);  // its steps scroll on a low screen
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setFocusPolicy(Qt::NoFocus);
  area->setWidget(start_);
  shown_->addWidget(area);
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
  foot_->setWordWrap(true);
  foot_->setContentsMargins(10, 6, 10, 8);
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(pages, 1);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(0, 0, 10, 0);
  auto* run = new QPushButton(tr("&Run the chosen plan…"), all);
  run->setToolTip(tr("Start it here, or take the command or script for another machine (Ctrl+6)"));
  run->setDefault(true);
  connect(run, &QPushButton::clicked, this, &PlanPage::runWanted);
  foot->addWidget(foot_, 1);
  foot->addWidget(run, 0, Qt::AlignVCenter);
  column->addLayout(foot);
  return all;
}

void PlanPage::link() {
  connect(table_, &TablePanel::rowChosen, this, [this](int position) {
    scatter_->choose(position);
    Q_EMIT candidateChosen(position);
  });
  connect(scatter_, &ScatterView::pointChosen, table_, &TablePanel::choose);
  scatter_->setTips([this](int position) {
    const planner::RankedPlan& shown = sim::at(candidates_, position).plan;
    return QStringLiteral("<b>%1, %2</b><br>%3")
        .arg(timeCell(shown.result.step_time).text, bytesCell(shown.result.peak_memory).text, sentenceText(summaryOf(shown.plan)));
  });
  connect(table_, &TablePanel::filterChanged, this, [this] { scatter_->setVisible(table_->visibleRows()); });
}

void PlanPage::markPlan(const sim::ParallelPlan& plan) {
  const auto row = std::find(hashes_.begin(), hashes_.end(), sim::plan_hash(plan));
  const int position = row == hashes_.end() ? -1 : static_cast<int>(row - hashes_.begin());
  const QSignalBlocker quiet(table_);
  table_->choose(position);
  scatter_->choose(position);
}

void PlanPage::setResult(const PlanAnswer& answer, First best) {
  shown_->setCurrentIndex(1);
  candidates_ = candidatesOf(answer.result);
  hashes_.clear();
  for (const Candidate& candidate : candidates_) hashes_.push_back(sim::plan_hash(candidate.plan.plan));
  scatter_->setCandidates(candidates_, answer.limit, answer.objective);
  table_->setFilter({});
  table_->setTable(candidatesTable(candidates_, answer.objective, answer.whole));
  exclusions_->setTable(exclusionsTable(answer.result.excluded));
  foot_->setText(footText(answer, candidates_));
  if (best == First::Chosen && !candidates_.empty()) table_->choose(0);
}

}  // namespace gui
