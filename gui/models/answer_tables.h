// An answer in words of the person's language, and as a table: the variants that were simulated, or what something is made of.
#pragma once

#include "gui/core/answers.h"
#include "gui/models/table_item_model.h"

namespace gui {

QString questionText(const Question& question);
QString sentenceOf(const Answer& answer);
Table answerTable(const Answer& answer);  // row = position of the variant or part; the plan as it is in bold

}  // namespace gui
