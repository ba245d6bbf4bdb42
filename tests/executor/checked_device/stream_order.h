// Which use of memory is ordered after which, on the streams of a device that does not exist: a vector clock a stream, events that carry clocks, and
// the last uses of each byte. A use that conflicts with one of another stream, and is not ordered after it, throws.
//
//   record(event, A): event = clock of A        block(event, B): clock of B = max(clock of B, event)      the host's clock is part of every later use
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace executor {

class StreamOrder {
 public:
  static constexpr std::size_t kStreams = 32;
  using Clock = std::array<std::uint64_t, kStreams>;
  using Stream = std::size_t;
  struct Extent {
    std::uintptr_t begin = 0, end = 0;
  };
  enum class Use : std::uint8_t { Read, Write };

  Clock record(Stream stream);
  void block(Stream stream, const Clock& until);
  void host_waits(const Clock& until);
  bool has_waited(Stream stream, const Clock& until);  // the host, for what the stream had done by then
  // Throws c10::Error naming both streams. Memory that is freed and given out again keeps its past: a new owner must be ordered after the old one.
  void use(Stream stream, Extent extent, Use how);

 private:
  struct Past {
    Extent extent;
    Stream stream;
    std::uint64_t time;
    Use how;
  };
  static bool meet(const Extent& one, const Extent& other) { return one.begin < other.end && other.begin < one.end; }

  std::mutex mutex_;  // backward runs on a thread of LibTorch's
  std::array<Clock, kStreams> clocks_{};
  Clock host_{};
  std::map<std::uintptr_t, std::vector<Past>> past_;  // by page
};

}  // namespace executor
