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
  // tokens: whose rows it changes.
  SegmentBuilder(Operation name, SegmentPart first, const ModelConfig* of_adapters = nullptr, Tokens tokens = Tokens::All)
      : config_(of_adapters), tokens_(tokens) {
    graph_.name = name;
    graph_.parts.push_back(first);
  }
  void then(Meets meets, SegmentPart part) {
    if (meets.tokens == Tokens::All) meets.tokens = tokens_;
    graph_.meets.push_back(meets);
    graph_.parts.push_back(part);
  }
  void recomputed_as(Modules modules) { graph_.modules = modules; }
  void then_of_all(Meets meets, SegmentPart part) {  // rows of all tokens cross
    graph_.meets.push_back(meets);
    graph_.parts.push_back(part);
  }
  // An edge leads to it from the operator before; further edges are named. Behind a product come its adapters. Its tokens are the segment's, unless it says
  // otherwise.
  std::size_t add(std::int32_t part, Operator op);
  void connect(const std::pair<std::size_t, std::size_t>& edge) { edges_.push_back(edge); }  // from, to
  SegmentGraph finish() &&;

 private:
  std::size_t append(std::int32_t part, Operator op);
  const ModelConfig* config_;
  Tokens tokens_;
  SegmentGraph graph_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
};

}  // namespace sim
