// Every text of a window, whatever page is in front: what widgets, tables and lists show, what tool tips and screen readers say, what pictures
// paint. Used to find what nobody translated.
#pragma once

#include <QtSvg/QSvgGenerator>
#include <QtWidgets>

#include "gui/views/view.h"

namespace gui::test {

// Pictures paint texts through one call for every device; as SVG they can be read.
inline QStringList paintedTexts(View& view) {
  QBuffer bytes;
  QSvgGenerator generator;
  generator.setOutputDevice(&bytes);
  generator.setSize({1600, 1000});
  {
    QPainter painter(&generator);
    view.paintPicture(painter, {1600, 1000});
  }
  static const QRegularExpression text(QStringLiteral("<text[^>]*>([^<]*)</text>"));
  QStringList found;
  for (const QRegularExpressionMatch& match : text.globalMatch(QString::fromUtf8(bytes.data()))) found << match.captured(1);
  return found;
}

inline QStringList modelTexts(const QAbstractItemModel& model) {
  QStringList found;
  for (int column = 0; column < model.columnCount(); ++column) {
    found << model.headerData(column, Qt::Horizontal).toString();
    for (int row = 0; row < model.rowCount(); ++row)
      for (const int role : {Qt::DisplayRole, Qt::ToolTipRole}) found << model.index(row, column).data(role).toString();
  }
  return found;
}

inline QStringList widgetTexts(QWidget& widget) {
  QStringList found = {widget.toolTip(), widget.accessibleName(), widget.windowTitle()};
  if (auto* view = dynamic_cast<View*>(&widget)) found << paintedTexts(*view);
  if (const auto* view = qobject_cast<QAbstractItemView*>(&widget); view != nullptr && view->model() != nullptr)
    found << modelTexts(*view->model());
  if (const auto* box = qobject_cast<QComboBox*>(&widget)) found << modelTexts(*box->model());
  if (const auto* tabs = qobject_cast<QTabBar*>(&widget))
    for (int tab = 0; tab < tabs->count(); ++tab) found << tabs->tabText(tab);
  for (const char* name : {"text", "title", "placeholderText", "currentMessage", "format"})
    if (qobject_cast<QComboBox*>(&widget) == nullptr) found << widget.property(name).toString();
  if (const auto* bar = qobject_cast<QStatusBar*>(&widget)) found << bar->currentMessage();
  return found;
}

inline QStringList shownTexts(QWidget& window) {
  QStringList found = widgetTexts(window);
  for (QWidget* widget : window.findChildren<QWidget*>()) found << widgetTexts(*widget);
  for (const QAction* action : window.findChildren<QAction*>()) found << action->text() << action->toolTip();
  found.removeDuplicates();
  return found;
}

}  // namespace gui::test
