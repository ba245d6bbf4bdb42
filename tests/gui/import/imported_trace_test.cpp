#include "gui/import/imported_trace.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "gui/core/busy_time.h"
#include "sim/units/input_error.h"
#include "tests/gui/import/traces.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

using sim::testing::put;
using sim::testing::TemporaryFolder;

SharedTrace imported(const std::string& content) {
  const TemporaryFolder folder;
  put(folder.file("a.json"), content);
  Progress progress;
  return importTrace({folder.file("a.json")}, progress);
}

TEST(ImportedTrace, HasARowAThreadAndAStream) {
  const SharedTrace trace = imported(test::smallTrace());
  ASSERT_EQ(trace->core.rows().size(), 4u);  // thread 8, nested twice; thread 9; GPU stream
  EXPECT_EQ(trace->core.row({0}).device, "7");
  EXPECT_TRUE(trace->core.row({0}).opens_device);
  EXPECT_FALSE(trace->core.row({2}).opens_device);
  EXPECT_EQ(trace->core.row({3}).device, "GPU 0");
  EXPECT_EQ(trace->core.row({3}).stream, "stream 7");
  EXPECT_TRUE(trace->core.row({3}).opens_device);
  EXPECT_EQ(trace->core.range().end, sim::SimTime(10'250'000));
  EXPECT_EQ(trace->files[0].rank, 3);
  EXPECT_EQ(trace->files[0].slices, 5);
  EXPECT_EQ(trace->nameOf(trace->core.row({3}).spanOf(0)), "gemm");
}

std::set<WorkKind> kindsIn(const ImportedTrace& trace, const std::string& name) {
  std::set<WorkKind> kinds;
  for (const SliceRow& row : trace.core.rows())
    for (std::size_t at = 0; at < row.size(); ++at)
      if (trace.nameOf(row.spanOf(at)) == name) kinds.insert(row.slices->kind[at]);
  return kinds;
}

// As torch.profiler wrote it on a CPU: its operators have the colors that kernels have elsewhere.
TEST(ImportedTrace, OfARunWithoutAGpuHasTheKindsOfItsOperators) {
  Progress progress;
  const SharedTrace trace = importTrace({"tests/gui/import/gpt2_on_cpu.json.gz"}, progress);
  EXPECT_TRUE(trace->files[0].on_host);
  EXPECT_EQ(kindsIn(*trace, "aten::addmm"), std::set{WorkKind::Product});
  EXPECT_EQ(kindsIn(*trace, "aten::native_layer_norm"), std::set{WorkKind::Norm});
  EXPECT_EQ(kindsIn(*trace, "aten::_scaled_dot_product_flash_attention_for_cpu"), std::set{WorkKind::Attention});
  EXPECT_EQ(kindsIn(*trace, "aten::copy_"), std::set{WorkKind::Copy});
  EXPECT_EQ(kindsIn(*trace, "AddmmBackward0"), std::set{WorkKind::Host});
  const std::vector<BusyTime> busy = busyTimes(trace->core, trace->core.range());
  ASSERT_FALSE(busy.empty()) << "a host that computes is a device";
  EXPECT_GT(busy[0].computing, sim::SimTime(0));
}

TEST(ImportedTrace, WhereADeviceWorksItsHostIsAHost) {
  const SharedTrace trace = imported(test::document(test::slice("aten::mm", R"("ts": 1, "dur": 2)") + R"(,
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2, "dur": 5})"));
  EXPECT_FALSE(trace->files[0].on_host);
  EXPECT_EQ(kindsIn(*trace, "aten::mm"), std::set{WorkKind::Host});
  EXPECT_EQ(kindsIn(*trace, "gemm"), std::set{WorkKind::Product});
}

TEST(ImportedTrace, ReadsArgumentsWhenAsked) {
  const SharedTrace trace = imported(test::smallTrace());
  const std::uint32_t outer = trace->core.row({0}).spanOf(0);
  EXPECT_THAT(membersOf(*trace, outer),
              testing::IsSupersetOf({std::pair<std::string, std::string>("name", "outer"), {"note", "a \"quoted\" {brace}"}, {"n", "3"}}));
  EXPECT_EQ(membersOf(*trace, trace->core.row({3}).spanOf(0)).size(), 7u);  // args are empty
}

TEST(ImportedTrace, PutsRanksTogether) {
  const TemporaryFolder folder;
  for (const char* rank : {"1", "0"}) {
    std::string text = test::smallTrace();
    text.replace(text.find("\"rank\": 3"), 9, std::string("\"rank\": ") + rank);
    put(folder.file(rank), text);
  }
  Progress progress;
  const SharedTrace trace = importTrace({folder.file("1"), folder.file("0")}, progress);
  EXPECT_EQ(trace->core.rows().size(), 8u);
  EXPECT_EQ(trace->core.row({3}).device, "0: GPU 0");
  EXPECT_EQ(trace->core.row({7}).device, "1: GPU 0");
  EXPECT_EQ(membersOf(*trace, trace->core.row({7}).spanOf(0))[2].second, "gemm");
}

// Cut anywhere, it gives what came before and says that it was cut, or refuses; it never does anything else.
// As Kineto writes a launch: from inside the runtime's call to where the kernel begins. An arrow without an end is counted.
TEST(ImportedTrace, FlowsLeadFromTheLaunchToItsKernel) {
  const SharedTrace trace = imported(R"({"traceEvents": [
    {"ph": "X", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 50},
    {"ph": "X", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 5},
    {"ph": "X", "name": "gemm", "pid": 0, "tid": 7, "ts": 30, "dur": 20},
    {"ph": "X", "name": "gemm", "pid": 0, "tid": 7, "ts": 60, "dur": 20},
    {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 60, "cat": "ac2g", "name": "ac2g", "bp": "e"},
    {"ph": "s", "id": 9, "pid": 1, "tid": 1, "ts": 10, "cat": "ac2g", "name": "ac2g"},
    {"ph": "s", "id": 10, "pid": 1, "tid": 1, "ts": 12, "cat": "ac2g", "name": "ac2g"},
    {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 1e300, "cat": "ac2g", "name": "ac2g"}]})");
  ASSERT_EQ(trace->flows.size(), 1u);
  EXPECT_EQ(trace->nameOf(trace->flows[0].from), "cudaLaunchKernel");
  const std::optional<Slice> kernel = trace->core.find(trace->flows[0].to);
  ASSERT_TRUE(kernel.has_value());
  EXPECT_EQ(trace->core.extent(*kernel).begin, sim::SimTime(60'000'000));
  EXPECT_EQ(trace->files[0].not_drawn + trace->files[0].malformed, 2);
}

TEST(ImportedTrace, SurvivesEveryCut) {
  const std::string whole = test::smallTrace();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    try {
      const SharedTrace trace = imported(whole.substr(0, length));
      EXPECT_LE(trace->name.size(), 5u);
      EXPECT_TRUE(trace->files[0].cut || length > whole.rfind(']'));
    } catch (const sim::InputError&) {
    }
  }
}

TEST(ImportedTrace, SurvivesGarbage) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text = test::smallTrace();
    for (int change = 0; change < 5; ++change) text[random() % text.size()] = "{}[]\",:\\x7\n\x01"[random() % 12];
    try {
      const SharedTrace trace = imported(text);
      for (std::uint32_t span = 0; span < trace->name.size(); ++span) membersOf(*trace, span);
    } catch (const sim::InputError&) {
    }
  }
}

TEST(ImportedTrace, RefusesWhatIsNoTrace) {
  for (const char* text : {"{}", "[]", "text", "{\"traceEvents\": 3}", "{\"traceEvents\": []}"})
    EXPECT_THROW(imported(text), sim::InputError) << text;
}

// A file that is cut into parts for several threads reads like one that is not.
TEST(ImportedTrace, LargeFilesAreReadInPartsWithTheSameResult) {
  std::string events;
  for (int at = 0; at < 100000; ++at)
    events +=
        (at > 0 ? ",\n" : "") +
        test::slice("op" + std::to_string(at % 100), fmt::format("\"ts\": {}, \"dur\": 3", at * 5),
                    R"(, "args": {"a": "{ \"ph\"", "list": [{"ph": "X"}, {"x": 2}], "b": "0123456789012345678901234567890123456789"})");
  const SharedTrace trace = imported(test::document(events));
  EXPECT_EQ(trace->name.size(), 100000u);
  EXPECT_EQ(trace->files[0].malformed, 0);
  EXPECT_EQ(trace->names.size(), 100u);
  for (std::uint32_t span = 0; span < 100000; span += 997) EXPECT_EQ(trace->nameOf(span), "op" + std::to_string(span % 100));
}

}  // namespace
}  // namespace gui
