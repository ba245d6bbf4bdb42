// A line for a path. While nobody writes in it, it shows where the path leads from the folder the program was started in, and of one that is too long
// the end, whole folders: "…/models/gpt2.json"; the tool tip has all of it.
#pragma once

#include <QLineEdit>

namespace gui {

QString pathFromHere(const QString& path);  // as it is, where it leads elsewhere
QString shortenedPath(const QString& path, const QFontMetrics& metrics, int width);

class PathEdit : public QLineEdit {
  Q_OBJECT
 public:
  explicit PathEdit(QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace gui
