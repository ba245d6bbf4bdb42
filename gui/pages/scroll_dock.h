// A panel at the side of the window: on a low screen its content scrolls, and its footer stays in sight.
#pragma once

#include <QDockWidget>

namespace gui {

class ScrollDock : public QDockWidget {
  Q_OBJECT
 public:
  ScrollDock(const QString& title, QWidget* content, QWidget* footer, QWidget* parent);
};

}  // namespace gui
