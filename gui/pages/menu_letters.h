// Alt with a letter of a menu opens it: no field or button takes that letter from it.
#pragma once

class QMainWindow;

namespace gui {

void keepLettersForMenus(const QMainWindow& window);

}  // namespace gui
