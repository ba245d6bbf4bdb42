#include "cli/commands.h"
#include "cli/exit_code.h"
#include "sim/units/text_file.h"
#include "sim/validation/score.h"

namespace cli {

int run(const ValidateOptions& options, const Console& console) {
  const sim::ValidationRows rows = sim::predict_file(options.rows);
  if (!options.output.empty()) sim::save_text_file(sim::predictions_document(rows.predictions), options.output);
  const sim::Score score = sim::score(rows);
  for (const sim::PredictedRow& row : rows.predictions)
    if (!row.error.empty()) console.say("error: " + row.error);
  console.result(sim::score_text(score), [&] { return sim::score_document(score); });
  return kSuccess;
}

}  // namespace cli
