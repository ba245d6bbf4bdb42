// Colors around the data: background, lines, text, accents; light, dark or of high contrast as the palette is. Semantic colors of slices and memory are
// core's and the same in both.
#pragma once

#include <QBrush>
#include <QColor>
#include <QPalette>

#include "gui/core/work_kind.h"

namespace gui {

struct Theme {
  QColor background, band, grid, text, faint, accent, warning;
  bool outlined = false;  // high contrast: what lies on the background has an outline
};
Theme themeOf(const QPalette& palette);

QPalette lightPalette();
QPalette darkPalette();
QPalette highContrastPalette();

inline QColor colorOf(Rgb color) { return QColor::fromRgb(color.value); }
QBrush patternBrush(Pattern pattern, Rgb on);  // drawn over the color; NoBrush where there is none

}  // namespace gui
