#include <fmt/format.h>

#include "executor/training/checkpoint.h"
#include "sim/units/at.h"

namespace executor {

std::vector<StatePart> state_parts(ParameterStore& parameters) {
  std::vector<StatePart> parts;
  for (FlatBucket& bucket : parameters.buckets()) {
    if (bucket.is_packed()) continue;
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      const auto [range, from] = ParameterStore::meet(slot, bucket.own_shard());
      if (range.count == 0) continue;
      const auto add = [&, range = range, from = from](std::string_view kind, const at::Tensor& values) {
        parts.push_back(
            {.kind = kind, .parameter = &parameters.parameter(slot), .tensor = parameters.tensor(), .from = from, .values = values});
      };
      add("weight", bucket.master(range));
      if (slot.frozen) continue;
      constexpr std::string_view kMoments[] = {"moment1", "moment2"};
      for (std::int64_t moment = 0; moment < 2; ++moment)
        if (bucket.has_moment(moment, slot)) add(sim::at(kMoments, moment), bucket.moment(moment, range));
    }
  }
  return parts;
}

NamedTensor named(const StatePart& part) {
  const sim::Parameter& parameter = *part.parameter;
  const std::string whole = fmt::format("{}:{}", part.kind, parameter.name);
  const TensorPosition::Cut cut = part.tensor.cut_of(parameter);
  const bool is_whole = cut.degree == 1 && part.values.numel() == parameter.elements();
  const std::string experts = parameter.expert && part.tensor.expert_degree > 1 ? fmt::format("e{}", part.tensor.expert_rank) : "";
  if (!is_whole)
    return {.name = fmt::format("{}@t{}{}:{}-{}", whole, cut.part, experts, part.from.value, part.from.value + part.values.numel()),
            .values = part.values};
  return {.name = whole, .values = parameter.columns > 1 ? part.values.view({parameter.rows, parameter.columns}) : part.values};
}

std::vector<NamedTensor> checkpoint_tensors(ParameterStore& parameters) {
  std::vector<NamedTensor> tensors;
  for (const StatePart& part : state_parts(parameters)) tensors.push_back(named(part));
  return tensors;
}

}  // namespace executor
