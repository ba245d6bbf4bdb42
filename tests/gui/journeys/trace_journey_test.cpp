#include <set>

#include "gui/pages/compare_page.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/trace_page.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/import/snapshots.h"
#include "tests/gui/journeys/journey.h"
#include "tests/gui/traced_plan.h"
#include "tests/sim/timeline/timelines.h"

namespace gui::test {
namespace {

using TraceJourney = Journey;

// What a profiled step looks like: operators on the host, kernels and collectives on the device.
std::string profiledStep(int rank) {
  std::string text = fmt::format(R"({{"distributedInfo": {{"rank": {}}}, "traceEvents": [)", rank);
  const auto add = [&](const char* category, const char* name, int thread, int at, int length) {
    text +=
        fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"External id": {}}}}},)"
                    "\n",
                    category, name, thread < 100 ? 0 : 4242, thread, at, length, at);
  };
  for (int layer = 0; layer < 24; ++layer) {
    const int at = 1000 + layer * 60;
    add("cpu_op", "aten::linear", 4242, at, 50);
    add("cpu_op", "aten::addmm", 4242, at + 5, 35);
    add("cuda_runtime", "cudaLaunchKernel", 4242, at + 20, 6);
    add("kernel", "void cutlass::Kernel<cutlass_80_tensorop_bf16_gemm>", 7, at + 30 + rank * 3, 38);
    add("kernel", "void at::native::vectorized_elementwise_kernel", 7, at + 70 + rank * 3, 12);
    if (layer % 6 == 5) add("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, at + 75, 150);
  }
  add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 24, 1010, 120);
  return text + R"({"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": "GPU"}},
{"ph": "M", "name": "process_name", "pid": 4242, "args": {"name": "python"}}, {"ph": "X", "name": "cut off in the midd)";
}

TEST_F(TraceJourney, TracesOfTwoRanksAreDroppedSearchedAndMeasured) {
  const sim::testing::TemporaryFolder folder;
  QMimeData dropped;
  QList<QUrl> urls;
  for (const int rank : {0, 1}) {
    const std::string path = folder.file(fmt::format("rank{}.json", rank));
    sim::testing::put(path, profiledStep(rank));
    urls << QUrl::fromLocalFile(QString::fromStdString(path));
  }
  dropped.setUrls(urls);
  QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window_, &enter);
  QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window_, &drop);
  TracePage* page = window_.tracePage();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !page->statistics()->table().rows.empty(); }, 60000)) << window_.message()->text().toStdString();
  EXPECT_EQ(window_.pages()->currentWidget(), page);
  EXPECT_GE(page->view()->core().rows().size(), 10u);
  EXPECT_EQ(page->view()->core().rows().back().device, "1: GPU");
  page->searchLine()->setText("nccl");
  EXPECT_EQ(page->numMatches(), 8u);
  Q_EMIT page->searchLine()->returnPressed();
  EXPECT_GT(page->event()->table().rows.size(), 6u);
  ASSERT_EQ(page->busy()->table().rows.size(), 2u);  // a GPU a rank: computing, communicating, both, idle
  EXPECT_EQ(page->busy()->table().rows[1][0].text, "1: GPU");
  EXPECT_GT(page->busy()->table().rows[1][3].sort.toDouble(), 0);
  const Table& names = page->statistics()->table();
  EXPECT_EQ(names.headers[3], "Self");
  const auto linear = std::find_if(names.rows.begin(), names.rows.end(), [](const auto& row) { return row[0].text == "aten::linear"; });
  ASSERT_NE(linear, names.rows.end());
  EXPECT_LT((*linear)[3].sort.toLongLong(), (*linear)[2].sort.toLongLong());  // its addmm lies in it
  picture("trace");
  page->searchLine()->clear();
}

// Without a GPU its operators have the colors of their class, and its host computes.
TEST_F(TraceJourney, ATraceOfACpuHasColorsByClass) {
  window_.open("tests/gui/import/gpt2_on_cpu.json.gz");
  TracePage* page = window_.tracePage();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !page->busy()->table().rows.empty(); }, 60000)) << window_.message()->text().toStdString();
  std::set<WorkKind> kinds;
  for (const SliceRow& row : page->view()->core().rows()) kinds.insert(row.slices->kind.begin(), row.slices->kind.end());
  EXPECT_THAT(kinds, testing::IsSupersetOf({WorkKind::Product, WorkKind::Attention, WorkKind::Norm, WorkKind::Copy, WorkKind::Host}));
  EXPECT_GT(page->busy()->table().rows[0][1].sort.toDouble(), 0) << "computing";
  picture("trace_cpu");
}

// A program's own trace beside the plan that it performs: task by task, with what could not be joined by name.
TEST_F(TraceJourney, ATraceOfAnotherProgramOpensBesideThePlan) {
  window_.session()->show(examplePlan(), Session::Origin::Chosen);
  waitForPlan();
  const SharedPlan plan = window_.session()->plan();
  const sim::testing::TemporaryFolder folder;
  QStringList files;
  for (const int rank : {0, 1, 2, 3}) {
    sim::testing::put(folder.file(fmt::format("rank{}.json", rank)), kinetoOf(traceOf(*plan, sim::Rank(rank), 3)));
    files << QString::fromStdString(folder.file(fmt::format("rank{}.json", rank)));
  }
  EXPECT_FALSE(window_.tracePage()->compareButton()->isEnabled());
  window_.openAll(files);
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.tracePage()->compareButton()->isEnabled(); }, 60000));
  QTest::mouseClick(window_.tracePage()->compareButton(), Qt::LeftButton);
  ComparePage* page = window_.comparePage();
  ASSERT_TRUE(QTest::qWaitFor([&] { return page->comparison() != nullptr; }, 60000)) << window_.message()->text().toStdString();
  EXPECT_EQ(window_.pages()->currentWidget(), page);
  ASSERT_TRUE(page->comparison()->right.trace);
  EXPECT_TRUE(page->comparison()->right.trace->why_not.empty());
  EXPECT_GT(page->comparison()->pairing.pairs.size(), plan->result.timeline.spans.size() / 2);
  EXPECT_FALSE(page->calibrateButton()->isEnabled());
  const Table& unmatched = page->unmatched()->table();
  EXPECT_TRUE(
      std::any_of(unmatched.rows.begin(), unmatched.rows.end(), [](const auto& row) { return row[1].text.startsWith("multi_tensor"); }));
  picture("compare_trace");
}

// Of a run on a CPU, as torch.profiler wrote it: beside its plan; beside another plan it says why not.
TEST_F(TraceJourney, ATraceOfACpuOpensBesideItsPlan) {
  sim::ParallelPlan plan = runnablePlan();
  plan.cluster.devices = 1;
  plan.mesh = {.data = 1, .pipeline = 1, .tensor = 1};
  plan.microbatch_size = 8;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  ComparePage* page = window_.comparePage();
  const auto compareWith = [&](const sim::ParallelPlan& with) {
    window_.session()->show(with, Session::Origin::Chosen);
    waitForPlan();
    const SharedComparison before = page->comparison();
    QTest::mouseClick(window_.tracePage()->compareButton(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return page->comparison() != nullptr && page->comparison() != before; }, 60000));
    waitForAll();
  };
  window_.open("tests/gui/import/gpt2_on_cpu.json.gz");
  waitForAll();
  compareWith(plan);
  EXPECT_GT(page->comparison()->pairing.pairs.size(), 16u);
  EXPECT_TRUE(page->comparison()->right.trace->why_not.empty());
  picture("compare_cpu");
  plan.model = sim::load_model_config("profiles/models/gpt2.json");
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  compareWith(plan);
  EXPECT_TRUE(page->summary()->text().contains("are not those of the plan")) << page->summary()->text().toStdString();
}

// What PyTorch wrote: for the pictures (examples/screenshots.sh).
TEST_F(TraceJourney, ATraceOfPyTorch) {
  if (!qEnvironmentVariableIsSet("MESHWRIGHT_TRACE")) GTEST_SKIP() << "no trace is named";
  window_.open(qEnvironmentVariable("MESHWRIGHT_TRACE"));
  TracePage* page = window_.tracePage();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !page->statistics()->table().rows.empty(); }, 60000)) << window_.message()->text().toStdString();
  page->searchLine()->setText("addmm");
  EXPECT_GT(page->numMatches(), 50u);
  Q_EMIT page->searchLine()->returnPressed();
  picture("trace");
}

TEST_F(TraceJourney, AMemorySnapshotShowsWhoOwnsThePeak) {
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("snapshot.pickle"), smallSnapshot());
  sim::testing::put(folder.file("rank0.json"), profiledStep(0));
  int ready = 0;  // both, although they were opened together
  QObject::connect(window_.session(), &Session::traceReady, [&] { ++ready; });
  QObject::connect(window_.session(), &Session::snapshotReady, [&] { ++ready; });
  window_.openAll({QString::fromStdString(folder.file("snapshot.pickle")), QString::fromStdString(folder.file("rank0.json"))});
  ASSERT_TRUE(QTest::qWaitFor([&] { return ready == 2; }, 60000));
  window_.pages()->setCurrentWidget(window_.memoryPage());
  waitForAll();
  EXPECT_EQ(window_.memoryPage()->alive()->table().rows.size(), 3u);
  picture("snapshot");
}

TEST_F(TraceJourney, WhatIsNoTraceIsAnswered) {
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("a.json"), R"({"traceEvents": [{"ph": "X"}]})");
  window_.open(QString::fromStdString(folder.file("a.json")));
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.message()->isVisible(); }, 60000));
  EXPECT_TRUE(window_.message()->text().contains("malformed events: 1")) << window_.message()->text().toStdString();
}

}  // namespace
}  // namespace gui::test
