// Every row of a file predicted: nothing is skipped, a row that contradicts itself says why.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/cluster/whose_speed.h"
#include "sim/validation/simulated_row.h"

namespace sim {

struct PredictedRow {
  std::string id;
  std::string error;  // empty: ok
  RowEstimate estimate;
  std::vector<Assumption> assumed;
  WhoseSpeed speed{};  // of its own program and part; of a row that cannot be read: none
};

struct ValidationRows {
  std::vector<PredictedRow> predictions;
  std::vector<RowTarget> targets;  // same order
};

using ReadPlan = std::function<void(const std::string& id, const ParallelPlan& plan)>;  // of each row that can be read; null: nobody asks
ValidationRows predict_file(const std::string& path, const ReadPlan& read = {});        // throws InputError where the file itself is none
std::vector<PredictedRow> predict_rows(const Json& rows, const std::string& file, const ReadPlan& read = {});
const Json& rows_of(const Json& document, const std::string& file);  // the array itself, or "rows" of an object; throws InputError
std::string predictions_document(const std::vector<PredictedRow>& rows);

}  // namespace sim
