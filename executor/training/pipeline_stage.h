// The computing half of one rank: the layers of its stage, and the activations between their forward and backward. Each function is one
// compute task of the graph and talks to nobody; what must be summed over tensor ranks, sent or received is handed over in between.
//
// One visit (a microbatch through a chunk, forward or backward) runs at a time: `flow` is the residual stream on the way forward and the
// gradient on the way back; `partial` is what a group sums or exchanges next. A task of another visit puts both aside, and takes up its own: that of
// this stage's chunk before, or of the visit itself, where a backward and a forward take turns (expert_overlap).
// A residual sum is made by the norm behind it, in the task that reads it; by its own task where this chunk has no such norm.
// Parallel blocks: both segments read what came into the block. The sum with attention's output waits until the feed-forward has read it, and on the
// way back the gradient through the feed-forward waits until attention has read that of the block's output.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/model/embedding.h"
#include "executor/model/experts.h"
#include "executor/model/head.h"
#include "executor/model/piece.h"
#include "executor/model/saved_tensors.h"
#include "executor/model/weight_gradients.h"
#include "executor/training/batch.h"
#include "executor/training/context_attention.h"
#include "executor/training/map_stage.h"
#include "executor/training/parameter_store.h"
#include "sim/task_graph/task.h"
#include "sim/timeline/expert_rows.h"

namespace executor {

class PipelineStage {
 public:
  PipelineStage(const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::Rank rank, ParameterStore& parameters);

  void begin_step(StepBatch batch);  // puts what is new in this step where its tasks read it: on a device always the same place
  void begin_tasks() {
    losses_.clear();
    expert_rows_ = {};
  }
  void perform(const sim::TaskKey& key);  // one compute task of phase Forward, Backward, Recompute or Weight
  void set_loss_factor(double factor);    // before a step; 1 / tokens of the global batch, times the scale of fp16

  at::ScalarType type_into(sim::LayerIndex layer) const {  // of the stream that it reads
    return plan_.reads_full(layer) ? type_in(layer) : type_between();
  }
  void begin_again(const sim::TaskKey& exchange);               // that recomputation may begin with: what it moves
  at::Tensor take_flow(const sim::TaskKey& key);                // to be sent on
  void put_flow(at::Tensor received, const sim::TaskKey& key);  // the visit begins with it
  at::Tensor& partial(const sim::TaskKey& key);
  at::Tensor& block_input(const sim::TaskKey& key) {
    return block_activations(key).input;
  }                                                         // of a block that is recomputed, between its forward and that
  void send_saved(const sim::TaskKey& copy);                // what modules of a segment have saved, to the host
  void bring_saved(const sim::TaskKey& copy);               // and back
  Exchange exchange(const sim::TaskKey& key);               // what a task over context ranks moves
  at::Tensor tiles_of_rows(const sim::TaskKey& key) const;  // of 8-bit recipes with tiles, by the microbatch's tokens

  // Experts on several ranks. Before rows leave for them: how many each expert gets [experts], and what all ranks of the group have said [ranks, experts];
  // where ranks share experts [sharers, ranks, experts].
  // Both are the device's numbers where that orders rows: the host waits for them in put_row_counts().
  at::Tensor row_counts(const sim::TaskKey& key);
  void put_row_counts(const at::Tensor& counts, const sim::TaskKey& key);
  // Whether every rank says the same, and all know it; and whether this is said again, of what runs again, and has been put.
  bool are_row_counts_alike(const sim::TaskKey& key);
  bool recalls_row_counts(const sim::TaskKey& key);
  const TokenExchange& token_exchange(const sim::TaskKey& key) { return block_activations(key).experts.exchange; }
  void put_rows(at::Tensor rows, const sim::TaskKey& key);             // exchanged ones
  const sim::ExpertRows& expert_rows() const { return expert_rows_; }  // of this step's tokens, each counted once

  const std::vector<at::Tensor>& losses() const { return losses_; }  // [tokens] each, of the last stage, this step

 private:
  struct SegmentActivations {
    NormActivations norm, norm_behind;
    Piece core;
    MadeAgain again;     // of the core, before its backward
    SavedTensors saved;  // that the host has between forward and backward
  };
  struct BlockActivations {
    at::Tensor input;         // kept for recomputation alone
    at::Tensor module_input;  // likewise, of a feed-forward that is recomputed by itself
    SegmentActivations attention, mlp;
    Piece attention_input;  // attention in three parts: the first; the last is attention.core
    std::optional<CutHeads> cut_heads;
    Piece heads;  // what is between these and the scores, where they are a part of their own
    std::optional<ContextAttention> context;
    at::Tensor gates;  // [tokens, columns] of this rank's tokens, which weigh what the context's attention puts out; a leaf of autograd
    ExpertActivations experts;  // in the place of mlp.core
  };
  struct Block {
    BlockSegment attention, mlp;  // mlp: of a block with experts its norm alone
    std::optional<Experts> experts;
    ContextShape context;  // where context ranks, or slices, share tokens
  };
  struct Shared;
  Block make_block(const sim::ModelGraph& model, sim::LayerIndex layer, const LayerParts& parts, const Shared& shared);
  at::Tensor columns_of(const SampleRows& rows);  // by distance, of the stack with these rows
  // What blocks of one type share: tables of positions, also for those with a window.
  struct Shared {
    SegmentSettings usual, windowed;
    sim::Rank rank;
    sim::SliceIndex slice;
  };
  // What depends on which tokens of a sample an action has.
  struct View {
    TokenStretches stretches;    // which tokens of a microbatch the stream holds
    TokenStretches core_tokens;  // which tokens a segment's core has
    std::map<at::ScalarType, Shared> shared;
    std::optional<Embedding> embedding;
    std::map<sim::LayerIndex, Block> blocks;
  };
  at::ScalarType first_type(sim::Rank rank) const;
  Shared shared_by(at::ScalarType type, sim::Rank rank, sim::SliceIndex slice) const;
  void add_view(const sim::ModelGraph& model, sim::Rank rank, sim::SliceIndex slice);
  const TokenStretches& core_tokens(const sim::TaskKey& key) const;    // as the file has them
  const TokenStretches& stream_places(const sim::TaskKey& key) const;  // likewise
  const View& view(const sim::TaskKey& key) const { return views_[key.slice.exists() ? key.slice.position() : 0]; }
  const ContextShape& context_shape_of(const sim::TaskKey& key) const { return block(key).context; }
  const Block& block(const sim::TaskKey& key) const { return view(key).blocks.at(key.layer); }
  std::size_t piece(const sim::TaskKey& key) const { return plan_.piece_of(key); }
  at::Tensor tokens(const at::Tensor& all, const sim::TaskKey& key) const;  // of ids or targets: those of the key's piece
  enum class Part : std::uint8_t { Attention, Mlp };
  static Part part_of(sim::Operation operation);
  using Perform = void (PipelineStage::*)(const sim::TaskKey&);
  struct Row {
    sim::Phase phase;
    sim::Operation operation;
    Perform perform;
    bool recomputes = false;  // of a forward: performs the same task of a recomputation, too
  };
  static const Row* find_row(const sim::TaskKey& key);
  struct Visit {
    bool forward = true;
    sim::ChunkIndex chunk;
    std::size_t piece = 0;
    bool operator==(const Visit&) const = default;
  };
  struct Aside {
    ResidualStream flow;
    at::Tensor partial;
  };
  void turn_to(const sim::TaskKey& key);
  // Where the backward of a task leaves its weight gradients; nullptr: it computes them itself.
  WeightGradients* later(const sim::TaskKey& key) {
    const bool is_put_off = plan_.splits_backward() || plan_.delays_weights(key.layer, key.microbatch);
    return is_put_off ? &later_[later_key(key)] : nullptr;
  }
  using LaterKey = std::tuple<sim::LayerIndex, std::size_t, sim::Operation>;
  LaterKey later_key(const sim::TaskKey& key) const;

  void embedding(const sim::TaskKey& key);
  void embedding_positions(const sim::TaskKey& key);
  void embedding_positions_backward(const sim::TaskKey& key);
  void embedding_backward(const sim::TaskKey& key);
  void segment_norm(const sim::TaskKey& key);
  void segment(const sim::TaskKey& key);
  void segment_residual(const sim::TaskKey& key);
  void segment_residual_backward(const sim::TaskKey& key);
  void segment_backward(const sim::TaskKey& key);
  void segment_norm_backward(const sim::TaskKey& key);
  void norm_of_rows(const sim::TaskKey& key);
  void residual_of_rows(const sim::TaskKey& key);
  void residual_of_rows_backward(const sim::TaskKey& key);
  void norm_of_rows_backward(const sim::TaskKey& key);
  void drop_rows(const sim::TaskKey& key, at::Tensor& rows) const;
  void attention_input(const sim::TaskKey& key);
  void attention_heads(const sim::TaskKey& key);
  void attention_heads_backward(const sim::TaskKey& key);
  void attention_scores(const sim::TaskKey& key);
  void attention_output(const sim::TaskKey& key);
  void attention_output_backward(const sim::TaskKey& key);
  void attention_input_backward(const sim::TaskKey& key);
  void expert_input(const sim::TaskKey& key);
  void experts(const sim::TaskKey& key);
  void expert_output(const sim::TaskKey& key);
  void expert_output_backward(const sim::TaskKey& key);
  void experts_backward(const sim::TaskKey& key);
  void expert_input_backward(const sim::TaskKey& key);
  void head_norm(const sim::TaskKey& key);
  void head(const sim::TaskKey& key);
  void head_exponentials(const sim::TaskKey& key);
  void head_loss(const sim::TaskKey& key);
  void head_backward(const sim::TaskKey& key);
  void head_norm_backward(const sim::TaskKey& key);
  void weights(const sim::TaskKey& key);

  bool sends_rows() const { return plan_.mesh.expert > 1 || (plan_.mesh.cuts_experts_apart() && plan_.mesh.expert_cut() > 1); }
  bool shares_tensors() const { return tensor_.degree > 1; }
  bool shares_sequence() const { return plan_.sequence_parallel; }  // streams hold this rank's stretch of a microbatch's tokens
  // Each tensor rank has experts of its own for its stretch, and nothing in the segment needs all tokens: as with one tensor rank.
  bool stays_apart(const sim::TaskKey& key) const {
    return plan_.mesh.cuts_experts_apart() && part_of(key.operation) == Part::Mlp && block(key).experts &&
           block(key).experts->form().shared_ffn == 0;
  }
  // A block that is recomputed keeps nothing on its way forward; where its feed-forward alone is, what its norm made.
  bool recomputes_module(const sim::TaskKey& key) const;
  bool keeps_norm(const sim::TaskKey& key) const {
    return key.phase == sim::Phase::Recompute || (goes_back(key.layer) && !plan_.recomputes(key.layer, key.microbatch));
  }
  bool ends_again(const sim::TaskKey& key) const {  // of what is recomputed, nobody reads more
    return key.phase == sim::Phase::Recompute && is_last_segment(key) &&
           !plan_.makes_input_again(sim::LayerIndex(key.layer.value() + 1), key.microbatch);
  }
  bool goes_back(sim::LayerIndex layer) const { return reach_[layer.position()] != sim::BackwardReach::None; }
  void end_backward(sim::LayerIndex layer);
  // What a unit in full precision reads is cast to its own type, and what it hands on to that of the others: itself where they have one. Between two such
  // units nothing is cast.
  at::ScalarType type_in(sim::LayerIndex layer) const;
  void enter_full_block(const sim::TaskKey& key);
  bool leaves_full_block(const sim::TaskKey& key) const {  // for one that is not
    return plan_.is_full(key.layer) && is_last_segment(key) && !plan_.reads_full(sim::LayerIndex(key.layer.value() + 1));
  }
  at::ScalarType type_between() const { return c10::typeMetaToScalarType(parameters_.options().dtype()); }
  bool keeps_graph(const sim::TaskKey& key) const {
    return key.phase == sim::Phase::Recompute || (keeps_norm(key) && !recomputes_module(key));
  }
  SampleRows rows_with_loss() const;
  double share_with_loss() const;  // of a step's tokens
  sim::Modules modules_made_again() const { return plan_.recomputed_modules(); }
  void forget_normalized(const sim::TaskKey& key, const at::Tensor& normalized);
  Saving::What sent() const { return {.modules = plan_.offload_modules, .least = plan_.offload_least}; }
  void save(const sim::TaskKey& key, sim::Module module, const at::Tensor& tensor);
  void save_stream(const sim::TaskKey& key);
  SavedTensors& saved_of(const sim::TaskKey& copy);
  ResidualStream& stream(const sim::TaskKey& key) { return key.phase == sim::Phase::Recompute ? again_ : flow_; }
  void enter_block(const sim::TaskKey& key);
  void enter_core(const sim::TaskKey& key);
  const BlockSegment& segment_of(const sim::TaskKey& key) const;
  BlockActivations& block_activations(const sim::TaskKey& key) { return kept_[{key.layer, piece(key)}]; }
  SegmentActivations& kept_of(const sim::TaskKey& key);
  ContextAttention& context_of(const sim::TaskKey& key);
  bool begins_at_heads(const sim::TaskKey& key) const { return key.operation == sim::Operation::Attention && segment_of(key).cut_heads(); }
  at::Tensor whole_heads(const sim::TaskKey& key);
  void leave_heads(const sim::TaskKey& key, const at::Tensor& gradient);
  void begin_context(const sim::TaskKey& key, at::Tensor joint);
  at::Tensor end_context(const sim::TaskKey& key);  // in backward
  bool is_beside_attention(const sim::TaskKey& key) const { return plan_.model.parallel_blocks && part_of(key.operation) == Part::Mlp; }
  bool norms_sum() const { return plan_.model.norm_place == sim::NormPlace::AfterSum; }  // not the segment's output
  at::Tensor norm_behind(const sim::TaskKey& key, ResidualStream stream);
  bool ends_recomputation(const sim::TaskKey& key) const;
  bool has_next_norm(const sim::TaskKey& key) const;
  bool is_last_segment(const sim::TaskKey& key) const {  // of its block
    return part_of(key.operation) == Part::Mlp || sim::half_of(plan_.model, key.layer.value() - 1) == sim::BlockHalf::Mixer;
  }
  const Documents& documents_of(const sim::TaskKey& key) const;
  Dropout residual_dropout(const sim::TaskKey& key) const;
  Dropout embedding_dropout(const sim::TaskKey& key) const;
  Dropout score_dropout(const sim::TaskKey& key) const;
  using End = BlockSegment::End;
  PairMasks pair_masks(const sim::TaskKey& key, End end) const;
  CoreInputs core_inputs(const sim::TaskKey& key) const;
  Dropout stream_dropout(double probability, const sim::TaskKey& key, std::string_view operation) const;
  RandomKey mask_key(sim::LayerIndex layer, std::string_view operation, std::int64_t step) const;
  void put_mask_keys();
  // elements: of one sample in the tensor that is dropped.
  Dropout dropout(double probability, const sim::TaskKey& key, std::string_view operation, std::int64_t elements) const;

  const sim::ParallelPlan& plan_;
  ParameterStore& parameters_;
  TensorPosition tensor_;
  std::vector<sim::BackwardReach> reach_;  // by layer
  std::int64_t hidden_ = 0;
  LossFactor loss_;                             // holds 1 / tokens of the global batch: the only averaging there is
  std::map<std::int64_t, at::Tensor> columns_;  // of a stack, by its first row
  std::vector<View> views_;                     // by slice; of whole samples one
  std::optional<Head> head_;
  std::optional<MapStage> maps_;  // of a convolutional network: all of it, in the place of views and head
  // By piece of the step: a microbatch, or a slice of it.
  std::map<std::pair<sim::LayerIndex, std::size_t>, BlockActivations> kept_;
  std::map<std::size_t, HeadActivations> kept_head_;
  std::map<std::size_t, EmbeddingActivations> kept_embedding_;
  std::map<std::pair<sim::LayerIndex, sim::MicrobatchIndex>, SliceCache> caches_;  // keys and values that slices share
  std::map<LaterKey, WeightGradients> later_;
  Visit visit_;
  std::map<std::pair<bool, std::size_t>, Aside> aside_;  // by direction and piece, until a task of the same asks for it
  StepBatch batch_;
  std::vector<TokenStretches> stream_places_;  // of batch_.places, those of the stream
  at::Tensor mask_keys_;                       // on a device, where something is dropped: int64 [layers, kinds of masks]
  ResidualStream flow_, again_;                // again_: the stream while a block is recomputed
  at::Tensor partial_;
  std::vector<at::Tensor> losses_;
  sim::ExpertRows expert_rows_;
};

}  // namespace executor
