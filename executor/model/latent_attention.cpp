#include "executor/model/latent_attention.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "executor/model/document_attention.h"
#include "executor/model/linear.h"
#include "executor/model/made_again.h"
#include "executor/model/rotary.h"
#include "executor/model/saved_tensors.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A norm inside a piece. Its scale is no input of the function: its gradient is written to the leaf.
struct LatentNormFunction : torch::autograd::Function<LatentNormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const Leaf& scale) {
    ResidualStream stream{.value = input.detach(), .addend = {}};
    const NormResult result = norm_forward(stream, layer({scale.value.detach(), scale.gradient}));
    context->saved_data["kept"] = std::vector<at::Tensor>{result.kept.input, result.kept.inverse};
    context->saved_data["leaf"] = std::vector<at::Tensor>{scale.value.detach(), scale.gradient};
    return result.output;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const std::vector<at::Tensor> kept = context->saved_data["kept"].toTensorVector(), leaf = context->saved_data["leaf"].toTensorVector();
    context->saved_data.clear();
    return {norm_backward({.input = kept[0], .mean = {}, .inverse = kept[1]}, {.output = gradients.front(), .stream = {}},
                          layer({leaf[0], leaf[1]})),
            {}};
  }
  static NormLayer layer(const Leaf& scale) {
    constexpr double kEpsilon = 1e-6;  // DeepSeek's, whatever rms_norm_eps says
    return {.kind = sim::Norm::RmsNorm, .epsilon = kEpsilon, .scale = scale, .shift = {}};
  }
};

// In place: heads [samples, sequence, count, width], whose numbers of a head lie side by side.
void turn_neighbours(const at::Tensor& heads, const at::Tensor& table, Turn direction, const Documents& documents = {}) {
  for (const DocumentRows& rows : documents.all()) {  // each as a sample of its own
    const at::Tensor one = heads.narrow(0, rows.begin / heads.size(1), 1).narrow(1, rows.begin % heads.size(1), rows.count);
    turn_neighbours(one, table.narrow(1, 0, rows.count).contiguous(), direction);
  }
  if (!documents.none()) return;
  const double sign = direction == Turn::Forth ? 1 : -1;
  if (!heads.is_cpu()) {
    const auto wide = at::toOpMathType(heads.scalar_type());
    const at::Tensor pairs = heads.unflatten(3, {-1, 2}), first = pairs.select(4, 0).to(wide), second = pairs.select(4, 1).to(wide);
    const at::Tensor angles = table.to(wide).unsqueeze(2), along = angles[0], turned = angles[1].mul(sign);
    pairs.copy_(at::stack({first * along - second * turned, second * along + first * turned}, 4));
    return;
  }
  const std::int64_t sequence = heads.size(1), half = heads.size(3) / 2;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, heads.scalar_type(), "turn_neighbours", [&] {
    using Wide = at::opmath_type<scalar_t>;
    const scalar_t* cosine = table.data_ptr<scalar_t>();
    for (std::int64_t row = 0; row < heads.size(0) * sequence * heads.size(2); ++row) {
      const std::int64_t head = row % heads.size(2), position = row / heads.size(2) % sequence, sample = row / heads.size(2) / sequence;
      scalar_t* numbers = heads.data_ptr<scalar_t>() + sample * heads.stride(0) + position * heads.stride(1) + head * heads.stride(2);
      for (std::int64_t i = 0; i < half; ++i) {
        const Wide first = numbers[2 * i], second = numbers[2 * i + 1], along = cosine[position * half + i];
        const Wide turned = static_cast<Wide>(cosine[(sequence + position) * half + i]) * static_cast<Wide>(sign);
        numbers[2 * i] = static_cast<scalar_t>(first * along - second * turned);
        numbers[2 * i + 1] = static_cast<scalar_t>(second * along + first * turned);
      }
    }
  });
}

// What the projections put out, joined to operands of the kernel.
struct JoinShape {
  std::int64_t heads, nope, rope, value, sequence;
  std::int64_t key_operand, value_operand;
  Documents documents = {};
  std::vector<std::int64_t> list() const { return {heads, nope, rope, value, sequence, key_operand, value_operand}; }
  static JoinShape of(const std::vector<std::int64_t>& all) { return {all[0], all[1], all[2], all[3], all[4], all[5], all[6], {}}; }

  at::Tensor by_head(const at::Tensor& tokens, std::int64_t count, std::int64_t width) const {
    return tokens.view({-1, sequence, count, width});
  }
  at::Tensor operand(const at::Tensor& like, std::int64_t used, std::int64_t width) const {
    const std::vector<std::int64_t> sizes{like.size(0) / sequence, sequence, heads, width};
    return used < width ? at::zeros(sizes, like.options()) : at::empty(sizes, like.options());
  }
};

struct LatentPositions : torch::CustomClassHolder {
  explicit LatentPositions(Documents rows) : documents(std::move(rows)) {}
  Documents documents;
};

struct JoinFunction : torch::autograd::Function<JoinFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& query, const at::Tensor& key_value, const at::Tensor& position,
                               const at::Tensor& table, const JoinShape& shape, double score_scale) {
    context->saved_data["score_scale"] = score_scale;
    context->saved_data["shape"] = shape.list();
    context->saved_data["documents"] = c10::IValue::make_capsule(c10::make_intrusive<LatentPositions>(shape.documents));
    context->saved_data["table"] = table;
    const std::int64_t width = shape.nope + shape.rope;
    at::Tensor queries = shape.by_head(query.detach(), shape.heads, width);
    turn_neighbours(queries.narrow(3, shape.nope, shape.rope), table, Turn::Forth, shape.documents);
    if (score_scale != 1) queries.mul_(score_scale);
    if (width < shape.key_operand) {
      const at::Tensor wide = shape.operand(query, width, shape.key_operand);
      wide.narrow(3, 0, width).copy_(queries);
      queries = wide;
    }
    const at::Tensor turned = shape.by_head(position.detach().clone(), 1, shape.rope),
                     both = shape.by_head(key_value.detach(), shape.heads, shape.nope + shape.value);
    turn_neighbours(turned, table, Turn::Forth, shape.documents);
    const at::Tensor keys = shape.operand(query, width, shape.key_operand), values = shape.operand(query, shape.value, shape.value_operand);
    keys.narrow(3, 0, shape.nope).copy_(both.narrow(3, 0, shape.nope));
    keys.narrow(3, shape.nope, shape.rope).copy_(turned.expand({-1, -1, shape.heads, -1}));
    values.narrow(3, 0, shape.value).copy_(both.narrow(3, shape.nope, shape.value));
    return {queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const JoinShape shape = JoinShape::of(context->saved_data["shape"].toIntVector());
    const auto positions = c10::static_intrusive_pointer_cast<LatentPositions>(context->saved_data["documents"].toCapsule());
    const at::Tensor table = context->saved_data["table"].toTensor();
    const std::int64_t width = shape.nope + shape.rope, tokens = gradients[0].size(0) * shape.sequence;
    const at::Tensor keys = gradients[1].transpose(1, 2), query = gradients[0].transpose(1, 2).narrow(3, 0, width).contiguous();
    turn_neighbours(query.narrow(3, shape.nope, shape.rope), table, Turn::Back, positions->documents);
    if (const double score_scale = context->saved_data["score_scale"].toDouble(); score_scale != 1) query.mul_(score_scale);
    const at::Tensor both = at::empty({keys.size(0), shape.sequence, shape.heads, shape.nope + shape.value}, keys.options());
    both.narrow(3, 0, shape.nope).copy_(keys.narrow(3, 0, shape.nope));
    both.narrow(3, shape.nope, shape.value).copy_(gradients[2].transpose(1, 2).narrow(3, 0, shape.value));
    const at::Tensor position = keys.narrow(3, shape.nope, shape.rope).sum(2, /*keepdim=*/true);
    turn_neighbours(position, table, Turn::Back, positions->documents);
    return {query.view({tokens, -1}), both.view({tokens, -1}), position.view({tokens, -1}), {}, {}, {}};
  }
};

at::Tensor latent_norm(const at::Tensor& input, const Leaf& scale) { return LatentNormFunction::apply(input, scale); }

// What a product that leads up puts out, and what it has read.
struct LedUp {
  at::Tensor output, read;
};
LedUp led_up(const Leaf& weight, const Leaf& norm, const at::Tensor& narrow) {
  const at::Tensor read = norm.value.defined() ? latent_norm(narrow, norm) : narrow;
  return {linear(read, weight), read};
}
// Without a narrow vector of theirs: from the segment's input.
LedUp queries_of(const LatentProjections& layer, const at::Tensor& from) {
  return layer.form.q_lora > 0 ? led_up(layer.q_up, layer.q_norm, from) : led_up(layer.q, {}, from);
}

std::vector<at::Tensor> without_graph(std::vector<at::Tensor> tensors) {
  for (at::Tensor& tensor : tensors) tensor = tensor.detach();
  return tensors;
}

// used: of the operands' widths, what is no filling.
at::Tensor fused_attention(const HeadOperands& operands, const OperandWidths& used, bool is_again = false) {
  const at::Tensor& queries = operands.queries;
  const double scale = 1 / std::sqrt(static_cast<double>(used.key));
  const at::Tensor mixed = attend_fused(operands, {.is_again = is_again, .scale = scale});
  const at::Tensor rows =
      mixed.transpose(1, 2).narrow(3, 0, used.value);  // as the kernel writes them: the gradient comes in its layout, and is not copied
  at::Tensor output = rows.reshape({queries.size(0) * queries.size(2), queries.size(1) * used.value});
  offer_saved(operands, {mixed, output});
  return output;
}

}  // namespace

LatentProjections latent_projections(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings) {
  const auto leaf = [&](const char* name) { return find_leaf(layer, std::string(".attention.") + name + ".weight"); };
  return {.form = config.attention,
          .heads = config.heads / settings.tensor.degree,
          .sequence = settings.tokens > 0 ? settings.tokens : settings.sequence,
          .score_scale = latent_score_scale(config),
          .q = leaf("q"),
          .q_down = leaf("q_down"),
          .q_norm = leaf("q_norm"),
          .q_up = leaf("q_up"),
          .kv_down = leaf("kv_down"),
          .kv_norm = leaf("kv_norm"),
          .kv_up = leaf("kv_up")};
}

OperandWidths fused_widths(const LatentProjections& layer, const at::Tensor& input) {
  const std::int64_t widest = std::max(layer.form.key_width(), layer.form.v_dim);
  return input.is_cpu() ? OperandWidths{widest, widest} : OperandWidths{layer.form.key_width(), layer.form.v_dim};
}

HeadOperands latent_heads(const LatentProjections& layer, const at::Tensor& normalized, const at::Tensor& rotary,
                          const OperandWidths& widths, const Documents& positions) {
  const sim::AttentionForm& form = layer.form;
  const JoinShape shape{.heads = layer.heads,
                        .nope = form.qk_nope,
                        .rope = form.qk_rope,
                        .value = form.v_dim,
                        .sequence = layer.sequence,
                        .key_operand = widths.key,
                        .value_operand = widths.value,
                        .documents = positions};
  const auto answers = std::make_shared<RankAnswers>();
  const auto answering = [answers](Answering::How how, const auto& lead_up) {
    const Answering one(*answers, how);
    return lead_up();
  };
  // Products in the order of the plan's operators: ranks may ask each other in front of each.
  using enum Answering::How;
  const at::Tensor narrow = form.q_lora > 0 ? linear(normalized, layer.q_down) : normalized;
  const LedUp queries = answering(Keep, [&] { return queries_of(layer, narrow); });
  const std::vector<at::Tensor> down = linear(normalized, layer.kv_down).split_with_sizes({form.kv_lora, form.qk_rope}, 1);
  const at::Tensor latent = down[0].contiguous();
  const LedUp keys = answering(Keep, [&] { return led_up(layer.kv_up, layer.kv_norm, latent); });
  const auto joined = [layer, shape, rotary](const LedUp& of_queries, const LedUp& of_keys, const at::Tensor& turned) {
    std::vector<at::Tensor> made = JoinFunction::apply(of_queries.output, of_keys.output, turned, rotary, shape, layer.score_scale);
    made.push_back(of_keys.read);
    if (layer.form.q_lora > 0) made.push_back(of_queries.read);
    return made;
  };
  const std::vector<at::Tensor> made = joined(queries, keys, down[1]);
  Saving::offer(sim::Module::QkvProduct, {narrow, latent, queries.read, keys.read});
  Recomputing::offer(sim::Module::MlaUpProjection, without_graph(made),
                     [layer, joined, answering, narrow = narrow.detach(), latent = latent.detach(), turned = down[1].detach()] {
                       return answering(Repeat, [&] {
                         const LedUp again = queries_of(layer, narrow);
                         return joined(again, led_up(layer.kv_up, layer.kv_norm, latent), turned);
                       });
                     });
  return {made[0], made[1], made[2]};
}

at::Tensor latent_attention(const LatentProjections& layer, const at::Tensor& normalized, const at::Tensor& rotary, const ScoreForm& masks,
                            const CoreInputs& inputs) {
  const OperandWidths used{layer.form.key_width(), layer.form.v_dim};
  if (!inputs.attended.none()) {
    const auto [queries, keys, values] = latent_heads(layer, normalized, rotary, used, inputs.positions);
    return attend_documents({queries, keys, values}, inputs.attended, masks, inputs.scores);
  }
  if (inputs.scores.probability > 0) return attend_heads(latent_heads(layer, normalized, rotary, used), masks, inputs.scores);
  return fused_attention(latent_heads(layer, normalized, rotary, fused_widths(layer, normalized)), used, masks.is_again);
}

at::Tensor latent_joint(const LatentProjections& layer, const at::Tensor& normalized, const at::Tensor& rotary) {
  const auto [queries, keys, values] = latent_heads(layer, normalized, rotary, {layer.form.key_width(), layer.form.v_dim});
  const auto rows = [&](const at::Tensor& heads) { return heads.transpose(1, 2).reshape({normalized.size(0), -1}); };
  return at::cat({rows(queries), rows(keys), rows(values)}, 1);
}

at::Tensor latent_mixed(const at::Tensor& joint, const HeadShape& heads, const Documents& documents) {
  const std::int64_t widest = joint.is_cpu() && documents.none() ? std::max(heads.head_dim, heads.value_width()) : 0,
                     keys = heads.heads * heads.head_dim;
  const auto part = [&](std::int64_t first, std::int64_t width) {
    const at::Tensor own = joint.narrow(1, first, heads.heads * width).view({-1, heads.sequence, heads.heads, width});
    return (width < widest ? at::constant_pad_nd(own, {0, widest - width}) : own).transpose(1, 2);
  };
  const HeadOperands operands{part(0, heads.head_dim), part(keys, heads.head_dim), part(2 * keys, heads.value_width())};
  if (!documents.none()) return attend_documents(operands, documents, {});
  return fused_attention(operands, {heads.head_dim, heads.value_width()});
}

}  // namespace executor
