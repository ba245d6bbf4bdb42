#include "sim/units/input_error.h"

#include <utility>

namespace sim {
namespace {

std::string sentence(const std::string& file, const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    if (!text.empty()) text += '\n';
    text += file;
    if (!violation.where.empty()) text += (file.empty() ? "" : ": ") + violation.where;
    text += (text.empty() ? "" : ": ") + violation.problem;
    if (!violation.remedy.empty()) text += "; " + violation.remedy;
  }
  return text;
}

}  // namespace

InputError::InputError(std::string file, std::vector<Violation> violations)
    : std::runtime_error(sentence(file, violations)), file_(std::move(file)), violations_(std::move(violations)) {}

}  // namespace sim
