#include "gui/views/application.h"

#include <QApplication>
#include <QProxyStyle>

#include "gui/views/theme.h"

namespace gui {
namespace {

// Fusion, with room between the columns of tables: a number ends where the words of its neighbor do not yet begin.
class RoomyStyle : public QProxyStyle {
 public:
  RoomyStyle() : QProxyStyle(QStringLiteral("fusion")) {}
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    constexpr int kOfCells = 5, kOfHeaders = 4;  // more would make the rows higher, too
    return metric == PM_FocusFrameHMargin ? kOfCells : metric == PM_HeaderMargin ? kOfHeaders : QProxyStyle::pixelMetric(metric, option, widget);
  }
};

}  // namespace

void styleApplication() {
  QApplication::setOrganizationName(QStringLiteral("meshwright"));
  QApplication::setApplicationName(QStringLiteral("meshwright-gui"));
  QApplication::setStyle(new RoomyStyle);
  QApplication::setPalette(lightPalette());
  QFont font = QApplication::font();
  font.setPointSizeF(9.5);
  QApplication::setFont(font);
}

}  // namespace gui
