#include "sim/calibration/training_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "sim/units/input_error.h"

namespace sim {
namespace {

enum class Rate : std::uint8_t { Seconds, Milliseconds, SamplesPerSecond, TokensPerSecondAndDevice, StepsPerSecond };

struct LineForm {
  std::string_view program, key;  // the number follows the key
  Rate rate;
  bool is_whole_run = false;  // one number for all steps: taken where no other line tells of them
};
constexpr LineForm kForms[] = {{"Megatron-LM", "elapsed time per iteration (ms):", Rate::Milliseconds},
                               {"nanotron", "elapsed_time_per_iteration_ms:", Rate::Milliseconds},
                               {"NeMo", "train_step_timing in s=", Rate::Seconds},
                               {"NeMo", "train_step_timing in s:", Rate::Seconds},
                               {"NeMo", "\"train_step_timing in s\":", Rate::Seconds},
                               {"DeepSpeed", "CurrSamplesPerSec=", Rate::SamplesPerSecond},
                               {"torchtitan", " tps:", Rate::TokensPerSecondAndDevice},
                               {"torchtitan", " wps:", Rate::TokensPerSecondAndDevice},
                               {"Accelerate", "train_steps_per_second':", Rate::StepsPerSecond, true},
                               {"Accelerate", "train_steps_per_second =", Rate::StepsPerSecond, true}};

struct MemoryForm {
  std::string_view key;
  double bytes;  // of its unit
};
constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
constexpr MemoryForm kMemory[] = {{"max reserved:", kMiB}, {"MaxMemAllocated=", kGiB}, {" memory:", kGiB}, {"Peak reserved:", kMiB}};

// Settings that a plan has, too, by their names in logs.
struct SettingForm {
  std::string_view name;
  std::int64_t (*planned)(const ParallelPlan&);
};
constexpr SettingForm kSettings[] = {{"world_size", [](const ParallelPlan& p) { return std::int64_t{p.mesh.ranks()}; }},
                                     {"tensor_model_parallel_size", [](const ParallelPlan& p) { return std::int64_t{p.mesh.tensor}; }},
                                     {"pipeline_model_parallel_size", [](const ParallelPlan& p) { return std::int64_t{p.mesh.pipeline}; }},
                                     {"context_parallel_size", [](const ParallelPlan& p) { return std::int64_t{p.mesh.context}; }},
                                     {"expert_model_parallel_size", [](const ParallelPlan& p) { return std::int64_t{p.mesh.expert}; }},
                                     {"micro_batch_size", [](const ParallelPlan& p) { return p.microbatch_size; }},
                                     {"global_batch_size", [](const ParallelPlan& p) { return p.workload.global_batch; }},
                                     {"global batch size", [](const ParallelPlan& p) { return p.workload.global_batch; }},
                                     {"seq_length", [](const ParallelPlan& p) { return p.workload.sequence; }},
                                     {"num_layers", [](const ParallelPlan& p) { return p.model.layers; }},
                                     {"hidden_size", [](const ParallelPlan& p) { return p.model.hidden; }}};

std::string without_colors(std::string_view line) {
  std::string plain;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\x1b') {
      plain += line[at];
      continue;
    }
    while (at + 1 < line.size() && line[at] != 'm') ++at;
  }
  return plain;
}

// "3,456", "2.3K", "1.5M"; nothing where no number stands.
std::optional<double> number_at(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\"'");
  if (begin == std::string_view::npos) return std::nullopt;
  std::string digits;
  for (text.remove_prefix(begin); !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '.' || text[0] == ',');
       text.remove_prefix(1))
    if (text[0] == ',' && (text.size() < 2 || !std::isdigit(static_cast<unsigned char>(text[1]))))
      break;
    else if (text[0] != ',')
      digits += text[0];
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || digits.empty() || !std::isfinite(value)) return std::nullopt;
  const char suffix = text.empty() ? ' ' : text[0];
  return value * (suffix == 'K' ? 1e3 : suffix == 'M' ? 1e6 : suffix == 'B' ? 1e9 : 1);
}

std::optional<double> number_after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? std::nullopt : number_at(line.substr(at + key.size()));
}

// Of a progress bar: "1.19s/it" or "2.30it/s", the number before its unit.
std::optional<double> bar_seconds(std::string_view line) {
  for (const auto& [unit, is_rate] : {std::pair<std::string_view, bool>{"s/it", false}, {"it/s", true}}) {
    const std::size_t end = line.find(unit);
    if (end == std::string_view::npos || line.find('%') == std::string_view::npos) continue;
    std::size_t begin = end;
    while (begin > 0 && (std::isdigit(static_cast<unsigned char>(line[begin - 1])) || line[begin - 1] == '.')) --begin;
    const auto value = number_at(line.substr(begin, end - begin));
    if (value && *value > 0) return is_rate ? 1 / *value : *value;
  }
  return std::nullopt;
}

double seconds_of(double value, Rate rate, const ParallelPlan& plan) {
  const double samples = static_cast<double>(plan.workload.global_batch);
  switch (rate) {
    case Rate::Seconds: return value;
    case Rate::Milliseconds: return value * 1e-3;
    case Rate::SamplesPerSecond: return samples / value;
    case Rate::TokensPerSecondAndDevice: return samples * static_cast<double>(plan.workload.sequence) / (value * plan.mesh.ranks());
    case Rate::StepsPerSecond: return 1 / value;
  }
  return value;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

class Reader {
 public:
  Reader(TrainingLog& log, const ParallelPlan& plan) : log_(log), plan_(plan) {}

  void line(std::string_view text) {
    read_step(text);
    for (const MemoryForm& form : kMemory)
      if (const auto value = number_after(text, form.key); value && *value > 0) {
        const Bytes peak(std::llround(std::min(*value * form.bytes, 1e15)));
        log_.memory = std::max(log_.memory.value_or(Bytes{}), peak);
      }
    for (const SettingForm& form : kSettings) read_setting(text, form.name);
  }

  // All that were told of, in order.
  // Where several forms are there, one program prints inside another: the first in the table tells of whole steps.
  std::vector<double> steps() {
    for (const bool of_whole_runs : {false, true}) {
      for (std::size_t at = 0; at < std::size(kForms); ++at) {
        if (by_form_[at].empty() || kForms[at].is_whole_run != of_whole_runs) continue;
        program_ = kForms[at].program;
        return by_form_[at];
      }
      if (!of_whole_runs && !bars_.empty()) return bars_;
    }
    return {};
  }
  const std::string& program() const { return program_; }

 private:
  void read_step(std::string_view text) {
    for (std::size_t at = 0; at < std::size(kForms); ++at) {
      const auto value = number_after(text, kForms[at].key);
      if (!value || *value <= 0) continue;
      by_form_[at].push_back(seconds_of(*value, kForms[at].rate, plan_));
      return;
    }
    if (const auto seconds = bar_seconds(text)) bars_.push_back(*seconds);
  }

  // "  name ....... 8" of Megatron's list of arguments; "name: 8" of others.
  void read_setting(std::string_view text, std::string_view name) {
    std::size_t at = text.find(name);
    if (at == std::string_view::npos || (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_'))) return;
    at += name.size();
    const std::size_t value = text.find_first_not_of(" .:=", at);
    if (value == std::string_view::npos || value == at) return;
    const auto number = number_at(text.substr(value));
    if (!number || *number > 1e12) return;
    const auto same = [&](const LoggedSetting& one) { return one.name == name; };
    if (std::ranges::none_of(log_.settings, same)) log_.settings.push_back({std::string(name), std::llround(*number)});
  }

  TrainingLog& log_;
  const ParallelPlan& plan_;
  std::array<std::vector<double>, std::size(kForms)> by_form_;
  std::vector<double> bars_;
  std::string program_ = "Accelerate";  // its bar
};

// The first report, and those after it that are slower than any spread explains; never more than a half.
std::size_t warm_up_of(const std::vector<double>& steps) {
  if (steps.size() < 3) return steps.size() > 1 ? 1 : 0;
  const double usual = middle({steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2), steps.end()});
  std::size_t count = 1;
  while (count < steps.size() / 2 && steps[count] > 1.1 * usual) ++count;
  return count;
}

void check_settings(const TrainingLog& log, const std::string& file, const ParallelPlan& plan) {
  std::vector<Violation> wrong;
  for (const SettingForm& form : kSettings)
    for (const LoggedSetting& logged : log.settings)
      if (logged.name == form.name && logged.value != form.planned(plan))
        wrong.push_back({logged.name, fmt::format("is {} in the log and {} in the plan", logged.value, form.planned(plan)),
                         "give the plan that ran: meshwright import makes it from the run's script"});
  if (!wrong.empty()) throw InputError(file, wrong);
}

}  // namespace

TrainingLog read_training_log(std::string_view text, const std::string& file, const ParallelPlan& plan) {
  TrainingLog log;
  Reader reader(log, plan);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\r"), text.size());  // a progress bar rewrites its line
    reader.line(without_colors(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const std::vector<double> steps = reader.steps();
  if (steps.empty())
    throw InputError(file, {{"", "tells of no step: it has no line of Megatron-LM, NeMo, DeepSpeed, nanotron, torchtitan or Accelerate",
                             "give the log of the rank that prints, or the time itself: --measured plan.json=7.42s"}});
  check_settings(log, file, plan);
  log.program = reader.program();
  const std::size_t warm_up = warm_up_of(steps);
  log.warm_up = static_cast<std::int64_t>(warm_up);
  const std::vector<double> kept(steps.begin() + static_cast<std::ptrdiff_t>(warm_up), steps.end());
  const double usual = middle(kept);
  std::vector<double> off;
  for (const double step : kept) {
    log.steps.emplace_back(step);
    off.push_back(std::abs(step - usual));
  }
  log.median = Seconds(usual);
  log.spread = 1.4826 * middle(off) / usual;
  return log;
}

}  // namespace sim
