#include "gui/pages/undo_keys.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QSpinBox>

namespace gui {
namespace {

// Typed and not taken yet: these letters are the field's to take back.
bool isBeingTyped(const QWidget& field) {
  const auto* number = qobject_cast<const QSpinBox*>(&field);
  return number == nullptr || number->cleanText() != QLocale().toString(number->value()).remove(QLocale().groupSeparator());
}

}  // namespace

UndoKeys::UndoKeys(QWidget* fields) : QObject(fields), fields_(fields) { qApp->installEventFilter(this); }

bool UndoKeys::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride) return false;
  const auto* key = static_cast<const QKeyEvent*>(event);
  const auto* field = qobject_cast<const QWidget*>(watched);
  const bool is_undo = key->key() == Qt::Key_Z && key->modifiers().testFlag(Qt::ControlModifier);
  if (!is_undo || field == nullptr || !fields_->isAncestorOf(field) || isBeingTyped(*field)) return false;
  event->ignore();  // so that the window's shortcut has it
  return true;
}

}  // namespace gui
