// Between a token table that is not as wide as the blocks and them: products that lead from its width and back, and what is as narrow as it is.
// Not for other rooms.
#pragma once

#include "sim/model/parameter_list.h"
#include "sim/model/segment_builder.h"

namespace sim {

std::int64_t table_width(const ModelConfig& config);
// Of all that stands beside the token table.
std::int64_t width_at_table(const ModelConfig& config);
Operator transform_of(const ModelConfig& config);
Operator widening(const ModelConfig& config);
Operator narrowing(const ModelConfig& config);
void add_norm_at_table(ParameterList& parameters, const ModelConfig& config, const char* name, const Operator& op);

}  // namespace sim
