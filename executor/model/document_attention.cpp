#include "executor/model/document_attention.h"

#include <ATen/OpMathType.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "executor/model/block_attention.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct KeptDocuments : torch::CustomClassHolder {
  KeptDocuments(Documents rows, BlockMask in_each, ScoreWidth of_scores) : documents(std::move(rows)), mask(in_each), width(of_scores) {}
  Documents documents;
  BlockMask mask;
  ScoreWidth width;
  bool is_again = false;  // what attention puts out is made again in the backward
};

// One document of [samples, sequence, ...], as a batch of one.
at::Tensor of(const at::Tensor& tokens_first, const DocumentRows& rows) {
  const std::int64_t sequence = tokens_first.size(1);
  return tokens_first.narrow(0, rows.begin / sequence, 1).narrow(1, rows.begin % sequence, rows.count);
}

// Operands with tokens first.
struct ByToken {
  explicit ByToken(const HeadOperands& heads_first)
      : all{heads_first.queries.transpose(1, 2), heads_first.keys.transpose(1, 2), heads_first.values.transpose(1, 2)} {}
  HeadOperands document(const DocumentRows& rows) const { return {of(all.queries, rows), of(all.keys, rows), of(all.values, rows)}; }
  HeadOperands all;
};

BlockScores attend_each(const ByToken& operands, const KeptDocuments& kept) {
  const at::Tensor &queries = operands.all.queries, &values = operands.all.values;
  const std::int64_t samples = queries.size(0), sequence = queries.size(1), heads = queries.size(2), width = values.size(3);
  const BlockScores whole{
      .output = at::empty({samples, sequence, heads, width}, queries.options()),
      .log_sum_exp = at::empty({samples, sequence, heads}, queries.options().dtype(at::toOpMathType(queries.scalar_type())))};
  for (const DocumentRows& rows : kept.documents.all()) {
    const BlockScores one = attend_block(operands.document(rows), kept.mask, kept.width);
    of(whole.output, rows).copy_(one.output);
    of(whole.log_sum_exp, rows).copy_(one.log_sum_exp);
  }
  return whole;
}

struct DocumentAttentionFunction : torch::autograd::Function<DocumentAttentionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                            const c10::intrusive_ptr<KeptDocuments>& kept) {
    const BlockScores whole = attend_each(ByToken({queries.detach(), keys.detach(), values.detach()}), *kept);
    variable_list saved{queries, keys, values};
    if (!kept->is_again) saved.insert(saved.end(), {whole.output, whole.log_sum_exp});
    context->save_for_backward(std::move(saved));
    context->saved_data["documents"] = c10::IValue::make_capsule(kept);
    return whole.output.view({queries.size(0) * queries.size(2), queries.size(1) * values.size(3)});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto kept = c10::static_intrusive_pointer_cast<KeptDocuments>(context->saved_data["documents"].toCapsule());
    const ByToken operands({saved[0], saved[1], saved[2]});
    const BlockScores whole = kept->is_again ? attend_each(operands, *kept) : BlockScores{.output = saved[3], .log_sum_exp = saved[4]};
    const at::Tensor slope = gradients.front().view(whole.output.sizes());
    const HeadOperands result{at::empty_like(saved[0]), at::empty_like(saved[1]), at::empty_like(saved[2])};
    const ByToken into(result);
    for (const DocumentRows& rows : kept->documents.all()) {
      const MergedScores merged{.scores = {.output = of(whole.output, rows), .log_sum_exp = of(whole.log_sum_exp, rows)},
                                .output_gradient = of(slope, rows)};
      const HeadOperands one = block_gradients(operands.document(rows), merged, kept->mask, kept->width), there = into.document(rows);
      there.queries.copy_(one.queries);
      there.keys.copy_(one.keys);
      there.values.copy_(one.values);
    }
    return {result.queries, result.keys, result.values, at::Tensor()};
  }
};

}  // namespace

at::Tensor attend_documents(const HeadOperands& operands, const Documents& documents, const ScoreForm& form, const Dropout& dropout) {
  const auto& [queries, keys, values] = operands;
  if (dropout.probability > 0 || !form.knows_kernel(queries.size(2))) {
    ScoreForm inside = form;
    inside.documents = documents;
    return attend_heads(operands, inside, dropout);
  }
  const auto kept =
      c10::make_intrusive<KeptDocuments>(documents, form.is_causal ? BlockMask::Causal : BlockMask::None, ScoreWidth{form.scale});
  kept->is_again = form.is_again;
  const at::Tensor output = DocumentAttentionFunction::apply(queries, keys, values, kept);
  offer_saved(operands, {output});
  return output;
}

}  // namespace executor
