#include "gui/views/legend_view.h"

#include "gui/views/chart_axes.h"

namespace gui {
namespace {

constexpr int kLegendLeft = 10, kLegendTop = 4, kLegendHeight = 26;

std::vector<LegendEntry> entriesOf(const std::vector<WorkKind>& kinds) {
  std::vector<LegendEntry> entries;
  for (const WorkKind kind : kinds) {
    const WorkKindLook& look = lookOf(kind);
    entries.push_back({LegendView::tr(std::string(look.name).c_str()), colorOf(look.color), patternBrush(look.pattern, look.color)});
  }
  return entries;
}

}  // namespace

LegendView::LegendView(QWidget* parent) : View(parent), kinds_(planWorkKinds()) {
  setFixedHeight(kLegendHeight);
  setFocusPolicy(Qt::NoFocus);
}

void LegendView::setKinds(std::vector<WorkKind> kinds) {
  kinds_ = std::move(kinds);
  if (isVisible()) fitHeight();
  update();
}

// On a small screen all kinds of a plan need a second line.
int LegendView::heightForWidth(int width) const {
  return kLegendHeight + kLegendLine * (legendLines(QFontMetricsF(font()), width - 2 * kLegendLeft, entriesOf(kinds_)) - 1);
}

void LegendView::fitHeight() { setFixedHeight(heightForWidth(width())); }

void LegendView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
  paintLegend(painter, QRectF(kLegendLeft, kLegendTop, size.width() - 2 * kLegendLeft, size.height()), entriesOf(kinds_), theme);
}

}  // namespace gui
