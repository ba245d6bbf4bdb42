#include "sim/units/input_error.h"

#include <utility>

namespace sim {
namespace {

std::string sentence(const std::string& file, const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    std::string line = file;
    line += (line.empty() ? "" : ": ") + located(violation);
    if (!violation.remedy.empty()) line += "; " + violation.remedy;
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace

std::string located(const Violation& violation) {
  return violation.where.empty() ? violation.problem : violation.where + ": " + violation.problem;
}

InputError::InputError(std::string file, std::vector<Violation> violations)
    : std::runtime_error(sentence(file, violations)), file_(std::move(file)), violations_(std::move(violations)) {}

}  // namespace sim
