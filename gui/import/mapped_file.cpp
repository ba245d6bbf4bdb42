#include "gui/import/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace gui {
namespace {

struct Guard {  // of a mapping; free where end is 0
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<bool> torn{false};
};
constexpr std::size_t kMostMapped = 8192;
std::array<Guard, kMostMapped> guards;
struct sigaction previous_action;  // handled bus errors

std::uintptr_t pageOf(std::uintptr_t address) { return address & ~(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1); }

// On the thread that reads, in the midst of reading: only what a signal handler may do. Zeros take the place of all that follows.
void onBusError(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Guard& guard : guards) {
    const std::uintptr_t end = guard.end.load();
    if (address < guard.begin.load() || address >= end) continue;
    const std::uintptr_t page = pageOf(address);
    if (::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) break;
    guard.torn = true;
    return;
  }
  ::sigaction(SIGBUS, &previous_action, nullptr);  // none of ours: it happens again, as if we were not there
}

void installOnce() {
  static const bool installed = [] {
    struct sigaction ours {};
    ours.sa_sigaction = onBusError;
    ours.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGBUS, &ours, &previous_action) == 0;
  }();
  static_cast<void>(installed);
}

std::size_t takeGuard(std::uintptr_t begin, std::size_t size) {
  for (std::size_t at = 0; at < guards.size(); ++at) {
    std::uintptr_t free = 0;
    if (!guards[at].begin.compare_exchange_strong(free, begin)) continue;
    guards[at].torn = false;
    guards[at].end = begin + size;
    return at;
  }
  return guards.size();
}

}  // namespace

MappedFile::MappedFile(FileDescriptor file, std::size_t size) {
  installOnce();
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (memory == MAP_FAILED) return;
  guard_ = takeGuard(reinterpret_cast<std::uintptr_t>(memory), size);
  if (guard_ == guards.size()) {
    ::munmap(memory, size);
    return;
  }
  data_ = static_cast<const char*>(memory);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  guards[guard_].end = 0;
  ::munmap(const_cast<char*>(data_), size_);
  guards[guard_].begin = 0;  // last: until here nobody takes it
}

bool MappedFile::isTorn() const { return data_ != nullptr && guards[guard_].torn; }

}  // namespace gui
