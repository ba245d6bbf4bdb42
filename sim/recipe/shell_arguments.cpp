#include "sim/recipe/shell_arguments.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "sim/recipe/environment.h"

namespace sim {
namespace {

std::size_t count_in(const std::string& text, std::size_t otherwise) {
  std::size_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string value_of(const ShellScope& scope, const std::string& name) {
  const std::vector<std::string>* const values = scope.find(name);
  return values == nullptr || values->empty() ? "" : values->front();
}

}  // namespace

std::vector<std::string> arguments_of(const ShellScope& scope) {
  std::vector<std::string> all;
  while (const std::vector<std::string>* const value = scope.find(std::to_string(all.size() + 1)))
    all.push_back(value->empty() ? "" : value->front());
  return all;
}

void set_arguments(ShellScope& scope, const std::vector<std::string>& values) {
  for (std::size_t at = arguments_of(scope).size(); at > values.size(); --at) scope.variables.erase(std::to_string(at));
  for (std::size_t at = 0; at < values.size(); ++at) scope.variables[std::to_string(at + 1)] = {values[at]};
}

Verdict shift_arguments(ShellScope& scope, const std::string& by) {
  std::vector<std::string> all = arguments_of(scope);
  const std::size_t count = count_in(by, 1);
  if (count > all.size()) return Verdict::No;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  set_arguments(scope, all);
  return Verdict::Yes;
}

// One letter a word; several in one word (-ab) are taken as the first of them.
Verdict next_option(ShellScope& scope, const std::string& letters, const std::string& name) {
  const std::vector<std::string> all = arguments_of(scope);
  const std::size_t at = count_in(value_of(scope, "OPTIND"), 1);
  if (at < 1 || at > all.size() || all[at - 1].size() < 2 || all[at - 1][0] != '-' || all[at - 1] == "--") return Verdict::No;
  const std::string& word = all[at - 1];
  const std::size_t row = word[1] == ':' ? std::string::npos : letters.find(word[1]);
  const bool has_value = row != std::string::npos && row + 1 < letters.size() && letters[row + 1] == ':', is_apart = word.size() == 2;
  scope.variables[name] = {row == std::string::npos ? "?" : std::string(1, word[1])};
  scope.variables["OPTARG"] = {!has_value ? "" : !is_apart ? word.substr(2) : at < all.size() ? all[at] : ""};
  scope.variables["OPTIND"] = {std::to_string(at + (has_value && is_apart ? 2 : 1))};
  return Verdict::Yes;
}

std::string place_of_options(const ShellScope& scope) { return value_of(scope, "OPTIND"); }

std::vector<std::string> options_of_variables(const ShellScope& scope) {
  std::vector<std::string> words;
  for (const auto& [name, values] : scope.variables)
    if (!values.empty() && values.front().find_first_not_of(" \n\t") != std::string::npos &&
        std::string_view(values.front()).substr(values.front().find_first_not_of(" \n\t")).starts_with("--"))
      for (const std::string& value : values) {
        std::istringstream parts(value);
        for (std::string part; parts >> part;) words.push_back(part);
      }
  return words;
}

std::vector<std::string> unused_in(const std::string& text, const ShellScope& scope) {
  std::vector<std::string> names;
  for (const auto& [name, values] : scope.variables) {
    const bool is_list = values.size() != 1 || values.front().find("--") != std::string::npos || scope.given.contains(name);
    const std::string own = name + "=${" + name + ":-";  // its own value, where somebody gives one
    std::string rest = text;
    if (const std::size_t at = rest.find(own); at != std::string::npos) rest.erase(at, own.size());
    if (!is_list && rest.find("$" + name) == std::string::npos && rest.find("${" + name) == std::string::npos) names.push_back(name);
  }
  return names;
}

Texts environment_in(const ShellScope& scope, const std::set<std::string>& in_front) {
  Texts found;
  for (const char* const name :
       {"CUDA_VISIBLE_DEVICES", "NPROC_PER_NODE", "NNODES", "PJRT_DEVICE", "LOCAL_RANK", "RANK", "CONFIG_FILE", "NGPU"})
    if (const auto* const values = scope.find(name); values != nullptr && values->size() == 1) found[name] = values->front();
  const auto may_be_read = [&](const std::string& name) {
    if (in_front.contains(name)) return may_count_in_environment(name);
    if (!scope.exported.contains(name)) return false;
    return sounds_in_environment(name) || (may_count_in_environment(name) && !scope.expanded.contains(name));
  };
  for (const auto& [name, values] : scope.variables)
    if (values.size() == 1 && (name.starts_with("NEURON_") || counts_in_environment(name) || may_be_read(name)))
      found[name] = values.front();
  return found;
}

}  // namespace sim
