#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "executor/kernels/kept_moments.h"
#include "executor/kernels/numbers.h"
#include "executor/training/checkpoint.h"
#include "sim/units/at.h"

namespace executor {

namespace {

// Of batch norms: every data rank has them whole.
void add_running_statistics(std::vector<StatePart>& parts, const ParameterStore& parameters) {
  for (sim::LayerIndex layer{0}; layer.position() < parameters.num_layers(); ++layer) {
    const std::optional<ParameterStore::Running>& running = parameters.running(layer);
    if (!running) continue;
    const auto add = [&](std::string_view kind, const at::Tensor& values) {
      parts.push_back({.kind = kind, .parameter = running->scale, .tensor = {}, .from = {}, .elements = values.numel(), .values = values});
    };
    add("running_mean", running->statistics.mean);
    add("running_variance", running->statistics.variance);
  }
}

}  // namespace

std::vector<StatePart> state_parts(ParameterStore& parameters) {
  std::vector<StatePart> parts;
  for (FlatBucket& bucket : parameters.buckets()) {
    if (bucket.is_packed()) continue;
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      const auto [range, from] = ParameterStore::meet(slot, bucket.own_shard());
      if (range.count == 0) continue;
      const auto add = [&, range = range, from = from](std::string_view kind, const at::Tensor& values) {
        parts.push_back({.kind = kind,
                         .parameter = &parameters.parameter(slot),
                         .tensor = parameters.tensor(),
                         .from = from,
                         .elements = range.count,
                         .values = values});
      };
      add("weight", bucket.master(range));
      if (slot.frozen) continue;
      constexpr std::string_view kMoments[] = {"moment1", "moment2"}, kScales[] = {"scale1", "scale2"};
      for (std::int64_t moment = 0; moment < 2; ++moment) {
        if (bucket.has_moment(moment, slot)) add(sim::at(kMoments, moment), bucket.moment(moment, range));
        if (const at::Tensor scales = bucket.moment_scales(moment, range); scales.defined()) add(sim::at(kScales, moment), scales);
      }
    }
  }
  add_running_statistics(parts, parameters);
  return parts;
}

void put_codes(const StatePart& codes, const at::Tensor& scales, const CodesElsewhere& from) {
  const ByteTable& table = codes.kind == "moment1" ? signed_tree() : unsigned_tree();
  const auto* const from_codes = numbers<std::uint8_t>(from.codes);
  const auto* const from_scales = numbers<float>(from.scales);
  for (std::int64_t begin = 0, block = 0; begin < codes.elements; begin += kMomentBlock, ++block) {
    const std::int64_t end = std::min(begin + kMomentBlock, codes.elements);
    const bool is_same = std::all_of(from_scales + begin, from_scales + end, [&](float scale) { return scale == from_scales[begin]; });
    if (is_same) {
      std::copy(from_codes + begin, from_codes + end, numbers<std::uint8_t>(codes.values) + begin);
      numbers<float>(scales)[block] = from_scales[begin];
      continue;
    }
    std::vector<float> moments;
    for (std::int64_t at = begin; at < end; ++at) moments.push_back(sim::at(table, from_codes[at]) * from_scales[at]);
    write_moment(moments.data(), {.values = codes.values, .scales = scales, .table = &table}, {.begin = begin, .end = end});
  }
}

NamedTensor named(const StatePart& part) {
  const sim::Parameter& parameter = *part.parameter;
  const std::string whole = fmt::format("{}:{}", part.kind, parameter.name);
  const TensorPosition::Cut cut = part.tensor.cut_of(parameter);
  const bool is_whole = cut.degree == 1 && part.elements == parameter.elements();
  const std::string experts = parameter.expert && part.tensor.expert_degree > 1 ? fmt::format("e{}", part.tensor.expert_rank) : "";
  if (!is_whole)
    return {.name = fmt::format("{}@t{}{}:{}-{}", whole, cut.part, experts, part.from.value, part.from.value + part.elements),
            .values = part.values};
  return {.name = whole,
          .values = parameter.columns > 1 && part.values.numel() == part.elements ? part.values.view({parameter.rows, parameter.columns})
                                                                                  : part.values};
}

std::vector<NamedTensor> checkpoint_tensors(ParameterStore& parameters) {
  std::vector<NamedTensor> tensors;
  for (const StatePart& part : state_parts(parameters)) tensors.push_back(named(part));
  for (const ParameterStore::Kept& kept : parameters.kept()) tensors.push_back({.name = kept.name, .values = kept.values});
  return tensors;
}

}  // namespace executor
