#include "gui/pages/compare_page.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/cells.h"
#include "gui/models/explanation_tables.h"
#include "gui/models/reason_text.h"
#include "gui/pages/elided_box.h"
#include "gui/pages/table_panel.h"
#include "gui/views/histogram_view.h"
#include "gui/views/legend_view.h"
#include "gui/views/slice_text.h"
#include "gui/views/timeline_view.h"
#include "sim/units/at.h"

namespace gui {
namespace {

enum Picture { kSideBySide, kOverlaid, kDifferences };  // the tabs, in order

// Where they do not fit beside each other they scroll: a word that is cut says nothing.
void keepTabsWhole(QTabWidget* tabs) {
  tabs->setUsesScrollButtons(true);
  tabs->setElideMode(Qt::ElideNone);
}

QWidget* titled(QLabel* title, QWidget* content, QWidget* parent) {
  auto* box = new QWidget(parent);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  title->setContentsMargins(10, 5, 10, 5);
  title->setMinimumWidth(1);
  column->addWidget(title);
  column->addWidget(content, 1);
  return box;
}

}  // namespace

// All that is made beside the window's thread.
struct ComparePage::Shown {
  explicit Shown(SharedComparison compared)
      : steps(std::move(compared)),
        overlay(overlaid(*steps)),
        difference(differences(*steps)),
        lag(std::make_shared<std::vector<CounterRow>>(lags(*steps))),
        bins(ratioHistogram(*steps)),
        errors(errorsTable(errorGroups(*steps))),
        gap(gapTable(*steps)),
        unmatched(unmatchedTable(*steps)),
        largest(differencesTable(*steps)) {}
  SharedComparison steps;
  SharedCore overlay, difference;
  TimelineView::Counters lag;
  std::vector<RatioBin> bins;
  Table errors, gap, unmatched;
  DifferenceTable largest;
};

ComparePage::ComparePage(QWidget* parent)
    : QWidget(parent),
      comparing_(this),
      left_side_(new ElidedBox(this)),
      right_side_(new ElidedBox(this)),
      calibrate_(new QPushButton(tr("&Calibrate and plan again"), this)),
      summary_(new QLabel(tr("Open a run folder (Ctrl+Shift+O) to hold it against its simulation."), this)),
      chosen_(new QLabel(this)),
      left_title_(new QLabel(QStringLiteral("<b>A</b>"), this)),
      right_title_(new QLabel(QStringLiteral("<b>B</b>"), this)),
      legend_(new LegendView(this)),
      pictures_(new QTabWidget(this)),
      lower_(new QTabWidget(this)),
      left_(new TimelineView(this)),
      right_(new TimelineView(this)),
      overlay_(new TimelineView(this)),
      difference_(new TimelineView(this)),
      histogram_(new HistogramView(this)),
      errors_(new TablePanel(tr("Errors"), TablePanel::Filter::Shown, this)),
      gap_(new TablePanel(tr("The gap, explained"), TablePanel::Filter::Hidden, this)),
      shares_(new TablePanel(tr("Shares"), TablePanel::Filter::Hidden, this)),
      largest_(new TablePanel(tr("Largest differences"), TablePanel::Filter::Shown, this)),
      unmatched_(new TablePanel(tr("Without a partner"), TablePanel::Filter::Shown, this)) {
  build();
  link();
}

QLayout* ComparePage::head() {
  auto* line = new QHBoxLayout;
  line->setContentsMargins(10, 6, 10, 0);
  line->setSpacing(8);
  for (const auto& [letter, box] : {std::pair("<b>A</b>", left_side_), std::pair("<b>B</b>", right_side_)}) {
    auto* label = new QLabel(QString::fromLatin1(letter), this);
    label->setBuddy(box);
    box->setEnabled(false);
    line->addWidget(label);
    line->addWidget(box, 1);
  }
  left_side_->setAccessibleName(tr("Left side of the comparison"));
  right_side_->setAccessibleName(tr("Right side of the comparison"));
  calibrate_->setEnabled(false);
  calibrate_->setToolTip(tr("Corrects the hardware profile by this run, then searches again with it"));
  auto* open = new QPushButton(tr("&Open a run…"), this);
  open->setToolTip(tr("Adds a run folder, its measured step and its simulation (Ctrl+Shift+O)"));
  connect(open, &QPushButton::clicked, this, &ComparePage::runWanted);
  line->addWidget(open);
  line->addWidget(calibrate_);
  return line;
}

QWidget* ComparePage::tables() {
  lower_->setDocumentMode(true);
  lower_->addTab(gap_, tr("Gap"));
  lower_->addTab(histogram_, tr("Residuals"));
  lower_->addTab(largest_, tr("Largest"));
  lower_->addTab(shares_, tr("Shares"));
  lower_->addTab(unmatched_, tr("Unmatched"));
  keepTabsWhole(lower_);
  errors_->setStretchedColumn(1);
  for (TablePanel* panel : {gap_, shares_, largest_}) panel->setStretchedColumn(0);
  unmatched_->setStretchedColumn(1);
  auto* tables = new QSplitter(Qt::Horizontal, this);
  tables->addWidget(errors_);
  tables->addWidget(lower_);
  tables->setSizes({570, 530});
  return tables;
}

void ComparePage::build() {
  summary_->setContentsMargins(10, 6, 10, 6);
  summary_->setWordWrap(true);
  constexpr int kLeastHeight = 48;  // on a low screen both are seen
  for (TimelineView* view : {left_, right_}) view->setMinimumHeight(kLeastHeight);
  auto* beside = new QSplitter(Qt::Vertical, this);
  beside->addWidget(titled(left_title_, left_, this));
  beside->addWidget(titled(right_title_, right_, this));
  pictures_->setDocumentMode(true);
  pictures_->addTab(beside, tr("Side by side"));
  pictures_->addTab(overlay_, tr("Overlaid"));
  pictures_->addTab(difference_, tr("Differences"));
  auto* body = new QSplitter(Qt::Vertical, this);
  body->addWidget(pictures_);
  body->addWidget(tables());
  body->setSizes({500, 300});
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head());
  column->addWidget(summary_);
  chosen_->setContentsMargins(10, 0, 10, 4);
  chosen_->setMinimumWidth(1);
  chosen_->setAccessibleName(tr("Selected task"));
  column->addWidget(chosen_);
  column->addWidget(legend_);
  column->addWidget(body, 1);
}

void ComparePage::link() {
  const std::vector<TimelineView*> views = {left_, right_, overlay_, difference_};
  for (const auto& [view, name] : {std::pair(left_, tr("Timeline of A")),
                                   {right_, tr("Timeline of B")},
                                   {overlay_, tr("Timelines of A and B, overlaid")},
                                   {difference_, tr("Timeline of the differences")}})
    view->setAccessibleName(name);
  for (TimelineView* view : views) {
    view->setEmptyText(tr("Open a run folder to see it here"));
    for (TimelineView* other : views)
      if (other != view) connect(view, &TimelineView::rangeChanged, other, &TimelineView::setShown);
    connect(view, &TimelineView::sliceSelected, this, [this, view](int span) { follow(view, span); });
  }
  connect(pictures_, &QTabWidget::currentChanged, this,
          [this](int tab) { legend_->setKinds(tab == kDifferences ? differenceWorkKinds() : planWorkKinds()); });
  for (QComboBox* box : {left_side_, right_side_}) connect(box, &QComboBox::currentIndexChanged, this, &ComparePage::refresh);
  connect(largest_, &TablePanel::rowChosen, this,
          [this](int row) { right_->select(right_->core().find(sim::at(largest_pairs_, row).right)); });
  connect(histogram_, &HistogramView::binChosen, this, &ComparePage::fadeOthers);
  connect(calibrate_, &QPushButton::clicked, this, [this] {
    if (steps_) Q_EMIT calibrationWanted(steps_->right.run ? steps_->right.run : steps_->left.run);
  });
}

View* ComparePage::shownView() const {
  const int tab = pictures_->currentIndex();
  return tab == kOverlaid ? overlay_ : tab == kDifferences ? difference_ : right_;
}

void ComparePage::setPlan(const SharedPlan& plan) {
  ComparedSide side = simulatedSide(plan);
  if (has_plan_) {
    sides_.front() = side;
  } else {
    sides_.insert(sides_.begin(), side);
  }
  for (QComboBox* box : {left_side_, right_side_}) {
    const QSignalBlocker quiet(box);
    const QString name = tr("the plan shown: %1").arg(sentenceText(side.name));
    has_plan_ ? box->setItemText(0, name) : box->insertItem(0, name);
    box->setToolTip(box->currentText());
  }
  has_plan_ = true;
  if (steps_ && (left_side_->currentIndex() == 0 || right_side_->currentIndex() == 0)) refresh();
}

void ComparePage::setRun(const SharedRun& run) {
  for (ComparedSide& side : sidesOf(run)) {
    for (QComboBox* box : {left_side_, right_side_}) {
      const QSignalBlocker quiet(box);
      box->addItem(sentenceText(side.name));
      box->setEnabled(true);
    }
    sides_.push_back(std::move(side));
  }
  const int last = static_cast<int>(sides_.size()) - 1;
  compare({last - 1, last});
}

void ComparePage::setTrace(const SharedTraceStep& trace, const SharedPlan& plan) {
  for (const ComparedSide& side : {simulatedSide(plan), tracedSide(trace, plan)}) {
    for (QComboBox* box : {left_side_, right_side_}) {
      const QSignalBlocker quiet(box);
      box->addItem(sentenceText(side.name));
      box->setEnabled(true);
    }
    sides_.push_back(side);
  }
  const int last = static_cast<int>(sides_.size()) - 1;
  compare({last - 1, last});
}

void ComparePage::compare(Places places) {
  {
    const QSignalBlocker quiet_left(left_side_), quiet_right(right_side_);
    left_side_->setCurrentIndex(places.left);
    right_side_->setCurrentIndex(places.right);
  }
  for (QComboBox* box : {left_side_, right_side_}) box->setToolTip(box->currentText());
  refresh();
}

void ComparePage::refresh() {
  const int left = left_side_->currentIndex(), right = right_side_->currentIndex();
  if (left < 0 || right < 0) return;
  comparing_.start([this, a = sim::at(sides_, left), b = sim::at(sides_, right)](Progress&) -> BackgroundJob::Finish {
    const auto shown = std::make_shared<Shown>(std::make_shared<ComparedSteps>(a, b));
    return [this, shown] { show(*shown); };
  });
}

void ComparePage::show(const Shown& shown) {
  steps_ = shown.steps;
  const std::vector<sim::Span>&left = steps_->left.timeline().spans, &right = steps_->right.timeline().spans;
  left_->setTimeline(steps_->left.core(), taskNames(left));
  right_->setTimeline(steps_->right.core(), taskNames(right));
  difference_->setTimeline(shown.difference, taskNames(right));
  difference_->setExtras(shown.lag);
  overlay_->setTimeline(shown.overlay, [steps = steps_](std::uint32_t span) {
    const std::vector<sim::Span>&a = steps->left.timeline().spans, &b = steps->right.timeline().spans;
    return sliceName(span < a.size() ? a[span].key : b[span - a.size()].key).toStdString();
  });
  const TimeRange whole{sim::SimTime(0), std::max(left_->core().range().end, right_->core().range().end)};
  for (TimelineView* view : {left_, right_, overlay_, difference_}) view->setWhole(whole);
  histogram_->setBins(shown.bins);
  errors_->setTable(shown.errors);
  gap_->setTable(shown.gap);
  shares_->setTable(steps_->wholeRun() ? sharesTable(*steps_->wholeRun()) : Table{});
  unmatched_->setTable(shown.unmatched);
  lower_->setTabText(lower_->indexOf(unmatched_), tr("Unmatched (%L1)").arg(shown.unmatched.rows.size()));
  keepTabsWhole(lower_);
  largest_pairs_ = shown.largest.pairs;
  largest_->setTable(shown.largest.table);
  calibrate_->setEnabled(steps_->left.isOfRun() || steps_->right.isOfRun());
  chosen_->setText(tr("Click a task: both sides show it, with how long it takes in each."));
  sayWhat();
}

QString ComparePage::sideTitle(char letter, const ComparedSide& side) const {
  return QStringLiteral("<b>%1</b>  %2").arg(QLatin1Char(letter)).arg(sentenceText(side.name).toHtmlEscaped());
}

void ComparePage::sayWhat() {
  for (const auto& [title, letter, side] : {std::tuple(left_title_, 'A', &steps_->left), {right_title_, 'B', &steps_->right}}) {
    title->setText(sideTitle(letter, *side));
    title->setToolTip(title->text());
  }
  const sim::ErrorRow step = errorGroups(*steps_).front().row;
  QString said = tr("<b>A step takes %1 in A, %2 in B</b> (A is off by %3); tasks paired: %L4.")
                     .arg(timeCell(step.simulated).text, timeCell(step.measured).text, signedShareCell(step.error()).text)
                     .arg(steps_->pairing.pairs.size());
  const sim::Comparison* whole = steps_->wholeRun();
  if (whole != nullptr && step.samples > 1)
    said += ' ' + tr("B is the median of %L1 steps; drawn, and explained by the gap, is one of %2.")
                      .arg(step.samples)
                      .arg(timeCell(steps_->right.length()).text);
  if (whole != nullptr)
    said += ' ' + (whole->ledger_equal ? tr("The collectives are those predicted, entry by entry.")
                                       : tr("The collectives differ: %1").arg(sentenceText(whole->ledger_difference)));
  for (const SharedTraceStep& trace : {steps_->left.trace, steps_->right.trace})
    if (trace)
      said += ' ' + tr("%1 of the time of the trace's kernels is joined with tasks; the others stand below, by name.")
                        .arg(shareCell(static_cast<double>(trace->joined.count()) / static_cast<double>(trace->all.count())).text);
  for (const SharedTraceStep& trace : {steps_->left.trace, steps_->right.trace})
    if (trace && !trace->why_not.empty()) said += QStringLiteral(" <b>%1</b>").arg(sentenceText(trace->why_not.front()).toHtmlEscaped());
  summary_->setText(said);
}

// The same task on the other side, in every picture.
void ComparePage::follow(TimelineView* from, int span) {
  if (following_ || span < 0 || !steps_) return;
  following_ = true;
  const auto num_left = static_cast<std::uint32_t>(steps_->left.timeline().spans.size());
  const auto at = static_cast<std::uint32_t>(span);
  const bool in_left = from == left_ || (from == overlay_ && at < num_left);
  const std::optional<std::uint32_t> left = in_left ? at : steps_->pairing.leftOf(from == overlay_ ? at - num_left : at);
  const std::optional<std::uint32_t> right = !in_left ? (from == overlay_ ? at - num_left : at) : steps_->pairing.rightOf(at);
  const auto choose = [&](TimelineView* view, std::optional<std::uint32_t> wanted) {
    if (view != from) view->select(wanted ? view->core().find(*wanted) : std::nullopt);
  };
  choose(left_, left);
  choose(right_, right);
  choose(difference_, right);
  choose(overlay_, in_left && right ? std::optional(*right + num_left) : left);
  sayChosen(left, right);
  following_ = false;
}

// "L3 MLP fwd, mb 0: 573 us in A, 860 us in B, +50.1 %": expected beside measured.
void ComparePage::sayChosen(std::optional<std::uint32_t> left, std::optional<std::uint32_t> right) {
  const auto span_of = [](const ComparedSide& side, std::uint32_t at) -> const sim::Span& { return side.timeline().spans[at]; };
  const auto length = [](const sim::Span& span) { return span.end - span.start; };
  const sim::Span& one = left ? span_of(steps_->left, *left) : span_of(steps_->right, *right);
  const QString name = QStringLiteral("<b>%1</b>").arg(sliceName(one.key).toHtmlEscaped());
  if (!left || !right)
    return chosen_->setText(
        tr("%1: %2, only in %3").arg(name, timeCell(length(one)).text, left ? QStringLiteral("A") : QStringLiteral("B")));
  const sim::SimTime a = length(one), b = length(span_of(steps_->right, *right));
  const QString change =
      a > sim::SimTime(0)
          ? QStringLiteral(", ") + signedShareCell(static_cast<double>((b - a).count()) / static_cast<double>(a.count())).text
          : QString();
  chosen_->setText(tr("%1: %2 in A, %3 in B").arg(name, timeCell(a).text, timeCell(b).text) + change);
}

// Tasks whose ratio is not of the chosen bar.
void ComparePage::fadeOthers(int bin) {
  if (!steps_) return;
  std::optional<std::vector<std::uint32_t>> matches;
  if (bin >= 0) {
    matches.emplace();
    for (const Pair& pair : steps_->pairing.pairs)
      if (binOfRatio(ratioOf(*steps_, pair)) == bin) matches->push_back(pair.right);
  }
  for (TimelineView* view : {right_, difference_}) view->setMatches(matches);
}

}  // namespace gui
