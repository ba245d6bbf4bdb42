#include "sim/units/input_error.h"

#include <cctype>
#include <map>
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

std::string form_of(const Violation& violation) {
  return without_numbers(violation.where + '\n' + violation.problem + '\n' + violation.remedy);
}

}  // namespace

std::string without_numbers(std::string_view text) {
  std::string form;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit) form += c;
    if (is_digit && !form.ends_with('#')) form += '#';
  }
  return form;
}

std::vector<Violation> grouped(const std::vector<Violation>& violations) {
  constexpr std::size_t kMany = 4;
  std::map<std::string, std::vector<const Violation*>> by_form;
  for (const Violation& violation : violations) by_form[form_of(violation)].push_back(&violation);
  std::vector<Violation> groups;
  for (const Violation& violation : violations) {
    const std::vector<const Violation*>& like = by_form[form_of(violation)];
    if (like.size() >= kMany && like.front() != &violation) continue;
    groups.push_back(violation);
    if (like.size() < kMany) continue;
    groups.back().problem += " (and " + std::to_string(like.size() - 1) + " more like it";
    groups.back().problem += like.back()->where == violation.where ? ")" : ", to " + like.back()->where + ")";
  }
  return groups;
}

std::string located(const Violation& violation) {
  return violation.where.empty() ? violation.problem : violation.where + ": " + violation.problem;
}

InputError::InputError(std::string file, std::vector<Violation> violations)
    : std::runtime_error(sentence(file, violations)), file_(std::move(file)), violations_(std::move(violations)) {}

}  // namespace sim
