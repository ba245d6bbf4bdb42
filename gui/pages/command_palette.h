// Every action of the window by its name: type a few letters, Enter does it. Lies over the window, not in a dialog.
#pragma once

#include <QFrame>

class QAction;
class QLineEdit;
class QListWidget;

namespace gui {

class Actions;

class CommandPalette : public QFrame {
  Q_OBJECT
 public:
  CommandPalette(const QList<QAction*>& actions, QWidget* window);
  void open();
  void addActions(Actions& actions);  // of the menu Help
  QLineEdit* line() const { return line_; }
  QListWidget* list() const { return list_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refill(const QString& words);
  void perform();

  const QList<QAction*>& actions_;
  QLineEdit* line_;
  QListWidget* list_;
};

}  // namespace gui
