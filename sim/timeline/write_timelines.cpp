// Which format a file gets. Declared in trace.h.
#include "sim/timeline/trace.h"

namespace sim {
namespace {

struct TimelineFormat {
  std::string_view ending;
  void (*write)(const std::vector<NamedTimeline>& timelines, const std::string& path);
};
constexpr TimelineFormat kTimelineFormats[] = {
    {".perfetto-trace", write_perfetto_trace}, {".pftrace", write_perfetto_trace}, {"", write_chrome_trace}};

}  // namespace

void write_timelines(const std::vector<NamedTimeline>& timelines, const std::string& path) {
  for (const TimelineFormat& format : kTimelineFormats)
    if (path.ends_with(format.ending)) return format.write(timelines, path);
}

}  // namespace sim
