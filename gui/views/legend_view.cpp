#include "gui/views/legend_view.h"

#include "gui/views/chart_axes.h"

namespace gui {

LegendView::LegendView(QWidget* parent) : View(parent), kinds_(planWorkKinds()) {
  setFixedHeight(26);
  setFocusPolicy(Qt::NoFocus);
}

void LegendView::setKinds(std::vector<WorkKind> kinds) {
  kinds_ = std::move(kinds);
  update();
}

void LegendView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
  std::vector<LegendEntry> entries;
  for (const WorkKind kind : kinds_) {
    const WorkKindLook& look = lookOf(kind);
    entries.push_back({tr(std::string(look.name).c_str()), colorOf(look.color), patternBrush(look.pattern, look.color)});
  }
  paintLegend(painter, {10, 4}, entries, theme);
}

}  // namespace gui
