// Attention between its two projections where C context ranks share a sample, or slices of it pass one by one: one class a way in which queries meet the keys of other ranks. Each
// goes through the tasks of sim/task_graph/layer_tasks.h: begin, then exchanges and scores as the graph has them, output; backward likewise.
// An exchange is prepared here and performed by TaskRunner; its tensors may be touched again when the next task runs.
#pragma once

#include <array>
#include <functional>
#include <variant>

#include "executor/model/head_exchange.h"
#include "executor/model/piece.h"
#include "executor/training/query_share.h"
#include "executor/training/slice_attention.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"
#include "sim/units/at.h"

namespace executor {

struct Exchange {
  at::Tensor to, from;  // contiguous; of all-gather and reduce-scatter the larger one is the whole buffer
};

// Blocks of keys and values travel; in the backward each with its gradient, a hop behind, to which every rank adds its own part.
//
//   backward hop i carries   [ keys of step i + 1 | gradient of the block of step i - 1 ]    in one buffer; two buffers take turns
class RingAttention {
 public:
  RingAttention(const ContextShape& shape, const Documents& documents) : shape_(&shape), share_(shape, documents) {}
  void begin(at::Tensor joint);
  Exchange exchange(const sim::TaskKey& key);
  void attend(const sim::TaskKey& key);
  at::Tensor output();
  void begin_backward(at::Tensor output_gradient);
  at::Tensor joint_gradient();

 private:
  at::Tensor block(std::int32_t step) const;  // whose turn it is
  std::int64_t source(std::int32_t step) const { return (shape_->rank - step + shape_->ranks) % shape_->ranks; }
  at::Tensor& buffer(std::int32_t hop) { return sim::at(travelling_, hop % 2); }

  const ContextShape* shape_;
  QueryShare share_;
  at::Tensor own_;
  std::array<at::Tensor, 2> travelling_;  // [blocks, own_]
  BlockGradient contribution_;            // of the last step, to its block's
};

// All blocks are there at once, and their gradients are summed over the ranks.
class GatheredAttention {
 public:
  GatheredAttention(const ContextShape& shape, const Documents& documents) : shape_(&shape), share_(shape, documents) {}
  void begin(at::Tensor joint);
  Exchange exchange(const sim::TaskKey& key);
  void attend(const sim::TaskKey& key);
  at::Tensor output();
  void begin_backward(at::Tensor output_gradient);
  at::Tensor joint_gradient();

 private:
  const ContextShape* shape_;
  QueryShare share_;
  at::Tensor own_, gathered_, gradients_, own_gradient_;  // gathered, gradients: [C, own_]
};

// Of all tokens of some heads, [samples * tokens of all ranks, columns / C] -> outputs, recorded by autograd: attention as one rank has it.
using HeadsMixed = std::function<at::Tensor(const at::Tensor& joint)>;
class DealtAttention {
 public:
  DealtAttention(const ContextShape& shape, HeadsMixed mixed, bool keeps_graph);
  void begin(at::Tensor joint);
  Exchange exchange(const sim::TaskKey& key);
  void attend(const sim::TaskKey& key);
  at::Tensor output();
  void begin_backward(at::Tensor output_gradient);
  at::Tensor joint_gradient();

 private:
  HeadsMixed heads_mixed_;
  Dealing joint_, mixed_;
  bool keeps_graph_;
  Piece core_;
  at::Tensor sent_, received_;
};

// Heads are dealt among neighbours; the tokens of all of them, of a part of the heads, go round the ring of neighbourhoods. Exchanges of neighbours
// stand in front of its hops and behind them.
class HierarchicalAttention {
 public:
  HierarchicalAttention(const ContextShape& shape, const Documents& documents);
  void begin(at::Tensor joint) { sent_ = by_heads(joint, joint_); }
  Exchange exchange(const sim::TaskKey& key);
  void attend(const sim::TaskKey& key);
  at::Tensor output();
  void begin_backward(at::Tensor output_gradient) { sent_ = by_heads(output_gradient, mixed_); }
  at::Tensor joint_gradient();

 private:
  void arrive(const sim::TaskKey& key);  // what neighbours have sent, if it waits

  Dealing joint_, mixed_;
  RingAttention ring_;
  at::Tensor sent_, received_;
};

using ContextAttention = std::variant<RingAttention, GatheredAttention, DealtAttention, HierarchicalAttention, SliceAttention>;
// What a microbatch is attended with, by who of them asks for it. keeps_graph: false where the block is computed again before its backward.
struct ContextInputs {
  bool keeps_graph = true;
  Documents documents = {};  // where rows hold some
  HeadsMixed mixed = nullptr;
};
ContextAttention make_context_attention(sim::ContextAlgorithm algorithm, const ContextShape& shape,
                                        ContextInputs inputs);  // shape: outlives it

}  // namespace executor
