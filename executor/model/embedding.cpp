#include "executor/model/embedding.h"

#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <utility>

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
      positions_(find_leaf(layer, ".positions.weight")),
      source_positions_(find_leaf(layer, ".source_positions.weight")),
      norm_(find_norm(config, layer, ".norm")),
      source_norm_(find_norm(config, layer, ".source_norm")),
      source_(settings.source),
      target_(settings.rows),
      sines_(sines_of(config, target_, tokens_.value)),
      source_sines_(sines_of(config, source_, tokens_.value)),
      factor_(config.embedding_factor),
      sequence_(settings.sequence),
      first_position_(config.position_offset),
      stretches_(settings.stretches),
      tensor_(settings.tensor) {}

// Positions in this rank's rows; negative or beyond them for rows that others own.
at::Tensor Embedding::rows_here(const at::Tensor& ids) const {
  return tensor_.degree == 1 ? ids : ids.sub(tensor_.rank * tokens_.value.size(0));
}

at::Tensor Embedding::look_up(const at::Tensor& ids) const {
  if (tensor_.degree == 1) return at::index_select(tokens_.value, 0, ids);
  const std::int64_t rows = tokens_.value.size(0);
  const at::Tensor here = rows_here(ids);
  const at::Tensor foreign = here.lt(0).logical_or_(here.ge(rows));
  return at::index_select(tokens_.value, 0, here.clamp(0, rows - 1)).masked_fill_(foreign.unsqueeze(1), 0.0);
}

// Token i of the microbatch stands at position i mod sequence, or at its place in its document; a stretch may go on into the next one.
void Embedding::add_by_position(const at::Tensor& stream, const at::Tensor& table, Into into, const Documents& documents) const {
  for (TokenStretch left : stretches_)
    while (left.count > 0) {
      const DocumentRows whole =
          documents.none() ? DocumentRows{.begin = left.first / sequence_ * sequence_, .count = sequence_} : documents.at(left.first);
      const std::int64_t position = left.first - whole.begin, count = std::min(whole.count - position, left.count);
      const at::Tensor tokens = stream.narrow(0, left.begin, count), rows = table.narrow(0, first_position_ + position, count);
      into == Into::Table ? rows.add_(tokens) : tokens.add_(rows);
      left = {.begin = left.begin + count, .first = left.first + count, .count = left.count - count};
    }
}

// Positions of each stack begin with its first token.
void Embedding::add_by_stack(const at::Tensor& stream, Into into) const {
  for (const auto& [rows, leaf] : {std::pair(&source_, &source_positions_), std::pair(&target_, &positions_)}) {
    const at::Tensor samples = rows->of(stream);
    const at::Tensor table = (into == Into::Table ? leaf->gradient : leaf->value).narrow(0, first_position_, rows->count);
    into == Into::Table ? table.add_(samples.sum(0)) : samples.add_(table);
  }
}

EmbeddingActivations Embedding::add_positions(at::Tensor& stream, const Dropout& dropout, const Documents& documents) const {
  if (factor_ != 1) stream.mul_(factor_);
  if (source_positions_.value.defined())
    add_by_stack(stream, Into::Stream);
  else if (positions_.value.defined())
    add_by_position(stream, positions_.value, Into::Stream, documents);
  if (sines_.defined()) target_.of(stream).add_(sines_), source_.of(stream).add_(source_sines_);
  EmbeddingActivations kept;
  const auto normed = [&stream](const NormLayer& norm, const SampleRows& rows) {
    ResidualStream read{.value = rows.taken(stream), .addend = {}};
    NormResult result = norm_forward(read, norm);
    stream = rows.put(stream, result.output);
    return std::move(result.kept);
  };
  if (source_norm_) kept.source_norm = normed(*source_norm_, source_);
  if (norm_) kept.norm = normed(*norm_, target_);
  apply_dropout(stream, dropout);
  return kept;
}

void Embedding::positions_backward(at::Tensor& gradient, const Dropout& dropout, const EmbeddingActivations& kept,
                                   const Documents& documents) const {
  if (!tokens_.gradient.defined()) return;  // frozen: nothing below is trained
  apply_dropout(gradient, dropout);
  const auto through = [&gradient](const NormActivations& of_norm, const NormLayer& norm, const SampleRows& rows) {
    gradient = rows.put(gradient, norm_backward(of_norm, {.output = rows.taken(gradient), .stream = {}}, norm));
  };
  if (norm_) through(kept.norm, *norm_, target_);
  if (source_norm_) through(kept.source_norm, *source_norm_, source_);
  if (source_positions_.value.defined())
    add_by_stack(gradient, Into::Table);
  else if (positions_.value.defined())
    add_by_position(gradient, positions_.gradient, Into::Table, documents);
  if (factor_ != 1) gradient.mul_(factor_);
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
    table.index_add_(0, ids, gradient.to(table.scalar_type()));
  else  // index_add_ has no order of its sums there
    table.add_(at::embedding_dense_backward(gradient, ids, table.size(0), /*padding_idx=*/-1, /*scale_grad_by_freq=*/false));
}

void Embedding::look_up_backward(const at::Tensor& gradient, const at::Tensor& ids) const {
  if (!tokens_.gradient.defined()) return;
  const at::Tensor here = rows_here(ids);
  if (tensor_.degree == 1) return add_embedding_gradient(tokens_.gradient, here, gradient);
  if (!gradient.is_cpu()) {  // nonzero waits for the device
    tokens_.gradient.add_(summed_rows(tokens_.gradient, here, gradient));
    return;
  }
  const std::int64_t rows = tokens_.value.size(0);
  const at::Tensor mine = here.ge(0).logical_and_(here.lt(rows)).nonzero().squeeze(1);
  tokens_.gradient.index_add_(0, here.index_select(0, mine), gradient.index_select(0, mine).to(tokens_.gradient.scalar_type()));
}

}  // namespace executor
