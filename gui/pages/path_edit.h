// A line for a path: while nobody writes in it, a path that is too long shows its end, whole folders: "…/models/gpt2.json"; the tool tip has
// all of it.
#pragma once

#include <QLineEdit>

namespace gui {

QString shortenedPath(const QString& path, const QFontMetrics& metrics, int width);

class PathEdit : public QLineEdit {
  Q_OBJECT
 public:
  explicit PathEdit(QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace gui
