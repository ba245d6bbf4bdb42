#include "gui/pages/knobs_panel.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QWheelEvent>
#include <algorithm>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "gui/views/cut_view.h"
#include "gui/views/theme.h"
#include "sim/plan/field_uses.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

// Its steps lead to values that can be.
class FieldNumber : public QSpinBox {
 public:
  FieldNumber(const Knob& knob, const std::optional<sim::ParallelPlan>& plan, QWidget* parent)
      : QSpinBox(parent), knob_(knob), plan_(plan) {
    const sim::FieldRange range = knob.field->range;
    setRange(static_cast<int>(range.low), static_cast<int>(std::min(range.high, 1e6)));
    setKeyboardTracking(false);
  }
  void stepBy(int steps) override {
    if (plan_) setValue(static_cast<int>(stepped(*plan_, knob_, steps)));
  }

 private:
  const Knob& knob_;
  const std::optional<sim::ParallelPlan>& plan_;
};

QString inWarning(const QString& words) {
  return QStringLiteral("<p style='color:%1'>%2</p>").arg(themeOf(QApplication::palette()).warning.name(), words);
}

QString change(double before, double now) { return before > 0 ? signedShareCell(now / before - 1).text : QString(); }

// A schedule in a sentence, where it is one.
void explain(QComboBox& choice) {
  for (int row = 0; row < choice.count(); ++row)
    if (const sim::Schedule* schedule = sim::find_schedule(choice.itemData(row).toString().toStdString()))
      choice.setItemData(row, sentenceText(std::string(schedule->summary)), Qt::ToolTipRole);
}

}  // namespace

KnobsPanel::KnobsPanel(QWidget* parent)
    : QWidget(parent), form_(new QFormLayout(this)), cut_(new CutView(this)), data_(new QLabel(this)), effect_(new QLabel(this)) {
  build();
  connect(cut_, &CutView::boundaryMoved, this, [this](const Boundary& boundary) {
    if (plan_) Q_EMIT edited(movedBoundary(*plan_, boundary));
  });
  setEnabled(false);
  effect_->setText(tr("Find or open a plan to edit it."));
}

void KnobsPanel::build() {
  form_->setContentsMargins(12, 6, 12, 6);
  form_->setVerticalSpacing(4);
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  effect_->setWordWrap(true);
  effect_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  effect_->setAlignment(Qt::AlignTop);
  effect_->setTextFormat(Qt::RichText);
  form_->addRow(effect_);  // in sight, however low the screen
  data_->setWordWrap(true);
  form_->addRow(tr("Data"), data_);
  for (const Knob& knob : allKnobs()) {
    QWidget* const editor = makeEditor(knob);
    editor->setObjectName(textOf(knob.field->name));
    editor->setToolTip(sentenceText(std::string(knob.field->meaning)));
    editor->setFocusPolicy(Qt::StrongFocus);
    editor->installEventFilter(this);
    rows_.push_back({&knob, editor});
    if (knob.field->access.kind == sim::FieldKind::Switch)
      form_->addRow(editor);
    else
      form_->addRow(headerText(knob.field->words), editor);
    if (knob.field->name == "chunks") form_->addRow(tr("Stage cut"), cut_);
  }
}

QWidget* KnobsPanel::makeEditor(const Knob& knob) {
  const sim::FieldAccess& access = knob.field->access;
  if (access.kind == sim::FieldKind::Switch) {
    auto* box = new QCheckBox(headerText(knob.field->words), this);
    connect(box, &QCheckBox::toggled, this, [this, &knob](bool on) { turn(knob, on); });
    return box;
  }
  if (access.kind == sim::FieldKind::Integer) {
    auto* number = new FieldNumber(knob, plan_, this);
    connect(number, &QSpinBox::valueChanged, this, [this, &knob](int value) { turn(knob, std::int64_t{value}); });
    return number;
  }
  if (access.names != nullptr) {
    auto* choice = new QComboBox(this);
    for (const std::string_view name : access.names()) choice->addItem(nameText(name), textOf(name));
    explain(*choice);
    connect(choice, &QComboBox::activated, this,
            [this, &knob, choice](int row) { turn(knob, choice->itemData(row).toString().toStdString()); });
    return choice;
  }
  auto* line = new QLineEdit(this);
  connect(line, &QLineEdit::editingFinished, this, [this, &knob, line] { turnTo(knob, line->text()); });
  return line;
}

void KnobsPanel::turn(const Knob& knob, sim::FieldValue value) {
  if (!plan_ || knob.field->access.get(*plan_) == value) return;
  try {
    Q_EMIT edited(turned(*plan_, {knob.field->name, std::move(value)}));
  } catch (const sim::InputError&) {  // of a text with a grammar
    Q_EMIT failed(messageOf(std::current_exception()));
    setPlan(*plan_);
  }
}

void KnobsPanel::turnTo(const Knob& knob, const QString& typed) {
  if (std::optional<sim::FieldValue> value = sim::parse_value(*knob.field, typed.trimmed().toStdString()))
    return turn(knob, std::move(*value));
  Q_EMIT failed({tr("%1 is not \"%2\".").arg(headerText(knob.field->words), typed),
                 tr("write it like %1").arg(textOf(sim::text_of(*knob.field, *plan_)))});
  setPlan(*plan_);
}

QWidget* KnobsPanel::knob(std::string_view name) const {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) { return one.knob->field->name == name; });
  return row == rows_.end() ? nullptr : row->editor;
}

void KnobsPanel::show(const Row& row) {
  const QSignalBlocker quiet(row.editor);
  const sim::FieldValue value = row.knob->field->access.get(*plan_);
  if (auto* box = qobject_cast<QCheckBox*>(row.editor))
    box->setChecked(std::get<bool>(value));
  else if (auto* number = qobject_cast<QSpinBox*>(row.editor))
    number->setValue(static_cast<int>(std::get<std::int64_t>(value)));
  else if (auto* choice = qobject_cast<QComboBox*>(row.editor))
    choice->setCurrentIndex(choice->findData(QString::fromStdString(std::get<std::string>(value))));
  else
    qobject_cast<QLineEdit*>(row.editor)->setText(QString::fromStdString(sim::to_text(value)));
  form_->setRowVisible(row.editor, sim::has_use(*row.knob->field, *plan_));
}

void KnobsPanel::setPlan(const sim::ParallelPlan& plan) {
  setEnabled(true);
  plan_ = plan;
  for (const Row& row : rows_) show(row);
  cut_->setPlan(plan);
  form_->setRowVisible(cut_, plan.num_virtual_stages() > 1);
  data_->setText(tr("%L1  (of %2)").arg(plan.mesh.data).arg(countText(plan.cluster.devices, tr("1 device"), tr("%L1 devices"))));
}

bool KnobsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::Wheel || static_cast<QWidget*>(watched)->hasFocus()) return QWidget::eventFilter(watched, event);
  event->ignore();
  return true;
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
