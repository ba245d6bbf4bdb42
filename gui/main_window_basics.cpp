// What a person expects of any desktop program: recent files, pages that take the keyboard, context menus.
#include <QAbstractButton>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QSettings>
#include <QTabWidget>
#include <QTableView>

#include "gui/main_window.h"
#include "gui/pages/answers_page.h"
#include "gui/pages/run_page.h"
#include "gui/pages/table_panel.h"
#include "gui/views/view.h"

namespace gui {
namespace {

const QString kRecent = QStringLiteral("files/recent");

}  // namespace

void MainWindow::remember(const QString& path) {
  constexpr qsizetype kMost = 12;
  if (!keeps_state_ || !QFileInfo::exists(path)) return;
  const QString file = QFileInfo(path).absoluteFilePath();
  QStringList files = QSettings().value(kRecent).toStringList();
  files.removeAll(file);
  files.prepend(file);
  QSettings().setValue(kRecent, QStringList(files.mid(0, kMost)));
}

void MainWindow::fillRecent() {
  recent_->clear();
  for (const QString& file : QSettings().value(kRecent).toStringList())
    if (QFileInfo::exists(file)) recent_->addAction(QString(file).replace('&', QStringLiteral("&&")), this, [this, file] { open(file); });
  if (recent_->isEmpty()) recent_->addAction(tr("none yet"))->setEnabled(false);
}

// And gives it the keyboard: keys of a timeline work at once.
void MainWindow::showPage(int page) {
  pages_->setCurrentIndex(page);
  QWidget* const shown = pages_->currentWidget();
  QWidget* target = shown == run_page_       ? static_cast<QWidget*>(run_page_->dataLine())
                    : shown == answers_page_ ? static_cast<QWidget*>(answers_page_->questions())
                                             : shownView();
  if (!target->isVisible()) target = shown->nextInFocusChain();
  target->setFocus(Qt::ShortcutFocusReason);
}

// What the menus offer for what is in front stands in its context menu, too.
void MainWindow::addContextMenus() {
  const auto of = [this](const char* shortcut) {
    for (QAction* action : actions_.all())
      if (action->shortcut() == QKeySequence(QLatin1String(shortcut))) return action;
    return static_cast<QAction*>(nullptr);
  };
  for (View* view : findChildren<View*>()) {
    view->addAction(of("Ctrl+E"));
    if (view->contextMenuPolicy() == Qt::DefaultContextMenu && view->actions().size() == 1)
      view->setContextMenuPolicy(Qt::ActionsContextMenu);
  }
  for (TablePanel* table : findChildren<TablePanel*>()) table->view()->addAction(of("Ctrl+Shift+E"));
}

// Alt with a letter of a menu opens it: no field or button takes that letter from it.
void MainWindow::keepLettersForMenus() {
  static const QRegularExpression letter(QStringLiteral("&(\\w)"));
  QString taken;
  for (const QAction* menu : menuBar()->actions()) taken += letter.match(menu->text()).captured(1).toUpper();
  const auto without = [&](const QString& text) {
    const QString own = letter.match(text).captured(1).toUpper();
    if (own.isEmpty() || !taken.contains(own)) return text;
    static const QRegularExpression in_brackets(QStringLiteral("\\(&\\w\\)"));  // as Chinese has it
    return QString(text).remove(in_brackets).remove('&');
  };
  for (QAbstractButton* button : centralWidget()->parentWidget()->findChildren<QAbstractButton*>())
    button->setText(without(button->text()));
  for (QLabel* label : findChildren<QLabel*>())
    if (label->buddy() != nullptr) label->setText(without(label->text()));
}

}  // namespace gui
