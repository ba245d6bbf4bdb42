#include "sim/plan/resume_changes.h"

#include <array>
#include <charconv>
#include <cmath>

namespace sim {
namespace {

struct Setting {
  std::string_view name, where;
  void (*set)(ParallelPlan&, double);
  bool is_count = false;
};

constexpr auto kSettings = std::to_array<Setting>({
    {"learning_rate", "/training/learning_rate", [](ParallelPlan& p, double value) { p.training.learning_rate = value; }},
    {"minimum_learning_rate", "/training/minimum_learning_rate",
     [](ParallelPlan& p, double value) { p.training.minimum_learning_rate = value; }},
    {"warmup_steps", "/training/warmup_steps",
     [](ParallelPlan& p, double value) { p.training.warmup_steps = static_cast<std::int64_t>(value); }, true},
    {"decay_steps", "/training/decay_steps",
     [](ParallelPlan& p, double value) { p.training.decay_steps = static_cast<std::int64_t>(value); }, true},
    {"weight_decay", "/training/weight_decay", [](ParallelPlan& p, double value) { p.training.weight_decay = value; }},
    {"gradient_clip", "/training/gradient_clip", [](ParallelPlan& p, double value) { p.training.gradient_clip = value; }},
    {"global_batch", "/workload/global_batch",
     [](ParallelPlan& p, double value) {
       p.workload.global_batch = static_cast<std::int64_t>(value);
       p.predictions.reset();  // of the other batch
     },
     true},
});

[[noreturn]] void refuse(std::string problem) {
  std::string names;
  for (const std::string_view name : changeable_settings()) names += (names.empty() ? "" : ", ") + std::string(name);
  throw InputError("", {{"--change", std::move(problem), "write setting=number; what may change: " + names}});
}

}  // namespace

std::vector<std::string_view> changeable_settings() {
  std::vector<std::string_view> names;
  for (const Setting& setting : kSettings) names.push_back(setting.name);
  return names;
}

void apply_change(ParallelPlan& plan, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals), number = equals == std::string::npos ? "" : text.substr(equals + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  for (const Setting& setting : kSettings) {
    if (setting.name != name) continue;
    const bool is_number = error == std::errc{} && end == number.data() + number.size() && std::isfinite(value);
    constexpr double kMost = 1e15;
    if (!is_number || value < 0 || value > kMost || (setting.is_count && value != std::floor(value)))
      refuse("\"" + number + "\" is no " + (setting.is_count ? "count" : "number") + " that " + name + " can be");
    return setting.set(plan, value);
  }
  refuse("\"" + name + "\" may not change while a run goes on");
}

std::string_view changeable_setting_of(std::string_view difference) {
  for (const Setting& setting : kSettings)
    if (difference.substr(0, difference.find(':')) == setting.where) return setting.name;
  return {};
}

}  // namespace sim
