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
#include <stdexcept>

namespace executor {

namespace {

std::int64_t unix_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);  // 4 ms are enough, and it costs a few nanoseconds
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

[[noreturn]] void refuse(const std::string& path) { throw std::runtime_error(fmt::format("{}: {}", path, std::strerror(errno))); }

}  // namespace

Heartbeat::Heartbeat(const std::string& folder, sim::Rank rank) {
  const std::string path = sim::heartbeat_path(folder, rank);
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) refuse(path);
  const int failed = posix_fallocate(descriptor, 0, sizeof(sim::HeartbeatFile));  // a hole would be SIGBUS on a full disk
  void* memory = failed ? MAP_FAILED : mmap(nullptr, sizeof(sim::HeartbeatFile), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (failed) errno = failed;
  const int reason = errno;
  close(descriptor);
  errno = reason;
  if (memory == MAP_FAILED) refuse(path);
  file_ = static_cast<sim::HeartbeatFile*>(memory);
  file_->process = getpid();
}

Heartbeat::~Heartbeat() { munmap(file_, sizeof(sim::HeartbeatFile)); }

sim::HeartbeatRecord& Heartbeat::next_record() {
  const std::int64_t now = unix_nanoseconds();
  if (computes_) file_->computing_nanoseconds += now - file_->records[file_->written % 2].unix_nanoseconds;
  sim::HeartbeatRecord& record = file_->records[(file_->written + 1) % 2];
  record.step = step_;
  record.unix_nanoseconds = now;
  return record;
}

void Heartbeat::publish() {
  std::atomic_signal_fence(std::memory_order_release);  // the reader comes after this process: the order of stores is all it takes
  ++file_->written;
}

void Heartbeat::begin_task(const sim::TaskKey& key) {
  sim::HeartbeatRecord& record = next_record();
  record.key = key;
  record.activity[0] = '\0';
  computes_ = !sim::moves_data(key.operation);
  publish();
}

void Heartbeat::begin_activity(std::string_view what) {
  sim::HeartbeatRecord& record = next_record();
  const auto length = std::min(what.size(), sizeof record.activity - 1);
  std::copy_n(what.data(), length, record.activity);
  record.activity[length] = '\0';
  computes_ = false;
  publish();
}

void Heartbeat::note_wait(const Waiting& wait) {
  sim::HeartbeatWait& noted = file_->wait;
  noted.of = 0;
  noted.for_rank = wait.for_rank;
  const auto length = std::min(wait.in.size(), sizeof noted.in - 1);
  std::copy_n(wait.in.data(), length, noted.in);
  noted.in[length] = '\0';
  std::atomic_signal_fence(std::memory_order_release);
  noted.of = file_->written;
}

}  // namespace executor
