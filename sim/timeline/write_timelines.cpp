// Which format a file gets. Declared in trace.h.
#include "sim/timeline/trace.h"

namespace sim {
namespace {

struct TimelineFormat {
  std::string_view ending;
  void (*write)(const std::vector<NamedTimeline>& timelines, const std::string& path, const Told& told);
};
constexpr TimelineFormat kTimelineFormats[] = {
    {".perfetto-trace", write_perfetto_trace}, {".pftrace", write_perfetto_trace}, {"", write_chrome_trace}};

}  // namespace

std::int64_t num_devices(const std::vector<NamedTimeline>& timelines) {
  std::size_t devices = 0;
  for (const NamedTimeline& named : timelines) devices += named.timeline.devices.size();
  return static_cast<std::int64_t>(devices);
}

void write_timelines(const std::vector<NamedTimeline>& timelines, const std::string& path, const Told& told) {
  for (const TimelineFormat& format : kTimelineFormats)
    if (path.ends_with(format.ending)) return format.write(timelines, path, told);
}

}  // namespace sim
