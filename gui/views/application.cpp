#include "gui/views/application.h"

#include <QApplication>
#include <QStyleFactory>

#include "gui/views/theme.h"

namespace gui {

void styleApplication() {
  QApplication::setOrganizationName(QStringLiteral("meshwright"));
  QApplication::setApplicationName(QStringLiteral("meshwright-gui"));
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("fusion")));
  QApplication::setPalette(lightPalette());
  QFont font = QApplication::font();
  font.setPointSizeF(9.5);
  QApplication::setFont(font);
}

}  // namespace gui
