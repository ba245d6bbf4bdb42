#include <fmt/format.h>

#include "executor/training/checkpoint.h"

namespace executor {
namespace {

struct SavedPart {
  const sim::Parameter& parameter;
  const sim::BucketSlot& slot;
  ParameterStore::SlotPart part;
  TensorPosition tensor;

  bool is_whole() const { return tensor.degree == 1 && part.range.count == slot.elements; }
  std::string name(std::string_view kind) const {
    const std::string whole = fmt::format("{}:{}", kind, parameter.name);
    return is_whole() ? whole : fmt::format("{}@t{}:{}-{}", whole, tensor.rank, part.from.value, part.from.value + part.range.count);
  }
  NamedTensor named(std::string_view kind, const at::Tensor& values) const {
    const bool is_matrix = is_whole() && parameter.columns > 1;
    return {.name = name(kind), .values = is_matrix ? values.view({parameter.rows, parameter.columns}) : values};
  }
};

}  // namespace

std::vector<NamedTensor> checkpoint_tensors(ParameterStore& parameters, const sim::ParallelPlan& plan) {
  std::vector<NamedTensor> tensors;
  for (FlatBucket& bucket : parameters.buckets())
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      const auto part = ParameterStore::meet(slot, bucket.own_shard());
      if (part.range.count == 0) continue;
      const SavedPart saved{.parameter = parameters.parameter(slot), .slot = slot, .part = part, .tensor = parameters.tensor()};
      tensors.push_back(saved.named("weight", bucket.weights_of(part.range)));
      tensors.push_back(saved.named("moment1", bucket.moment(0, part.range)));
      if (plan.workload.optimizer == sim::OptimizerKind::AdamW) tensors.push_back(saved.named("moment2", bucket.moment(1, part.range)));
    }
  return tensors;
}

}  // namespace executor
