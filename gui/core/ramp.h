// From little to much as a color: Paul Tol's YlOrBr, which stays in order for color-blind people and in grey.
#pragma once

#include "gui/core/work_kind.h"

namespace gui {

Rgb rampColor(double share);  // 0 little, 1 much; what lies outside is clamped

}  // namespace gui
