#include "gui/pages/menu_letters.h"

#include <QAbstractButton>
#include <QLabel>
#include <QMainWindow>
#include <QMenuBar>
#include <QRegularExpression>

namespace gui {
namespace {

QString letterOf(const QString& text) {
  static const QRegularExpression letter(QStringLiteral("&(\\w)"));
  return letter.match(text).captured(1).toUpper();
}

QString withoutLetter(const QString& text) {
  static const QRegularExpression in_brackets(QStringLiteral("\\(&\\w\\)"));  // as Chinese has it
  return QString(text).remove(in_brackets).remove('&');
}

}  // namespace

void keepLettersForMenus(const QMainWindow& window) {
  QString taken;
  for (const QAction* menu : window.menuBar()->actions()) taken += letterOf(menu->text());
  const auto is_taken = [&](const QString& text) { return !letterOf(text).isEmpty() && taken.contains(letterOf(text)); };
  for (QAbstractButton* button : window.findChildren<QAbstractButton*>())
    if (is_taken(button->text())) button->setText(withoutLetter(button->text()));
  for (QLabel* label : window.findChildren<QLabel*>())
    if (label->buddy() != nullptr && is_taken(label->text())) label->setText(withoutLetter(label->text()));
}

}  // namespace gui
