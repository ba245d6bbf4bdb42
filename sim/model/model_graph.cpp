#include "sim/model/model_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/model/map_layers.h"
#include "sim/model/model_layers.h"
#include "sim/model/token_prediction.h"
#include "sim/units/at.h"

namespace sim {
namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::int64_t elements_of(const Layer& layer) {
  std::int64_t elements = 0;
  for (const Parameter& parameter : layer.parameters) elements += parameter.elements();
  return elements;
}

// Of three products with a weight, those that are made: of a frozen one no gradient, and in front of all that is trained the forward's alone.
double products_of(const Layer& layer, const Operator& op) {
  return layer.backward == BackwardReach::None ? 1 : (op.frozen ? 2.0 : 3.0) - (op.detached ? 1.0 : 0.0);
}

// Weights of a token's matrix products, without padding rows; a tied weight is one too.
double matrix_weights(const ModelGraph& model) {
  double weights = 0;
  for (const Layer& layer : model.layers)
    for (const SegmentGraph& segment : layer.segments)
      for (const Operator& op : segment.operators) {
        const bool is_padded = op.outputs == model.padded_vocabulary && segment.has(OperatorKind::CrossEntropy);
        if (op.kind == OperatorKind::Linear)
          weights +=
              static_cast<double>(op.copies * op.inputs * (is_padded ? model.config.vocabulary : op.outputs)) * products_of(layer, op) / 3;
      }
  return weights;
}

bool are_equal(const Layer& a, const Layer& b) {
  return a.handed_on == b.handed_on && a.backward == b.backward &&
         std::ranges::equal(a.segments, b.segments, [](const SegmentGraph& x, const SegmentGraph& y) { return are_equal(x, y); });
}

// marks: by layer, or none.
void number_kinds(ModelGraph& model, const std::vector<int>& marks = {}) {
  const auto mark = [&](LayerIndex layer) { return marks.empty() ? 0 : marks[layer.position()]; };
  for (LayerIndex layer{0}; layer <= model.head(); ++layer) {
    const auto same = std::ranges::find_if(
        model.firsts, [&](LayerIndex first) { return mark(first) == mark(layer) && are_equal(model.layer(first), model.layer(layer)); });
    model.kinds.emplace_back(static_cast<std::int32_t>(same - model.firsts.begin()));
    if (same == model.firsts.end()) model.firsts.push_back(layer);
  }
}

Flops flops_of_maps(const ModelGraph& model, StepSize size) {
  Flops flops{};
  for (const Layer& layer : model.layers)
    for (const SegmentGraph& segment : layer.segments)
      for (const Operator& op : segment.operators) flops += forward_flops(op, model.config, {.microbatch = size.global_batch}) * 3;
  return flops;
}

// Of an encoder and a decoder: each product for the tokens whose rows it makes; of attention all pairs, as if no query were held back.
Flops flops_of_stacks(const ModelGraph& model, StepSize size) {
  const ModelConfig& config = model.config;
  const ShardShape shape{.microbatch = size.global_batch, .sequence = size.sequence};
  Flops flops{};
  for (const Layer& layer : model.layers)
    for (const SegmentGraph& segment : layer.segments)
      for (const Operator& op : segment.operators) {
        const bool is_padded = op.outputs == model.padded_vocabulary && segment.has(OperatorKind::CrossEntropy);
        const double real = is_padded ? static_cast<double>(config.vocabulary) / static_cast<double>(op.outputs) : 1;
        if (op.kind == OperatorKind::Linear) flops += forward_flops(op, config, shape) * products_of(layer, op) * real;
        if (op.kind != OperatorKind::Attention) continue;
        const std::int64_t pairs = tokens_in(op.tokens, config, size.sequence) * tokens_in(op.keys_of, config, size.sequence);
        flops += Flops(12.0 * static_cast<double>(size.global_batch) * static_cast<double>(pairs) * static_cast<double>(op.outputs));
      }
  return flops * size.real_share;
}

}  // namespace

bool has_experts(const ModelConfig& config, std::int64_t block) {
  return config.experts && config.experts->has_experts(block) && half_of(config, block) != BlockHalf::Mixer;
}

bool ModelGraph::has(LayerIndex index, Operation wanted) const {
  return std::ranges::any_of(layer(index).segments, [&](const SegmentGraph& segment) { return segment.name == wanted; });
}

ModelGraph make_model_graph(const ModelConfig& config, VocabularyMultiple multiple) {
  ModelGraph model;
  model.config = config;
  model.padded_vocabulary = rounded_up(config.vocabulary, multiple.value);
  if (config.convolution) {
    model.layers = map_layers(*config.convolution, config.vocabulary);
    number_kinds(model);
    return model;
  }
  model.layers.reserve(count_of(config.inner_layers()) + 2);
  model.layers.push_back(embedding_layer(config, model.padded_vocabulary));
  for (std::int64_t block = 0; block < config.layers; ++block)
    model.layers.push_back(block_layer(in_block(config, block), fmt::format("layers.{}", block), block_form(config, block)));
  Layer head = head_layer(config, model.padded_vocabulary), predictions = prediction_layer(config, model.padded_vocabulary);
  if (config.predicts_apart())
    model.layers.push_back(std::move(predictions));
  else
    head = joined(std::move(predictions), std::move(head));
  model.layers.push_back(std::move(head));
  freeze(model);
  number_kinds(model);
  return model;
}

void part_kinds(ModelGraph& model, const std::vector<int>& by_layer) {
  model.kinds.clear();
  model.firsts.clear();
  number_kinds(model, by_layer);
}

std::int64_t num_parameters(const ModelGraph& model) {
  std::int64_t elements = 0;
  for (const Layer& layer : model.layers) elements += elements_of(layer);
  if (model.config.experts && model.config.experts->score_correction)  // what no gradient trains is counted by nobody
    for (std::int64_t block = 0; block < model.config.layers; ++block)
      elements -= has_experts(model.config, block) ? model.config.experts->experts : 0;
  if (model.config.experts && model.config.experts->score_correction && has_experts(model.config, model.config.layers - 1))
    elements -= model.config.mtp_layers * model.config.experts->experts;
  std::int64_t padding = 0;  // of the token table, and of the head's projection
  for (const Layer* layer : {&model.layers.front(), &model.layers.back()})
    for (const Parameter& parameter : layer->parameters)
      if (parameter.split == TensorSplit::Rows && parameter.rows == model.padded_vocabulary)
        padding += (model.padded_vocabulary - model.config.vocabulary) * parameter.columns;
  return elements - padding;
}

Flops model_flops(const ModelGraph& model, StepSize size) {
  if (model.config.convolution) return flops_of_maps(model, size);
  if (model.config.encoder) return flops_of_stacks(model, size);
  const double tokens = static_cast<double>(size.global_batch) * static_cast<double>(size.sequence) * size.real_share;
  const auto attended = static_cast<double>(size.attended > 0 ? size.attended : size.sequence);
  double widths = 0, indexed = 0;  // of heads that attend, keys and values in the mean; layers whose tokens an indexer chooses
  Flops scans{};
  for (const Layer& layer : model.layers)
    for (const SegmentGraph& segment : layer.segments) {
      if (const Operator* op = segment.attention())
        widths += static_cast<double>(op->heads.queries * (op->heads.key_width + op->heads.value_width)) / 2 *
                  (layer.backward == BackwardReach::None ? 1.0 / 3 : 1.0);
      indexed += segment.has(OperatorKind::Indexer) ? 1 : 0;
      if (segment.has(OperatorKind::Scan))
        scans += scan_flops(scan_of(*model.config.linear, {size.global_batch * size.sequence, size.sequence})) * 3;
    }
  const Indexer& indexer = model.config.attention.indexer;
  const double chosen = indexed > 0 ? std::min(attended, static_cast<double>(indexer.topk)) : attended;
  const double scores = indexed * static_cast<double>(indexer.queries()) * (2.0 * attended + 4.0 * chosen);
  return Flops(tokens * (6.0 * matrix_weights(model) + 12.0 * widths * chosen + scores)) + scans;
}

}  // namespace sim
