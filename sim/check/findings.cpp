#include "sim/check/findings.h"

#include <fmt/format.h>

namespace sim {

void Findings::add(std::string text) {
  if (++count_ <= kMost) texts_.push_back(std::move(text));
}

std::vector<std::string> Findings::take() && {
  if (count_ > kMost) texts_.push_back(fmt::format("and {} more", count_ - kMost));
  return std::move(texts_);
}

std::string name_of(const TaskGraph& graph, const Task& task) {
  return fmt::format("{} of rank {}", to_text(task.key), graph.devices()[task.device.position()].representative.value());
}

}  // namespace sim
