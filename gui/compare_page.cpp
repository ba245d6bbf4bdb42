#include "gui/compare_page.h"

#include <QLabel>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/cells.h"
#include "gui/models/comparison_tables.h"
#include "gui/models/explanation_tables.h"
#include "gui/table_panel.h"
#include "gui/views/legend_view.h"
#include "gui/views/timeline_view.h"

namespace gui {
namespace {

QWidget* titled(const QString& title, QWidget* content, QWidget* parent) {
  auto* box = new QWidget(parent);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* label = new QLabel(QStringLiteral("<b>%1</b>").arg(title), box);
  label->setContentsMargins(10, 5, 10, 5);
  column->addWidget(label);
  column->addWidget(content, 1);
  return box;
}

}  // namespace

ComparePage::ComparePage(QWidget* parent)
    : QWidget(parent),
      summary_(new QLabel(tr("Open a run folder (Ctrl+Shift+O) to hold it against its simulation."), this)),
      simulated_(new TimelineView(this)),
      measured_(new TimelineView(this)),
      errors_(new TablePanel(tr("Errors"), TablePanel::Filter::Shown, this)),
      gap_(new TablePanel(tr("The gap, explained"), TablePanel::Filter::Hidden, this)),
      shares_(new TablePanel(tr("Shares"), TablePanel::Filter::Hidden, this)),
      unmatched_(new TablePanel(tr("Without a partner"), TablePanel::Filter::Hidden, this)) {
  build();
  link();
}

void ComparePage::build() {
  summary_->setContentsMargins(10, 8, 10, 6);
  summary_->setWordWrap(true);
  errors_->setStretchedColumn(0);
  gap_->setStretchedColumn(0);
  shares_->setStretchedColumn(0);
  unmatched_->setStretchedColumn(1);
  auto* pictures = new QSplitter(Qt::Vertical, this);
  pictures->addWidget(titled(tr("Simulated"), simulated_, this));
  pictures->addWidget(titled(tr("Measured"), measured_, this));
  auto* lower = new QTabWidget(this);
  lower->setDocumentMode(true);
  lower->addTab(gap_, tr("Gap"));
  lower->addTab(shares_, tr("Shares"));
  lower->addTab(unmatched_, tr("Without a partner"));
  auto* tables = new QSplitter(Qt::Horizontal, this);
  tables->addWidget(errors_);
  tables->addWidget(lower);
  tables->setSizes({560, 480});
  auto* body = new QSplitter(Qt::Vertical, this);
  body->addWidget(pictures);
  body->addWidget(tables);
  body->setSizes({520, 320});
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(summary_);
  column->addWidget(new LegendView(this));
  column->addWidget(body, 1);
}

void ComparePage::link() {
  connect(simulated_, &TimelineView::rangeChanged, measured_, &TimelineView::setShown);
  connect(measured_, &TimelineView::rangeChanged, simulated_, &TimelineView::setShown);
  connect(simulated_, &TimelineView::sliceSelected, this, [this](int span) {
    if (run_) follow(simulated_, measured_, run_->measured, span);
  });
  connect(measured_, &TimelineView::sliceSelected, this, [this](int span) {
    if (run_) follow(measured_, simulated_, run_->simulated->result.timeline, span);
  });
}

// The same task of the same rank on the other side. Both timelines number their devices by rank.
void ComparePage::follow(TimelineView* from, TimelineView* to, const sim::Timeline& there, int span) {
  if (following_ || span < 0) return;
  following_ = true;
  const std::vector<sim::Span>& here = from == measured_ ? run_->measured.spans : run_->simulated->result.timeline.spans;
  const sim::Span& chosen = here[static_cast<std::size_t>(span)];
  const auto partner = std::find_if(there.spans.begin(), there.spans.end(),
                                    [&](const sim::Span& other) { return other.device == chosen.device && other.key == chosen.key; });
  to->select(partner == there.spans.end() ? std::nullopt : to->core().find(static_cast<std::uint32_t>(partner - there.spans.begin())));
  following_ = false;
}

void ComparePage::setRun(const SharedRun& run) {
  const sim::Timeline& simulated = run->simulated->result.timeline;
  simulated_->setTimeline(run->simulated->core, taskNames(simulated.spans));
  measured_->setTimeline(run->core, taskNames(run->measured.spans));
  run_ = run;
  const TimeRange whole{sim::SimTime(0), std::max(simulated_->core().range().end, measured_->core().range().end)};
  simulated_->setWhole(whole);
  measured_->setWhole(whole);
  const sim::Comparison& found = run->comparison;
  errors_->setTable(errorsTable(found));
  gap_->setTable(gapTable(*run));
  shares_->setTable(sharesTable(found));
  unmatched_->setTable(unmatchedTable(found));
  const QString ledger = found.ledger_equal ? tr("The collectives are those predicted, entry by entry.")
                                            : tr("The collectives differ: %1").arg(QString::fromStdString(found.ledger_difference));
  summary_->setText(
      tr("<b>%1</b>: step %2 of %3. Simulated %4, measured %5 (%6). %7")
          .arg(QString::fromStdString(run->folder).toHtmlEscaped())
          .arg(run->step)
          .arg(run->traces.front().steps.size())
          .arg(timeCell(found.step.simulated).text, timeCell(found.step.measured).text, signedShareCell(found.step.error()).text, ledger));
}

}  // namespace gui
