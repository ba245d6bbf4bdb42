#include "gui/pages/share.h"

#include <gmock/gmock.h>

#include "gui/import/memory_snapshot.h"
#include "gui/views/legend_view.h"
#include "gui/views/line_view.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

class Shared : public testing::Test {
 protected:
  Shared() {
    view_.resize(300, 200);
    view_.setPoints({{1, 2}, {2, 1}});
  }
  QByteArray saved(const QString& name) {
    savePicture(view_, folder_.filePath(name));
    QFile file(folder_.filePath(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  LineView view_{"Loss"};
  QTemporaryDir folder_;
};

TEST_F(Shared, PicturesByTheEndingOfTheName) {
  EXPECT_TRUE(saved("a.png").startsWith("\x89PNG"));
  EXPECT_EQ(QImage(folder_.filePath("a.png")).size(), QSize(600, 400));
  EXPECT_TRUE(saved("a.svg").contains("<svg"));
  EXPECT_TRUE(saved("a.pdf").startsWith("%PDF"));
}

TEST_F(Shared, APictureCarriesItsTitleAndLegend) {
  LegendView legend;
  legend.resize(300, 30);
  savePicture(view_, folder_.filePath("c.svg"), {"gpt2 on 4 GPUs", &legend});
  QFile file(folder_.filePath("c.svg"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray svg = file.readAll();
  EXPECT_TRUE(svg.contains("gpt2 on 4 GPUs"));
  EXPECT_TRUE(svg.contains("forward"));
  savePicture(view_, folder_.filePath("c.png"), {"gpt2 on 4 GPUs", &legend});
  EXPECT_EQ(QImage(folder_.filePath("c.png")).size(), QSize(600, 2 * (200 + 26 + legend.heightForWidth(300))));
}

TEST_F(Shared, RefusesWithARemedy) {
  EXPECT_THROW(savePicture(view_, folder_.filePath("a.bmpx")), sim::InputError);
  EXPECT_THROW(savePicture(view_, "/no/such/folder/a.png"), sim::InputError);
}

TEST_F(Shared, TablesAsCsv) {
  saveTable({{"A"}, {{{"1", 1}}}, {}}, folder_.filePath("t.csv"));
  QFile file(folder_.filePath("t.csv"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(file.readAll(), "A\r\n1\r\n");
}

// The reader of the snapshots that PyTorch writes gives the plan's own curve back.
TEST_F(Shared, ThePlannedMemoryComesBackAsItWas) {
  const SharedPlan plan = test::exampleSimulation();
  saveMemory(*plan, folder_.filePath("m.pickle"));
  Progress progress;
  const SharedSnapshot snapshot = importSnapshot(folder_.filePath("m.pickle").toStdString(), progress);
  ASSERT_EQ(snapshot->devices.size(), plan->result.devices.size());
  for (std::size_t at = 0; at < snapshot->devices.size(); ++at) {
    const SnapshotDevice& device = snapshot->devices[at];
    const sim::DeviceResult& planned = plan->result.devices[at];
    EXPECT_EQ(device.number, planned.representative.value());
    EXPECT_EQ(MemoryCurve(device.curve).peak().memory, planned.peak_memory);
    EXPECT_EQ(device.most_reserved, planned.peak_memory) << "a plan has no fragmentation";
    EXPECT_EQ(device.malformed, 0);
    EXPECT_EQ(device.before, sim::Bytes(0));
    const MemoryCurve curve(plan->result.timeline, sim::DeviceId(static_cast<std::int32_t>(at)));
    EXPECT_EQ(sim::total(device.curve.back().alive), sim::total(curve.at(plan->result.step_time)));
  }
  EXPECT_THAT(snapshot->owners, testing::Contains("layer:1 attention activations"));
}

TEST_F(Shared, TimelinesByTheEndingOfTheName) {
  const SharedPlan plan = test::exampleSimulation();
  const auto written = [&](const char* name, const std::vector<ComparedSide>& steps) {
    saveTimelines(steps, folder_.filePath(name));
    return sim::load_text_file(folder_.filePath(name).toStdString());
  };
  EXPECT_THAT(written("t.json", {simulatedSide(plan)}), testing::HasSubstr("\"link load\""));
  const std::string one = written("t.perfetto-trace", {simulatedSide(plan)});
  const std::string two = written("t.perfetto-trace", {simulatedSide(plan), simulatedSide(plan)});
  EXPECT_THAT(one, testing::StartsWith("\n"));
  EXPECT_THAT(one, testing::HasSubstr(simulatedSide(plan).name));
  EXPECT_GT(two.size(), one.size() * 3 / 2);
  EXPECT_THROW(saveTimelines({simulatedSide(plan)}, "/no/such/folder/t"), sim::InputError);
  Progress progress;
  saveTimelines({simulatedSide(plan)}, folder_.filePath("t.json"), ProgressPart{progress});
  EXPECT_EQ(progress.share(), 1);
  Progress of_memory;
  saveMemory(*plan, folder_.filePath("m.pickle"), ProgressPart{of_memory});
  EXPECT_EQ(of_memory.share(), 1);
}

}  // namespace
}  // namespace gui
