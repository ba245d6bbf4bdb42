#include "executor/model/heads.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <utility>

#include "executor/kernels/on_device.h"
#include "executor/kernels/rotary_turn.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct TurnedHeads {
  std::int64_t count = 0, width = 0, half = 0;  // pairs (i, i + half); the rest of a width stays
};
// Turns heads of one token: the first `count` of them. direction -1 turns back.
template <class Number, class Wide = at::opmath_type<Number>>
void turn(Number* token, const TurnedHeads& heads, const Number* cosine, const Number* sine, Wide direction) {
  const std::int64_t half = heads.half;
  for (std::int64_t head = 0; head < heads.count; ++head, token += heads.width)
    for (std::int64_t i = 0; i < half; ++i) {
      const auto turned = turned_pair<Wide>(token[i], token[i + half], cosine[i], static_cast<Wide>(sine[i]) * direction);
      token[i] = static_cast<Number>(turned.first);
      token[i + half] = static_cast<Number>(turned.second);
    }
}

// All heads at once, by LibTorch's operators: for a device without a loop of ours.
void turn_composed(const at::Tensor& joint, const HeadShape& shape, const at::Tensor& table, Turn direction) {
  const std::int64_t half = table.size(2);
  const auto wide = at::toOpMathType(joint.scalar_type());
  const at::Tensor heads = joint.narrow(1, 0, shape.turned_columns())
                               .view({-1, shape.sequence, shape.heads + shape.kv_heads, shape.head_dim})
                               .narrow(3, 0, 2 * half)
                               .unflatten(3, {2, half});
  const at::Tensor first = heads.select(3, 0).to(wide), second = heads.select(3, 1).to(wide);
  const at::Tensor angles = table.to(wide).unsqueeze(2), along = angles[0], turned = angles[1].mul(direction == Turn::Forth ? 1 : -1);
  heads.copy_(at::stack({first * along - second * turned, second * along + first * turned}, 3));
}

// Each as a sample of its own length.
void turn_documents(const at::Tensor& joint, const HeadShape& shape, const at::Tensor& table, Turn direction, const Documents& documents) {
  for (const DocumentRows& rows : documents.all()) {
    HeadShape one = shape;
    one.sequence = rows.count;
    apply_rotary(joint.narrow(0, rows.begin, rows.count), one, table.narrow(1, 0, rows.count).contiguous(), direction);
  }
}

}  // namespace

void apply_rotary(const at::Tensor& joint, const HeadShape& shape, const at::Tensor& table, Turn direction, const Documents& documents) {
  if (!table.defined()) return;
  if (!documents.none()) return turn_documents(joint, shape, table, direction, documents);
  const std::int64_t half = table.size(2);
  if (on_device::has_kernels(joint)) {
    return on_device::turn_heads(joint, table,
                                 {.tokens = joint.size(0),
                                  .width = shape.width(),
                                  .turned = shape.heads + shape.kv_heads,
                                  .head_dim = shape.head_dim,
                                  .half = half,
                                  .sequence = shape.sequence,
                                  .is_back = direction == Turn::Back});
  }
  if (!joint.is_cpu()) return turn_composed(joint, shape, table, direction);
  const TurnedHeads turned{.count = shape.heads + shape.kv_heads, .width = shape.head_dim, .half = half};
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, joint.scalar_type(), "apply_rotary", [&] {
    const scalar_t* cosine = table.data_ptr<scalar_t>();
    const scalar_t* sine = cosine + shape.sequence * half;
    for (std::int64_t token = 0; token < joint.size(0); ++token) {
      const std::int64_t position = token % shape.sequence;
      turn(joint.data_ptr<scalar_t>() + token * shape.width(), turned, cosine + position * half, sine + position * half,
           at::opmath_type<scalar_t>(direction == Turn::Forth ? 1 : -1));
    }
  });
}

namespace {

// [tokens, width] seen as [samples, sequence, heads, width of a head].
struct HeadViews {
  at::Tensor queries, keys, values, gates;
};
HeadViews views_of(const at::Tensor& joint, const HeadShape& shape) {
  const auto heads = [&](std::int64_t first, std::int64_t count, std::int64_t width) {
    return joint.narrow(1, first, count * width).view({-1, shape.sequence, count, width});
  };
  const std::int64_t queries = shape.heads * shape.head_dim;
  return {heads(0, shape.heads, shape.head_dim), heads(queries, shape.kv_heads, shape.head_dim),
          heads(shape.turned_columns(), shape.kv_heads, shape.value_width()), joint.narrow(1, shape.width() - shape.gates, shape.gates)};
}

at::Tensor repeated(const at::Tensor& heads, std::int64_t times) {
  if (times == 1) return heads.transpose(1, 2);
  return heads.unsqueeze(3).expand({-1, -1, -1, times, -1}).reshape({heads.size(0), heads.size(1), -1, heads.size(3)}).transpose(1, 2);
}

// How often attention wants a head of keys: as often as queries share it, unless its kernel knows of groups.
std::int64_t repeats_of(const at::Tensor& tensor, const HeadShape& shape) {
  return on_device::attends_in_groups(tensor) ? 1 : shape.heads / shape.kv_heads;
}

// Writes the gradient of repeated heads into the joint gradient: repeats are summed.
void gather_repeated(const at::Tensor& into, const at::Tensor& gradient, std::int64_t times) {
  const at::Tensor by_token = gradient.transpose(1, 2);
  if (times == 1)
    into.copy_(by_token);
  else
    into.copy_(by_token.reshape({into.size(0), into.size(1), into.size(2), times, into.size(3)}).sum(3));
}

// Autograd looks at every tensor that it is given, and may not be given one without memory.
struct RotaryTable {
  at::Tensor angles;
  Documents documents;
};
struct KeptPositions : torch::CustomClassHolder {
  KeptPositions(const HeadShape& of_heads, Documents rows) : shape(of_heads), documents(std::move(rows)) {}
  HeadShape shape;
  Documents documents;
};

struct SplitHeadsFunction : torch::autograd::Function<SplitHeadsFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& input, const HeadShape& shape, const RotaryTable& rotary) {
    context->saved_data["rotary"] = rotary.angles;
    context->saved_data["positions"] = c10::IValue::make_capsule(c10::make_intrusive<KeptPositions>(shape, rotary.documents));
    const at::Tensor joint = input.detach();
    apply_rotary(joint, shape, rotary.angles, Turn::Forth, rotary.documents);
    const HeadViews views = views_of(joint, shape);
    if (shape.value_factor != 1) views.values.mul_(shape.value_factor);
    const std::int64_t times = repeats_of(joint, shape);
    variable_list made{views.queries.transpose(1, 2), repeated(views.keys, times), repeated(views.values, times)};
    if (shape.gates > 0) made.push_back(views.gates);
    return made;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto kept = c10::static_intrusive_pointer_cast<KeptPositions>(context->saved_data["positions"].toCapsule());
    const HeadShape& shape = kept->shape;
    const std::int64_t times = repeats_of(gradients[0], shape);
    const at::Tensor joint = at::empty({gradients[0].size(0) * shape.sequence, shape.width()}, gradients[0].options());
    const HeadViews views = views_of(joint, shape);
    views.queries.copy_(gradients[0].transpose(1, 2));
    gather_repeated(views.keys, gradients[1], times);
    gather_repeated(views.values, gradients[2], times);
    if (shape.value_factor != 1) views.values.mul_(shape.value_factor);
    if (shape.gates > 0) views.gates.copy_(gradients[3]);
    apply_rotary(joint, shape, context->saved_data["rotary"].toTensor(), Turn::Back, kept->documents);
    return {joint, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

SplitHeads split_joint(const at::Tensor& joint, const HeadShape& shape, const at::Tensor& rotary, const Documents& documents) {
  const variable_list made = SplitHeadsFunction::apply(joint, shape, RotaryTable{rotary, documents});
  return {{made[0], made[1], made[2]}, shape.gates > 0 ? made[3] : at::Tensor()};
}

}  // namespace executor
