#include "gui/views/timeline_painter.h"

#include <gmock/gmock.h>

#include <QBuffer>
#include <QSvgGenerator>

#include "tests/gui/example_plans.h"
#include "tests/gui/views/pictures.h"

namespace gui {
namespace {

class Painted : public testing::Test {
 protected:
  Painted() {
    view_.resize(1000, 400);
    view_.setTimeline(std::make_shared<TimelineCore>(simulated_->result.timeline), taskNames(simulated_->result.timeline.spans));
  }
  QImage image() { return view_.grab().toImage(); }
  SharedPlan simulated_ = test::exampleSimulation();
  TimelineView view_;
};

TEST_F(Painted, KindsShowInTheirColors) {
  const QImage picture = image();
  EXPECT_GT(test::pixelsOf(picture, colorOf(lookOf(WorkKind::Forward).color)), 500);
  EXPECT_GT(test::pixelsOf(picture, colorOf(lookOf(WorkKind::Backward).color)), 500);
}

TEST_F(Painted, TheSameEveryTime) { EXPECT_EQ(image(), image()); }

TEST_F(Painted, WhatDoesNotMatchFades) {
  view_.setMatches(std::vector<std::uint32_t>{});
  EXPECT_EQ(test::pixelsOf(image(), colorOf(lookOf(WorkKind::Forward).color)), 0);
}

TEST_F(Painted, AVectorPictureHasRectanglesAndNoImage) {
  QBuffer buffer;
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setSize(view_.size());
  {
    QPainter painter(&svg);
    view_.paintPicture(painter, view_.size());
  }
  EXPECT_FALSE(buffer.data().contains("<image"));
  EXPECT_TRUE(buffer.data().contains(colorOf(lookOf(WorkKind::Forward).color).name().toLatin1()));
}

// However far away: the pass of a microbatch through the layers of a stage says which it is.
TEST_F(Painted, SlicesTooNarrowForANameShareOne) {
  const std::vector<sim::Span>& spans = simulated_->result.timeline.spans;
  view_.setGroups({[&spans](std::uint32_t span) { return groupOf(spans[span].key); },
                   [&spans](std::uint32_t span) { return shortName(spans[span].key); }});
  const auto texts = [this] {
    QBuffer buffer;
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setSize(view_.size());
    QPainter painter(&svg);
    view_.paintPicture(painter, view_.size());
    painter.end();
    return buffer.data();
  };
  view_.resize(520, 400);
  const QByteArray far = texts();
  EXPECT_TRUE(far.contains(">F0<") || far.contains(">B0<"));
  view_.setShown({sim::SimTime(0), simulated_->result.step_time / 12});
  EXPECT_FALSE(texts().contains(">F0<"));
}

TEST(PaintedEmpty, SaysWhatToDo) {
  TimelineView view;
  view.resize(400, 200);
  EXPECT_FALSE(view.grab().isNull());
}

}  // namespace
}  // namespace gui
