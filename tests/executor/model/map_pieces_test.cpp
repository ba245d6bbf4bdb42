#include "executor/model/map_pieces.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr double kMapBound = 1e-12;
const at::Tensor kMap = random_tensor({3, 4, 7, 7}, 1);

sim::Operator filters_of(sim::MapShape shape) {
  return {.kind = sim::OperatorKind::Convolution, .name = "convolution", .inputs = 4, .outputs = 6, .map = shape};
}

// Against LibTorch's own backward.
void expect_convolution(const sim::Operator& op, std::array<std::int64_t, 2> padding) {
  const std::int64_t width = 4 / op.map.groups * op.map.area();
  const Filters filters{.weight = random_leaf({6, width}, 2), .bias = random_leaf({6}, 3)};
  const at::Tensor x = recorded(kMap), w = recorded(filters.weight.value), b = recorded(filters.bias.value);
  const at::Tensor expected =
      at::conv2d(x, w.view({6, 4 / op.map.groups, op.map.height, op.map.width}), b, op.map.stride, padding, 1, op.map.groups);
  const at::Tensor gradient = random_tensor(expected.sizes(), 4);
  expected.backward(gradient);
  EXPECT_LT(relative_error(convolve(kMap, filters, op), expected.detach()), kMapBound);
  const at::Tensor back = convolve_backward(kMap, gradient, filters, op);
  EXPECT_LT(relative_error(filters.weight.gradient, w.grad()), kMapBound);
  EXPECT_LT(relative_error(filters.bias.gradient, b.grad()), kMapBound);
  if (op.map.of_images)
    EXPECT_FALSE(back.defined());
  else
    EXPECT_LT(relative_error(back, x.grad()), kMapBound);
}

TEST(MapPieces, ConvolutionsKeepTheirMapsSize) {
  expect_convolution(filters_of({.height = 3, .width = 3}), {1, 1});
  expect_convolution(filters_of({.height = 1, .width = 7, .stride = 1}), {0, 3});
  expect_convolution(filters_of({.height = 7, .width = 7, .stride = 2, .of_images = true}), {3, 3});
  expect_convolution(filters_of({.stride = 2, .groups = 2}), {0, 0});
}

TEST(MapPieces, PoolsAndAveragesGiveBackWhatTheyTook) {
  const sim::Operator op{.kind = sim::OperatorKind::Pooling, .name = "pooling", .map = {.stride = 2}};
  const at::Tensor x = recorded(kMap), expected = at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
  const at::Tensor gradient = random_tensor(expected.sizes(), 4);
  expected.backward(gradient);
  const Pooled pooled = pool(kMap, op);
  EXPECT_LT(relative_error(pooled.output, expected.detach()), kMapBound);
  EXPECT_LT(relative_error(pool_backward(kMap, gradient, pooled.places, op), x.grad()), kMapBound);

  const at::Tensor y = recorded(kMap), mean = y.mean({2, 3}, true), of_mean = random_tensor(mean.sizes(), 5);
  mean.backward(of_mean);
  EXPECT_LT(relative_error(average(kMap), mean.detach()), kMapBound);
  EXPECT_LT(relative_error(average_backward(of_mean, kMap.sizes()), y.grad()), kMapBound);
}

TEST(MapPieces, RectifiersReadTheirOutputAlone) {
  const at::Tensor x = recorded(kMap), expected = at::relu(x), gradient = random_tensor(kMap.sizes(), 4);
  expected.backward(gradient);
  const at::Tensor output = rectify(kMap);
  EXPECT_LT(relative_error(output, expected.detach()), kMapBound);
  EXPECT_LT(relative_error(rectify_backward(output, gradient), x.grad()), kMapBound);
}

}  // namespace
}  // namespace executor
