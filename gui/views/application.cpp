#include "gui/views/application.h"

#include <QApplication>
#include <QFont>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleOption>
#include <cstdlib>
#include <utility>

#include "gui/views/accessible_view.h"
#include "gui/views/theme.h"

namespace gui {
namespace {

// Fusion, with room between the columns of tables: a number ends where the words of its neighbor do not yet begin.
class RoomyStyle : public QProxyStyle {
 public:
  RoomyStyle() : QProxyStyle(QStringLiteral("fusion")) {}
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    constexpr int kOfCells = 5, kOfHeaders = 4;  // more would make the rows higher, too
    return metric == PM_FocusFrameHMargin ? kOfCells
           : metric == PM_HeaderMargin    ? kOfHeaders
                                          : QProxyStyle::pixelMetric(metric, option, widget);
  }
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* returned) const override {
    return hint == SH_MenuBar_AltKeyNavigation ? 1 : QProxyStyle::styleHint(hint, option, widget, returned);
  }
  // Fusion outlines in a darker shade of the window: on a dark one nobody would see where a box, a line or a button begins.
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool alone = widget == nullptr || widget->parentWidget() == nullptr ||
                       !(widget->parentWidget()->inherits("QComboBox") || widget->parentWidget()->inherits("QAbstractSpinBox"));
    if (element == PE_IndicatorCheckBox ||
        ((element == PE_PanelLineEdit || element == PE_PanelButtonCommand || element == PE_PanelButtonTool) && alone))
      outline(*option, *painter);
  }
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                          const QWidget* widget) const override {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (control == CC_SpinBox || control == CC_ComboBox) outline(*option, *painter);
  }

 private:
  static void outline(const QStyleOption& option, QPainter& painter) {
    if (option.palette.color(QPalette::Window).lightness() > 128) return;
    const auto* button = qstyleoption_cast<const QStyleOptionButton*>(&option);
    const bool first = (option.state & State_HasFocus) || (button != nullptr && (button->features & QStyleOptionButton::DefaultButton));
    painter.save();
    painter.setPen(option.palette.color(first ? QPalette::Highlight : QPalette::Mid));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(option.rect.adjusted(0, 0, -1, -1));
    painter.restore();
  }
};

std::function<void()>& lastWords() {
  static std::function<void()> words;
  return words;
}

void endWithoutDisplay() {
  constexpr int kGone = 1;
  if (!lastWords()) return;
  lastWords()();
  std::_Exit(kGone);
}

}  // namespace

DisplayGuard::DisplayGuard(std::function<void()> last) {
  lastWords() = std::move(last);
  static const int registered = std::atexit(endWithoutDisplay);
  (void)registered;
}

DisplayGuard::~DisplayGuard() { lastWords() = nullptr; }

void nameApplication() {
  QCoreApplication::setOrganizationName(QStringLiteral("meshwright"));
  QCoreApplication::setApplicationName(QStringLiteral("meshwright-gui"));
}

void styleApplication() {
  nameApplication();
  QApplication::setStyle(new RoomyStyle);
  QApplication::setPalette(lightPalette());
  QFont font = QApplication::font();
  font.setPointSizeF(9.5);
  QApplication::setFont(font);
  installAccessibleViews();
}

}  // namespace gui
