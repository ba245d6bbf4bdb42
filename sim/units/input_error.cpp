#include "sim/units/input_error.h"

#include <utility>

namespace sim {
namespace {

std::string sentence(const std::string& file, const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    std::string line = file;
    if (!violation.where.empty()) line += (line.empty() ? "" : ": ") + violation.where;
    line += (line.empty() ? "" : ": ") + violation.problem;
    if (!violation.remedy.empty()) line += "; " + violation.remedy;
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace

InputError::InputError(std::string file, std::vector<Violation> violations)
    : std::runtime_error(sentence(file, violations)), file_(std::move(file)), violations_(std::move(violations)) {}

}  // namespace sim
