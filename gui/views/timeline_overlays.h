// What lies between and over the slices of a timeline: counters as filled steps, flows as arrows.
#pragma once

#include <QPainter>

#include "gui/core/counter.h"
#include "gui/views/theme.h"

namespace gui {

// `area`: the row, beside its names. The highest value of each pixel shows.
void paintCounter(QPainter& painter, const QRect& area, const Counter& counter, const TimeAxis& axis, const Theme& theme);
void paintArrow(QPainter& painter, const QLineF& from_to, const QColor& color);

}  // namespace gui
