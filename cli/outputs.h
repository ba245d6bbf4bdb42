// Said before the work, which may take minutes: that results can be written where they are asked for, over nothing that is read, over nothing that
// somebody else wrote, and each to a place of its own.
#pragma once

#include <string>
#include <vector>

#include "sim/units/own_file.h"

namespace cli {

struct Output {
  std::string path;  // empty: nothing is written
  sim::OwnFile kind = sim::OwnFile::Document;
};

void require_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs);  // throws sim::InputError

}  // namespace cli
