// Words of a plan that the schema of rows has no name for: "fields": {"/slices": 4, "/mesh/reshard": 8}, by their place in a plan file.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

class JsonReader;

// Onto what the row's other words make. `row_plan`: block "plan" of a row. Unknown places, values that a field does not take, and fields that other words of
// the row have set are violations there.
void set_row_fields(const JsonReader& row_plan, ParallelPlan& plan);

}  // namespace sim
