#include "gui/views/slice_text.h"

#include <gmock/gmock.h>

#include <QFont>

namespace gui {
namespace {

sim::TaskKey keyOf(sim::Phase phase, sim::Operation operation) {
  sim::TaskKey key;
  key.layer = sim::LayerIndex(12);
  key.microbatch = sim::MicrobatchIndex(3);
  key.phase = phase;
  key.operation = operation;
  return key;
}

TEST(SliceText, LayerAndOperationComeFirst) {
  EXPECT_EQ(sliceName(keyOf(sim::Phase::Forward, sim::Operation::Mlp)), "L12 MLP fwd, mb 3");
  EXPECT_EQ(sliceName(keyOf(sim::Phase::Backward, sim::Operation::AttentionNorm)), "L12 attention norm bwd, mb 3");
  sim::TaskKey sum = keyOf(sim::Phase::Gradients, sim::Operation::AllReduce);
  sum.group = sim::MeshAxis::Data;
  sum.layer = sim::LayerIndex::none();
  sum.microbatch = sim::MicrobatchIndex::none();
  EXPECT_EQ(sliceName(sum), "all-reduce data");
}

// A slice that is wide enough for three letters says something.
TEST(SliceText, IsShortenedInsteadOfVanishing) {
  const QFontMetrics metrics{QFont()};
  TextFitter fitter(metrics);
  const QString name = "L12 MLP fwd, mb 3";
  EXPECT_EQ(fitter.fitted(name, fitter.widthOf(name)), name);
  EXPECT_EQ(fitter.fitted(name, fitter.widthOf(name) - 1), "L12 MLP fwd, mb");
  EXPECT_EQ(fitter.fitted(name, fitter.widthOf(QStringLiteral("L12 MLP fwd, "))), "L12 MLP fwd");
  EXPECT_EQ(fitter.fitted(name, fitter.widthOf(QStringLiteral("L12 MLP"))), "L12 MLP");
  EXPECT_EQ(fitter.fitted(name, fitter.widthOf(QStringLiteral("L12"))), "L12");
  EXPECT_EQ(fitter.fitted(name, fitter.widthOf(QStringLiteral("L1"))), "");
  const QString kernel = "ncclDevKernel_AllReduce_Sum";
  EXPECT_EQ(fitter.fitted(kernel, fitter.widthOf(QStringLiteral("ncclDev…"))), QStringLiteral("ncclDev…"));
  for (double width = 0; width < 200; width += 1) EXPECT_LE(fitter.widthOf(fitter.fitted(kernel, width)), width);
}

}  // namespace
}  // namespace gui
