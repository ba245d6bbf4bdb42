#include "executor/model/embedding.h"

#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <utility>

#include "executor/model/gradient_place.h"
#include "executor/model/sines.h"

namespace executor {
namespace {

at::Tensor sines_of(const sim::ModelConfig& config, const SampleRows& rows, const at::Tensor& tokens) {
  if (!config.encoder || config.encoder->sines == sim::Sines::None) return {};
  return sine_table({.form = config.encoder->sines, .first = config.position_offset, .count = rows.count}, config.hidden,
                    at::TensorOptions().dtype(tokens.scalar_type()).device(tokens.device()));
}

}  // namespace

Embedding::Embedding(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings)
    : tokens_(find_leaf(layer, ".tokens.weight")),
      widening_(find_leaf(layer, ".widening.weight")),
      target_(stack_of(config, layer, settings.rows, ".")),
      sequence_(settings.sequence),
      first_position_(config.position_offset),
      stretches_(settings.stretches),
      tensor_(settings.tensor) {
  if (!config.encoder) return;
  source_ = stack_of(config, layer, settings.source, ".source_");
  target_.late_positions = config.encoder->late_positions;
  if (target_.late_positions) target_.factor = 1;
}

Embedding::Stack Embedding::stack_of(const sim::ModelConfig& config, const LayerParts& layer, const SampleRows& rows,
                                     const std::string& prefix) {
  return {.rows = rows,
          .positions = find_leaf(layer, prefix + "positions.weight"),
          .types = find_leaf(layer, prefix + "types.weight"),
          .sines = sines_of(config, rows, find_leaf(layer, ".tokens.weight").value),
          .norm = find_norm(config, layer, prefix + "norm"),
          .factor = config.embedding_factor};
}

// Positions in this rank's rows; negative or beyond them for rows that others own.
at::Tensor Embedding::rows_here(const at::Tensor& ids) const {
  return tensor_.degree == 1 ? ids : ids.sub(tensor_.rank * tokens_.value.size(0));
}

at::Tensor Embedding::look_up(const at::Tensor& ids) const {
  const at::Tensor rows = rows_of(ids);
  return widening_.value.defined() ? at::mm(rows, widening_.value.t()) : rows;
}

at::Tensor Embedding::rows_of(const at::Tensor& ids) const {
  if (tensor_.degree == 1) return at::index_select(tokens_.value, 0, ids);
  const std::int64_t rows = tokens_.value.size(0);
  const at::Tensor here = rows_here(ids);
  const at::Tensor foreign = here.lt(0).logical_or_(here.ge(rows));
  return at::index_select(tokens_.value, 0, here.clamp(0, rows - 1)).masked_fill_(foreign.unsqueeze(1), 0.0);
}

// Token i of the microbatch stands at position i mod sequence, or at its place in its document; a stretch may go on into the next one. Whole samples are
// added at once.
void Embedding::add_by_position(const at::Tensor& stream, const at::Tensor& table, Into into, const Documents& documents) const {
  for (TokenStretch left : stretches_)
    while (left.count > 0) {
      const DocumentRows whole =
          documents.none() ? DocumentRows{.begin = left.first / sequence_ * sequence_, .count = sequence_} : documents.at(left.first);
      const std::int64_t position = left.first - whole.begin, count = std::min(whole.count - position, left.count);
      const std::int64_t alike = documents.none() && position == 0 ? std::max<std::int64_t>(left.count / sequence_, 1) : 1,
                         all = alike * count;
      add_alike(stream.narrow(0, left.begin, all).view({alike, count, -1}), table.narrow(0, first_position_ + position, count), into);
      left = {.begin = left.begin + all, .first = left.first + all, .count = left.count - all};
    }
}

// samples [samples, tokens, hidden], whose tokens stand at the positions of these rows. Their sum is one of the table's type.
void Embedding::add_alike(const at::Tensor& samples, const at::Tensor& rows, Into into) {
  if (into == Into::Stream)
    samples.add_(rows);
  else
    rows.add_(samples.size(0) == 1 ? samples.select(0, 0) : samples.sum(0, /*keepdim=*/false, rows.scalar_type()));
}

// Positions of each stack begin with its first token.
void Embedding::positions_of(const Stack& stack, const at::Tensor& stream, Into into, const Documents& documents) const {
  if (stack.sines.defined() && into == Into::Stream) stack.rows.of(stream).add_(stack.sines);
  const at::Tensor& all = into == Into::Table ? stack.positions.gradient : stack.positions.value;
  if (!all.defined()) return;
  if (into == Into::Table) started(all);
  if (stack.rows.are_all()) return add_by_position(stream, all, into, documents);
  const at::Tensor samples = stack.rows.of(stream), table = all.narrow(0, first_position_, stack.rows.count);
  add_alike(samples, table, into);
}

void Embedding::types_of(const Stack& stack, const at::Tensor& stream, Into into) {
  if (into == Into::Stream && stack.types.value.defined()) stream.add_(stack.types.value.select(0, 0));
  if (into == Into::Table && stack.types.gradient.defined()) started(stack.types.gradient).select(0, 0).add_(stream.sum(0));
}

NormActivations Embedding::enter(at::Tensor& stream, const Stack& stack, const Documents& documents) const {
  if (stack.factor != 1) (stack.rows.are_all() ? stream : stack.rows.of(stream)).mul_(stack.factor);
  if (!stack.late_positions) positions_of(stack, stream, Into::Stream, documents);
  types_of(stack, stream, Into::Stream);
  NormResult result;
  if (stack.norm) {
    ResidualStream read{.value = stack.rows.taken(stream), .addend = {}};
    result = norm_forward(read, *stack.norm);
    stream = stack.rows.put(stream, result.output);
  }
  if (stack.late_positions) positions_of(stack, stream, Into::Stream, documents);
  return std::move(result.kept);
}

void Embedding::leave(at::Tensor& gradient, const Stack& stack, const NormActivations& kept, const Documents& documents) const {
  if (stack.late_positions) positions_of(stack, gradient, Into::Table, documents);
  if (stack.norm)
    gradient = stack.rows.put(gradient, norm_backward(kept, {.output = stack.rows.taken(gradient), .stream = {}}, *stack.norm));
  types_of(stack, gradient, Into::Table);
  if (!stack.late_positions) positions_of(stack, gradient, Into::Table, documents);
  if (stack.factor != 1) (stack.rows.are_all() ? gradient : stack.rows.of(gradient)).mul_(stack.factor);
}

EmbeddingActivations Embedding::add_positions(at::Tensor& stream, const Dropout& dropout, const Documents& documents) const {
  EmbeddingActivations kept;
  if (source_) kept.source_norm = enter(stream, *source_, documents);
  kept.norm = enter(stream, target_, documents);
  apply_dropout(stream, dropout);
  return kept;
}

void Embedding::positions_backward(at::Tensor& gradient, const Dropout& dropout, const EmbeddingActivations& kept,
                                   const Documents& documents) const {
  if (!tokens_.gradient.defined()) return;  // frozen: nothing below is trained
  apply_dropout(gradient, dropout);
  leave(gradient, target_, kept.norm, documents);
  if (source_) leave(gradient, *source_, kept.source_norm, documents);
}

namespace {

// Of tables on a device. A row below the last one takes what belongs to none; nothing of it is summed.
at::Tensor summed_rows(const at::Tensor& table, const at::Tensor& ids, const at::Tensor& gradient) {
  const std::int64_t rows = table.size(0);
  const at::Tensor own = ids.masked_fill(ids.lt(0), rows).clamp_max_(rows);
  return at::embedding_dense_backward(gradient, own, rows + 1, /*padding_idx=*/rows, /*scale_grad_by_freq=*/false).narrow(0, 0, rows);
}

}  // namespace

void add_embedding_gradient(const at::Tensor& table, const at::Tensor& ids, const at::Tensor& gradient) {
  if (gradient.is_cpu())
    started(table).index_add_(0, ids, gradient.to(table.scalar_type()));
  else  // index_add_ has no order of its sums there
    add_gradient(table, at::embedding_dense_backward(gradient, ids, table.size(0), /*padding_idx=*/-1, /*scale_grad_by_freq=*/false));
}

// Of the rows that this tensor rank owns: those of others are zero in its part of the product's gradient, too.
void Embedding::look_up_backward(const at::Tensor& gradient, const at::Tensor& ids) const {
  if (!tokens_.gradient.defined()) return;
  if (!widening_.value.defined()) return add_to_table(gradient, ids);
  add_gradient(widening_.gradient, at::mm(gradient.t(), rows_of(ids)));
  add_to_table(at::mm(gradient, widening_.value), ids);
}

void Embedding::add_to_table(const at::Tensor& gradient, const at::Tensor& ids) const {
  const at::Tensor here = rows_here(ids);
  if (tensor_.degree == 1) return add_embedding_gradient(tokens_.gradient, here, gradient);
  if (!gradient.is_cpu()) {  // nonzero waits for the device
    add_gradient(tokens_.gradient, summed_rows(tokens_.gradient, here, gradient));
    return;
  }
  const std::int64_t rows = tokens_.value.size(0);
  const at::Tensor mine = here.ge(0).logical_and_(here.lt(rows)).nonzero().squeeze(1);
  started(tokens_.gradient).index_add_(0, here.index_select(0, mine), gradient.index_select(0, mine).to(tokens_.gradient.scalar_type()));
}

}  // namespace executor
