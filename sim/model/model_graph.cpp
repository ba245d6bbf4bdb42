#include "sim/model/model_graph.h"

#include <fmt/format.h>

#include "sim/model/model_layers.h"

namespace sim {
namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::int64_t elements_of(const Layer& layer) {
  std::int64_t elements = 0;
  for (const Parameter& parameter : layer.parameters) elements += parameter.elements();
  return elements;
}

// Weights of a token's matrix products, without padding rows; a tied weight is one too.
std::int64_t matrix_weights(const ModelGraph& model) {
  std::int64_t weights = 0;
  for (const Layer& layer : model.layers)
    for (const SegmentGraph& segment : layer.segments)
      for (const Operator& op : segment.operators) {
        const bool is_head = segment.segment == Segment::Head;
        if (op.kind == OperatorKind::Linear) weights += op.copies * op.inputs * (is_head ? model.config.vocabulary : op.outputs);
      }
  return weights;
}

}  // namespace

bool has_experts(const ModelConfig& config, std::int64_t block) { return config.experts && block >= config.experts->first_dense_layers; }

LayerIndex ModelGraph::first_of(LayerKind wanted) const {
  for (LayerIndex layer{0}; layer <= head(); ++layer)
    if (kind(layer) == wanted) return layer;
  return LayerIndex::none();
}

LayerKind ModelGraph::kind(LayerIndex layer) const {
  if (layer == LayerIndex(0)) return LayerKind::Embedding;
  if (layer == head()) return LayerKind::Head;
  return has_experts(config, layer.value() - 1) ? LayerKind::ExpertBlock : LayerKind::Block;
}

ModelGraph make_model_graph(const ModelConfig& config, VocabularyMultiple multiple) {
  ModelGraph model;
  model.config = config;
  model.padded_vocabulary = rounded_up(config.vocabulary, multiple.value);
  model.layers.reserve(static_cast<std::size_t>(config.layers) + 2);
  model.layers.push_back(embedding_layer(config, model.padded_vocabulary));
  for (std::int64_t block = 0; block < config.layers; ++block)
    model.layers.push_back(block_layer(config, fmt::format("layers.{}", block), has_experts(config, block)));
  model.layers.push_back(head_layer(config, model.padded_vocabulary));
  return model;
}

std::int64_t num_parameters(const ModelGraph& model) {
  std::int64_t elements = 0;
  for (const Layer& layer : model.layers) elements += elements_of(layer);
  const std::int64_t tables = model.config.tied_embeddings ? 1 : 2;
  return elements - tables * (model.padded_vocabulary - model.config.vocabulary) * model.config.hidden;
}

Flops model_flops(const ModelGraph& model, StepSize size) {
  const double tokens = static_cast<double>(size.global_batch) * static_cast<double>(size.sequence);
  const double attention_width = static_cast<double>(model.config.heads * model.config.head_dim);
  const double scores = 12.0 * static_cast<double>(model.config.layers) * attention_width * static_cast<double>(size.sequence);
  return Flops(tokens * (6.0 * static_cast<double>(matrix_weights(model)) + scores));
}

}  // namespace sim
