#include "gui/views/memory_view.h"

#include <gmock/gmock.h>

#include <QBuffer>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QSvgGenerator>
#include <QTest>

#include "gui/core/alive.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/views/pictures.h"

namespace gui {
namespace {

class Memory : public testing::Test {
 protected:
  Memory() {
    view_.resize(900, 400);
    view_.setPicture({MemoryCurve(simulated_->result.timeline, sim::DeviceId(0)),
                      {sim::SimTime(0), simulated_->result.step_time},
                      sim::Bytes(std::int64_t{80} << 30)});
  }
  SharedPlan simulated_ = test::exampleSimulation();
  MemoryView view_;
};

TEST_F(Memory, StacksItsCategories) {
  const QImage image = view_.grab().toImage();
  EXPECT_GT(test::pixelsOf(image, colorOf(memoryColor(sim::MemoryCategory::Parameters))), 500);
  EXPECT_GT(test::pixelsOf(image, colorOf(memoryColor(sim::MemoryCategory::OptimizerState))), 500);
}

TEST_F(Memory, WhatWasMeasuredIsALineAndItsErrorABand) {
  const QImage before = view_.grab().toImage();
  const MemoryCurve curve(simulated_->result.timeline, sim::DeviceId(0));
  sim::MemorySample level{.device = {}, .time = {}, .alive = {curve.peak().memory * 2}};
  view_.setPicture({.curve = curve,
                    .all = {sim::SimTime(0), simulated_->result.step_time},
                    .measured = MemoryCurve({level}),
                    .measured_name = "measured",
                    .band = {.share = 0.2, .name = "band"}});
  const QImage now = view_.grab().toImage();
  const QColor line = themeOf(view_.palette()).text;
  EXPECT_GT(test::pixelsOf(now, line), test::pixelsOf(before, line) + 600);
}

// Above the plot: on no curve and in no band.
TEST_F(Memory, ThePeakIsNamedAboveThePlot) {
  view_.setPicture({.curve = MemoryCurve(simulated_->result.timeline, sim::DeviceId(0)),
                    .all = {sim::SimTime(0), simulated_->result.step_time},
                    .band = {.share = 0.5, .name = "band"}});
  QBuffer buffer;
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setSize(view_.size());
  QPainter painter(&svg);
  view_.paintPicture(painter, view_.size());
  painter.end();
  const QString drawn = QString::fromUtf8(buffer.data());
  const auto y_of = [&](const QString& text) {
    const qsizetype at = drawn.indexOf(QRegularExpression(">" + text)), y = drawn.lastIndexOf(" y=\"", at);
    return at < 0 ? -1.0 : drawn.mid(y + 4, drawn.indexOf('"', y + 4) - y - 4).toDouble();
  };
  const double peak = y_of("peak ");
  ASSERT_GT(peak, 0);
  EXPECT_LT(peak, 70) << "of 400 pixels, below the legend";
}

TEST_F(Memory, StripesOfLayersAreTwoShades) {
  MemoryPicture picture{.curve = MemoryCurve(simulated_->result.timeline, sim::DeviceId(0)),
                        .all = {sim::SimTime(0), simulated_->result.step_time}};
  for (LayerStripe& stripe : stripesOf(blocksOf(*simulated_)[0].blocks))
    picture.stripes.push_back({stripe.category, MemoryCurve(std::move(stripe.samples))});
  const QColor plain = colorOf(memoryColor(sim::MemoryCategory::Activations));
  const qint64 before = test::pixelsOf(view_.grab().toImage(), plain);
  view_.setPicture(std::move(picture));
  const QImage now = view_.grab().toImage();
  EXPECT_GT(test::pixelsOf(now, plain.darker(125)), 50);
  EXPECT_LT(test::pixelsOf(now, plain.darker(125)), before + test::pixelsOf(now, plain));
}

TEST_F(Memory, AClickChoosesTheMoment) {
  QSignalSpy chosen(&view_, &MemoryView::momentChosen);
  const sim::SimTime middle = simulated_->result.step_time / 2;
  QTest::mouseClick(&view_, Qt::LeftButton, {}, QPoint(static_cast<int>(view_.xOf(middle)), 200));
  ASSERT_TRUE(view_.moment().has_value());
  EXPECT_NEAR(static_cast<double>(view_.moment()->count()), static_cast<double>(middle.count()),
              0.01 * static_cast<double>(middle.count()));
  EXPECT_EQ(chosen.count(), 1);
}

TEST_F(Memory, KeysZoomMoveAndFindThePeak) {
  const TimeRange all = view_.shown();
  QTest::keyClick(&view_, Qt::Key_W);
  EXPECT_LT(view_.shown().length(), all.length());
  QTest::keyClick(&view_, Qt::Key_F);
  EXPECT_EQ(view_.shown(), all);
  QTest::keyClick(&view_, Qt::Key_P);
  EXPECT_EQ(view_.moment(), MemoryCurve(simulated_->result.timeline, sim::DeviceId(0)).peak().time);
}

TEST(MemoryEmpty, PaintsAHint) {
  MemoryView view;
  view.resize(300, 200);
  EXPECT_FALSE(view.grab().isNull());
}

}  // namespace
}  // namespace gui
