// Two steps held against each other as tables: errors by stage, kind and collective, shares, the tasks that differ most, and what has no
// partner.
#pragma once

#include "gui/core/comparison_errors.h"
#include "gui/models/table_item_model.h"

namespace gui {

Table errorsTable(const std::vector<ErrorGroup>& groups);  // the step first, in bold
Table sharesTable(const sim::Comparison& comparison);
Table unmatchedTable(const ComparedSteps& steps);  // of a whole run: of any of its steps

// Largest difference of duration first, at most so many; row -> pair.
struct DifferenceTable {
  Table table;
  std::vector<Pair> pairs;
};
DifferenceTable differencesTable(const ComparedSteps& steps);
inline constexpr std::size_t kMostDifferences = 2000;

}  // namespace gui
