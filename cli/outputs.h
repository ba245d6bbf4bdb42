// Said before the work, which may take minutes: that a result can be written where it is asked for, and over nothing that is read.
// Used by the subcommands that write files.
#pragma once

#include <string>
#include <vector>

namespace cli {

// `output` empty: nothing is written, nothing to say. Throws sim::InputError.
void require_output(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace cli
