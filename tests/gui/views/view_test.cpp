#include "gui/views/view.h"

#include <gmock/gmock.h>

#include <QPainter>

namespace gui {
namespace {

class RedView : public View {
 public:
  void paintPicture(QPainter& painter, const QSize& size) override { painter.fillRect(QRect(QPoint(0, 0), size), Qt::red); }
};

TEST(View, TheScreenShowsThePicture) {
  RedView view;
  view.resize(20, 10);
  EXPECT_EQ(view.grab().toImage().pixelColor(19, 9), QColor(Qt::red));
  EXPECT_EQ(view.focusPolicy(), Qt::StrongFocus);
}

}  // namespace
}  // namespace gui
