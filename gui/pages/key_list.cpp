#include "gui/pages/key_list.h"

#include <QCoreApplication>
#include <QDialog>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/pages/actions.h"

namespace gui {
namespace {

QString said(const char* text) { return QCoreApplication::translate("Keys", text); }

}  // namespace

// Scrolls: there are more keys than lines on a small screen.
void showKeys(const Actions& actions, QWidget* window) {
  auto* dialog = new QDialog(window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(said("Keys"));
  auto* text = new QTextBrowser(dialog);
  text->setAccessibleName(said("Keys"));
  text->setFrameShape(QFrame::NoFrame);
  text->setHtml(
      said("<p>In a timeline: W S zoom, A D move, F the slice and then everything, 0 everything, arrows and . , from slice to slice, [ ] "
           "along a flow, R measure the slice, M note, P pin, C the group as one line, Esc let go; the wheel zooms, dragging measures from "
           "edge to edge, with Shift it moves.</p>") +
      actions.keyList());
  auto* column = new QVBoxLayout(dialog);
  column->setContentsMargins(4, 4, 4, 4);
  column->addWidget(text);
  dialog->resize(std::min(560, window->width()), std::min(680, window->height() - 40));
  dialog->open();
}

}  // namespace gui
