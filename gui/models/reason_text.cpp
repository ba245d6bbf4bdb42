#include "gui/models/reason_text.h"

#include <QCoreApplication>
#include <algorithm>

namespace gui {

QString reasonText(const planner::Reason& reason) {
  const std::string pattern(planner::pattern_of(reason));
  if (pattern.empty()) return QString::fromStdString(planner::to_sentence(reason));
  std::vector<planner::Argument> arguments = reason.arguments;
  for (planner::Argument& argument : arguments)  // a violation inside the reason
    if (argument.name == "problem" || argument.name == "why") argument.value = sentenceText(argument.value).toStdString();
  return QString::fromStdString(planner::filled(QCoreApplication::translate("Reason", pattern.c_str()).toStdString(), arguments));
}

QString reasonText(const std::vector<planner::Reason>& reasons) {
  QString text;
  for (std::size_t at = 0; at < reasons.size(); ++at)
    text += (at == 0 ? QString() : at == 1 ? QStringLiteral(": ") : QStringLiteral(", ")) + reasonText(reasons[at]);
  return text;
}

QString sentenceText(const std::string& english) { return QCoreApplication::translate("Sentence", english.c_str()); }

QString nameText(std::string_view name) {
  std::string words(name);
  if (words.find('.') != std::string::npos || words.starts_with("modules ")) return QString::fromStdString(words);  // as programs say it
  std::replace(words.begin(), words.end(), '_', ' ');
  return sentenceText(words);
}

QString notesText(const std::vector<sim::Violation>& notes) {
  constexpr qsizetype kShown = 4;
  QStringList texts;
  for (const sim::Violation& note : notes) {
    if (texts.size() == kShown) {
      texts << QCoreApplication::translate("Message", "and %1 more").arg(static_cast<qsizetype>(notes.size()) - kShown);
      break;
    }
    texts << (note.where.empty() ? QString() : QString::fromStdString(note.where) + ' ') + sentenceText(note.problem);
  }
  return texts.join(QStringLiteral("; "));
}

QString headerText(std::string_view words) {
  QString text = nameText(words);
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

}  // namespace gui
