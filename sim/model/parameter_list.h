// Writes the parameters of one layer in the order of their use: each with how tensor ranks cut it and how it begins.
// Not for other rooms.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/model/model_graph.h"

namespace sim {

class ParameterList {
 public:
  ParameterList(const ModelConfig& config, std::string prefix) : config_(config), prefix_(std::move(prefix)) {}

  void add_norm(const std::string& name) {
    if (config_.norm_weight)
      add_vector(name + ".weight", {config_.hidden}, TensorSplit::None, config_.offset_norm ? InitialValue::Zeros : InitialValue::Ones);
    if (has_norm_bias(config_)) add_vector(name + ".bias", {config_.hidden}, TensorSplit::None, InitialValue::Zeros);
  }
  // Of what each tensor rank has a part of the gradient of.
  void add_shared_norm(const std::string& name) {
    const std::size_t before = list_.size();
    add_norm(name);
    for (std::size_t at = before; at < list_.size(); ++at) list_[at].partial_gradient = true;
  }
  void add_inner_norm(const std::string& name, const Operator& op) {
    add_vector(name + ".weight", {op.outputs}, TensorSplit::None, InitialValue::Ones);
    list_.back().partial_gradient = op.gathered;
  }
  void add_layer_norm(const std::string& name, const Operator& op) {
    add_inner_norm(name, op);
    add_vector(name + ".bias", {op.outputs}, TensorSplit::None, InitialValue::Zeros);
    list_.back().partial_gradient = op.gathered;
  }
  // A linear layer; its bias is split only where its outputs are, because it is added after the sum over T otherwise.
  void add_linear(const std::string& name, const Operator& op, std::vector<std::int64_t> row_blocks, double deviation) {
    add_matrix(name + ".weight", row_blocks, op, deviation);
    add_bias(name, op, std::move(row_blocks));
  }
  // Blocks of rows may have none.
  void add_bias(const std::string& name, const Operator& op, std::vector<std::int64_t> row_blocks) {
    const TensorSplit split = op.split == TensorSplit::Rows ? TensorSplit::Rows : TensorSplit::None;
    if (op.bias) add_vector(name + ".bias", std::move(row_blocks), split, InitialValue::Zeros);
  }
  void add_matrix(const std::string& name, std::vector<std::int64_t> row_blocks, const Operator& op, double deviation) {
    const std::int64_t rows = sum(row_blocks);
    list_.push_back({prefix_ + name, rows, op.inputs, op.split, std::move(row_blocks), InitialValue::Normal, deviation, true});
    list_.back().partial_gradient = op.gathered;
  }
  // each: blocks of an expert's rows; two where they are gate and up.
  void add_experts(const std::string& name, const Operator& op, const std::vector<std::int64_t>& each, double deviation) {
    list_.push_back({.name = prefix_ + name + ".weight",
                     .rows = op.experts * op.outputs,
                     .columns = op.inputs,
                     .split = op.split,
                     .row_blocks = of_all_experts(op, each),
                     .deviation = deviation,
                     .expert = true});
  }
  // Behind cut rows each tensor rank adds its share of a bias, and has that share of its gradient.
  void add_expert_biases(const std::string& name, const Operator& op, const std::vector<std::int64_t>& each) {
    if (!op.bias) return;
    const TensorSplit split = op.split == TensorSplit::Rows ? TensorSplit::Rows : TensorSplit::None;
    add_vector(name + ".bias", of_all_experts(op, each), split, InitialValue::Zeros);
    list_.back().expert = true;
    list_.back().partial_gradient = split == TensorSplit::None;
  }
  // Read by every tensor rank, whose gradients of it differ.
  void add_whole(const std::string& name, const Operator& op, double deviation) {
    add_linear(name, op, {op.outputs}, deviation);
    list_.back().partial_gradient = true;
    if (op.bias) list_[list_.size() - 2].partial_gradient = true;
  }
  // Of heads: of each by itself, or of all that a tensor rank has.
  void add_qk_norm(const std::string& name, std::int64_t width) {
    const bool is_joint = config_.qk_norm == QkNorm::Joint;
    add_vector(name + ".weight", {is_joint ? width : config_.head_dim}, is_joint ? TensorSplit::Rows : TensorSplit::None,
               config_.offset_norm ? InitialValue::Zeros : InitialValue::Ones);
    list_.back().partial_gradient = !is_joint;
    if (config_.norm == Norm::LayerNorm && config_.norm_bias && config_.qk_norm == QkNorm::Heads) {
      add_vector(name + ".bias", {config_.head_dim}, TensorSplit::None, InitialValue::Zeros);
      list_.back().partial_gradient = true;
    }
  }
  // Chooses experts, and no gradient reaches it: an optimizer leaves it as it was loaded.
  void add_correction(const std::string& name, std::int64_t experts) {
    add_vector(name, {experts}, TensorSplit::None, InitialValue::Zeros);
  }
  // Of a convolution of each channel by itself.
  void add_channels(const std::string& name, const std::vector<std::int64_t>& blocks, std::int64_t taps, bool bias, double deviation) {
    list_.push_back({prefix_ + name + ".weight", sum(blocks), taps, TensorSplit::Rows, blocks, InitialValue::Normal, deviation, true});
    if (bias) add_vector(name + ".bias", blocks, TensorSplit::Rows, InitialValue::Zeros);
  }
  // A number that all tokens share, of whose gradient each tensor rank has a share.
  void add_number(const std::string& name) {
    add_vector(name, {1}, TensorSplit::None, InitialValue::Ones);
    list_.back().partial_gradient = true;
  }
  void add_gate_norm(const std::string& name, std::int64_t width, bool is_cut) {
    add_vector(name + ".weight", {width}, is_cut ? TensorSplit::Rows : TensorSplit::None, InitialValue::Ones);
    list_.back().partial_gradient = !is_cut;
  }
  void add_layer_scale(const std::string& half) {
    if (config_.layer_scale) add_vector(half + ".layer_scale.weight", {config_.hidden}, TensorSplit::None, InitialValue::Ones);
  }
  void add_padded_bias(const std::string& name, std::int64_t rows) { add_vector(name, {rows}, TensorSplit::Rows, InitialValue::Zeros); }
  void add_per_head(const std::string& name, std::int64_t heads) { add_vector(name, {heads}, TensorSplit::Rows, InitialValue::Zeros); }
  void add_table_of_heads(const std::string& name, std::int64_t columns) {
    const std::int64_t heads = config_.heads;
    list_.push_back(
        {prefix_ + name + ".weight", heads, columns, TensorSplit::Rows, {heads}, InitialValue::Normal, config_.initializer_range, true});
  }
  std::vector<Parameter> finish() && {
    for (Parameter& parameter : list_) {
      parameter.frozen = config_.adapters.has_value();
      parameter.norm = parameter.name.find("norm") != std::string::npos;
    }
    return std::move(list_);
  }

 private:
  static std::vector<std::int64_t> of_all_experts(const Operator& op, const std::vector<std::int64_t>& each) {
    std::vector<std::int64_t> blocks;
    for (std::int64_t expert = 0; expert < op.experts; ++expert) blocks.insert(blocks.end(), each.begin(), each.end());
    return blocks;
  }
  static std::int64_t sum(const std::vector<std::int64_t>& blocks) {
    std::int64_t total = 0;
    for (const std::int64_t block : blocks) total += block;
    return total;
  }
  void add_vector(const std::string& name, std::vector<std::int64_t> row_blocks, TensorSplit split, InitialValue initial) {
    const std::int64_t rows = sum(row_blocks);
    list_.push_back({prefix_ + name, rows, 1, split, std::move(row_blocks), initial, 0.0, false});
  }

  const ModelConfig& config_;
  std::string prefix_;
  std::vector<Parameter> list_;
};

}  // namespace sim
