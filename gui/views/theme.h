// Colors around the data: background, lines, text, accents; light or dark as the palette is. Semantic colors of slices and memory are
// core's and the same in both. Used by every view and by the application.
#pragma once

#include <QBrush>
#include <QColor>
#include <QPalette>

#include "gui/core/work_kind.h"

namespace gui {

struct Theme {
  QColor background, band, grid, text, faint, accent, warning;
};
Theme themeOf(const QPalette& palette);

QPalette lightPalette();
QPalette darkPalette();

inline QColor colorOf(Rgb color) { return QColor::fromRgb(color.value); }
QBrush patternBrush(Pattern pattern, Rgb on);  // drawn over the color; NoBrush where there is none

}  // namespace gui
