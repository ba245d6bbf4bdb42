// Every row of a file predicted: nothing is skipped, a row that contradicts itself says why. Used by `meshwright validate`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/estimate/step_estimate.h"
#include "sim/validation/published_row.h"

namespace sim {

struct PredictedRow {
  std::string id;
  std::string error;          // empty: ok
  bool is_simulated = false;  // else by the closed form: no plan says the run, or it breaks a rule
  StepEstimate estimate;
  std::vector<Assumption> assumed;
};

struct ValidationRows {
  std::vector<PredictedRow> predictions;
  std::vector<RowTarget> targets;  // same order
};

// Engine: by lower() and the event engine, as the planner does; rows that it cannot take yet are errors that say why. Either: those by the closed form.
enum class PredictedBy : std::uint8_t { Either, Engine };
ValidationRows predict_file(const std::string& path,
                            PredictedBy by = PredictedBy::Either);  // throws InputError where the file itself is none
std::vector<PredictedRow> predict_rows(const Json& rows, const std::string& file, PredictedBy by = PredictedBy::Either);
const Json& rows_of(const Json& document, const std::string& file);  // the array itself, or "rows" of an object; throws InputError
std::string predictions_document(const std::vector<PredictedRow>& rows);

}  // namespace sim
