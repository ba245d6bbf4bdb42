// A choice of names that may be longer than its place: the middle is left out, and the tool tip has all of it.
#pragma once

#include <QComboBox>

namespace gui {

class ElidedBox : public QComboBox {
  Q_OBJECT
 public:
  explicit ElidedBox(QWidget* parent = nullptr);
  QString shown() const;  // of the current name

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace gui
