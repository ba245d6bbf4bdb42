// What a stage does, gathered in words: layers in expected_work.cpp, gradients and the step in expected_step.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/check/asked_scales.h"
#include "sim/check/expected_work.h"
#include "sim/check/graph_rules.h"
#include "sim/check/layer_words.h"

namespace sim {

class StageWork {
 public:
  StageWork(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage, const std::vector<Bucket>& buckets)
      : model_(model),
        plan_(plan),
        stage_(stage),
        buckets_(buckets),
        element_(plan.bytes(Numbers::Activations)),
        weight_(plan.bytes(Numbers::Weights)),
        gradient_(plan.bytes(Numbers::Gradients)),
        sent_(plan.bytes(Numbers::Wire)),
        hidden_(element_ * (tokens() * model.config.hidden)) {}

  std::vector<ExpectedTask> list() && {
    for (MicrobatchIndex m(0); m.value() < plan_.num_microbatches(); ++m) {
      const std::vector<Turn> turns = turns_of(m);
      for (const Turn& turn : turns)
        for (ChunkIndex c(0); c.value() < plan_.chunks; ++c) forward(turn, c);
      for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn)
        for (ChunkIndex c(plan_.chunks - 1); c.exists(); c = ChunkIndex(c.value() - 1)) backward(*turn, c);
      for (ChunkIndex c(0); plan_.splits_backward() && c.value() < plan_.chunks; ++c) weights(turns.front(), c);
    }
    for (MicrobatchIndex m(0); m.value() < plan_.num_microbatches(); ++m) delayed_weights(m);
    gradients();
    step();
    return std::move(tasks_);
  }

 private:
  using Positions = std::vector<std::size_t>;
  struct Turn {  // what an action works on
    MicrobatchIndex microbatch;
    SliceIndex slice;  // none: all of it
    auto operator<=>(const Turn&) const = default;
  };
  using OfLayer = std::pair<Turn, LayerIndex>;
  std::vector<Turn> turns_of(MicrobatchIndex m) const {
    if (plan_.slices == 1) return {{m, SliceIndex::none()}};
    std::vector<Turn> turns;
    for (SliceIndex slice(0); slice.value() < plan_.slices; ++slice) turns.push_back({m, slice});
    return turns;
  }
  std::int64_t tokens() const { return plan_.microbatch_size * (plan_.workload.sequence / plan_.mesh.context / plan_.slices); }
  std::int64_t tokens_of(std::string_view word, const TaskKey& key) const;  // that a word of a layer exchanges
  std::int64_t source_tokens() const;                                       // of a microbatch, where there is an encoder
  bool is_of_source(LayerIndex layer) const { return plan_.model.encoder && layer.value() <= plan_.model.encoder->layers; }
  bool reads_source(LayerIndex layer) const {
    return plan_.model.encoder && !is_of_source(layer) && (layer.value() - plan_.model.encoder->layers) % 2 == 0;
  }
  std::int64_t rows_of(LayerIndex block) const {  // that its products are of
    const std::int64_t source = plan_.model.encoder ? source_tokens() : 0;
    return is_of_source(block) ? source : tokens() - source;
  }
  std::int64_t rows_to_experts(std::int64_t of_tokens) const;

  std::size_t add(const TaskKey& key, Bytes payload, Positions after) {
    tasks_.push_back({key, payload, std::move(after)});
    return tasks_.size() - 1;
  }
  void chain(const TaskKey& key, Bytes payload) { last_ = {add(key, payload, last_)}; }
  // Equal ones of a layer in a phase are numbered as they come.
  TaskKey numbered(TaskKey key) {
    TaskKey plain = key;
    plain.sequence = 0;
    key.sequence = seen_[plain]++;
    return key;
  }
  void next(const TaskKey& key, Bytes payload) { chain(numbered(key), payload); }
  void say_forward(const TaskKey& key);
  void say_backward(const TaskKey& key);
  void say_end(const TaskKey& key);
  // What predicts further tokens, at the head's begin or in front of it, is blocks as the last one.
  LayerIndex block_of(LayerIndex layer) const { return std::min(layer, LayerIndex(static_cast<std::int32_t>(plan_.model.layers))); }
  LayerIndex predicting() const { return LayerIndex(model_.head().value() - (plan_.model.mtp_apart ? 1 : 0)); }
  std::int64_t predictions_of(LayerIndex layer) const { return layer == predicting() ? plan_.model.mtp_layers : 0; }
  std::int64_t blocks_in(LayerIndex layer) const { return std::max<std::int64_t>(1, predictions_of(layer)); }  // of one between the ends
  std::string_view pick(const Words& words) const {
    return plan_.mesh.tensor == 1 ? words.single : plan_.sequence_parallel ? words.sequence : words.tensor;
  }
  TaskKey at(const Turn& turn, ChunkIndex c, LayerIndex layer, Phase phase) const {
    return {.stage = stage_, .chunk = c, .microbatch = turn.microbatch, .slice = turn.slice, .layer = layer, .phase = phase};
  }
  // Experts cut by a degree of their own: the ranks of a stage are dealt out anew.
  std::int32_t degree_of_experts() const { return plan_.mesh.expert_tensor > 0 ? plan_.mesh.expert_tensor : plan_.mesh.tensor; }
  bool has_own_degree() const { return degree_of_experts() != plan_.mesh.tensor; }
  std::int32_t copies_of_experts() const {
    return plan_.mesh.data * plan_.mesh.context / plan_.mesh.replicas * plan_.mesh.tensor / (plan_.mesh.expert * degree_of_experts());
  }
  // Then tensor ranks send the tokens that they have, and nothing is gathered around the experts unless shared ones want it.
  bool routes_its_part(LayerIndex layer) const {
    return is_routed(layer) && has_own_degree() && plan_.mesh.tensor > 1 && plan_.model.experts->shared_ffn == 0;
  }
  bool norms_behind() const { return plan_.model.norm_place != NormPlace::Before; }
  // A norm behind the sum reads it; a program runs the block to its end.
  bool repeats_all() const {
    return norms_behind() ||
           (plan_.recompute == Recompute::Full && (habits_of(plan_.cluster).repeats_blocks || plan_.recompute_scope.together > 1));
  }
  BlockHalf half(LayerIndex of) const {
    const std::vector<BlockHalf>& halves = plan_.model.halves;
    const std::size_t block = block_of(of).position();
    return block > 0 && block <= halves.size() ? halves[block - 1] : BlockHalf::Both;
  }
  bool has_mixer(LayerIndex layer) const { return half(layer) != BlockHalf::FeedForward; }
  bool has_feed_forward(LayerIndex layer) const { return half(layer) != BlockHalf::Mixer; }
  bool is_routed(LayerIndex of) const {
    if (!plan_.model.experts) return false;
    const LayerIndex layer = block_of(of);
    const ExpertForm& form = *plan_.model.experts;
    const bool is_exempt = std::find(form.dense_layers.begin(), form.dense_layers.end(), layer.value() - 1) != form.dense_layers.end();
    return has_feed_forward(of) && layer.value() > form.first_dense_layers && layer.value() % form.every == 0 && !is_exempt;
  }
  bool repeats_feed_forward(LayerIndex layer) const {
    return plan_.recompute == Recompute::Selective && has_feed_forward(layer) &&
           plan_.recompute_scope.modules.has(is_routed(layer) ? Module::Moe : Module::Mlp);
  }
  bool is_again(MicrobatchIndex m, LayerIndex layer, const LayerRange& part) const {
    if (layer == LayerIndex(0) || layer == model_.head()) return false;
    if (plan_.recompute != Recompute::Full) return repeats_feed_forward(layer);
    const RecomputeScope& scope = plan_.recompute_scope;
    const std::int32_t number = number_in(part, layer);
    const bool has_number = scope.first > 0 || !scope.by_stage.empty();
    const std::int32_t most = scope.by_stage.empty() ? scope.first : scope.by_stage[stage_.position()];
    const bool ends_group = number % scope.together == 0 || layer.value() + 1 == std::min(part.end.value(), model_.head().value());
    return !(scope.but_last && m.value() + 1 == plan_.num_microbatches()) && (!has_number || number <= most) && number % scope.every == 0 &&
           ends_group;
  }
  LayerIndex first_again(LayerIndex layer, const LayerRange& part) const {  // of those that are made again in front of its backward
    return LayerIndex(layer.value() - (number_in(part, layer) - 1) % plan_.recompute_scope.together);
  }
  std::int32_t number_in(const LayerRange& part, LayerIndex layer) const {
    return layer.value() - std::max(part.begin.value(), 1) + 1;
  }                                            // of its blocks, from 1
  bool ends_encoder(LayerIndex layer) const {  // with a norm, as norms_behind
    const std::optional<EncoderForm>& form = plan_.model.encoder;
    return form && form->final_norm && layer.value() == form->layers;
  }
  void say_again(const TaskKey& key) {
    if (is_of_maps())
      say(map_words(key.layer, false), key);
    else if (plan_.recompute != Recompute::Full)
      for (depth_ = 0; depth_ < blocks_in(key.layer); ++depth_) come(key, Half::FeedForward), say_feed_forward(kFeedForwardAgain, key);
    else if (repeats_all() || ends_encoder(key.layer))
      say_inner(key);
    else
      say_inner_again(key);
  }
  bool is_linear_block(LayerIndex of) const {
    const std::vector<bool>& linear = plan_.model.linear_layers;
    const std::size_t block = block_of(of).position();
    return block > 0 && block <= linear.size() && linear[block - 1];
  }
  std::int64_t on_host(std::int64_t elements) const {  // of those that the rank steps
    return static_cast<std::int64_t>(std::ceil(plan_.offload_share * static_cast<double>(elements)));
  }
  bool attends_in(LayerIndex of) const { return !is_linear_block(of) || plan_.model.linear->beside; }
  // Attention, then what is linear; where both stand in a block, backward the other way round.
  void say_mixer(const Words& words, const TaskKey& key) {
    for (const bool linear : {key.phase == Phase::Backward, key.phase != Phase::Backward}) {
      if (linear ? !is_linear_block(key.layer) : !attends_in(key.layer)) continue;
      says_linear_ = linear;
      say(words, key);
    }
    says_linear_ = false;
  }
  void say_inner(const TaskKey& key);  // a block, or as many predictions as there are
  void say_inner_again(const TaskKey& key);
  void say_block(const TaskKey& key) {
    if (has_mixer(key.layer)) say_mixer(kMixerForward, key), leave(key, Half::Mixer);
    if (has_feed_forward(key.layer)) say_feed_forward(kFeedForward, key), leave(key, Half::FeedForward);
  }
  void say_block_again(const TaskKey& key) {
    if (!has_feed_forward(key.layer)) return say_mixer(kMixerEnd, key);
    if (has_mixer(key.layer)) say_mixer(kMixerForward, key);
    say_feed_forward(kFeedForwardEnd, key);
  }
  void say_block_back(const TaskKey& key) {
    if (has_feed_forward(key.layer)) come(key, Half::FeedForward), say_feed_forward(kFeedForwardBackward, key);
    if (has_mixer(key.layer)) come(key, Half::Mixer), say_mixer(kMixerBackward, key);
  }
  // A layer of maps convolves if it has a matrix, and normalises if something begins as ones.
  const Words& map_words(LayerIndex layer, bool backward) const {
    if (layer == model_.head()) return kClasses;
    bool convolves = false, scales = false;
    for (const Parameter& parameter : model_.layer(layer).parameters) {
      convolves |= parameter.columns > 1;
      scales |= parameter.initial == InitialValue::Ones;
    }
    if (!scales || !plan_.sync_batch_norm || plan_.mesh.data == 1) return convolves ? kMaps : kPointwise;
    if (backward) return convolves ? kNormedMapsBackward : kNormedPointwiseBackward;
    return convolves ? kNormedMaps : kNormedPointwise;
  }
  // Of the scales of a layer's norm, which begin as ones.
  std::int64_t channels_of(LayerIndex layer) const {
    for (const Parameter& parameter : model_.layer(layer).parameters)
      if (parameter.initial == InitialValue::Ones) return parameter.rows;
    return 0;
  }
  bool is_of_maps() const { return plan_.model.convolution.has_value(); }
  bool is_block(LayerIndex layer) const { return !is_of_maps() && layer != LayerIndex(0) && layer != model_.head(); }
  const Words& end_words(const TaskKey& key) const {
    const bool backward = key.phase == Phase::Backward;
    if (is_of_maps()) return map_words(key.layer, backward);
    if (key.layer == LayerIndex(0)) return backward ? kEmbeddingBackward : kEmbeddingForward;
    return backward ? kHeadBackward : kHeadForward;
  }

  void say(const Words& words, const TaskKey& key) { say(pick(words), key); }
  // Where tensor ranks route their own tokens, nothing is summed or gathered around the experts.
  void say_feed_forward(const Words& words, const TaskKey& key) { say(routes_its_part(key.layer) ? words.single : pick(words), key); }
  void say(std::string_view words, const TaskKey& key);
  void say_word(std::string_view word, TaskKey key);
  bool shares_keys(const TaskKey& key) const;
  void share_heads(TaskKey key, std::string_view behind);
  bool norms_together() const;
  bool meets_at_heads(const TaskKey& key) const;
  void meet_at_heads(TaskKey key, std::string_view behind);
  void begin_heads(TaskKey key);
  void attend(TaskKey key);
  void attend_slice(const TaskKey& key);
  void scan(TaskKey key);
  void ask_experts(TaskKey key);
  void beside(const TaskKey& hop, Bytes payload, const TaskKey& scores);
  void transfer(TaskKey key, Operation operation);
  Bytes stream() const { return plan_.sequence_parallel ? hidden_ / std::int64_t{plan_.mesh.tensor} : hidden_; }
  // In fp32 where both the layer that makes it and the one that reads it are.
  Bytes stream_into(LayerIndex reader) const {
    const bool is_kept_wide = plan_.workload.precision.of(WideKind::Stream) == Precision::Fp32;
    const bool wide = reader > LayerIndex(0) && (is_kept_wide || (is_wide(reader) && is_wide(LayerIndex(reader.value() - 1))));
    if (plan_.model.mtp_apart && reader == model_.head()) return stream() * (1 + plan_.model.mtp_layers);  // one of each depth
    return wide ? stream() / element_.value() * kWide.value() : stream();
  }
  // Of maps, what crosses between two layers: forward leaves behind the one that sends and enters before the one that receives; backward likewise.
  Bytes crossing(const TaskKey& key, Operation operation) const {
    const bool behind = (key.phase == Phase::Forward) == (operation == Operation::Send);
    if (!is_of_maps() && plan_.direct_source && stage_.value() - (behind ? 0 : 1) > encoder_stage()) return stream() - source();
    const LayerRange own = plan_.layers(stage_, key.chunk);
    if (!is_of_maps()) return stream_into(behind ? own.end : own.begin);
    const LayerIndex from(key.layer.value() - (behind ? 0 : 1));
    return element_ * (plan_.microbatch_size * model_.layer(from).handed_on);
  }
  // Sent straight from the stage of the encoder's last block (direct_source): rows of the source.
  std::int32_t encoder_stage() const {
    std::int32_t stage = 0;
    while (!plan_.owns(StageIndex(stage), LayerIndex(static_cast<std::int32_t>(plan_.model.encoder->layers)))) ++stage;
    return stage;
  }
  Bytes source() const;
  bool hears_from_afar(std::int32_t stage) const;
  void move_source(const TaskKey& key, Operation operation);
  bool waits_on_host(LayerIndex layer) const {
    return plan_.offload_activations && layer != LayerIndex(0) && layer != model_.head() && is_reached(model_, layer);
  }
  std::size_t copy_input(TaskKey key, Operation operation, Positions after);
  // What modules save of a half of a block, and send to the host (expected_host.cpp).
  enum class Half { Mixer, FeedForward };
  using Saved = std::vector<std::pair<Module, std::int64_t>>;  // elements
  std::int32_t segment_of(LayerIndex layer, Half half) const;
  bool comes_at_once(const TaskKey& forward) const;
  Bytes saved_by_mixer(LayerIndex layer) const;
  Bytes saved_by_experts() const;
  Bytes saved_by_feed_forward(LayerIndex layer) const;
  bool stays(const TaskKey& forward) const;
  Bytes of_modules(const Saved& all) const;
  void leave(TaskKey key, Half half);
  void come(TaskKey key, Half half);
  void delayed_weights(MicrobatchIndex m);
  void hand_on(const TaskKey& key);
  void arrive(const Turn& m, TaskKey key, LayerIndex from);
  void forward(const Turn& m, ChunkIndex c);
  void backward(const Turn& m, ChunkIndex c);
  void weights(const Turn& m, ChunkIndex c);
  static constexpr Bytes kWide{4};  // of a number of such a unit, and of a bucket of such: none is of both
  bool is_wide(LayerIndex layer) const { return sim::is_wide(model_, plan_, layer); }
  Bytes number(LayerIndex layer) const { return is_wide(layer) ? kWide : element_; }  // of an activation
  Bytes sent(const Bucket& bucket) const { return is_wide(bucket.ready_after) ? kWide : sent_; }
  Bytes gradient(const Bucket& bucket) const { return is_wide(bucket.ready_after) ? kWide : gradient_; }
  Bytes weight(const Bucket& bucket) const { return is_wide(bucket.ready_after) ? kWide : weight_; }
  bool is_mine(LayerIndex layer) const { return plan_.owns(stage_, layer); }
  void gradients();
  void step_in_backward();
  Positions sum_replicated();
  void copy_to_host(const Positions& summed);
  void weights_by_owner(std::size_t number, TaskKey key, std::size_t updated);
  bool adds_on_host(MicrobatchIndex m) const { return plan_.offload_parameters && m.exists() && plan_.num_microbatches() > 1; }
  Positions add_on_host(std::size_t number, MicrobatchIndex m, Positions after);
  void reduce(std::size_t bucket, MicrobatchIndex m, Positions after);
  Positions share(std::size_t bucket, TaskKey key, Positions after);
  Positions share_blocks(std::size_t bucket, TaskKey key, Positions after);
  Positions share_matrices(std::size_t bucket, TaskKey key, Positions after);
  Positions backwards_of(const Bucket& bucket, MicrobatchIndex m) const;
  void reduce_in_parts(std::size_t number, const Positions& after);
  Positions agree();
  void agree_on_maxima(std::size_t norm);
  // What a block multiplies by, in the order of a forward: scaled where the plan has scales.
  using Products = std::vector<CheckedProduct>;
  Products into_heads(const TaskKey& key) const;
  Products out_of_heads(const TaskKey& key) const;
  Products narrow_products() const;
  Products feed_forward(const TaskKey& key) const;
  Products beside_experts() const;
  Products of_experts() const;
  Products layer_inputs() const;
  std::int64_t columns_of_heads(const TaskKey& key) const;
  void ask(TaskKey key, Products products, ProductPart part);
  void say_projection(std::string_view word, const TaskKey& key);
  void validated_after(std::size_t update);
  Positions agree_in_turn(std::size_t norm);
  void await_new_weights(const Bucket& bucket, std::size_t made, bool in_this_step);
  void step();

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  StageIndex stage_;
  const std::vector<Bucket>& buckets_;
  Bytes element_, weight_, gradient_, sent_, hidden_;  // of an activation, a weight, a gradient kept and sent; of a microbatch
  std::vector<ExpectedTask> tasks_;
  std::map<TaskKey, std::int32_t> seen_;
  bool says_mixer_ = false, says_linear_ = false;
  bool goes_on_ = false;                   // behind a block that is made again comes another
  std::int32_t parts_ = 0;                 // of gradients, so far
  std::int64_t heads_ = 1;                 // while the head is said: as often as it is computed
  Positions last_;                         // the end of the current chain
  std::map<OfLayer, std::size_t> copied_;  // inputs of blocks, to the host
  std::map<std::tuple<Turn, LayerIndex, std::int32_t>, std::pair<std::size_t, Bytes>> left_;  // of modules: the copy, by segment
  std::int64_t depth_ = 0;                                                                    // of the block that predicts which is said
  std::map<OfLayer, std::size_t> forwards_, backwards_, weights_;                             // the last task of each
  std::map<OfLayer, std::size_t> experts_back_;                                               // the gradients at their rows
  Positions reduced_, gradients_done_;                                                        // what the norm waits for
  std::map<std::size_t, Positions> final_;                                                    // by bucket: what completes its gradients
  std::map<std::size_t, std::size_t> on_host_;                                                // by bucket: the copy of them
};

}  // namespace sim
