// The colors of the timeline with their names, on one line. Used above every timeline.
#pragma once

#include "gui/views/view.h"

namespace gui {

class LegendView : public View {
  Q_OBJECT
 public:
  explicit LegendView(QWidget* parent = nullptr);
  void paintPicture(QPainter& painter, const QSize& size) override;
};

}  // namespace gui
