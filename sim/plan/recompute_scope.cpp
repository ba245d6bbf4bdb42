#include "sim/plan/recompute_scope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "sim/units/number_text.h"

namespace sim {
namespace {

constexpr std::int32_t kMostBlocks = 1'000'000;

std::int32_t read_count(const std::string& word, const std::string& text, std::vector<Violation>& violations) {
  if (const auto count = number_in<std::int32_t>(text, 1, kMostBlocks)) return *count;
  violations.push_back({word, fmt::format("needs a number of blocks, not \"{}\"", text), fmt::format("write {} 2", word)});
  return 1;
}

// One number for all stages, or one for each.
void read_first(const std::string& text, RecomputeScope& scope, std::vector<Violation>& violations) {
  if (text.find(',') == std::string::npos) {
    scope.first = read_count("first", text, violations);
    return;
  }
  std::istringstream numbers(text);
  for (std::string number; std::getline(numbers, number, ',');) {
    const auto count = number_in<std::int32_t>(number, 0, kMostBlocks);
    if (!count)
      return violations.push_back(
          {"first", fmt::format("needs a number of blocks for each stage, not \"{}\"", text), "write first 4,3,2,0"});
    scope.by_stage.push_back(*count);
  }
}

}  // namespace

std::string to_text(Modules modules) { return fmt::format("{}", fmt::join(names_of(modules), ",")); }

Modules parse_modules(std::string_view text, Modules among, std::vector<Violation>& violations) {
  Modules modules;
  std::istringstream names{std::string(text)};
  for (std::string name; std::getline(names, name, ',');) {
    const std::optional<Module> module = module_named(name);
    if (module && among.has(*module))
      modules = modules | *module;
    else
      violations.push_back({name, "is no module of a block", fmt::format("use {}", fmt::join(names_of(among), ", "))});
  }
  return modules;
}

std::string to_text(const RecomputeScope& scope) {
  std::vector<std::string> words;
  if (!scope.modules.none()) words.push_back("modules " + to_text(scope.modules));
  if (scope.first > 0) words.push_back(fmt::format("first {}", scope.first));
  if (!scope.by_stage.empty()) words.push_back(fmt::format("first {}", fmt::join(scope.by_stage, ",")));
  if (scope.every > 1) words.push_back(fmt::format("every {}", scope.every));
  if (scope.together > 1) words.push_back(fmt::format("together {}", scope.together));
  if (scope.but_last) words.emplace_back("but_last");
  return fmt::format("{}", fmt::join(words, " "));
}

RecomputeScope parse_recompute_scope(std::string_view text, std::vector<Violation>& violations) {
  RecomputeScope scope;
  std::istringstream words{std::string(text)};
  for (std::string word, value; words >> word; value.clear()) {
    if (word == "but_last") {
      scope.but_last = true;
      continue;
    }
    words >> value;
    if (word == "modules")
      scope.modules = parse_modules(value, kRecomputed, violations);
    else if (word == "first")
      read_first(value, scope, violations);
    else if (word == "every")
      scope.every = read_count(word, value, violations);
    else if (word == "together")
      scope.together = read_count(word, value, violations);
    else
      violations.push_back({word, "says nothing of where recomputation holds", "use modules, first, every, together, but_last"});
  }
  return scope;
}

}  // namespace sim
