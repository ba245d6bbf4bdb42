// A picture made of boxes: cells and lines whose color says how much, frames and labels around them. What is where is decided by a layout,
// a pure function of the size; cells that stand for a rank can be chosen.
#pragma once

#include <QRectF>
#include <QString>
#include <functional>
#include <vector>

#include "gui/views/view.h"

namespace gui {

struct Box {
  QRectF area;
  double share = -1;  // colored by it, 0 to 1; negative: an outline
  QString text{};     // drawn where it fits
  QString tip{};
  int rank = -1;
  bool framed = true;  // false: a text alone
};

struct BoxPicture {
  std::function<std::vector<Box>(const QRectF& area)> layout;
  QString title, least, most;  // of the color scale
};

class BoxView : public View {
  Q_OBJECT
 public:
  using View::View;
  void setPicture(BoxPicture picture);
  void setEmptyText(const QString& text) { empty_text_ = text; }  // what stands where there is no picture
  void choose(int rank);
  int chosen() const { return chosen_; }
  QPointF centerOf(int rank) const;
  QString current() const override;
  void paintPicture(QPainter& painter, const QSize& size) override;

 Q_SIGNALS:
  void rankChosen(int rank);
  void rankOpened(int rank);  // double click, Enter

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  const std::vector<Box>& boxesAt(const QSize& size) const;
  int rankAt(const QPointF& position) const;
  void paintScale(QPainter& painter, const QSize& size) const;

  BoxPicture picture_;
  mutable std::vector<Box> boxes_;  // as last laid out: a thousand machines take their time
  mutable QSize laid_out_;
  QString empty_text_ = tr("No plan yet: press Plan (Ctrl+Return), or open a plan file (Ctrl+O)");
  int chosen_ = -1;
};

}  // namespace gui
