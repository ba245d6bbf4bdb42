#include "gui/pages/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/pages/actions.h"

namespace gui {
namespace {

constexpr int kWidth = 520, kHeight = 360, kTop = 60;

QString nameOf(const QAction* action) { return action->text().remove('&'); }

}  // namespace

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* window)
    : QFrame(window), actions_(actions), line_(new QLineEdit(this)), list_(new QListWidget(this)) {
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  line_->setPlaceholderText(tr("What shall be done?"));
  line_->setAccessibleName(tr("Commands"));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setFocusPolicy(Qt::NoFocus);
  auto* column = new QVBoxLayout(this);
  column->addWidget(line_);
  column->addWidget(list_, 1);
  line_->installEventFilter(this);
  connect(line_, &QLineEdit::textChanged, this, &CommandPalette::refill);
  connect(line_, &QLineEdit::returnPressed, this, &CommandPalette::perform);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::perform);
  hide();
}

void CommandPalette::open() {
  setGeometry(std::max(0, (parentWidget()->width() - kWidth) / 2), kTop, kWidth, kHeight);
  line_->clear();
  refill({});
  show();
  raise();
  line_->setFocus();
}

void CommandPalette::refill(const QString& words) {
  list_->clear();
  const QStringList wanted = words.split(' ', Qt::SkipEmptyParts);
  for (qsizetype at = 0; at < actions_.size(); ++at) {
    const QString name = nameOf(actions_[at]);
    const bool fits =
        std::all_of(wanted.begin(), wanted.end(), [&](const QString& word) { return name.contains(word, Qt::CaseInsensitive); });
    if (!fits || !actions_[at]->isEnabled()) continue;
    auto* item =
        new QListWidgetItem(QStringLiteral("%1\t%2").arg(name, actions_[at]->shortcut().toString(QKeySequence::NativeText)), list_);
    item->setData(Qt::UserRole, static_cast<int>(at));
  }
  list_->setCurrentRow(0);
}

void CommandPalette::perform() {
  const QListWidgetItem* item = list_->currentItem();
  hide();
  if (item != nullptr) actions_[item->data(Qt::UserRole).toInt()]->trigger();
}

// Up and down move in the list while the line keeps the focus; leaving it closes.
bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusOut) hide();
  if (event->type() != QEvent::KeyPress) return QFrame::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key == Qt::Key_Escape) hide();
  if (key != Qt::Key_Up && key != Qt::Key_Down) return key == Qt::Key_Escape;
  list_->setCurrentRow(std::clamp(list_->currentRow() + (key == Qt::Key_Down ? 1 : -1), 0, std::max(0, list_->count() - 1)));
  return true;
}

void CommandPalette::addActions(Actions& actions) {
  actions.add({tr("&Help"), tr("&All commands…"), tr("Ctrl+Shift+P")}, [this] { open(); });
}

}  // namespace gui
