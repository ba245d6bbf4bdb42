#include "gui/pages/elided_box.h"

#include <QStylePainter>

namespace gui {

ElidedBox::ElidedBox(QWidget* parent) : QComboBox(parent) {
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  setMinimumContentsLength(8);
  connect(this, &QComboBox::currentTextChanged, this, &QWidget::setToolTip);
}

QString ElidedBox::shown() const {
  constexpr int kMargins = 4;  // of the text, as the style draws it
  QStyleOptionComboBox option;
  initStyleOption(&option);
  const QRect place = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
  return fontMetrics().elidedText(currentText(), Qt::ElideMiddle, place.width() - kMargins);
}

void ElidedBox::paintEvent(QPaintEvent*) {
  QStylePainter painter(this);
  QStyleOptionComboBox option;
  initStyleOption(&option);
  painter.drawComplexControl(QStyle::CC_ComboBox, option);
  option.currentText = shown();
  painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

}  // namespace gui
