#include "gui/core/metrics.h"
#include "sim/units/at.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

namespace gui {
namespace {

std::optional<StepMetrics> parseMetrics(const std::string& line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) return std::nullopt;
  const auto number = [&](const char* key) { return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0.0; };
  return StepMetrics{.step = json["step"].get<std::int64_t>(),
                     .loss = number("loss"),
                     .tokens_per_second = number("tokens_per_second"),
                     .time = sim::Seconds(number("step_time_seconds")),
                     .memory = sim::Bytes(static_cast<std::int64_t>(number("memory_allocated_bytes")))};
}

}  // namespace

std::optional<sim::Seconds> timeLeft(const std::vector<StepMetrics>& steps, std::int64_t all) {
  constexpr std::size_t kPace = 20;
  std::vector<double> times;
  for (std::size_t at = steps.size() - std::min(steps.size(), kPace); at < steps.size(); ++at) times.push_back(steps[at].time.count());
  if (times.empty()) return std::nullopt;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return sim::Seconds(*middle * static_cast<double>(std::max<std::int64_t>(0, all - steps.back().step)));
}

bool MetricsFollower::look() {
  constexpr std::size_t kPiece = 1 << 20;
  std::ifstream file(path_, std::ios::binary);
  file.seekg(0, std::ios::end);
  const bool begins_anew = file && file.tellg() < read_;  // another run writes there: what it told before is not its own
  if (begins_anew) {
    read_ = 0;
    steps_.clear();
  }
  file.seekg(read_);
  std::string piece(kPiece, '\0');
  file.read(piece.data(), kPiece);
  piece.resize(sim::count_of(std::max<std::streamsize>(0, file.gcount())));
  has_more_ = piece.size() == kPiece;
  std::size_t at = 0;
  bool news = begins_anew;
  for (std::size_t end; (end = piece.find('\n', at)) != std::string::npos; at = end + 1) {
    if (const std::optional<StepMetrics> step = parseMetrics(piece.substr(at, end - at))) {
      while (!steps_.empty() && steps_.back().step >= step->step) steps_.pop_back();  // resumed from a checkpoint: it goes that way again
      steps_.push_back(*step);
      news = true;
    } else
      ++malformed_;
  }
  if (has_more_ && at == 0) at = kPiece;  // no line of metrics is that long
  read_ += static_cast<std::int64_t>(at);
  return news;
}

}  // namespace gui
