// Writes layers of maps operator by operator; knows the shape that flows through them.
#pragma once

#include <string>
#include <vector>

#include "sim/model/model_graph.h"

namespace sim {

struct MapSize {
  std::int64_t channels = 0, size = 0;  // size: height = width
  std::int64_t places() const { return size * size; }
  std::int64_t elements() const { return channels * places(); }
};
struct FilterShape {
  std::int64_t height = 1, width = 1, stride = 1, groups = 1;
};

class MapWriter {
 public:
  explicit MapWriter(MapSize image) : map_(image) {}

  void convolve(std::int64_t outputs, const FilterShape& filter = {}, bool bias = false);
  void norm();
  void norm_kept();  // its reader is not in place
  void activate() { over(OperatorKind::Activation, "activation"); }
  void add() { over(OperatorKind::Residual, "residual"); }
  void drop() { over(OperatorKind::Dropout, "dropout"); }
  void concatenate(std::int64_t channels);
  void pool(std::int64_t stride);
  void average();  // over the whole map
  void upsample();
  void squeeze(std::int64_t reduced);  // means of channels, two products, a factor for each channel
  void restart(MapSize map) { map_ = map; }
  void cut() { cut(map_.elements()); }  // what comes next is a layer of its own
  void cut(std::int64_t handed_on);     // numbers of a sample
  const MapSize& map() const { return map_; }
  std::vector<Layer> finish_with_loss(std::int64_t logits) &&;

 private:
  void over(OperatorKind kind, const char* name);
  void add(OperatorKind kind, const char* name, const MapSize& out, const FilterShape& filter = {});
  void add_matrix(std::int64_t inputs, FilterShape filter);
  void add_vector(const char* name, InitialValue initial);  // a number for each channel
  void add_parameter(Parameter parameter);
  void close(Operation name, std::int64_t handed_on);

  MapSize map_;
  std::vector<Operator> operators_;
  std::vector<Parameter> parameters_;
  std::vector<Layer> layers_;
};

}  // namespace sim
