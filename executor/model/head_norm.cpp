#include "executor/model/head_norm.h"

#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <utility>

#include "executor/model/saved_tensors.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Queries or keys in a joint row, and their norm. `width`: of what is normed at once.
struct NormedPart {
  NormLayer layer;
  std::int64_t first = 0, columns = 0, width = 0;
  NormActivations kept = {};

  at::Tensor in(const at::Tensor& joint) const { return joint.narrow(1, first, columns); }
  at::Tensor rows(const at::Tensor& joint) const { return in(joint).clone(at::MemoryFormat::Contiguous).view({-1, width}); }
  void put(const at::Tensor& joint, const at::Tensor& rows) const { in(joint).copy_(rows.view({-1, columns})); }
};

// What the backward needs beside tensors of the graph.
struct NormedHeads : torch::CustomClassHolder {
  std::array<NormedPart, 2> parts;
  HeadShape shape;
  at::Tensor turned_by;
  Documents documents;
  void turn(const at::Tensor& joint, Turn direction) const { apply_rotary(joint, shape, turned_by, direction, documents); }
};

struct HeadNormFunction : torch::autograd::Function<HeadNormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const HeadShape& shape, const HeadNorms& norms) {
    const std::int64_t queries = shape.heads * shape.head_dim, keys = shape.kv_heads * shape.head_dim;
    const auto part = [&](const NormLayer& layer, std::int64_t first, std::int64_t columns) {
      return NormedPart{.layer = layer, .first = first, .columns = columns, .width = norms.is_joint ? columns : shape.head_dim};
    };
    auto heads = c10::make_intrusive<NormedHeads>();
    heads->parts = {part(norms.queries, 0, queries), part(norms.keys, queries, keys)};
    heads->shape = shape, heads->turned_by = norms.turn_first, heads->documents = norms.documents;
    at::Tensor joint = input.detach();
    heads->turn(joint, Turn::Forth);
    for (NormedPart& each : heads->parts) {
      ResidualStream rows{.value = each.rows(joint), .addend = {}};
      NormResult result = norm_forward(rows, each.layer);
      each.put(joint, result.output);
      each.kept = std::move(result.kept);
      Saving::offer(sim::Module::QkvProduct, {each.kept.input});
    }
    context->saved_data["heads"] = c10::IValue::make_capsule(std::move(heads));
    return joint;
  }

  // The gradient of the joint rows is this function's alone: it is overwritten.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto heads = c10::static_intrusive_pointer_cast<NormedHeads>(context->saved_data["heads"].toCapsule());
    context->saved_data.clear();
    at::Tensor joint = gradients.front();
    for (NormedPart& each : heads->parts)
      each.put(joint, norm_backward(std::exchange(each.kept, {}), {.output = each.rows(joint), .stream = {}}, each.layer));
    heads->turn(joint, Turn::Back);
    return {joint, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor norm_heads(const at::Tensor& joint, const HeadShape& shape, const HeadNorms& norms) {
  return HeadNormFunction::apply(joint, shape, norms);
}

}  // namespace executor
