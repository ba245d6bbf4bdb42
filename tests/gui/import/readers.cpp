#include "tests/bad_input/readers.h"

#include <filesystem>
#include <fstream>

#include "gui/core/file_kind.h"
#include "gui/core/metrics.h"
#include "gui/core/view_state.h"
#include "gui/import/imported_trace.h"
#include "gui/import/memory_snapshot.h"
#include "gui/import/run_bundle.h"
#include "tests/gui/import/snapshots.h"

namespace bad_input {
namespace {

using namespace gui;
using gui::test::smallSnapshot;

std::string traceExample() {
  return R"({"distributedInfo": {"rank": 1}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2,)"
         R"( "args": {"stream": 7}}, {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": "3", "dur": 1}]})";
}
std::string bundleExample() {
  return written([](const std::string& path) {
    const std::string run = scratch() + "/run";
    std::filesystem::create_directories(run);
    std::ofstream(run + "/plan.json") << "{}";
    std::ofstream(run + "/trace.0.json") << traceExample();
    Progress progress;
    writeBundle(run, path, progress);
  });
}
std::string metricsExample() { return "{\"step\": 1, \"loss\": 2.5, \"tokens_per_second\": 10}\n{\"step\": 2, \"loss\": 2}\n"; }
std::string viewExample() {
  return written([](const std::string& path) { saveView({.marks = {{sim::SimTime(1), "note"}}, .search = "x"}, path); });
}
std::string modelExample() { return bytes_of("profiles/models/tiny-gpt2.json"); }

void readTrace(const std::string& path) {
  Progress progress;
  const SharedTrace trace = importTrace({path}, progress);
  for (std::uint32_t span = 0; span < std::min<std::size_t>(3, trace->name.size()); ++span) membersOf(*trace, span);
}
void readSnapshot(const std::string& path) {
  Progress progress;
  importSnapshot(path, progress);
}
void readBundle(const std::string& path) {
  unpackBundle(path, scratch() + "/unpacked");
  std::filesystem::remove_all(scratch() + "/unpacked");
}
void readMetrics(const std::string& path) {
  const std::string run = scratch() + "/followed";
  std::filesystem::create_directories(run);
  std::filesystem::remove(run + "/metrics.ndjson");
  std::filesystem::create_symlink(std::filesystem::absolute(path), run + "/metrics.ndjson");
  MetricsFollower(run).look();
}

constexpr Reader kReaders[] = {
    {"trace", traceExample, readTrace},
    {"snapshot", smallSnapshot, readSnapshot},
    {"bundle", bundleExample, readBundle},
    {"metrics", metricsExample, readMetrics},
    {"view", viewExample, [](const std::string& path) { loadView(path); }},
    {"kind", modelExample, [](const std::string& path) { kindOfFile(path); }},
};

}  // namespace

std::span<const Reader> all_readers() { return kReaders; }

}  // namespace bad_input
