#include "gui/pages/timeline_page.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSplitter>
#include <algorithm>

#include "gui/models/cells.h"
#include "gui/models/explanation_tables.h"
#include "gui/models/plan_tables.h"
#include "gui/models/reason_text.h"
#include "gui/pages/actions.h"
#include "gui/pages/step_explanation.h"
#include "gui/pages/table_panel.h"
#include "gui/views/legend_view.h"
#include "gui/views/overview_view.h"
#include "gui/views/slice_text.h"
#include "gui/views/timeline_view.h"

namespace gui {
namespace {

// What stands on the slice, and its key.
QString searchedText(const sim::TaskKey& key) { return QString::fromStdString(sim::to_text(key)) + ' ' + sliceName(key); }

// Looked for once among ranks that do the same.
std::vector<std::uint32_t> spansThatMatch(const SimulatedPlan& plan, const QRegularExpression& expression,
                                          const std::atomic<bool>& cancelled) {
  const std::vector<sim::Span>& spans = plan.result.timeline.spans;
  std::vector<std::uint32_t> matches;
  for (std::size_t at = 0; at < spans.size() && !cancelled; ++at)
    if (spans[at].end > spans[at].start && expression.match(searchedText(spans[at].key)).hasMatch())
      matches.push_back(static_cast<std::uint32_t>(at));
  return plan.shown().devices.numbersOf(matches);
}

}  // namespace

TimelinePage::TimelinePage(QWidget* parent)
    : QWidget(parent),
      looking_(this),
      view_(new TimelineView(this)),
      figures_(new TablePanel(tr("Figures of a step"), TablePanel::Filter::Hidden, this)),
      details_(new TablePanel(tr("Selected slice"), TablePanel::Filter::Hidden, this)),
      explanation_(new StepExplanation(this)),
      search_(new QLineEdit(this)),
      grouping_(new QComboBox(this)),
      summary_(new QLabel(this)),
      found_(new QLabel(this)) {
  build();
  connect(view_, &TimelineView::sliceSelected, this, &TimelinePage::showSlice);
  connect(view_, &TimelineView::rangeMeasured, explanation_, &StepExplanation::addUp);
  connect(explanation_, &StepExplanation::spanChosen, this,
          [this](int span) { view_->select(view_->core().find(static_cast<std::uint32_t>(span))); });
  connect(view_, &TimelineView::pinWanted, this, &TimelinePage::pin);
  connect(view_, &TimelineView::groupWanted, this, &TimelinePage::collapseGroupOf);
  connect(view_, &TimelineView::marksChanged, this, &TimelinePage::viewChanged);
  connect(view_, &TimelineView::rangeChanged, this, &TimelinePage::viewChanged);
  connect(search_, &QLineEdit::textChanged, this, &TimelinePage::viewChanged);
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this](int group) {
    state_.group = static_cast<GroupBy>(group);
    if (!state_.collapsed.empty()) return collapse(true);  // those of the other axis
    orderDevices();
    Q_EMIT viewChanged();
  });
  connect(search_, &QLineEdit::textChanged, this, &TimelinePage::search);
  connect(search_, &QLineEdit::returnPressed, this, &TimelinePage::nextMatch);
}

void TimelinePage::build() {
  search_->setPlaceholderText(tr("Search: L3 MLP bwd"));
  search_->setToolTip(tr("A pattern that names or keys of tasks match, like all-reduce|mb 3; Enter leads to the next"));
  search_->setAccessibleName(tr("Search"));
  search_->setClearButtonEnabled(true);
  search_->setMinimumWidth(180);
  search_->setMaximumWidth(280);
  grouping_->addItems({tr("by rank"), tr("by stage"), tr("by data axis"), tr("by tensor axis")});
  grouping_->setAccessibleName(tr("Order of the ranks"));
  grouping_->setToolTip(tr("Order of the ranks; P or a double click on a name pins one to the top"));
  auto* head = new QHBoxLayout;
  head->setContentsMargins(10, 6, 10, 6);
  head->setSpacing(8);
  summary_->setWordWrap(true);  // on a small screen the window must not grow for it
  head->addWidget(summary_, 1);
  head->addWidget(found_);
  head->addWidget(grouping_);
  head->addWidget(search_);
  auto* side = new QSplitter(Qt::Vertical, this);
  side->addWidget(figures_);
  side->addWidget(details_);
  auto* body = new QSplitter(Qt::Horizontal, this);
  auto* lines = new QWidget(this);
  auto* rows = new QVBoxLayout(lines);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  rows->addWidget(new OverviewView(view_, lines));
  rows->addWidget(view_, 1);
  body->addWidget(lines);
  body->addWidget(side);
  body->setSizes({760, 420});
  body->setStretchFactor(0, 3);  // both give way on a small screen
  body->setStretchFactor(1, 1);
  auto* all = new QSplitter(Qt::Vertical, this);
  all->addWidget(body);
  all->addWidget(explanation_);
  all->setSizes({560, 220});
  all->setStretchFactor(0, 1);
  figures_->setStretchedColumn(0);
  details_->setStretchedColumn(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(new LegendView(this));
  column->addWidget(all, 1);
}

TimelineActions TimelinePage::addActions(Actions& actions) {
  const auto add = [&](const QString& text, const QString& keys, const QString& name = {}) {
    QAction* action = actions.add({tr("&View"), text, QKeySequence(keys)}, [] {});
    action->setCheckable(true);
    action->setObjectName(name);
    return action;
  };
  QAction* every_rank = add(tr("Every &rank by itself"), QStringLiteral("Ctrl+R"), QStringLiteral("every_rank"));
  QAction* dense = add(tr("&One line a rank"), QStringLiteral("Ctrl+Shift+R"), QStringLiteral("dense"));
  connect(dense, &QAction::toggled, this, &TimelinePage::setDense);
  QAction* groups = add(tr("&Groups of ranks as one line each"), QStringLiteral("Ctrl+G"));
  connect(groups, &QAction::triggered, this, &TimelinePage::collapse);
  connect(this, &TimelinePage::collapsedChanged, groups, &QAction::setChecked);
  QAction* critical = add(tr("Only the &critical path"), QStringLiteral("Ctrl+K"));
  connect(critical, &QAction::toggled, this, &TimelinePage::showCritical);
  QAction* matching = add(tr("Only ranks with what is searched for"), QStringLiteral("Ctrl+Shift+F"));
  connect(matching, &QAction::toggled, this, &TimelinePage::showMatching);
  QAction* flows = add(tr("All &flows between devices"), QStringLiteral("Ctrl+L"));
  connect(flows, &QAction::toggled, view_, &TimelineView::showAllFlows);
  return {every_rank, dense, matching, flows};
}

void TimelinePage::setPlan(const SharedPlan& plan, const SharedPlan& before) {
  const StepPicture& picture = plan->shown();
  const std::size_t devices = picture.devices.devices().size(), devices_before = plan_ ? plan_->shown().devices.devices().size() : 0;
  const std::optional<Looked> looked = lookedAt(*plan);
  view_->setTimeline(picture.core, [plan](std::uint32_t span) { return sliceName(plan->shownSpan(span).key).toStdString(); });
  view_->setGroups({[plan](std::uint32_t span) { return groupOf(plan->shownSpan(span).key); },
                    [plan](std::uint32_t span) { return shortName(plan->shownSpan(span).key); }});
  view_->setExtras({plan, &picture.counters}, {plan, &picture.flows});
  if (before) view_->setGhost(before->result.step_time);
  takeNotes(plan->plan);
  plan_ = plan;
  orderDevices();
  if (devices != devices_before && state_.collapsed.empty()) collapseWhatDoesNotFit();
  figures_->setTable(figuresTable(*plan));
  explanation_->setPlan(plan);
  details_->setTable(Table{{tr("Slice"), tr("Value")}, {{{tr("Click one"), {}}, {QString(), {}}}}, {}});
  summary_->setText(QStringLiteral("<b>%1</b>").arg(sentenceText(summaryOf(plan->plan))));
  search(search_->text());
  if (!looked) return;
  view_->setShown(looked->shown);
  if (looked->span) view_->select(view_->core().find(plan->shown().devices.numberOf(*looked->span)));
}

// They stay with the plan that they were written on.
void TimelinePage::takeNotes(const sim::ParallelPlan& next) {
  const std::string hash = sim::plan_hash(next), before = plan_ ? sim::plan_hash(plan_->plan) : hash;
  if (hash == before) return;
  notes_[before] = view_->marks();
  if (notes_[before].empty()) notes_.erase(before);
  const auto own = notes_.find(hash);
  view_->setMarks(own == notes_.end() ? std::vector<Mark>() : own->second);
  if (own != notes_.end()) notes_.erase(own);
}

// Stages or ranks of one plan: zoom and selection stay.
std::optional<TimelinePage::Looked> TimelinePage::lookedAt(const SimulatedPlan& next) const {
  if (!plan_ || sim::plan_hash(plan_->plan) != sim::plan_hash(next.plan)) return std::nullopt;
  Looked looked{view_->shown(), std::nullopt};
  const std::vector<sim::Span>& spans = next.result.timeline.spans;
  const std::optional<Slice> slice = view_->selected();
  if (!slice) return looked;
  const std::uint32_t at = plan_->shown().devices.positionOf(view_->core().row(slice->row).spanOf(slice->position));
  if (at < spans.size() && spans[at].key == plan_->result.timeline.spans[at].key) looked.span = at;
  return looked;
}

std::vector<std::size_t> TimelinePage::devicesShown() const {
  const std::span<const ShownDevice> devices = plan_->shown().devices.devices();
  std::vector<sim::GraphDevice> ranks;
  for (const ShownDevice& shown : devices) ranks.push_back(shown.device);
  std::vector<std::size_t> order = deviceOrder(ranks, plan_->plan.mesh, state_);
  if (!only_matching_ || matches_.empty()) return order;
  std::erase_if(order, [&](std::size_t device) {
    const auto match = std::lower_bound(matches_.begin(), matches_.end(), devices[device].first);
    return match == matches_.end() || *match >= devices[device].first + devices[device].size;
  });
  return order;
}

void TimelinePage::orderDevices() {
  if (!plan_) return;
  const std::vector<std::size_t> order = devicesShown();
  const auto pinned = std::count_if(order.begin(), order.end(), [this](std::size_t device) {
    return state_.pinned.contains(plan_->shown().devices.devices()[device].device.representative.value());
  });
  std::vector<TimelineView::Summary> summaries;
  const GroupBy axis = state_.group == GroupBy::Rank ? GroupBy::Stage : state_.group;
  const QString name = axis == GroupBy::Stage ? tr("stage %1") : axis == GroupBy::Data ? tr("data %1") : tr("tensor %1");
  for (DeviceGroup& group : groups(order)) {
    std::int32_t ranks = 0;
    for (const std::size_t device : group.devices) ranks += plan_->shown().devices.devices()[device].device.multiplicity;
    if (state_.collapsed.contains(group.place))
      summaries.push_back({QStringLiteral("%1 \u00d7%L2").arg(name.arg(group.place)).arg(ranks), std::move(group.devices)});
  }
  view_->setDeviceOrder(order, static_cast<std::size_t>(pinned), std::move(summaries));
}

std::vector<DeviceGroup> TimelinePage::groups(std::span<const std::size_t> order) const {
  std::vector<sim::GraphDevice> ranks;
  for (const ShownDevice& shown : plan_->shown().devices.devices()) ranks.push_back(shown.device);
  return groupsOf(order, ranks, plan_->plan.mesh, state_);
}

void TimelinePage::setCollapsed(std::set<std::int32_t> places) {
  state_.collapsed = std::move(places);
  orderDevices();
  Q_EMIT collapsedChanged(!state_.collapsed.empty());
  Q_EMIT viewChanged();
}

void TimelinePage::collapseGroupOf(std::size_t device) {
  std::set<std::int32_t> places = state_.collapsed;
  for (const DeviceGroup& group : groups(devicesShown()))
    if (std::find(group.devices.begin(), group.devices.end(), device) != group.devices.end() && !places.erase(group.place))
      places.insert(group.place);
  setCollapsed(std::move(places));
}

void TimelinePage::collapse(bool all) {
  std::set<std::int32_t> places;
  if (plan_ && all)
    for (const DeviceGroup& group : groups(devicesShown())) places.insert(group.place);
  if (places != state_.collapsed || !all) setCollapsed(std::move(places));
}

void TimelinePage::setDense(bool dense) {
  view_->setDense(dense);
  collapseWhatDoesNotFit();
}

void TimelinePage::collapseWhatDoesNotFit() {
  if (view_->isDense() && !view_->isAllInSight()) collapse(true);
}

void TimelinePage::pin(std::size_t device) {
  const std::int32_t rank = plan_->shown().devices.devices()[device].device.representative.value();
  if (!state_.pinned.erase(rank)) state_.pinned.insert(rank);
  orderDevices();
  Q_EMIT viewChanged();
}

ViewState TimelinePage::viewState() const {
  ViewState state = state_;
  view_->keepIn(state);
  state.search = search_->text().toStdString();
  return state;
}

void TimelinePage::setViewState(const ViewState& state) {
  {
    const QSignalBlocker quiet(grouping_);
    grouping_->setCurrentIndex(static_cast<int>(state.group));
  }
  state_ = state;
  orderDevices();
  Q_EMIT collapsedChanged(!state_.collapsed.empty());
  view_->lookAgain(state);
  search_->setText(QString::fromStdString(state.search));
}

void TimelinePage::showSlice(int span) {
  if (span < 0 || !plan_) return;
  const std::uint32_t at = plan_->shown().devices.positionOf(static_cast<std::uint32_t>(span));
  details_->setTable(sliceTable(*plan_, at));
}

void TimelinePage::search(const QString& pattern) {
  matches_.clear();
  match_ = 0;
  const QRegularExpression expression(pattern, QRegularExpression::CaseInsensitiveOption);
  found_->setText(expression.isValid() ? QString() : tr("no valid pattern: %1").arg(expression.errorString()));
  searching_ = !pattern.isEmpty() && plan_ && expression.isValid();
  if (!searching_) {
    looking_.start([](Progress&) { return BackgroundJob::Finish(); });  // what is looked for is no longer wanted
    return showFound({});
  }
  looking_.start([this, plan = plan_, expression](Progress& progress) -> BackgroundJob::Finish {
    const std::vector<std::uint32_t> matches = spansThatMatch(*plan, expression, progress.cancelled);
    std::vector<sim::SimTime> times;
    for (const std::uint32_t match : matches) times.push_back(plan->shownSpan(match).end - plan->shownSpan(match).start);
    return [this, found = FoundSlices{matches, foundTable(*plan, matches, sliceName), histogramOf(times), expression.pattern()}] {
      showFound(found);
      found_->setText(countText(static_cast<std::int64_t>(numMatches()), tr("1 match"), tr("%L1 matches")));
    };
  });
}

void TimelinePage::showFound(const FoundSlices& found) {
  matches_ = found.spans;
  explanation_->showFound(found);
  fade();
  orderDevices();
}

void TimelinePage::showMatching(bool only) {
  only_matching_ = only;
  orderDevices();
}

// What the search found; else, where wanted, the critical path; else nothing fades.
void TimelinePage::fade() {
  if (!plan_) return;
  if (searching_) return view_->setMatches(matches_);
  if (!only_critical_) return view_->setMatches(std::nullopt);
  std::vector<std::uint32_t> spans;
  for (const sim::CriticalLink& link : plan_->critical.links) spans.push_back(plan_->shown().devices.numberOf(link.span));
  std::sort(spans.begin(), spans.end());
  view_->setMatches(std::move(spans));
}

void TimelinePage::showCritical(bool only) {
  only_critical_ = only;
  fade();
}

void TimelinePage::showRank(sim::Rank rank) {
  if (!plan_) return;
  const std::size_t device = plan_->every_rank ? rank.position() : deviceOf(*plan_, rank).position();
  const ShownDevice& shown = plan_->shown().devices.devices()[device];
  for (std::uint32_t span = shown.first; span < shown.first + shown.size; ++span)
    if (const std::optional<Slice> slice = view_->core().find(span)) return view_->select(slice);
}

void TimelinePage::nextMatch() {
  if (matches_.empty()) return;
  view_->select(view_->core().find(matches_[match_]));
  found_->setText(tr("match %L1 of %L2").arg(match_ + 1).arg(matches_.size()));
  match_ = (match_ + 1) % matches_.size();
}

}  // namespace gui
