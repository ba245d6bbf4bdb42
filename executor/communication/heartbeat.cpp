#include "executor/communication/heartbeat.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace executor {

struct Heartbeat::Record {
  std::int64_t step;
  std::int64_t unix_nanoseconds;
  sim::TaskKey key;
  char activity[64];  // empty: `key` says it
};

// Two records in turn, and a counter that is stored last: whenever the process dies, one record is whole.
struct Heartbeat::File {
  std::int64_t process;
  std::int64_t written;
  Record records[2];
};

namespace {

std::string path_of(const std::string& folder, sim::Rank rank) { return fmt::format("{}/heartbeat.{}", folder, rank.value()); }

std::int64_t unix_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);  // 4 ms are enough, and it costs a few nanoseconds
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

[[noreturn]] void refuse(const std::string& path) { throw std::runtime_error(fmt::format("{}: {}", path, std::strerror(errno))); }

}  // namespace

Heartbeat::Heartbeat(const std::string& folder, sim::Rank rank) {
  const std::string path = path_of(folder, rank);
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) refuse(path);
  const int failed = posix_fallocate(descriptor, 0, sizeof(File));  // a hole would be SIGBUS on a full disk
  void* memory = failed ? MAP_FAILED : mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (failed) errno = failed;
  const int reason = errno;
  close(descriptor);
  errno = reason;
  if (memory == MAP_FAILED) refuse(path);
  file_ = static_cast<File*>(memory);
  file_->process = getpid();
}

Heartbeat::~Heartbeat() { munmap(file_, sizeof(File)); }

Heartbeat::Record& Heartbeat::next_record() {
  auto& record = file_->records[(file_->written + 1) % 2];
  record.step = step_;
  record.unix_nanoseconds = unix_nanoseconds();
  return record;
}

void Heartbeat::publish() {
  std::atomic_signal_fence(std::memory_order_release);  // the reader comes after this process: the order of stores is all it takes
  ++file_->written;
}

void Heartbeat::begin_task(const sim::TaskKey& key) {
  auto& record = next_record();
  record.key = key;
  record.activity[0] = '\0';
  publish();
}

void Heartbeat::begin_activity(std::string_view what) {
  auto& record = next_record();
  const auto length = std::min(what.size(), sizeof record.activity - 1);
  std::copy_n(what.data(), length, record.activity);
  record.activity[length] = '\0';
  publish();
}

std::optional<HeartbeatReading> read_heartbeat(const std::string& folder, sim::Rank rank) {
  Heartbeat::File file;
  std::ifstream stream(path_of(folder, rank), std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(&file), sizeof file) || file.written <= 0) return std::nullopt;
  auto& record = file.records[file.written % 2];
  record.activity[sizeof record.activity - 1] = '\0';
  HeartbeatReading reading{
      .process = file.process, .step = record.step, .doing = record.activity, .phase = {}, .unix_nanoseconds = record.unix_nanoseconds};
  if (!reading.doing.empty()) return reading;
  reading.doing = sim::to_text(record.key);
  const auto phase = static_cast<std::size_t>(record.key.phase);
  if (phase < std::size(sim::kPhaseNames)) reading.phase = sim::kPhaseNames[phase];
  return reading;
}

}  // namespace executor
