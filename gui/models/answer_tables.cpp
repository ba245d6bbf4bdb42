#include "gui/models/answer_tables.h"

#include <QCoreApplication>
#include <algorithm>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"

namespace gui {
namespace {

QString inWords(std::string_view text) { return QCoreApplication::translate("Answers", std::string(text).c_str()); }

const Variant* askedAbout(const Answer& answer) {
  const auto now = std::find_if(answer.variants.begin(), answer.variants.end(), [](const Variant& one) { return one.is_now; });
  return now == answer.variants.end() || now->tokens_per_second <= 0 ? nullptr : &*now;
}

std::vector<Cell> variantCells(const Variant& variant, const Variant* now) {
  const Cell none{QStringLiteral("–"), 0};
  if (!variant.why_not.empty())
    return {{sentenceText(variant.name), {}}, none, none, none, none, none, none, {sentenceText(variant.why_not), {}}};
  const bool is_other = now != nullptr && !variant.is_now && variant.tokens_per_second > 0;
  return {{sentenceText(variant.name), {}},
          timeCell(variant.step_time),
          {QStringLiteral("%L1").arg(variant.tokens_per_second, 0, 'f', 0), variant.tokens_per_second},
          is_other ? signedShareCell(variant.tokens_per_second / now->tokens_per_second - 1) : none,
          variant.faster_chance ? shareCell(*variant.faster_chance) : none,
          bytesCell(variant.peak_memory),
          shareCell(variant.out_of_memory_chance),
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
  table.headers = {inWords("Variant"),      inWords("Step time"),   inWords("Tokens/s"),   inWords("Gain"),
                   inWords("Truly faster"), inWords("Peak memory"), inWords("OOM chance"), inWords("Memory")};
  const Variant* const now = askedAbout(answer);
  for (const Variant& variant : answer.variants) {
    table.rows.push_back(variantCells(variant, now));
    table.marked.push_back(variant.is_now);
  }
  return table;
}

}  // namespace gui
