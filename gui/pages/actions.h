// Every action of the window in one place: its menu, its words, its shortcut. None is without a shortcut; the key list is made from here.
#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>
#include <functional>

class QAction;
class QMainWindow;
class QMenu;

namespace gui {

struct ActionText {
  QString menu, text;
  QKeySequence shortcut;
};

class Actions {
 public:
  explicit Actions(QMainWindow* window) : window_(window) {}
  QAction* add(const ActionText& text, std::function<void()> triggered);
  QMenu* addMenu(const QString& menu, const QString& text);  // filled by who asks for it
  void addExisting(const ActionText& text, QAction* action);
  const QList<QAction*>& all() const { return all_; }
  QString keyList() const;  // HTML table: what does which key

 private:
  QMenu* menuOf(const QString& title);
  QMainWindow* window_;
  QList<QAction*> all_;
};

}  // namespace gui
