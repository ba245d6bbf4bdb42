#include "gui/memory_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>

#include "gui/models/cells.h"
#include "gui/models/plan_tables.h"
#include "gui/table_panel.h"
#include "gui/views/memory_view.h"

namespace gui {

MemoryPage::MemoryPage(QWidget* parent)
    : QWidget(parent),
      view_(new MemoryView(this)),
      alive_(new TablePanel(tr("Alive at the moment, largest first"), TablePanel::Filter::Hidden, this)),
      devices_(new QComboBox(this)),
      moment_(new QLabel(this)) {
  build();
  connect(devices_, &QComboBox::currentIndexChanged, this, &MemoryPage::chooseDevice);
  connect(view_, &MemoryView::momentChosen, this, &MemoryPage::showMoment);
}

void MemoryPage::build() {
  view_->setAccessibleName(tr("Memory over the step"));
  view_->setMinimumSize(300, 200);
  devices_->setMinimumWidth(180);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(10, 6, 10, 6);
  auto* label = new QLabel(tr("&Device"), this);
  label->setBuddy(devices_);
  head->addWidget(label);
  head->addWidget(devices_);
  head->addStretch(1);
  head->addWidget(moment_);
  auto* body = new QSplitter(Qt::Horizontal, this);
  body->addWidget(view_);
  body->addWidget(alive_);
  body->setSizes({860, 330});
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
  const QSignalBlocker blocker(devices_);
  const int before = devices_->currentIndex();
  devices_->clear();
  for (const sim::DeviceResult& device : plan->result.devices) {
    const QString name = device.multiplicity > 1 ? tr("stage %1 (%2 ranks)").arg(device.stage.value()).arg(device.multiplicity)
                                                 : tr("rank %1, stage %2").arg(device.representative.value()).arg(device.stage.value());
    devices_->addItem(tr("%1: peak %2").arg(name, bytesCell(device.peak_memory).text));
  }
  const int device = before >= 0 && before < devices_->count() ? before : 0;
  devices_->setCurrentIndex(device);
  chooseDevice(device);
}

void MemoryPage::chooseDevice(int device) {
  if (!plan_ || device < 0) return;
  const sim::Bytes limit = plan_->plan.cluster.hardware.memory;
  const MemoryCurve curve(plan_->result.timeline, sim::DeviceId(device));
  view_->setPicture({curve, {sim::SimTime(0), plan_->result.step_time}, limit});
  if (!curve.empty()) view_->chooseMoment(curve.peak().time);
}

void MemoryPage::showMoment(sim::SimTime time) {
  const sim::DeviceId device(devices_->currentIndex());
  alive_->setTable(aliveTable(aliveAt(*plan_, {device, time})));
  moment_->setText(tr("at %1 of %2 (P: the peak)").arg(timeCell(time).text, timeCell(plan_->result.step_time).text));
}

}  // namespace gui
