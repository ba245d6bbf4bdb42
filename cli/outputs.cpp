#include "cli/outputs.h"

#include <filesystem>
#include <system_error>

#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace cli {

void require_output(const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty()) return;
  std::error_code neither_is_there;
  for (const std::string& input : inputs)
    if (std::filesystem::equivalent(output, input, neither_is_there) && std::filesystem::is_regular_file(input))
      throw sim::InputError(output, {{"", "is read by this command and would be lost", "name another file to write"}});
  sim::require_writable(output);
}

}  // namespace cli
