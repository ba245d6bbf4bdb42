// The blocks of a row, one by one.
#pragma once

#include "sim/model/model_config.h"
#include "sim/validation/field_reader.h"
#include "sim/validation/published_row.h"

namespace sim {

struct RowNetwork {
  ModelConfig model;
  double sequence = 1;  // tokens of a sample that are computed
  Timed timed = Timed::Step;
};
RowNetwork read_network(const FieldReader& workload);

// The part's profile with the links that the row states.
struct RowMachine {
  std::string part;
  std::int64_t gpus = 1;
  HardwareProfile profile;
};
RowMachine read_machine(const FieldReader& hardware, const RowProfiles& profiles);

}  // namespace sim
