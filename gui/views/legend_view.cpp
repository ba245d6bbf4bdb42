#include "gui/views/legend_view.h"

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
  own_.clear();
  if (isVisible()) fitHeight();
  update();
}

void LegendView::setEntries(std::vector<LegendEntry> entries) {
  own_ = std::move(entries);
  if (isVisible()) fitHeight();
  update();
}

std::vector<LegendEntry> LegendView::entries() const { return own_.empty() ? entriesOf(kinds_) : own_; }

// On a small screen all kinds of a plan need a second line.
int LegendView::heightForWidth(int width) const {
  return kLegendHeight + kLegendLine * (legendLines(QFontMetricsF(font()), width - 2 * kLegendLeft, entries()) - 1);
}

void LegendView::fitHeight() { setFixedHeight(heightForWidth(width())); }

void LegendView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
  paintLegend(painter, QRectF(kLegendLeft, kLegendTop, size.width() - 2 * kLegendLeft, size.height()), entries(), theme);
}

}  // namespace gui
