#include "gui/pages/knobs_panel.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QSpinBox>
#include <algorithm>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "gui/views/cut_view.h"
#include "gui/views/theme.h"

namespace gui {
namespace {

struct Limits {
  int least, most;
};
QSpinBox* knob(QWidget* parent, Limits limits, const char* name) {
  auto* box = new QSpinBox(parent);
  box->setRange(limits.least, limits.most);
  box->setKeyboardTracking(false);
  box->setObjectName(QString::fromLatin1(name));
  return box;
}

QString inWarning(const QString& words) {
  return QStringLiteral("<p style='color:%1'>%2</p>").arg(themeOf(QApplication::palette()).warning.name(), words);
}

QString change(double before, double now) { return before > 0 ? signedShareCell(now / before - 1).text : QString(); }

}  // namespace

KnobsPanel::KnobsPanel(QWidget* parent)
    : QWidget(parent),
      tensor_(knob(this, {1, 1024}, "tensor")),
      pipeline_(knob(this, {1, 4096}, "pipeline")),
      chunks_(knob(this, {1, 64}, "chunks")),
      microbatch_(knob(this, {1, 4096}, "microbatch")),
      zero_(knob(this, {0, 3}, "zero")),
      unit_(knob(this, {1, 1024}, "unit")),
      near_(knob(this, {1, 4096}, "near")),
      schedule_(new QComboBox(this)),
      accumulation_(new QComboBox(this)),
      recompute_(new QComboBox(this)),
      sequence_parallel_(new QCheckBox(tr("sequence parallel"), this)),
      offload_optimizer_(new QCheckBox(tr("optimizer on the host"), this)),
      offload_activations_(new QCheckBox(tr("inputs of blocks on the host"), this)),
      cut_(new CutView(this)),
      data_(new QLabel(this)),
      effect_(new QLabel(this)) {
  for (const sim::Schedule& schedule : sim::all_schedules()) {
    schedule_->addItem(textOf(schedule.name));
    schedule_->setItemData(schedule_->count() - 1, sentenceText(std::string(schedule.summary)), Qt::ToolTipRole);
  }
  accumulation_->setObjectName(QStringLiteral("accumulation"));
  recompute_->setObjectName(QStringLiteral("recompute"));
  accumulation_->addItems({tr("last microbatch"), tr("each microbatch")});  // in the order of sim::Accumulation
  for (const std::string_view name : sim::kRecomputeNames) recompute_->addItem(nameText(name));
  unit_->setToolTip(tr("Of ZeRO 3: blocks that are gathered, freed and reduced together"));
  near_->setToolTip(
      tr("Of ZeRO 3: so many neighbouring ranks keep the weights among them from forward to backward; 1: all shards are gathered again"));
  build();
  const auto turn = [this] { Q_EMIT turned(knobs()); };
  for (QSpinBox* box : {tensor_, pipeline_, chunks_, microbatch_, zero_, unit_, near_}) connect(box, &QSpinBox::valueChanged, this, turn);
  for (QComboBox* box : {schedule_, accumulation_, recompute_}) connect(box, &QComboBox::currentIndexChanged, this, turn);
  for (QCheckBox* box : {sequence_parallel_, offload_optimizer_, offload_activations_}) connect(box, &QCheckBox::toggled, this, turn);
  connect(cut_, &CutView::boundaryMoved, this, &KnobsPanel::cutMoved);
  setEnabled(false);
  effect_->setText(tr("Find or open a plan to edit it."));
}

void KnobsPanel::build() {
  auto* form = new QFormLayout(this);
  form->setContentsMargins(12, 6, 12, 6);
  form->setVerticalSpacing(4);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  effect_->setWordWrap(true);
  effect_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::MinimumExpanding);
  effect_->setAlignment(Qt::AlignTop);
  effect_->setTextFormat(Qt::RichText);
  form->addRow(effect_);  // in sight, however low the screen
  form->addRow(tr("Tensor"), tensor_);
  form->addRow(tr("Pipeline"), pipeline_);
  data_->setWordWrap(true);
  form->addRow(tr("Data"), data_);
  form->addRow(tr("Schedule"), schedule_);
  form->addRow(tr("Chunks"), chunks_);
  form->addRow(tr("Stage cut"), cut_);
  form->addRow(tr("Microbatch"), microbatch_);
  form->addRow(tr("ZeRO stage"), zero_);
  form->addRow(tr("Gradients reduced"), accumulation_);
  form->addRow(tr("Layers a unit"), unit_);
  form->addRow(tr("Kept among"), near_);
  form->addRow(tr("Recompute"), recompute_);
  form->addRow(sequence_parallel_);
  form->addRow(offload_optimizer_);
  form->addRow(offload_activations_);
}

void KnobsPanel::setPlan(const sim::ParallelPlan& plan) {
  setEnabled(true);
  const Knobs at = knobsOf(plan);
  const QSignalBlocker blockers[] = {QSignalBlocker(tensor_),
                                     QSignalBlocker(pipeline_),
                                     QSignalBlocker(chunks_),
                                     QSignalBlocker(microbatch_),
                                     QSignalBlocker(zero_),
                                     QSignalBlocker(schedule_),
                                     QSignalBlocker(accumulation_),
                                     QSignalBlocker(recompute_),
                                     QSignalBlocker(sequence_parallel_),
                                     QSignalBlocker(offload_optimizer_),
                                     QSignalBlocker(offload_activations_),
                                     QSignalBlocker(unit_),
                                     QSignalBlocker(near_)};
  tensor_->setValue(at.tensor);
  pipeline_->setValue(at.pipeline);
  chunks_->setValue(at.chunks);
  microbatch_->setValue(static_cast<int>(at.microbatch));
  zero_->setValue(at.zero_stage);
  unit_->setValue(at.layers_per_unit);
  near_->setValue(at.reshard_ranks);
  for (QSpinBox* box : {unit_, near_}) box->setEnabled(at.zero_stage == 3);
  schedule_->setCurrentText(QString::fromStdString(at.schedule));
  accumulation_->setCurrentIndex(static_cast<int>(at.accumulation));
  accumulation_->setEnabled(plan.num_microbatches() > 1 && plan.mesh.copies() > 1);
  recompute_->setCurrentIndex(static_cast<int>(at.recompute));
  sequence_parallel_->setChecked(at.sequence_parallel);
  offload_optimizer_->setChecked(at.offload_optimizer);
  offload_activations_->setChecked(at.offload_activations);
  cut_->setPlan(plan);
  data_->setText(tr("%L1  (of %L2 devices)").arg(plan.mesh.data).arg(plan.cluster.devices));
}

Knobs KnobsPanel::knobs() const {
  return {.tensor = tensor_->value(),
          .pipeline = pipeline_->value(),
          .chunks = chunks_->value(),
          .schedule = schedule_->currentText().toStdString(),
          .microbatch = microbatch_->value(),
          .zero_stage = zero_->value(),
          .accumulation = static_cast<sim::Accumulation>(std::max(0, accumulation_->currentIndex())),
          .layers_per_unit = unit_->value(),
          .reshard_ranks = near_->value(),
          .recompute = static_cast<sim::Recompute>(recompute_->currentIndex()),
          .sequence_parallel = sequence_parallel_->isChecked(),
          .offload_optimizer = offload_optimizer_->isChecked(),
          .offload_activations = offload_activations_->isChecked()};
}

void KnobsPanel::showEffect(const SharedPlan& now, const SharedPlan& before) {
  const sim::SimulationResult& result = now->result;
  const QString time =
      before ? change(sim::to_seconds(before->result.step_time).count(), sim::to_seconds(result.step_time).count()) : QString();
  const QString memory =
      before ? change(static_cast<double>(before->result.peak_memory.value()), static_cast<double>(result.peak_memory.value())) : QString();
  QString text = QStringLiteral(
                     "<table cellspacing=4><tr><td>%1</td><td align=right><b>%2</b></td><td>%3</td></tr><tr><td>%4</td><td "
                     "align=right><b>%5</b></td><td>%6</td></tr></table>")
                     .arg(tr("Step time"), timeCell(result.step_time).text, time, tr("Memory"), bytesCell(result.peak_memory).text, memory);
  if (result.host_memory > sim::Bytes(0))
    text += QStringLiteral("<p>%1</p>").arg(tr("On the host of a node: %1").arg(bytesCell(result.host_memory).text));
  if (!result.host_fits)
    text += inWarning(tr("Does not fit into the memory of the host."));
  else if (!result.fits)
    text += inWarning(tr("Does not fit: a device has %1.").arg(bytesCell(sim::usable_memory(now->plan.cluster)).text));
  effect_->setText(text);
}

void KnobsPanel::showRefusal() { effect_->setText(inWarning(tr("Not possible: the message above says why."))); }

}  // namespace gui
