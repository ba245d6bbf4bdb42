// What a checker found, in words; after many of the same kind it only counts.
#pragma once

#include <string>
#include <vector>

#include "sim/task_graph/task_graph.h"

namespace sim {

class Findings {
 public:
  void add(std::string text);
  bool none() const { return count_ == 0; }
  std::vector<std::string> take() &&;

 private:
  static constexpr std::size_t kMost = 40;
  std::vector<std::string> texts_;
  std::size_t count_ = 0;
};

// "s0.c0.m3.l2.forward.attention.none.0 of rank 4"
std::string name_of(const TaskGraph& graph, const Task& task);

}  // namespace sim
