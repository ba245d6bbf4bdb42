#include "gui/pages/step_explanation.h"

#include <QSplitter>

#include "gui/models/explanation_tables.h"
#include "gui/pages/range_panel.h"
#include "gui/pages/table_panel.h"
#include "gui/views/duration_view.h"
#include "gui/views/slice_text.h"
#include "sim/units/at.h"

namespace gui {

StepExplanation::StepExplanation(QWidget* parent)
    : QTabWidget(parent),
      explaining_(this),
      bubble_(new TablePanel(tr("Share of the step, by cause"), TablePanel::Filter::Hidden, this)),
      kinds_(new TablePanel(tr("By kind of task"), TablePanel::Filter::Hidden, this)),
      links_(new TablePanel(tr("Task by task"), TablePanel::Filter::Shown, this)),
      range_(new RangePanel(tr("By kind of task, in the measured range"), Nesting::Flat, this)),
      found_(new TablePanel(tr("What the search found"), TablePanel::Filter::Shown, this)),
      found_durations_(new DurationView(this)) {
  setDocumentMode(true);
  auto* path = new QSplitter(Qt::Horizontal, this);
  path->addWidget(kinds_);
  path->addWidget(links_);
  path->setSizes({400, 600});
  kinds_->setStretchedColumn(0);
  links_->setStretchedColumn(1);
  bubble_->setStretchedColumn(0);
  addTab(bubble_, tr("Bubble"));
  addTab(path, tr("Critical path"));
  addTab(range_, tr("Range"));
  auto* found = new QSplitter(Qt::Horizontal, this);
  found->addWidget(found_);
  found->addWidget(found_durations_);
  found->setSizes({640, 260});
  found->setStretchFactor(0, 1);
  addTab(found, tr("Found"));
  found_->setStretchedColumn(1);
  connect(found_, &TablePanel::rowChosen, this, [this](int row) { Q_EMIT spanChosen(static_cast<int>(sim::at(spans_, row))); });
  connect(links_, &TablePanel::rowChosen, this, [this](int row) {
    if (plan_) Q_EMIT spanChosen(static_cast<int>(plan_->shown().devices.numberOf(sim::at(plan_->critical.links, row).span)));
  });
}

void StepExplanation::setPlan(const SharedPlan& plan) {
  plan_ = plan;
  explaining_.start([this, plan](Progress&) -> BackgroundJob::Finish {
    const Table bubble = bubbleTable(*plan), kinds = criticalKindsTable(*plan), links = criticalLinksTable(*plan, sliceName);
    return [this, bubble, kinds, links] {
      bubble_->setTable(bubble);
      kinds_->setTable(kinds);
      links_->setTable(links);
    };
  });
  addUp(plan->picture.core->range());
}

void StepExplanation::showFound(const FoundSlices& found) {
  spans_.assign(found.spans.begin(), found.spans.begin() + static_cast<std::ptrdiff_t>(found.table.rows.size()));
  setTabText(indexOf(found_->parentWidget()), found.spans.empty() ? tr("Found") : tr("Found (%L1)").arg(found.spans.size()));
  found_->setTable(found.table);
  found_durations_->setBins(found.durations, found.words);
  if (!found.spans.empty()) setCurrentWidget(found_->parentWidget());
}

void StepExplanation::addUp(TimeRange range) {
  if (!plan_) return;
  if (range != plan_->shown().core->range()) setCurrentWidget(range_);  // what was measured is what a person wants to read
  range_->addUp(
      [plan = plan_] {
        const auto kinds = std::make_shared<const KindNumbers>(kindNumbers(plan->result.timeline));
        return RangeSource{plan->shown().core, {kinds, &kinds->names}, {kinds, &kinds->of_span}};
      },
      range);
}

TablePanel* StepExplanation::range() const { return range_->table(); }

}  // namespace gui
