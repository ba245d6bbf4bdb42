// A line above the pages that says what went wrong and what helps; it stays until it is closed or something succeeds. Never a dialog.
#pragma once

#include <QFrame>
#include <optional>

#include "gui/jobs/message.h"

class QLabel;
class QToolButton;

namespace gui {

class Actions;

class MessageBar : public QFrame {
  Q_OBJECT
 public:
  explicit MessageBar(QWidget* parent = nullptr);
  void tell(const Message& message);
  QString text() const;
  void addActions(Actions& actions);  // of the menu View

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void paintFor(const QPalette& palette);
  std::optional<bool> dark_;
  QLabel* text_;
  QToolButton* close_;
};

}  // namespace gui
