// Keys by their place instead of their letter: on AZERTY and Dvorak keyboards W A S D lie apart. A setting of the person; used by the pictures
// that zoom.
#pragma once

class QKeyEvent;

namespace gui {

bool wantsKeyPlaces();
void chooseKeyPlaces(bool wanted);
int keyOf(const QKeyEvent& event);  // Qt::Key: of the letter, or, where wanted, of the place on a keyboard of the USA

}  // namespace gui
