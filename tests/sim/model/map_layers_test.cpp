#include "sim/model/map_layers.h"

#include <gmock/gmock.h>

#include "sim/model/map_families.h"

namespace sim {
namespace {

ConvolutionForm residual(std::vector<std::int64_t> depths) { return {.widths = {256, 512, 1024, 2048}, .depths = std::move(depths)}; }
ConvolutionForm cells(std::int64_t layers, std::int64_t filters) {
  return {.kind = ConvolutionKind::Cells, .stem = filters, .depth = layers};
}
ConvolutionForm u_net(std::int64_t convolutions, std::int64_t channels) {
  return {.kind = ConvolutionKind::UShaped, .image = 192, .stem = channels, .depth = 5, .repeats = convolutions};
}

double million_matrix_weights(const ConvolutionForm& form) {
  double sum = 0;
  for (const Layer& layer : map_layers(form, 1000))
    for (const Parameter& parameter : layer.parameters) sum += parameter.weight_decay ? static_cast<double>(parameter.elements()) : 0;
  return sum / 1e6;
}

// Multiply-adds of an image, forward, in units of 10^9.
double giga(const ConvolutionForm& form) {
  const ModelGraph model = make_model_graph(convolutional_model("resnet", form, 1000), {1});
  return model_flops(model, {.global_batch = 1}).value() / 6e9;
}

// What the balances of torchgpipe's benchmarks sum up to.
TEST(MapLayers, AreTheChildrenOfTheFlattenedModel) {
  EXPECT_EQ(map_layers(residual({3, 4, 23, 3}), 1000).size(), 370u);
  EXPECT_EQ(map_layers(u_net(5, 64), 1).size(), 241u);
  EXPECT_EQ(map_layers(cells(18, 256), 1000).size(), 24u);
}

// He et al. 2016, Xie et al. 2017.
TEST(MapLayers, PublishedWork) {
  EXPECT_NEAR(giga(residual({3, 4, 6, 3})), 4.1, 0.15);
  EXPECT_NEAR(giga(residual({3, 4, 23, 3})), 7.8, 0.3);
  ConvolutionForm grouped = residual({3, 4, 23, 3});
  grouped.groups = 32, grouped.width_per_group = 4;
  EXPECT_NEAR(giga(grouped), 8.0, 0.4);
}

// Tables of torchgpipe's documentation; norms and biases are not counted.
TEST(MapLayers, PublishedParameters) {
  EXPECT_NEAR(million_matrix_weights(cells(18, 208)), 81.5, 0.8);
  EXPECT_NEAR(million_matrix_weights(cells(18, 416)), 319, 3);
  EXPECT_NEAR(million_matrix_weights(u_net(6, 72)), 362.2, 1);
}

TEST(MapLayers, HandOnMapsOfTheirOwnSize) {
  const std::vector<Layer> layers = map_layers(residual({3, 4, 6, 3}), 1000);
  EXPECT_EQ(layers[0].handed_on, 64 * 112 * 112);
  EXPECT_EQ(layers[3].handed_on, 64 * 56 * 56);
  EXPECT_EQ(layers[layers.size() - 2].handed_on, 2048);
  EXPECT_TRUE(layers.front().segments.front().operators.front().map.of_images);
  const std::vector<Layer> amoeba = map_layers(cells(18, 256), 1000);  // a cell hands on its input, too
  EXPECT_EQ(amoeba[2].handed_on, 3 * 256 * 28 * 28 + 3 * 128 * 56 * 56);
}

TEST(MapLayers, EqualOnesAreOfOneKind) {
  const ModelGraph model = make_model_graph(convolutional_model("resnet", residual({3, 4, 23, 3}), 1000), {1});
  EXPECT_LT(model.firsts.size(), 80u);
  EXPECT_TRUE(model.has(model.head(), Operation::Head));
  EXPECT_TRUE(model.has(LayerIndex(0), Operation::Convolution));
  EXPECT_TRUE(model.has(LayerIndex(1), Operation::Pointwise));
}

}  // namespace
}  // namespace sim
