#include "gui/pages/estimate_panel.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>
#include <utility>

#include "gui/models/cells.h"
#include "gui/models/estimate_tables.h"
#include "gui/pages/table_panel.h"
#include "gui/views/scatter_view.h"

namespace gui {

EstimatePanel::EstimatePanel(QWidget* parent)
    : QWidget(parent),
      table_(new TablePanel(tr("Layouts, estimated"), TablePanel::Filter::Shown, this)),
      parts_(new TablePanel(tr("What it is made of"), TablePanel::Filter::Hidden, this)),
      assumptions_(new TablePanel(tr("What was assumed"), TablePanel::Filter::Hidden, this)),
      scatter_(new ScatterView(this)),
      sentence_(new QLabel(this)) {
  build();
  connect(table_, &TablePanel::rowChosen, this, &EstimatePanel::choose);
  connect(table_, &TablePanel::rowOpened, this, &EstimatePanel::layoutOpened);
  connect(scatter_, &ScatterView::pointChosen, table_, &TablePanel::choose);
  connect(table_, &TablePanel::filterChanged, this, [this] { scatter_->setVisible(table_->visibleRows()); });
}

void EstimatePanel::build() {
  scatter_->setAccessibleName(tr("Estimated step time against memory"));
  scatter_->setMinimumSize(300, 200);
  auto* upper = new QSplitter(Qt::Horizontal, this);
  upper->addWidget(table_);
  upper->addWidget(scatter_);
  upper->setSizes({780, 380});
  auto* lower = new QSplitter(Qt::Horizontal, this);
  lower->addWidget(parts_);
  lower->addWidget(assumptions_);
  lower->setSizes({600, 560});
  parts_->setStretchedColumn(0);
  assumptions_->setStretchedColumn(0);
  auto* both = new QSplitter(Qt::Vertical, this);
  both->addWidget(upper);
  both->addWidget(lower);
  both->setSizes({500, 330});
  sentence_->setWordWrap(true);
  sentence_->setContentsMargins(10, 6, 10, 8);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(both, 1);
  column->addWidget(sentence_);
}

void EstimatePanel::setEstimate(const SharedEstimate& estimate) {
  constexpr double kGibi = 1 << 30;
  estimate_ = estimate;
  std::vector<ScatterPoint> points;
  for (std::size_t at = 0; at < estimate->result.ranked.size(); ++at) {
    const planner::EstimatedLayout& layout = estimate->result.ranked[at];
    points.push_back({layout.step.time.count(),
                      memoryOf(layout),
                      estimate->on_front[at],
                      {layout.step.low.count(), layout.step.high.count()},
                      {layout.step.memory_low_gib * kGibi, layout.step.memory_high_gib * kGibi}});
  }
  scatter_->setPoints(points, estimate->request.cluster.hardware.memory);
  scatter_->setTips([this](int position) {
    const planner::EstimatedLayout& layout = estimate_->result.ranked[static_cast<std::size_t>(position)];
    return QStringLiteral("<b>%1, %2</b><br>%3")
        .arg(timeCell(layout.step.time).text, bytesCell(memoryOf(layout)).text, intervalText(layout));
  });
  table_->setFilter({});
  for (TablePanel* panel : {table_, parts_, assumptions_}) panel->setTable({});
  shown_ = plan_ ? layoutOf(*estimate, *plan_) : std::nullopt;
  sentence_->setText(verdict());
  table_->setTable(layoutsTable(*estimate, shown_));
  if (!points.empty()) table_->choose(0);
}

void EstimatePanel::markPlan(const sim::ParallelPlan& plan) {
  plan_ = plan;
  if (!estimate_ || estimate_->result.ranked.empty()) return;
  const std::optional<std::size_t> shown = layoutOf(*estimate_, plan);
  if (shown == std::exchange(shown_, shown)) return;
  table_->setTableInPlace(layoutsTable(*estimate_, shown));
  sentence_->setText(verdict());
}

void EstimatePanel::choose(int position) {
  const planner::EstimatedLayout& layout = estimate_->result.ranked[static_cast<std::size_t>(position)];
  scatter_->choose(position);
  parts_->setTable(partsTable(layout));
  assumptions_->setTable(assumptionsTable(*estimate_, layout));
}

QString EstimatePanel::verdict() const {
  const planner::LayoutResult& result = estimate_->result;
  if (!result.ranked.empty())
    return tr("Priced in closed form, without simulating a task: %L1 layouts, %L2 over memory. In four cases of five step and memory are "
              "expected "
              "inside their intervals.")
               .arg(result.candidates)
               .arg(result.over_memory) +
           QLatin1Char(' ') + (shown_ ? tr("● is the plan that is shown.") : QString()) + QLatin1Char(' ') +
           tr("Enter or a double click shows a layout as a simulated plan.");
  if (!result.smallest) return tr("No layout divides these devices, this batch and this model: try another number of devices or samples.");
  return tr("None of %L1 layouts fits: the smallest takes %2 of %3 (tensor %4, pipeline %5). Add devices, or take some with more memory.")
      .arg(result.candidates)
      .arg(bytesCell(memoryOf(*result.smallest)).text, bytesCell(estimate_->request.cluster.hardware.memory).text)
      .arg(result.smallest->run.layout.tensor)
      .arg(result.smallest->run.layout.pipeline);
}

}  // namespace gui
