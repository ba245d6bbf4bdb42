#include "gui/pages/trace_page.h"

#include <QAction>
#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSplitter>
#include <QTabWidget>
#include <algorithm>

#include "gui/core/name_colors.h"
#include "gui/models/cells.h"
#include "gui/models/trace_tables.h"
#include "gui/pages/actions.h"
#include "gui/pages/range_panel.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/legend_view.h"
#include "gui/views/overview_view.h"
#include "gui/views/timeline_view.h"
#include "sim/units/at.h"

namespace gui {

TracePage::TracePage(QWidget* parent)
    : QWidget(parent),
      adding_(this),
      naming_(this),
      view_(new TimelineView(this)),
      legend_(new LegendView(this)),
      range_(new RangePanel(tr("In the measured range"), Nesting::Nested, this)),
      event_(new TablePanel(tr("Selected event"), TablePanel::Filter::Hidden, this)),
      busy_(new TablePanel(tr("Of the measured range"), TablePanel::Filter::Hidden, this)),
      search_(new QLineEdit(this)),
      compare_(new QPushButton(tr("&Compare with the plan"), this)),
      coloring_(new QComboBox(this)),
      summary_(new QLabel(tr("Open or drop traces of torch.profiler (.json, .json.gz), one a rank."), this)),
      found_(new QLabel(this)) {
  build();
  connect(view_, &TimelineView::sliceSelected, this, &TracePage::showEvent);
  connect(view_, &TimelineView::rangeMeasured, this, &TracePage::addUp);
  connect(view_, &TimelineView::pinWanted, this, [this](std::size_t device) {
    const auto position = static_cast<std::int32_t>(device);
    if (!state_.pinned.erase(position)) state_.pinned.insert(position);
    orderDevices();
  });
  connect(search_, &QLineEdit::textChanged, this, &TracePage::search);
  connect(search_, &QLineEdit::returnPressed, this, &TracePage::nextMatch);
  connect(coloring_, &QComboBox::currentIndexChanged, this, &TracePage::recolor);
}

void TracePage::build() {
  view_->setEmptyText(tr("Open traces of torch.profiler (Ctrl+O), or drop them on the window, one a rank"));
  view_->setAccessibleName(tr("Timeline of the traces"));
  search_->setAccessibleName(tr("Search"));
  legend_->setKinds(traceWorkKinds());
  search_->setPlaceholderText(tr("Search: nccl.*Reduce"));
  search_->setToolTip(tr("A pattern that names match; Enter leads to the next"));
  search_->setClearButtonEnabled(true);
  search_->setMinimumWidth(180);
  search_->setMaximumWidth(280);
  summary_->setWordWrap(true);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(10, 6, 10, 6);
  head->setSpacing(8);
  head->addWidget(summary_, 1);
  head->addWidget(found_);
  coloring_->addItems({tr("colors by class"), tr("colors by name")});
  coloring_->setAccessibleName(tr("What colors mean"));
  compare_->setEnabled(false);
  compare_->setToolTip(tr("Joins the kernels of a step with the tasks of the plan that is shown, and opens both on the Compare page"));
  connect(compare_, &QPushButton::clicked, this, [this] { Q_EMIT comparisonWanted(trace_); });
  head->addWidget(compare_);
  head->addWidget(coloring_);
  head->addWidget(search_);
  auto* lower = new QSplitter(Qt::Horizontal, this);
  auto* sums = new QTabWidget(this);
  sums->setDocumentMode(true);
  sums->addTab(range_, tr("By name"));
  sums->addTab(busy_, tr("By device"));
  lower->addWidget(sums);
  lower->addWidget(event_);
  lower->setSizes({720, 320});
  auto* body = new QSplitter(Qt::Vertical, this);
  auto* upper = new QWidget(this);
  auto* lines = new QVBoxLayout(upper);
  lines->setContentsMargins(0, 0, 0, 0);
  lines->setSpacing(0);
  lines->addWidget(new OverviewView(view_, upper));
  lines->addWidget(view_, 1);
  body->addWidget(upper);
  body->addWidget(lower);
  body->setSizes({520, 260});
  body->setStretchFactor(0, 1);
  busy_->setStretchedColumn(0);
  event_->setStretchedColumn(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(legend_);
  column->addWidget(body, 1);
}

void TracePage::follow(const TimelineActions& actions) {
  connect(actions.dense, &QAction::toggled, view_, &TimelineView::setDense);
  connect(actions.flows, &QAction::toggled, view_, &TimelineView::showAllFlows);
  connect(actions.matching, &QAction::toggled, this, &TracePage::showMatching);
}

// Nothing that was left out stays unsaid.
QString TracePage::summaryText() const {
  std::int64_t malformed = 0, not_drawn = 0;
  QStringList names, cut;
  for (const TraceFile& file : trace_->files) {
    malformed += file.malformed;
    not_drawn += file.not_drawn;
    const QString name = QFileInfo(QString::fromStdString(file.path)).fileName().toHtmlEscaped();
    names << name;
    if (file.cut) cut << name;
  }
  QString text = QStringLiteral("<b>%1</b>: %2, %3")
                     .arg(names.join(QStringLiteral(", ")), countText(std::ssize(trace_->name), tr("1 slice"), tr("%L1 slices")),
                          timeCell(trace_->core.range().end).text);
  if (!trace_->flows.empty())
    text += QStringLiteral("; ") + countText(std::ssize(trace_->flows), tr("1 flow ([ ] follow it)"), tr("%L1 flows ([ ] follow one)"));
  if (not_drawn > 0) text += tr("; counters, instants and flows without both ends, not drawn: %L1").arg(not_drawn);
  if (malformed > 0) text += tr("; <b>malformed events left out: %L1</b>").arg(malformed);
  if (!cut.isEmpty()) text += tr("; <b>cut off in the middle, shown up to there: %1</b>").arg(cut.join(QStringLiteral(", ")));
  return text;
}

void TracePage::setTrace(const SharedTrace& trace) {
  trace_ = trace;
  allowComparison(has_plan_);
  view_->setTimeline(SharedCore(trace, &trace->core), [trace](std::uint32_t span) { return spokenName(trace->nameOf(span)); });
  view_->setExtras(nullptr, {trace, &trace->flows});
  summary_->setText(summaryText());
  orderDevices();
  recolor();
  event_->setTable(membersTable({{tr("Click one").toStdString(), ""}}));
  search(search_->text());
  addUp(trace->core.range());
}

void TracePage::allowComparison(bool with_plan) {
  has_plan_ = with_plan;
  compare_->setEnabled(has_plan_ && trace_);
}

void TracePage::addActions(Actions& actions) {
  QAction* by_name = actions.add({tr("&View"), tr("Colors of a trace by &name"), QKeySequence(QStringLiteral("Ctrl+Shift+L"))}, [] {});
  by_name->setCheckable(true);
  connect(by_name, &QAction::toggled, coloring_, [this](bool on) { coloring_->setCurrentIndex(on ? 1 : 0); });
  connect(coloring_, &QComboBox::currentIndexChanged, by_name, [by_name](int means) { by_name->setChecked(means == 1); });
}

void TracePage::recolor() {
  if (!trace_) return;
  naming_.start([this, trace = trace_, by_name = coloring_->currentIndex() == 1](Progress&) -> BackgroundJob::Finish {
    const std::vector<NameColor> colors = by_name ? nameColors(trace->core, trace->name) : std::vector<NameColor>();
    const auto of_name = std::make_shared<std::vector<Rgb>>(trace->names.size(), kOtherNames);
    for (const NameColor& one : colors) (*of_name)[one.name] = one.color;
    return [this, trace, colors, of_name, by_name] {
      view_->setColors(by_name ? SliceColors([trace, of_name](std::uint32_t span) { return (*of_name)[trace->name[span]]; }) : nullptr);
      if (!by_name) return legend_->setKinds(traceWorkKinds());
      constexpr int kWidest = 200;
      std::vector<LegendEntry> entries;
      for (const NameColor& one : colors)
        entries.push_back(
            {fontMetrics().elidedText(textOf(spokenName(trace->names[one.name])), Qt::ElideRight, kWidest), colorOf(one.color)});
      entries.push_back({tr("others"), colorOf(kOtherNames)});
      legend_->setEntries(std::move(entries));
    };
  });
}

void TracePage::showEvent(int span) {
  if (span < 0 || !trace_) return;
  try {
    event_->setTable(membersTable(membersOf(*trace_, static_cast<std::uint32_t>(span))));
  } catch (...) {
    const Message why = messageOf(std::current_exception());
    event_->setTable(membersTable({{why.problem.toStdString(), why.remedy.toStdString()}}));
  }
}

void TracePage::addUp(TimeRange range) {
  if (!trace_) return;
  adding_.start([this, trace = trace_, range](Progress&) -> BackgroundJob::Finish {
    const Table table = busyTable(busyTimes(trace->core, range));
    return [this, table] { busy_->setTable(table); };
  });
  range_->addUp(
      [trace = trace_] {
        return RangeSource{SharedCore(trace, &trace->core), {trace, &trace->names}, {trace, &trace->name}};
      },
      range);
}

TablePanel* TracePage::statistics() const { return range_->table(); }

void TracePage::search(const QString& pattern) {
  matches_.clear();
  match_ = 0;
  const QRegularExpression expression(pattern, QRegularExpression::CaseInsensitiveOption);
  found_->setText(expression.isValid() ? QString() : tr("no valid pattern: %1").arg(expression.errorString()));
  if (pattern.isEmpty() || !trace_ || !expression.isValid()) {
    view_->setMatches(std::nullopt);
    range_->showOf({}, {});
    return orderDevices();
  }
  std::vector<bool> matches(trace_->names.size());
  for (std::size_t name = 0; name < matches.size(); ++name) matches[name] = expression.match(textOf(trace_->names[name])).hasMatch();
  for (std::uint32_t span = 0; span < trace_->name.size(); ++span)
    if (matches[trace_->name[span]]) matches_.push_back(span);
  found_->setText(countText(std::ssize(matches_), tr("1 match"), tr("%L1 matches")));
  view_->setMatches(matches_);
  range_->showOf(std::move(matches), pattern);
  orderDevices();
}

std::vector<bool> TracePage::devicesThatMatch() const {
  std::vector<bool> matching, is_match(trace_->name.size());
  for (const std::uint32_t span : matches_) is_match[span] = true;
  for (const SliceRow& row : trace_->core.rows()) {
    if (row.opens_device || matching.empty()) matching.push_back(matches_.empty());
    if (matching.back()) continue;
    matching.back() =
        std::any_of(row.slices->span.begin(), row.slices->span.end(), [&is_match](std::uint32_t span) { return is_match[span]; });
  }
  return matching;
}

void TracePage::orderDevices() {
  if (!trace_) return;
  const std::vector<bool> shown = only_matching_ ? devicesThatMatch() : std::vector<bool>();
  const auto num_devices = sim::count_of(
      std::count_if(trace_->core.rows().begin(), trace_->core.rows().end(), [](const SliceRow& row) { return row.opens_device; }));
  std::vector<std::size_t> order;
  for (std::size_t device = 0; device < num_devices; ++device)
    if (shown.empty() || shown[device]) order.push_back(device);
  const auto pinned = std::stable_partition(
      order.begin(), order.end(), [this](std::size_t device) { return state_.pinned.contains(static_cast<std::int32_t>(device)); });
  const auto num_pinned = sim::position_in(order, pinned);
  view_->setDeviceOrder(std::move(order), num_pinned);
}

void TracePage::showMatching(bool only) {
  only_matching_ = only;
  orderDevices();
}

ViewState TracePage::viewState() const {
  ViewState state = state_;
  view_->keepIn(state);
  state.search = search_->text().toStdString();
  return state;
}

void TracePage::setViewState(const ViewState& state) {
  state_ = state;
  search_->setText(QString::fromStdString(state.search));
  orderDevices();
  view_->lookAgain(state);
}

void TracePage::nextMatch() {
  if (matches_.empty()) return;
  view_->select(view_->core().find(matches_[match_]));
  found_->setText(tr("match %L1 of %L2").arg(match_ + 1).arg(matches_.size()));
  match_ = (match_ + 1) % matches_.size();
}

}  // namespace gui
