#include "gui/pages/memory_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>

#include "gui/models/cells.h"
#include "gui/pages/table_panel.h"
#include "gui/views/memory_view.h"

namespace gui {

MemoryPage::MemoryPage(QWidget* parent)
    : QWidget(parent),
      drawing_(this),
      listing_(this),
      view_(new MemoryView(this)),
      alive_(new TablePanel(tr("Alive at the moment, largest first"), TablePanel::Filter::Hidden, this)),
      sources_(new QComboBox(this)),
      devices_(new QComboBox(this)),
      order_(new QComboBox(this)),
      moment_(new QLabel(this)) {
  build();
  connect(sources_, &QComboBox::currentIndexChanged, this, &MemoryPage::refresh);
  connect(devices_, &QComboBox::currentIndexChanged, this, &MemoryPage::chooseDevice);
  connect(view_, &MemoryView::momentChosen, this, &MemoryPage::showMoment);
  connect(order_, &QComboBox::currentIndexChanged, this, [this] {
    chooseDevice(devices_->currentIndex());  // its picture shows layers, too
  });
}

void MemoryPage::build() {
  view_->setAccessibleName(tr("Memory over the step"));
  view_->setMinimumSize(300, 200);
  sources_->addItems({tr("Planned"), tr("Recorded"), tr("Planned and measured")});
  sources_->setAccessibleName(tr("What is shown"));
  devices_->setMinimumWidth(160);
  order_->addItems({tr("by microbatch"), tr("by layer and tensor")});
  order_->setAccessibleName(tr("Order of what is alive"));
  auto* head = new QHBoxLayout;
  head->setContentsMargins(10, 6, 10, 6);
  head->setSpacing(8);
  auto* label = new QLabel(tr("&Device"), this);
  label->setBuddy(devices_);
  head->addWidget(sources_);
  head->addWidget(label);
  head->addWidget(devices_);
  head->addWidget(order_);
  head->addStretch(1);
  view_->setToolTip(tr("Click a moment in the picture; P: the peak"));
  moment_->setMinimumWidth(1);  // on a small screen the window does not grow for it
  head->addWidget(moment_);
  auto* body = new QSplitter(Qt::Horizontal, this);
  body->addWidget(view_);
  body->addWidget(alive_);
  body->setSizes({760, 420});
  body->setStretchFactor(0, 1);
  alive_->setStretchedColumn(0);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(body, 1);
}

void MemoryPage::setPlan(const SharedPlan& plan) {
  plan_ = plan;
  choose(measured() ? Show::Both : Show::Plan);
}
void MemoryPage::setSnapshot(const SharedSnapshot& snapshot) {
  snapshot_ = snapshot;
  choose(Show::Snapshot);
}
void MemoryPage::setRun(const SharedRun& run) {
  run_ = run;
  if (plan_ && measured()) choose(Show::Both);
}

void MemoryPage::choose(Show what) {
  const QSignalBlocker blocker(sources_);
  sources_->setCurrentIndex(static_cast<int>(what));
  refresh();
}

// The run of this very plan; else the snapshot.
std::optional<MeasuredMemory> MemoryPage::measured() const {
  if (run_ && plan_ && sim::plan_hash(run_->simulated->plan) == sim::plan_hash(plan_->plan)) return measuredBy(run_);
  return snapshot_ ? std::optional(measuredBy(snapshot_)) : std::nullopt;
}

void MemoryPage::refresh() {
  const auto what = static_cast<Show>(sources_->currentIndex());
  if (what == Show::Snapshot && snapshot_) return show(memoryOfSnapshot(snapshot_));
  if (plan_) show(memoryOfPlan(plan_, what == Show::Both ? measured().value_or(MeasuredMemory()) : MeasuredMemory()));
}

void MemoryPage::show(MemorySource source) {
  source_ = std::move(source);
  const QSignalBlocker blocker(devices_);
  const int before = devices_->currentIndex();
  devices_->clear();
  devices_->addItems(source_.devices);
  const int device = before >= 0 && before < devices_->count() ? before : 0;
  devices_->setCurrentIndex(device);
  chooseDevice(device);
}

void MemoryPage::chooseDevice(int device) {
  if (device < 0 || device >= source_.devices.size()) return;
  devices_->setToolTip(source_.devices[device]);  // all of it, on a small screen
  const bool by_layer = source_.stripes && order_->currentIndex() == 1;
  drawing_.start(
      [this, picture_of = source_.picture, stripes_of = by_layer ? source_.stripes : nullptr, device](Progress&) -> BackgroundJob::Finish {
        const auto picture = std::make_shared<MemoryPicture>(picture_of(device));
        if (stripes_of) picture->stripes = stripes_of(device);
        return [this, picture] { show(std::move(*picture)); };
      });
}

void MemoryPage::show(MemoryPicture picture) {
  const bool is_same = picture.all == view_->all() && picture.all.length() > sim::SimTime(0);
  const bool is_known = !picture.curve.empty();
  const sim::SimTime peak = picture.curve.peak().time;  // another order, another device of one step: what was looked at stays
  const sim::SimTime moment = is_same ? view_->moment().value_or(peak) : peak;
  const TimeRange shown = view_->shown();
  length_ = picture.all.end;
  view_->setPicture(std::move(picture));
  if (is_same) view_->setShown(shown);
  if (is_known) view_->chooseMoment(moment);
}

void MemoryPage::showMoment(sim::SimTime time) {
  order_->setEnabled(source_.by_layer != nullptr);
  const bool by_layer = source_.by_layer && order_->currentIndex() == 1;
  listing_.start([this, alive = by_layer ? source_.by_layer : source_.alive, device = devices_->currentIndex(), time,
                  by_layer](Progress&) -> BackgroundJob::Finish {
    const Table table = alive(device, time);
    return [this, table, by_layer] {
      alive_->setStretchedColumn(by_layer ? 1 : 0);  // the one with words
      alive_->setTable(table);
    };
  });
  const QString moment = tr("at %1 of %2").arg(timeCell(time).text, timeCell(length_).text);
  moment_->setText(source_.note.isEmpty() ? moment : source_.note + QStringLiteral("   ") + moment);
  moment_->setToolTip(moment_->text());  // all of it, on a small screen
}

}  // namespace gui
