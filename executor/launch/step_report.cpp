#include "executor/launch/step_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "executor/launch/step_events.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"
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
    if (!line.starts_with(kStart) || std::from_chars(line.data() + kStart.size(), line.data() + line.size(), step).ec != std::errc{})
      continue;
    if (step <= last.value) kept += line + "\n";
  }
  return kept;
}

WallTime wall_time() { return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()}; }

// TensorBoard reads the files of a folder in the order of their names: the time has a fixed number of digits.
std::string events_path(const std::string& metrics, WallTime now) {
  return (std::filesystem::path(metrics).parent_path() / fmt::format("events.out.tfevents.{:017.6f}.meshwright", now.seconds)).string();
}

}  // namespace

AppendedFile::AppendedFile(const std::string& path) {
  constexpr ::mode_t kReadByAll = 0644;
  file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kReadByAll);
  if (file_ < 0)
    throw sim::InputError(path, {{"", fmt::format("cannot be written: {}", std::strerror(errno)), "name a folder that can be written"}});
}

AppendedFile::~AppendedFile() { ::close(file_); }

bool AppendedFile::write(std::string_view more) {
  unwritten_ += more;
  while (!unwritten_.empty()) {
    const ssize_t written = ::write(file_, unwritten_.data(), unwritten_.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) unwritten_.erase(0, sim::count_of(written));
  }
  return true;
}

std::string metrics_line(const StepFigures& figures) {
  const StepSummary& summary = figures.summary;  // the scale of fp16 alone is worth a word
  const std::string scale =
      summary.loss_scale == 1 ? "" : fmt::format(R"(,"loss_scale":{},"skipped":{})", number(summary.loss_scale), summary.skipped);
  const DeviceMemory& memory = figures.memory;  // of a CPU tensors' alone is known
  const std::string pool = memory.device_total.value() == 0
                               ? ""
                               : fmt::format(R"(,"memory_active_bytes":{},"memory_reserved_bytes":{},"memory_device_bytes":{})",
                                             memory.active_peak.value(), memory.reserved_peak.value(), memory.device_used.value());
  return fmt::format(
      R"({{"step":{},"loss":{},"grad_norm":{},"lr":{},"tokens_per_second":{},"step_time_seconds":{},"memory_allocated_bytes":{}{}{}}})",
      figures.steps.value, number(figures.summary.loss), number(figures.summary.gradient_norm), number(figures.learning_rate),
      number(figures.tokens_per_second), number(sim::to_seconds(figures.time).count()), memory.allocated_peak.value(), pool, scale);
}

StepReport::StepReport(const std::string& path, CompletedSteps resumed, CompletedSteps all)
    : path_(path),
      first_(resumed),
      all_(all),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      shown_(start_) {
  sim::save_text_file(lines_up_to(path, resumed), path);
  lines_.emplace(path);
  const WallTime now = wall_time();
  events_.emplace(events_path(path, now));
  events_->write(first_events(resumed, now));
}

StepReport::~StepReport() {
  if (on_terminal_) std::fputc('\n', stderr);
}

void StepReport::finish() {
  const bool has_lines = lines_->write("");
  if (events_->write("") && has_lines) return;
  const std::string lost = has_lines ? "TensorBoard's events" : fmt::format("the lines from step {} on", first_unwritten_.value);
  throw sim::InputError(path_, {{"", fmt::format("{} could not be written: {}", lost, std::strerror(errno)),
                                 "free space on the disk; the checkpoints are whole"}});
}

void StepReport::add(const StepFigures& figures) {
  const bool was_full = lines_->waits();
  events_->write(step_event(figures, wall_time()));  // the same numbers: what is said of the lines is true of them
  if (!lines_->write(metrics_line(figures) + "\n") && !was_full) {
    first_unwritten_ = figures.steps;
    fmt::print(stderr, "{}: {}: the lines from step {} on wait for space\n", path_, std::strerror(errno), figures.steps.value);
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
