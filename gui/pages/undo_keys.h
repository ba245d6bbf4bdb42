// Undo and redo reach the window from a field, too: a number box keeps Ctrl+Z for the letters typed into it, also where none were.
#pragma once

#include <QObject>

namespace gui {

class UndoKeys : public QObject {
  Q_OBJECT
 public:
  explicit UndoKeys(QWidget* fields);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  const QWidget* fields_;
};

}  // namespace gui
