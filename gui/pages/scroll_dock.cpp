#include "gui/pages/scroll_dock.h"

#include <QScrollArea>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

namespace gui {

ScrollDock::ScrollDock(const QString& title, QWidget* content, QWidget* footer, QWidget* parent) : QDockWidget(title, parent) {
  constexpr int kLeast = 256;
  setObjectName(title);
  auto* area = new QScrollArea(this);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);  // it scrolls to what has the focus
  area->setWidget(content);
  const int bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent);  // it takes no room from the fields
  area->setMinimumWidth(std::max(kLeast, content->minimumSizeHint().width() + bar));
  auto* all = new QWidget(this);
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(area, 1);
  if (footer != nullptr) column->addWidget(footer);
  setWidget(all);
}

}  // namespace gui
