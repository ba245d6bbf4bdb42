#include "executor/launch/out_of_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/units/unit_text.h"

namespace executor {
namespace {

struct Holder {
  std::string name;
  sim::Bytes bytes;
};

std::string listed(std::vector<Holder> holders, std::size_t most) {
  std::sort(holders.begin(), holders.end(), [](const Holder& one, const Holder& other) { return one.bytes > other.bytes; });
  std::string text;
  for (std::size_t at = 0; at < std::min(most, holders.size()); ++at)
    text += fmt::format("{}{} {}", at == 0 ? "" : ", ", holders[at].name, sim::to_text(holders[at].bytes));
  return text;
}

std::vector<Holder> largest_parameters(const ParameterStore& parameters) {
  std::vector<Holder> holders;
  for (const FlatBucket& bucket : parameters.buckets())
    for (const sim::BucketSlot& slot : bucket.layout().slots)
      holders.push_back(
          {parameters.parameter(slot).name, sim::Bytes(slot.elements * static_cast<std::int64_t>(bucket.weights().element_size()))});
  return holders;
}

}  // namespace

sim::Violation out_of_memory(const OutOfMemory& what) {
  const FlatBucket::Bytes held = what.parameters.bytes();
  const sim::Bytes rest = what.memory.allocated - held.weights - held.gradients - held.optimizer;
  const std::string predicted = what.plan.predictions
                                    ? fmt::format("predicted was a peak of {}", sim::to_text(what.plan.predictions->peak_memory))
                                    : std::string("the plan holds no prediction");
  return {.where = "/predictions/peak_memory",
          .problem = fmt::format(
              "the GPU has no memory left: {} of {} are in use by tensors ({}), the pool keeps {}; {}. Largest tensors: {}. LibTorch: {}",
              sim::to_text(what.memory.allocated), sim::to_text(what.memory.device_total),
              listed({{"weights", held.weights},
                      {"gradients", held.gradients},
                      {"optimizer state", held.optimizer},
                      {"activations and temporaries", rest}},
                     4),
              sim::to_text(what.memory.reserved_peak), predicted, listed(largest_parameters(what.parameters), 3), what.words),
          .remedy = "plan again with a smaller microbatch, recompute=full or a higher ZeRO stage; nothing else should use this GPU"};
}

}  // namespace executor
