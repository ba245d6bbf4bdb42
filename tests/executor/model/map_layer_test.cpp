#include "executor/model/map_layer.h"

#include <stdexcept>

#include "sim/model/map_writer.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

struct Written {
  sim::Layer layer;
  LayerLeaves leaves;
  MapLayer built() const { return MapLayer(layer, {layer.parameters, leaves}); }
};

Written written(void (*write)(sim::MapWriter&)) {
  sim::MapWriter net({4, 6});
  net.cut();
  write(net);
  net.cut();
  Written all{.layer = std::move(net).finish_with_loss(1)[1], .leaves = {}};
  for (const sim::Parameter& parameter : all.layer.parameters)
    all.leaves.push_back(parameter.weight_decay ? random_leaf({parameter.rows, parameter.columns}, 7) : random_leaf({parameter.rows}, 8));
  return all;
}

TEST(MapLayer, RunsWhatStandsInFrontOfItsNormAndBehindIt) {
  const Written all = written([](sim::MapWriter& net) { net.convolve(4, {3, 3}), net.norm(), net.activate(); });
  const MapLayer layer = all.built();
  ASSERT_TRUE(layer.has_norm());
  EXPECT_FALSE(layer.joins());
  EXPECT_TRUE(layer.norm().scale.value.is_same(all.leaves[1].value));
  const at::Tensor map = random_tensor({2, 4, 6, 6}, 1), gradient = random_tensor({2, 4, 6, 6}, 2);
  MapActivations kept;
  const at::Tensor before = layer.before(map, kept), behind = layer.behind(before, kept);
  EXPECT_FALSE(before.equal(map));
  EXPECT_TRUE(behind.equal(rectify(before)));
  EXPECT_TRUE(layer.behind_backward(gradient, kept).equal(rectify_backward(behind, gradient)));
  EXPECT_EQ(layer.before_backward(gradient, kept).sizes(), map.sizes());
  EXPECT_GT(all.leaves[0].gradient.abs().sum().item<double>(), 0);
}

TEST(MapLayer, OneThatAddsReadsWhatTheBlockBeganWith) {
  EXPECT_TRUE(written([](sim::MapWriter& net) { net.add(); }).built().joins());
  EXPECT_TRUE(written([](sim::MapWriter&) {}).built().is_empty());
}

TEST(MapLayer, UnknownOperatorsAreRefused) {
  const MapLayer layer = written([](sim::MapWriter& net) { net.upsample(); }).built();
  MapActivations kept;
  EXPECT_THROW(layer.before(random_tensor({2, 4, 6, 6}, 1), kept), std::logic_error);
}

}  // namespace
}  // namespace executor
