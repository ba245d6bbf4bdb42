#include "executor/model/map_layer.h"

#include <stdexcept>
#include <utility>

namespace executor {

// Parameters stand in the order of the operators that read them.
MapLayer::MapLayer(const sim::Layer& layer, const LayerParts& parts) {
  auto next = parts.leaves.begin();
  const auto take = [&](bool there) { return there ? *next++ : Leaf{}; };
  for (const sim::Operator& op : layer.segments.front().operators) {
    switch (op.kind) {
      case sim::OperatorKind::BatchNorm: {
        const Leaf scale = take(true), shift = take(true);
        norm_ = BatchNormLayer{.scale = scale, .shift = shift};
        norm_at_ = steps_.size();
        break;
      }
      case sim::OperatorKind::Residual: joins_ = true; break;
      case sim::OperatorKind::CrossEntropy: break;
      case sim::OperatorKind::Convolution: {
        const Leaf weight = take(true), bias = take(op.bias);
        steps_.push_back({.op = op, .filters = {.weight = weight, .bias = bias}});
        break;
      }
      default: steps_.push_back({.op = op, .filters = {}});
    }
  }
  if (!norm_) norm_at_ = steps_.size();
}

at::Tensor MapLayer::forward(const Step& step, const at::Tensor& map, MapActivations::OfOperator& kept) {
  switch (step.op.kind) {
    case sim::OperatorKind::Convolution: kept.read = map; return convolve(map, step.filters, step.op);
    case sim::OperatorKind::Activation: return kept.read = rectify(map);
    case sim::OperatorKind::Averaging: kept.sizes = map.sizes().vec(); return average(map);
    case sim::OperatorKind::Pooling: {
      Pooled pooled = pool(map, step.op);
      kept.read = map;
      kept.places = std::move(pooled.places);
      return std::move(pooled.output);
    }
    default: throw std::logic_error("no function performs operator " + step.op.name + " of maps");
  }
}

at::Tensor MapLayer::backward(const Step& step, const at::Tensor& gradient, const MapActivations::OfOperator& kept) {
  switch (step.op.kind) {
    case sim::OperatorKind::Convolution: return convolve_backward(kept.read, gradient, step.filters, step.op);
    case sim::OperatorKind::Activation: return rectify_backward(kept.read, gradient);
    case sim::OperatorKind::Averaging: return average_backward(gradient, kept.sizes);
    default: return pool_backward(kept.read, gradient, kept.places, step.op);
  }
}

at::Tensor MapLayer::before(at::Tensor map, MapActivations& kept) const {
  kept.operators.resize(steps_.size());
  for (std::size_t at = 0; at < norm_at_; ++at) map = forward(steps_[at], map, kept.operators[at]);
  return map;
}

at::Tensor MapLayer::behind(at::Tensor map, MapActivations& kept) const {
  for (std::size_t at = norm_at_; at < steps_.size(); ++at) map = forward(steps_[at], map, kept.operators[at]);
  return map;
}

at::Tensor MapLayer::behind_backward(at::Tensor gradient, const MapActivations& kept) const {
  for (std::size_t at = steps_.size(); at > norm_at_; --at) gradient = backward(steps_[at - 1], gradient, kept.operators[at - 1]);
  return gradient;
}

at::Tensor MapLayer::before_backward(at::Tensor gradient, const MapActivations& kept) const {
  for (std::size_t at = norm_at_; at > 0; --at) gradient = backward(steps_[at - 1], gradient, kept.operators[at - 1]);
  return gradient;
}

}  // namespace executor
