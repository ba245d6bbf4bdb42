#include "gui/core/metrics.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

namespace gui {
namespace {

std::optional<StepMetrics> parseMetrics(const std::string& line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) return std::nullopt;
  const auto number = [&](const char* key) { return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0.0; };
  return StepMetrics{.step = json["step"].get<std::int64_t>(), .loss = number("loss"), .tokens_per_second = number("tokens_per_second"),
                     .time = sim::Seconds(number("step_time_seconds")),
                     .memory = sim::Bytes(static_cast<std::int64_t>(number("memory_allocated_bytes")))};
}

}  // namespace

bool MetricsFollower::look() {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(read_);
  const std::size_t before = steps_.size();
  for (std::string line; std::getline(file, line) && !file.eof(); read_ += static_cast<std::int64_t>(line.size()) + 1) {
    if (const std::optional<StepMetrics> step = parseMetrics(line))
      steps_.push_back(*step);
    else
      ++malformed_;
  }
  return steps_.size() > before;
}

}  // namespace gui
