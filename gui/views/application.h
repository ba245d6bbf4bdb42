// Fonts, style and palette of the program: the same in main and in the tests, so that a picture is one picture.
#pragma once

namespace gui {

void styleApplication();

}  // namespace gui
