// Said before the work, which may take minutes: that results can be written where they are asked for, over nothing that is read, over nothing that
// somebody else wrote, and each to a place of its own.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/device_mesh.h"
#include "sim/units/own_file.h"

namespace cli {

struct Output {
  std::string path;  // empty: nothing is written
  sim::OwnFile kind = sim::OwnFile::Plan;
};

std::vector<Output> chakra_outputs(const std::string& prefix, const sim::DeviceMesh& mesh);  // of every rank; of an empty prefix none

void require_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs);  // throws sim::InputError

}  // namespace cli
