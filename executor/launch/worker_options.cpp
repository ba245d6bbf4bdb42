#include "executor/launch/worker_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iterator>

#include "sim/units/token_layout.h"

namespace executor {
namespace {

constexpr std::array<std::string_view, 6> kCommands = {"run", "check", "doctor", "measure", "report", "export"};

template <class Integer>
bool read_count(const std::string& text, Integer& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= 0;
}

struct Option {
  std::string_view name;
  std::function<bool(WorkerOptions&, const std::string&)> take;  // false: not a value of it
};

Option text(std::string_view name, std::string WorkerOptions::*member) {
  return {name, [member](WorkerOptions& options, const std::string& value) {
            options.*member = value;
            return true;
          }};
}

const std::vector<Option>& all_options() {
  static const std::vector<Option> options{
      text("--plan", &WorkerOptions::plan),
      text("--data", &WorkerOptions::data),
      text("--out", &WorkerOptions::out),
      text("--weights", &WorkerOptions::weights),
      text("--device", &WorkerOptions::device),
      text("--communication", &WorkerOptions::communication),
      text("--memory-snapshot", &WorkerOptions::memory_snapshot),
      {"--token-type",
       [](WorkerOptions& o, const std::string& value) {
         o.token_type = value;
         return std::ranges::find(sim::kTokenTypeNames, value) != std::end(sim::kTokenTypeNames);
       }},
      text("--kill-at", &WorkerOptions::kill_at),
      {"--steps", [](WorkerOptions& o, const std::string& value) { return read_count(value, o.steps); }},
      {"--ranks", [](WorkerOptions& o, const std::string& value) { return read_count(value, o.ranks); }},
      {"--hang-limit", [](WorkerOptions& o, const std::string& value) { return read_count(value, o.hang_limit) && o.hang_limit > 0; }},
      {"--kill-rank",
       [](WorkerOptions& o, const std::string& value) {
         std::int32_t rank = 0;
         const bool is_count = read_count(value, rank);
         o.kill_rank = sim::Rank(rank);
         return is_count;
       }},
  };
  return options;
}

bool* find_switch(WorkerOptions& options, std::string_view name) {
  if (name == "--resume") return &options.resume;
  if (name == "--no-checkpoint") return &options.no_checkpoint;
  if (name == "--folder-is-locked") return &options.folder_is_locked;
  if (name == "--deterministic") return &options.deterministic;
  return name == "--cuda-graphs" ? &options.cuda_graphs : nullptr;
}

std::string missing(const WorkerOptions& options) {
  if (options.command == "doctor") return {};
  if (options.out.empty()) return "--out is missing";
  if (options.command == "export" && options.weights.empty()) return "--weights is missing";
  if (options.command != "run" && options.command != "check") return {};
  if (options.plan.empty()) return "--plan is missing";
  if (options.command == "check") return {};
  if (options.data.empty()) return "--data is missing";
  return options.steps < 1 ? "--steps is missing" : std::string();
}

}  // namespace

ParsedOptions parse_options(const std::vector<std::string>& words) {
  if (words.empty() || std::find(kCommands.begin(), kCommands.end(), words.front()) == kCommands.end())
    return {.options = {},
            .problem =
                "meshwright-worker run | check | doctor | measure | report | export; start it with: meshwright run, meshwright measure, "
                "meshwright export; doctor says what this machine lacks for ranks on GPUs"};
  WorkerOptions options;
  options.command = words.front();
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (bool* const is_wanted = find_switch(options, words[at])) {
      *is_wanted = true;
      continue;
    }
    const Option* known = nullptr;
    for (const Option& option : all_options())
      if (option.name == words[at]) known = &option;
    if (known == nullptr) return {.options = {}, .problem = fmt::format("unknown option {}", words[at])};
    if (at + 1 == words.size() || !known->take(options, words[at + 1]))
      return {.options = {}, .problem = fmt::format("{} needs a value", words[at])};
    ++at;
  }
  const std::string problem = missing(options);
  if (!problem.empty()) return {.options = {}, .problem = problem};
  return {.options = options, .problem = {}};
}

}  // namespace executor
