#include "executor/launch/step_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <fstream>

#include "sim/units/text_file.h"

namespace executor {
namespace {

constexpr auto kBetweenLines = std::chrono::seconds(2);

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }  // JSON has no NaN

std::string lines_up_to(const std::string& path, CompletedSteps last) {
  std::ifstream file(path);
  std::string kept;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    constexpr std::string_view kStart = "{\"step\":";
    std::int64_t step = 0;
    if (!line.starts_with(kStart) || std::from_chars(line.data() + kStart.size(), line.data() + line.size(), step).ec != std::errc{}) continue;
    if (step <= last.value) kept += line + "\n";
  }
  return kept;
}

}  // namespace

std::string metrics_line(const StepFigures& figures) {
  const StepSummary& summary = figures.summary;  // the scale of fp16 alone is worth a word
  const std::string scale =
      summary.loss_scale == 1 ? "" : fmt::format(R"(,"loss_scale":{},"skipped":{})", number(summary.loss_scale), summary.skipped);
  const DeviceMemory& memory = figures.memory;  // of a CPU tensors' alone is known
  const std::string pool =
      memory.device_total.value() == 0
          ? ""
          : fmt::format(R"(,"memory_active_bytes":{},"memory_reserved_bytes":{},"memory_device_bytes":{})", memory.active_peak.value(),
                        memory.reserved_peak.value(), memory.device_used.value());
  return fmt::format(
      R"({{"step":{},"loss":{},"grad_norm":{},"lr":{},"tokens_per_second":{},"step_time_seconds":{},"memory_allocated_bytes":{}{}{}}})",
      figures.steps.value, number(figures.summary.loss), number(figures.summary.gradient_norm), number(figures.learning_rate),
      number(figures.tokens_per_second), number(sim::to_seconds(figures.time).count()), memory.allocated_peak.value(), pool, scale);
}

StepReport::StepReport(const std::string& path, CompletedSteps resumed, CompletedSteps all)
    : first_(resumed), all_(all), on_terminal_(isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()), shown_(start_) {
  sim::save_text_file(lines_up_to(path, resumed), path);
  file_ = std::fopen(path.c_str(), "a");
}

StepReport::~StepReport() {
  if (on_terminal_) std::fputc('\n', stderr);
  if (file_) std::fclose(file_);
}

void StepReport::add(const StepFigures& figures) {
  if (file_) {
    fmt::print(file_, "{}\n", metrics_line(figures));
    std::fflush(file_);
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < kBetweenLines && figures.steps.value != all_.value) return;
  shown_ = now;
  show(figures);
}

void StepReport::show(const StepFigures& figures) {
  const double spent = std::chrono::duration<double>(shown_ - start_).count();
  const auto done = static_cast<double>(figures.steps.value - first_.value), left = static_cast<double>(all_.value - figures.steps.value);
  fmt::print(stderr, "{}step {}/{}  loss {:.4f}  {:.0f} tokens/s  {:.0f} s left{}", on_terminal_ ? "\r" : "", figures.steps.value,
             all_.value, figures.summary.loss, figures.tokens_per_second, spent / done * left, on_terminal_ ? "   " : "\n");
  std::fflush(stderr);
}

}  // namespace executor
