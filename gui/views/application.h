// Fonts, style and palette of the program: the same in main and in the tests, so that a picture is one picture.
#pragma once

#include <functional>

namespace gui {

void nameApplication();  // where settings lie; without a display, too
void styleApplication();

// Where a display goes away Qt calls exit(): `last` is called, then the program ends with that status, before statics go from under its workers.
// As long as it lives; one at a time.
class DisplayGuard {
 public:
  explicit DisplayGuard(std::function<void()> last);
  ~DisplayGuard();
  DisplayGuard(const DisplayGuard&) = delete;
  DisplayGuard& operator=(const DisplayGuard&) = delete;
};

}  // namespace gui
