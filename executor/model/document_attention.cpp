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

struct DocumentAttentionFunction : torch::autograd::Function<DocumentAttentionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                            const Documents& documents, BlockMask mask, ScoreWidth of_scores) {
    const ByToken operands({queries.detach(), keys.detach(), values.detach()});
    const std::int64_t samples = queries.size(0), heads = queries.size(1), sequence = queries.size(2), width = values.size(3);
    const BlockScores whole{
        .output = at::empty({samples, sequence, heads, width}, queries.options()),
        .log_sum_exp = at::empty({samples, sequence, heads}, queries.options().dtype(at::toOpMathType(queries.scalar_type())))};
    for (const DocumentRows& rows : documents.all()) {
      const BlockScores one = attend_block(operands.document(rows), mask, of_scores);
      of(whole.output, rows).copy_(one.output);
      of(whole.log_sum_exp, rows).copy_(one.log_sum_exp);
    }
    context->save_for_backward({queries, keys, values, whole.output, whole.log_sum_exp});
    context->saved_data["documents"] = c10::IValue::make_capsule(c10::make_intrusive<KeptDocuments>(documents, mask, of_scores));
    return whole.output.view({samples * sequence, heads * width});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto kept = c10::static_intrusive_pointer_cast<KeptDocuments>(context->saved_data["documents"].toCapsule());
    const ByToken operands({saved[0], saved[1], saved[2]});
    const at::Tensor slope = gradients.front().view(saved[3].sizes());
    const HeadOperands result{at::empty_like(saved[0]), at::empty_like(saved[1]), at::empty_like(saved[2])};
    const ByToken into(result);
    for (const DocumentRows& rows : kept->documents.all()) {
      const MergedScores merged{.scores = {.output = of(saved[3], rows), .log_sum_exp = of(saved[4], rows)},
                                .output_gradient = of(slope, rows)};
      const HeadOperands one = block_gradients(operands.document(rows), merged, kept->mask, kept->width), there = into.document(rows);
      there.queries.copy_(one.queries);
      there.keys.copy_(one.keys);
      there.values.copy_(one.values);
    }
    return {result.queries, result.keys, result.values, at::Tensor(), at::Tensor(), at::Tensor()};
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
  const at::Tensor output = DocumentAttentionFunction::apply(queries, keys, values, documents,
                                                             form.is_causal ? BlockMask::Causal : BlockMask::None, ScoreWidth{form.scale});
  offer_saved(operands, {output});
  return output;
}

}  // namespace executor
