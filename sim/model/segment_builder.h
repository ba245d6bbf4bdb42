// Writes a segment: its parts with what meets between them, then operators in the order in which they run, each of a part.
#pragma once

#include <utility>
#include <vector>

#include "sim/model/model_config.h"
#include "sim/model/segment.h"

namespace sim {

class SegmentBuilder {
 public:
  // of_adapters: the network's, beside whose products they stand; none: it has none, or no such products.
  SegmentBuilder(Operation name, SegmentPart first, const ModelConfig* of_adapters = nullptr) : config_(of_adapters) {
    graph_.name = name;
    graph_.parts.push_back(first);
  }
  void then(Meets meets, SegmentPart part) {
    graph_.meets.push_back(meets);
    graph_.parts.push_back(part);
  }
  void recomputed_as(Modules modules) { graph_.modules = modules; }
  // An edge leads to it from the operator before; further edges are named. Behind a product come its adapters.
  std::size_t add(std::int32_t part, Operator op);
  void connect(const std::pair<std::size_t, std::size_t>& edge) { edges_.push_back(edge); }  // from, to
  SegmentGraph finish() &&;

 private:
  std::size_t append(std::int32_t part, Operator op);
  const ModelConfig* config_;
  SegmentGraph graph_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
};

}  // namespace sim
