#include "tests/executor/checked_device/stream_order.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace executor {
namespace {

constexpr std::uintptr_t kPageOfPast = 4096;

void merge(StreamOrder::Clock& into, const StreamOrder::Clock& from) {
  for (std::size_t at = 0; at < into.size(); ++at) into[at] = std::max(into[at], from[at]);
}

}  // namespace

StreamOrder::Clock StreamOrder::record(Stream stream) {
  const std::lock_guard lock(mutex_);
  return clocks_[stream];
}

void StreamOrder::block(Stream stream, const Clock& until) {
  const std::lock_guard lock(mutex_);
  merge(clocks_[stream], until);
}

void StreamOrder::host_waits(const Clock& until) {
  const std::lock_guard lock(mutex_);
  merge(host_, until);
}

bool StreamOrder::has_waited(Stream stream, const Clock& until) {
  const std::lock_guard lock(mutex_);
  return host_[stream] >= until[stream];
}

void StreamOrder::use(Stream stream, Extent extent, Use how) {
  const std::lock_guard lock(mutex_);
  Clock& clock = clocks_[stream];
  merge(clock, host_);
  const std::uint64_t now = ++clock[stream];
  for (std::uintptr_t page = extent.begin / kPageOfPast; page <= (extent.end - 1) / kPageOfPast; ++page) {
    std::vector<Past>& past = past_[page];
    for (const Past& before : past) {
      const bool conflicts = how == Use::Write || before.how == Use::Write;
      if (!conflicts || !meet(before.extent, extent) || before.time <= clock[before.stream]) continue;
      TORCH_CHECK(false, "stream ", stream, how == Use::Write ? " writes " : " reads ", extent.end - extent.begin, " bytes that stream ",
                  before.stream, before.how == Use::Write ? " writes" : " reads", ", without waiting for it");
    }
    std::erase_if(past, [&](const Past& before) {
      const bool is_inside = extent.begin <= before.extent.begin && before.extent.end <= extent.end;
      return is_inside && (how == Use::Write || (before.stream == stream && before.how == how));
    });
    past.push_back({.extent = extent, .stream = stream, .time = now, .how = how});
  }
}

}  // namespace executor
