#include "gui/pages/actions.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>

namespace gui {

QMenu* Actions::menuOf(const QString& title) {
  for (QAction* action : window_->menuBar()->actions())
    if (action->text() == title) return action->menu();
  return window_->menuBar()->addMenu(title);
}

QAction* Actions::add(const ActionText& text, std::function<void()> triggered) {
  auto* action = new QAction(window_);
  QObject::connect(action, &QAction::triggered, window_, [triggered = std::move(triggered)] { triggered(); });
  addExisting(text, action);
  return action;
}

QMenu* Actions::addMenu(const QString& menu, const QString& text) { return menuOf(menu)->addMenu(text); }

void Actions::addExisting(const ActionText& text, QAction* action) {
  if (!text.text.isEmpty()) action->setText(text.text);
  action->setShortcut(text.shortcut);
  menuOf(text.menu)->addAction(action);
  window_->addAction(action);
  all_ << action;
}

QString Actions::keyList() const {
  QString html = QStringLiteral("<table cellpadding=4>");
  for (const QAction* action : all_)
    html += QStringLiteral("<tr><td><b>%1</b></td><td>%2</td></tr>")
                .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(), action->text().remove('&').toHtmlEscaped());
  return html + QStringLiteral("</table>");
}

}  // namespace gui
