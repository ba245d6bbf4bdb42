#include "gui/models/answer_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"

namespace gui {
namespace {

QString inWords(std::string_view text) { return QCoreApplication::translate("Answers", std::string(text).c_str()); }

std::vector<Cell> variantCells(const Variant& variant) {
  if (!variant.why_not.empty()) {
    const Cell none{QStringLiteral("–"), 0};
    return {{sentenceText(variant.name), {}}, none, none, none, {sentenceText(variant.why_not), {}}};
  }
  return {{sentenceText(variant.name), {}},
          timeCell(variant.step_time),
          {QStringLiteral("%L1").arg(variant.tokens_per_second, 0, 'f', 0), variant.tokens_per_second},
          bytesCell(variant.peak_memory),
          {variant.fits ? inWords("fits") : inWords("does not fit"), {}}};
}

}  // namespace

QString questionText(const Question& question) { return inWords(question.text); }

QString sentenceOf(const Answer& answer) {
  QString text = inWords(answer.sentence);
  for (std::size_t at = 0; at < answer.arguments.size(); ++at)
    text.replace(QStringLiteral("%%1").arg(at + 1), sentenceText(answer.arguments[at]));
  return text;
}

Table answerTable(const Answer& answer) {
  Table table;
  if (answer.variants.empty()) {
    table.headers = {inWords("Made of"), inWords("Size")};
    for (const Part& part : answer.parts) table.rows.push_back({{nameText(part.name), {}}, bytesCell(part.size)});
    return table;
  }
  table.headers = {inWords("Variant"), inWords("Step time"), inWords("Tokens/s"), inWords("Peak memory"), inWords("Memory")};
  for (const Variant& variant : answer.variants) {
    table.rows.push_back(variantCells(variant));
    table.marked.push_back(variant.is_now);
  }
  return table;
}

}  // namespace gui
