// Golden pictures: each view in light, dark and Chinese, as tests/gui/golden/<view>.<theme>.png has it. Fonts are pinned: DejaVu Sans, and
// WenQuanYi Micro Hei for Chinese. To accept what is drawn now: MESHWRIGHT_BLESS=1 build/dev/bin/gui_golden_test
#include <gmock/gmock.h>

#include <QImage>
#include <QTest>

#include "gui/core/cluster_load.h"
#include "gui/views/box_view.h"
#include "gui/views/cut_view.h"
#include "gui/views/histogram_view.h"
#include "gui/views/legend_view.h"
#include "gui/views/line_view.h"
#include "gui/views/memory_view.h"
#include "gui/views/rank_layouts.h"
#include "gui/views/scatter_view.h"
#include "gui/views/theme.h"
#include "gui/views/timeline_view.h"
#include "gui/views/translation.h"
#include "tests/gui/example_plans.h"

namespace gui::test {
namespace {

using MadeView = std::unique_ptr<View>;

// Made by hand: no price of the simulator moves a picture. Two stages, forward and backward of two microbatches, handed over.
const sim::Timeline& madeByHand() {
  static const sim::Timeline timeline = [] {
    constexpr std::int64_t kTick = 100'000'000;
    sim::Timeline made;
    for (std::int32_t stage = 0; stage < 2; ++stage) {
      const sim::DeviceId device(stage);
      made.devices.push_back({sim::Rank(2 * stage), sim::StageIndex(stage), 2});
      const auto add = [&](sim::Stream stream, sim::Phase phase, sim::Operation operation, std::int32_t microbatch, std::int64_t begin) {
        sim::TaskKey key;
        key.stage = sim::StageIndex(stage);
        key.microbatch = sim::MicrobatchIndex(microbatch);
        key.phase = phase;
        key.operation = operation;
        key.group = sim::is_communication(operation) ? sim::MeshAxis::Pipeline : sim::MeshAxis::None;
        made.spans.push_back({device, stream, key, sim::SimTime(begin * kTick), sim::SimTime((begin + 3) * kTick)});
      };
      for (std::int32_t microbatch = 0; microbatch < 2; ++microbatch) {
        add(sim::Stream::Compute, sim::Phase::Forward, sim::Operation::Mlp, microbatch, 4 * stage + 3 * microbatch);
        add(sim::Stream::Compute, sim::Phase::Backward, sim::Operation::Mlp, microbatch, 16 - 4 * stage + 3 * microbatch);
      }
      add(sim::Stream::Compute, sim::Phase::Weight, sim::Operation::Mlp, 1, 24);
      add(sim::Stream::Send, sim::Phase::Forward, sim::Operation::Send, 0, 3 + stage);
      std::sort(made.spans.begin() + 6 * stage, made.spans.end(), [](const sim::Span& a, const sim::Span& b) { return a.start < b.start; });
      for (std::int64_t at = 0; at < 9; ++at)
        made.memory.push_back(
            {.device = device,
             .time = sim::SimTime(3 * at * kTick),
             .alive = {sim::Bytes(2 << 20), sim::Bytes(1 << 20), sim::Bytes(4 << 20), sim::Bytes((5 - std::abs(at - 4)) << 20)}});
    }
    return made;
  }();
  return timeline;
}
constexpr sim::SimTime kEnd{2'700'000'000};

MadeView timeline() {
  const sim::Timeline& made = madeByHand();
  auto view = std::make_unique<TimelineView>();
  view->resize(700, 300);
  view->setTimeline(std::make_shared<TimelineCore>(made), taskNames(made.spans));
  Counter memory{.name = "memory", .time = {}, .value = {}, .most = 13, .text = [](double value) {
                   return std::to_string(static_cast<int>(value)) + " MiB";
                 }};
  for (std::int64_t at = 0; at < 9; ++at) {
    memory.time.push_back(300'000'000 * at);
    memory.value.push_back(static_cast<double>(12 - std::abs(at - 4)));
  }
  view->setExtras(std::make_shared<std::vector<CounterRow>>(1, CounterRow{sim::DeviceId(0), std::make_shared<Counter>(memory)}),
                  std::make_shared<std::vector<Flow>>(1, Flow{0, 7}));
  view->showAllFlows(true);
  view->setMarks({{kEnd / 3, "note"}});
  view->setGhost(kEnd * 11 / 10);
  return view;
}
MadeView memory() {
  auto view = std::make_unique<MemoryView>();
  view->resize(600, 280);
  view->setPicture({.curve = MemoryCurve(madeByHand(), sim::DeviceId(0)),
                    .all = {sim::SimTime(0), kEnd},
                    .limit = sim::Bytes(14 << 20),
                    .measured = MemoryCurve(madeByHand(), sim::DeviceId(1)),
                    .measured_name = QCoreApplication::translate("MemorySource", "measured peak"),
                    .band = {.share = 0.1, .name = QCoreApplication::translate("MemorySource", "80 % interval"), .out_of_memory = 0.04}});
  return view;
}
MadeView histogram() {
  auto view = std::make_unique<HistogramView>();
  view->resize(420, 240);
  view->setBins(
      {{0.25, 0.5, 1, sim::SimTime(10)}, {0.5, 1, 3, sim::SimTime(30)}, {0.97, 1.03, 5, sim::SimTime(70)}, {2.1, 4, 2, sim::SimTime(20)}});
  return view;
}
MadeView line() {
  auto view = std::make_unique<LineView>(QStringLiteral("Loss"));
  view->resize(400, 240);
  view->setPoints({{1, 5.5}, {2, 4.2}, {3, 3.9}, {4, 3.1}, {5, 3.0}});
  return view;
}
MadeView legend() {
  auto view = std::make_unique<LegendView>();
  view->resize(1300, 26);
  return view;
}
MadeView scatter() {
  auto view = std::make_unique<ScatterView>();
  view->resize(420, 280);
  std::vector<Candidate> candidates(3);
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    candidates[at].plan.plan = examplePlan();
    candidates[at].plan.result.step_time = sim::SimTime(static_cast<std::int64_t>(at + 1) * 10'000'000'000);
    candidates[at].plan.measure = 0.01 * static_cast<double>(at + 1);
    candidates[at].plan.result.peak_memory = sim::Bytes(static_cast<std::int64_t>(60 - 20 * (at % 2)) << 30);
    candidates[at].on_front = at < 2;
  }
  view->setCandidates(candidates, sim::Bytes(std::int64_t{80} << 30));
  view->choose(1);
  return view;
}
MadeView machines() {
  RankPicture ranks{.share = {0.1, 0.4, 0.7, 1}, .text = {"10 %", "40 %", "70 %", "100 %"}, .load = {}, .plan = exampleSimulation()};
  ranks.load = clusterLoad(*ranks.plan);
  auto view = std::make_unique<BoxView>();
  view->resize(420, 280);
  view->setPicture({[ranks](const QRectF& area) { return machineBoxes(ranks, area); }, BoxView::tr("Machines and links"), "0 %", "100 %"});
  view->choose(2);
  return view;
}
MadeView cut() {
  auto view = std::make_unique<CutView>();
  view->resize(300, 30);
  view->setPlan(examplePlan());
  return view;
}

constexpr struct {
  const char* name;
  MadeView (*make)();
} kViews[] = {{"timeline", timeline}, {"memory", memory},   {"histogram", histogram}, {"line", line},
              {"legend", legend},     {"scatter", scatter}, {"machines", machines},   {"cut", cut}};

constexpr const char* kLooks[] = {"light", "dark", "zh_CN"};

// In its colors and its language; both are taken back.
QImage drawn(MadeView (*make)(), const QString& look) {
  TableTranslator chinese;
  if (look == "zh_CN") QApplication::installTranslator(&chinese);
  QApplication::setPalette(look == "dark" ? darkPalette() : lightPalette());
  const MadeView view = make();
  QImage image(view->size(), QImage::Format_RGB32);
  QPainter painter(&image);
  view->paintPicture(painter, view->size());
  painter.end();
  QApplication::setPalette(lightPalette());
  QApplication::removeTranslator(&chinese);
  return image;
}

// Share of pixels whose channels differ by more than a shade: what an edge of a glyph may do, a moved line may not.
double difference(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return 1;
  constexpr int kShade = 24;
  qint64 off = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      const QRgb one = a.pixel(x, y), other = b.pixel(x, y);
      off += std::abs(qRed(one) - qRed(other)) > kShade || std::abs(qGreen(one) - qGreen(other)) > kShade ||
             std::abs(qBlue(one) - qBlue(other)) > kShade;
    }
  return static_cast<double>(off) / (a.width() * a.height());
}

constexpr double kTolerated = 0.0005;

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    QFont font(QStringList{QStringLiteral("DejaVu Sans"), QStringLiteral("WenQuanYi Micro Hei")});
    font.setPixelSize(13);
    QApplication::setFont(font);
  }
  static bool hasFont(const char* name) { return QFontInfo(QFont(QString::fromLatin1(name))).family() == QLatin1String(name); }
};

TEST_F(Golden, EveryViewLooksAsItDid) {
  const bool chinese = hasFont("WenQuanYi Micro Hei");
  if (!chinese) std::puts("fonts-wqy-microhei is not installed: the Chinese pictures are not compared");
  for (const auto& [name, make] : kViews)
    for (const char* look : kLooks) {
      if (QLatin1String(look) == QLatin1String("zh_CN") && !chinese) continue;
      const QImage now = drawn(make, look);
      const QString file = QStringLiteral("tests/gui/golden/%1.%2.png").arg(name, look);
      if (qEnvironmentVariableIsSet("MESHWRIGHT_BLESS")) now.save(file);
      const double off = difference(now, QImage(file).convertToFormat(QImage::Format_RGB32));
      const QString beside = QDir::tempPath() + QStringLiteral("/%1.%2.png").arg(name, look);
      if (off > kTolerated) now.save(beside);
      EXPECT_LE(off, kTolerated) << file.toStdString() << "; drawn now: " << beside.toStdString();
    }
}

// The tolerance catches a line that is moved by a pixel, a color that is a little off, a word that is another.
TEST_F(Golden, APlantedChangeIsCaught) {
  const QImage picture = drawn(timeline, "light");
  EXPECT_EQ(difference(picture, drawn(timeline, "light")), 0);
  EXPECT_GT(difference(picture, picture.copy(1, 0, picture.width(), picture.height())), kTolerated);
  const auto other_mark = [] {
    MadeView view = timeline();
    static_cast<TimelineView*>(view.get())->setMarks({{sim::SimTime(1), "nota"}});
    return view;
  };
  EXPECT_GT(difference(picture, drawn(other_mark, "light")), kTolerated);
  EXPECT_GT(difference(picture, drawn(timeline, "dark")), kTolerated);
}

}  // namespace
}  // namespace gui::test
