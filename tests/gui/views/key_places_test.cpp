#include "gui/views/key_places.h"

#include <gmock/gmock.h>

#include <QKeyEvent>

namespace gui {
namespace {

TEST(KeyPlaces, AreWantedOrNot) {
  const QKeyEvent comma_of_dvorak(QEvent::KeyPress, Qt::Key_Comma, Qt::NoModifier, 25, 0, 0),
      typed(QEvent::KeyPress, Qt::Key_A, Qt::NoModifier);
  EXPECT_EQ(keyOf(comma_of_dvorak), Qt::Key_Comma);
  chooseKeyPlaces(true);
  EXPECT_EQ(keyOf(comma_of_dvorak), Qt::Key_W);
  EXPECT_EQ(keyOf(typed), Qt::Key_A);  // of no keyboard: a program typed it
  chooseKeyPlaces(false);
  EXPECT_FALSE(wantsKeyPlaces());
}

}  // namespace
}  // namespace gui
