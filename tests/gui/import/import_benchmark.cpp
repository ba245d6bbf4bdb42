// Opens traces or a snapshot (.pickle) and prints how long that took and what it costs in memory.   import_benchmark file...
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "gui/import/imported_trace.h"
#include "gui/import/memory_snapshot.h"
#include "sim/units/input_error.h"

namespace {

double anonymousMemory() {  // bytes of heap in use; mapped files do not count
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssAnon:", 0) == 0) return 1024 * std::stod(line.substr(8));
  return 0;
}

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measureSnapshot(const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  gui::Progress progress;
  const gui::SharedSnapshot snapshot = gui::importSnapshot(path, progress);
  std::printf("%.0f MB, %zu allocations: %.2f s\n", static_cast<double>(progress.all) / 1e6, snapshot->devices[0].allocations.size(),
              secondsSince(begin));
}

void measure(const std::vector<std::string>& paths) {
  const double before = anonymousMemory();
  const auto begin = std::chrono::steady_clock::now();
  gui::Progress progress;
  const gui::SharedTrace trace = gui::importTrace(paths, progress);
  const double seconds = secondsSince(begin);
  double bytes = 0;
  for (const gui::TraceFile& file : trace->files) bytes += static_cast<double>(file.text->text().size());
  const auto slices = static_cast<double>(trace->name.size());
  std::printf("%.0f MB, %.0f slices, %lld malformed: %.2f s, %.0f MB/s, %.1f bytes a slice kept\n", bytes / 1e6, slices,
              static_cast<long long>(trace->files[0].malformed), seconds, bytes / 1e6 / seconds, (anonymousMemory() - before) / slices);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string first = argc > 1 ? argv[1] : "";
    first.size() > 7 && first.substr(first.size() - 7) == ".pickle" ? measureSnapshot(first) : measure({argv + 1, argv + argc});
  } catch (const sim::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 30;
  }
}
