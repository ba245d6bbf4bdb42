// A layer of maps: what stands in front of its batch norm, the norm, and what stands behind it. Between them ranks may exchange statistics.
// Its last operator may be the sum with what the block began with: then all of it reads that, and the caller adds.
//
//   forward    before() --> [moments ~~> norm] --> behind()
//   backward   before_backward() <-- [norm <~~ sums] <-- behind_backward()
#pragma once

#include <vector>

#include "executor/model/batch_norm.h"
#include "executor/model/map_pieces.h"
#include "executor/model/segment.h"
#include "sim/model/model_graph.h"

namespace executor {

// What a layer keeps of one microbatch from forward to backward.
struct MapActivations {
  struct OfOperator {
    at::Tensor read;                  // what its backward reads: its input, of an activation its output
    at::Tensor places;                // of a pool
    std::vector<std::int64_t> sizes;  // of an average: of its input
  };
  std::vector<OfOperator> operators;
  BatchNormActivations norm;
};

class MapLayer {
 public:
  MapLayer(const sim::Layer& layer, const LayerParts& parts);

  bool is_empty() const { return steps_.empty() && !norm_ && !joins_; }
  bool has_norm() const { return norm_.has_value(); }
  bool joins() const { return joins_; }  // the sum with what the block began with
  const BatchNormLayer& norm() const { return *norm_; }

  at::Tensor before(at::Tensor map, MapActivations& kept) const;  // without a norm: all of it
  at::Tensor behind(at::Tensor map, MapActivations& kept) const;
  at::Tensor behind_backward(at::Tensor gradient, const MapActivations& kept) const;
  at::Tensor before_backward(at::Tensor gradient, const MapActivations& kept) const;  // of images: no tensor

 private:
  struct Step {
    sim::Operator op;
    Filters filters;
  };
  static at::Tensor forward(const Step& step, const at::Tensor& map, MapActivations::OfOperator& kept);
  static at::Tensor backward(const Step& step, const at::Tensor& gradient, const MapActivations::OfOperator& kept);

  std::vector<Step> steps_;  // without norm, sum and loss
  std::size_t norm_at_ = 0;  // in front of which step; their number where there is none
  std::optional<BatchNormLayer> norm_;
  bool joins_ = false;
};

}  // namespace executor
