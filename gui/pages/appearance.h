// How the window looks and listens: theme, language, keys by their letter or their place. Kept for the next start.
#pragma once

#include <QObject>

class QActionGroup;
class QPalette;
class QWidget;

namespace gui {

class Actions;

class Appearance : public QObject {
  Q_OBJECT
 public:
  explicit Appearance(QWidget* window);
  void addActions(Actions& actions);  // of the menu View
  void setColors(const QPalette& palette);
  void restore();  // the theme of the last window; from now on this one's is kept

 private:
  void addThemes(Actions& actions, const QString& menu);

  QWidget* window_;
  QActionGroup* themes_;
  bool keeps_ = false;
};

}  // namespace gui
