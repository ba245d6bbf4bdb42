#include "sim/check/expected_work.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>

#include "sim/check/layer_words.h"
#include "sim/check/stage_work.h"

namespace sim {
void StageWork::say_word(std::string_view word, TaskKey key) {
  if (word == "gathered" || word == "added") {
    const std::int64_t numbers = 2 * channels_of(key.layer) + (word == "gathered" ? 1 : 0);
    key.group = MeshAxis::Data;
    key.operation = word == "gathered" ? Operation::AllGather : Operation::AllReduce;
    return next(key, std::max(element_, Bytes(4)) * (numbers * (word == "gathered" ? plan_.mesh.data : 1)));
  }
  const std::int64_t rows = tokens_of(word, key);
  const Bytes element = number(key.layer), statistics = std::max(element, Bytes(4)) * rows;
  const bool collective = word == "max" || word == "sum" || std::string_view("+><").find(word.front()) != std::string_view::npos;
  if (!collective) {
    key.operation =
        static_cast<Operation>(std::find(std::begin(kOperationNames), std::end(kOperationNames), word) - std::begin(kOperationNames));
    return next(key, Bytes(0));
  }
  key.group = MeshAxis::Tensor;
  key.operation = word.front() == '>' ? Operation::AllGather : word.front() == '<' ? Operation::ReduceScatter : Operation::AllReduce;
  const std::int64_t width = word.back() == '2' ? 2 : 1;
  next(key, (word == "max" ? statistics : word == "sum" ? statistics * 2 : element * (rows * model_.config.hidden) * width) * heads_);
}

std::int64_t StageWork::source_tokens() const {
  const std::int64_t heard = plan_.model.encoder->frames, usual = heard > 0 ? heard : plan_.workload.sequence / 2,
                     said = plan_.model.source_tokens;
  return plan_.microbatch_size * (said > 0 ? said : usual);
}

// Of an encoder and a decoder (T5, BART), each layer for its own tokens; but where a decoder's second half begins, what it reads of the source goes with
// them: gathered in front of the products, or summed behind their gradients.
std::int64_t StageWork::tokens_of(std::string_view word, const TaskKey& key) const {
  if (!plan_.model.encoder || key.layer == LayerIndex(0)) return tokens();
  const char entering = key.phase != Phase::Backward ? '>' : plan_.sequence_parallel ? '<' : '+';
  const bool enters = key.layer != model_.head() && reads_source(key.layer) && says_mixer_ && word.front() == entering;
  return enters ? tokens() : rows_of(key.layer);
}

void StageWork::say(std::string_view words, const TaskKey& key) {
  says_mixer_ = words.starts_with("attention");
  const bool has_tail = words.find("mlp_residual") != std::string_view::npos;  // by itself
  std::istringstream text{std::string(words)};
  for (std::string word; text >> word;)
    if (word == "attention" && says_linear_ && plan_.mesh.context > 1)
      scan(key);
    else if (word.starts_with("attention") && says_linear_) {
      say_word("linear_" + word, key);
      if (word == "attention") ask(key, narrow_products(), ProductPart::Attention);
    } else if (word == "attention" && key.slice.exists())
      attend_slice(key);
    else if (word == "attention" && (plan_.mesh.context > 1 || meets_at_heads(key)))
      attend(key);
    else if (word == "mlp" && is_routed(key.layer))
      ask_experts(key);
    else {
      word == "attention" ? say_projection(word, key) : say_word(word, key);
      Products products = word == "mlp" ? feed_forward(key) : Products{};
      if (word == (has_tail ? "mlp_residual" : "mlp")) std::ranges::copy(layer_inputs(), std::back_inserter(products));
      ask(key, std::move(products), ProductPart::Mlp);
    }
}

// A hop of the ring and the scores of a block start together; what comes next needs both.
void StageWork::beside(const TaskKey& hop, Bytes payload, const TaskKey& scores) {
  Positions both{add(scores, Bytes(0), last_)};
  if (payload.value() > 0) both.push_back(add(hop, payload, last_));
  last_ = both;
}

// With dropping the most that it can be.
std::int64_t StageWork::rows_to_experts(std::int64_t of_tokens) const {
  const ExpertForm& form = *plan_.model.experts;
  const std::int64_t chosen = of_tokens * form.topk;
  if (form.capacity_factor <= 0 || form.dispatch == ExpertDispatch::Dropless) return chosen;
  const double each = static_cast<double>(chosen) / static_cast<double>(form.experts) * form.capacity_factor;
  const std::int64_t places = static_cast<std::int64_t>(std::max(1.0, std::ceil(each))) * form.experts;
  return form.dispatch == ExpertDispatch::Padded ? places : std::min(chosen, places);
}

// Tokens go to the ranks of their experts and come back; recomputation stops at what the backward reads: the rows that came back.
void StageWork::ask_experts(TaskKey key) {
  const bool backward = key.phase == Phase::Backward, cut = plan_.mesh.expert > 1;
  const ExpertForm& form = *plan_.model.experts;
  const bool own = has_own_degree();
  const std::int64_t sent = tokens() / (own ? plan_.mesh.tensor : 1);
  const bool is_shared = own && degree_of_experts() > 1,
             gathers = plan_.token_dispatcher == TokenDispatcher::AllGather && (cut || is_shared);
  const Bytes element = number(key.layer);
  // A gathered token is its hidden numbers; between the router and the experts also a number for each expert, forward a byte more.
  const auto bytes = [&](bool beside_router) {
    if (!gathers) return element * (rows_to_experts(sent) * model_.config.hidden);
    const std::int64_t routed = beside_router ? form.experts : 0;
    return (element * (model_.config.hidden + routed) + Bytes(beside_router && !backward ? routed : 0)) * (sent * plan_.mesh.expert);
  };
  TaskKey exchange = key;
  exchange.group = MeshAxis::Expert;
  exchange.operation = gathers ? Operation::AllGather : Operation::AllToAll;
  TaskKey shared = key;
  shared.group = MeshAxis::ExpertTensor;
  shared.operation = Operation::AllGather;
  const auto enter = [&] {
    say_word("expert_input", key);
    ask(key, beside_experts(), ProductPart::Mlp);
  };
  backward ? say_word("expert_output", key) : enter();
  if (cut) next(exchange, bytes(!backward));
  if (is_shared) next(shared, bytes(!backward) * std::int64_t{degree_of_experts()});
  say_word("experts", key);
  if (backward) experts_back_[{Turn{key.microbatch, key.slice}, key.layer}] = last_.front();
  ask(key, of_experts(), ProductPart::Experts);
  shared.operation = Operation::ReduceScatter;
  if (gathers) exchange.operation = Operation::ReduceScatter;
  if (is_shared) next(shared, bytes(backward) * std::int64_t{degree_of_experts()});
  if (cut) next(exchange, bytes(backward));
  if (key.phase == Phase::Recompute && !repeats_all() && !goes_on_) return;
  backward ? enter() : say_word("expert_output", key);
}

// Fewer key/value heads than tensor ranks (Megatron-Core 0.16): each rank multiplies by an even part of the rows of queries, keys and values, whatever
// head they are of; what all made is gathered, whole heads of it are taken, and the gradients are scattered back.
bool StageWork::shares_keys(const TaskKey& key) const {
  const std::int64_t block = key.layer.value() - 1;
  return plan_.model.attention.kind != AttentionKind::Latent && sizes_of(plan_.model, block).kv_heads < plan_.mesh.tensor &&
         !reads_keys_before(plan_.model, block);
}

// OLMo 2: queries have one norm over all heads, and keys another. Each tensor rank adds the squares of its own, and all-reduces a number a token of both; the
// backward of a norm has a sum over the same columns.
bool StageWork::norms_together() const { return plan_.model.qk_norm == QkNorm::Joint && plan_.mesh.tensor > 1; }

bool StageWork::meets_at_heads(const TaskKey& key) const { return shares_keys(key) || norms_together(); }

void StageWork::meet_at_heads(TaskKey key, std::string_view behind) {
  if (!norms_together()) return share_heads(key, behind);
  const bool backward = key.phase == Phase::Backward;
  TaskKey sums = key;
  sums.group = MeshAxis::Tensor;
  sums.operation = Operation::AllReduce;
  say_projection(backward ? behind : "attention_input", key);
  next(sums, std::max(number(key.layer), Bytes(4)) * (tokens() * 2));
  say_projection(backward ? "attention_input" : behind, key);
}

void StageWork::share_heads(TaskKey key, std::string_view behind) {
  const bool backward = key.phase == Phase::Backward;
  TaskKey shared = key;
  shared.group = MeshAxis::Tensor;
  shared.operation = backward ? Operation::ReduceScatter : Operation::AllGather;
  say_projection(backward ? behind : "attention_input", key);
  next(shared, number(key.layer) * (tokens() * columns_of_heads(key)));
  say_projection(backward ? "attention_input" : behind, key);
}

// From a rank's tokens to the heads that it attends with.
void StageWork::begin_heads(TaskKey key) {
  meets_at_heads(key) ? meet_at_heads(key, "attention_heads") : say_projection("attention_input", key);
}

// Forward reads keys and values of the slice in front, backward adds to their gradients, which that slice takes behind it.
void StageWork::attend_slice(const TaskKey& key) {
  const bool backward = key.phase == Phase::Backward;
  const auto& done = backward ? backwards_ : forwards_;
  const SliceIndex before(key.slice.value() + (backward ? 1 : -1));
  backward ? say_projection("attention_output", key) : begin_heads(key);
  if (const auto found = done.find({{key.microbatch, before}, key.layer}); before.exists() && found != done.end())
    last_.push_back(found->second);
  say_word("attention_scores", key);
  backward ? begin_heads(key) : say_projection("attention_output", key);
}

// Attention over context ranks: what each algorithm moves between the projections, n tokens of keys and values being a block.
void StageWork::attend(TaskKey key) {
  const bool has_two_levels = plan_.context_algorithm == ContextAlgorithm::Hierarchical;
  const std::int64_t ranks = plan_.mesh.context, around = has_two_levels ? ranks / plan_.mesh.context_inner : ranks;
  const MeshAxis inside = has_two_levels ? MeshAxis::ContextInner : MeshAxis::Context,
                 outside = has_two_levels ? MeshAxis::ContextOuter : MeshAxis::Context;
  const AttentionForm& form = plan_.model.attention;
  const bool latent = form.kind == AttentionKind::Latent;
  const BlockSizes sizes = sizes_of(plan_.model, key.layer.value() - 1);
  const std::int64_t key_width = latent ? form.qk_nope + form.qk_rope : sizes.head_dim, value_width = latent ? form.v_dim
                                                                                                      : plan_.model.value_dim > 0
                                                                                                          ? plan_.model.value_dim
                                                                                                          : sizes.head_dim;
  const std::int64_t heads = sizes.heads / plan_.mesh.tensor,
                     kv_heads = std::max<std::int64_t>(1, (latent ? sizes.heads : sizes.kv_heads) / plan_.mesh.tensor);
  const Bytes element = number(key.layer), block = element * (tokens() * (key_width + value_width) * kv_heads),
              query = element * (tokens() * key_width * heads), output = element * (tokens() * value_width * heads);
  const bool backward = key.phase == Phase::Backward;
  const auto exchange = [&](Operation operation, MeshAxis group, Bytes payload) {
    TaskKey one = key;
    one.group = group;
    one.operation = operation;
    next(one, payload);
  };
  const auto go_round = [&] {
    for (std::int32_t step = 0; step < around; ++step) {
      TaskKey hop = key, scores = key;
      hop.operation = Operation::RingHop;
      hop.group = outside;
      scores.operation = Operation::AttentionScores;
      const std::int64_t blocks = (step + 1 < around ? 1 : 0) + (backward && step > 0 ? 1 : 0);
      beside(block * blocks > Bytes(0) ? numbered(hop) : hop, block * blocks, numbered(scores));
    }
    if (backward) exchange(Operation::RingHop, outside, block);
  };
  if (ranks == 1) return meet_at_heads(key, "attention");
  backward ? say_projection("attention_output", key) : begin_heads(key);
  switch (plan_.context_algorithm) {
    case ContextAlgorithm::AllGather:
      exchange(Operation::AllGather, inside, block * ranks);
      say_word("attention_scores", key);
      if (backward) exchange(Operation::ReduceScatter, inside, block * ranks);
      break;
    case ContextAlgorithm::AllToAll:
      exchange(Operation::AllToAll, inside, backward ? output : query + block);
      say_word("attention_scores", key);
      exchange(Operation::AllToAll, inside, backward ? query + block : output);
      break;
    case ContextAlgorithm::Ring: go_round(); break;
    case ContextAlgorithm::Hierarchical:
      exchange(Operation::AllToAll, inside, backward ? output : query + block);
      go_round();
      exchange(Operation::AllToAll, inside, backward ? query + block : output);
      break;
  }
  backward ? begin_heads(key) : say_projection("attention_output", key);
}

// A scan over context ranks: what each token has of a head (value, gate, decay; the delta rule's write, too) goes to the rank of that head, and of a group (query
// and key; by channel also decays) to all ranks that have heads of it.
void StageWork::scan(TaskKey key) {
  const LinearForm& form = *plan_.model.linear;
  const bool by_channel = form.rule == LinearRule::ChannelDelta, backward = key.phase == Phase::Backward;
  const std::int64_t heads = form.heads / plan_.mesh.tensor,
                     groups = std::max<std::int64_t>(form.groups / plan_.mesh.tensor, plan_.mesh.context);
  const std::int64_t of_head = 2 * form.value + (form.rule == LinearRule::GatedDelta ? 2 : 1), of_group = (by_channel ? 3 : 2) * form.key;
  const Bytes each = number(key.layer) * tokens(), in = each * (heads * of_head + groups * of_group), out = each * (heads * form.value);
  TaskKey exchange = key;
  exchange.group = MeshAxis::Context;
  exchange.operation = Operation::AllToAll;
  say_word(backward ? "linear_attention_output" : "linear_attention_input", key);
  next(exchange, backward ? out : in);
  say_word("linear_attention_scan", key);
  next(exchange, backward ? in : out);
  say_word(backward ? "linear_attention_input" : "linear_attention_output", key);
  if (backward) ask(key, narrow_products(), ProductPart::Attention);
}

void StageWork::say_inner(const TaskKey& key) {
  const std::int64_t predictions = predictions_of(key.layer);
  if (predictions == 0) return say_block(key);
  for (depth_ = 0; depth_ < predictions; ++depth_) {
    say(kJoiningForward, key);
    say_block(key);
  }
}

// All but the last block to their end.
void StageWork::say_inner_again(const TaskKey& key) {
  const std::int64_t predictions = predictions_of(key.layer);
  for (std::int64_t at = 0; at < predictions; ++at) {
    say(kJoiningForward, key);
    goes_on_ = at + 1 < predictions;
    if (goes_on_) say_block(key);
  }
  say_block_again(key);
}

void StageWork::say_end(const TaskKey& key) {
  heads_ = key.layer == model_.head() ? 1 + plan_.model.mtp_layers : 1;
  say(end_words(key), key);
  heads_ = 1;
}

void StageWork::say_forward(const TaskKey& key) {
  const bool is_end = !is_block(key.layer);
  if (!is_end || predictions_of(key.layer) > 0) say_inner(key);
  if (is_end) say_end(key);
}

void StageWork::say_backward(const TaskKey& key) {
  const bool is_end = !is_block(key.layer);
  const std::int64_t predictions = predictions_of(key.layer);
  if (is_end) say_end(key);
  if (!is_end && predictions == 0) say_block_back(key);
  for (depth_ = predictions - 1; depth_ >= 0; --depth_) {
    say_block_back(key);
    say(kJoiningBackward, key);
  }
}

void StageWork::transfer(TaskKey key, Operation operation) {
  key.operation = operation;
  key.group = MeshAxis::Pipeline;
  chain(key, crossing(key, operation));
}

Bytes StageWork::source() const {
  const std::int64_t said = plan_.model.source_tokens, heard = plan_.model.encoder->frames;
  const std::int64_t tokens = said > 0 ? said : heard > 0 ? heard : plan_.workload.sequence / 2;
  return element_ * (plan_.microbatch_size * tokens * model_.config.hidden / (plan_.sequence_parallel ? plan_.mesh.tensor : 1));
}

// Every other block behind the encoder reads what it puts out.
bool StageWork::hears_from_afar(std::int32_t stage) const {
  if (stage < encoder_stage() + 2) return false;
  const LayerRange range = plan_.layers(StageIndex(stage), ChunkIndex(0));
  bool hears = false;
  for (LayerIndex layer = range.begin; layer < range.end; ++layer)
    hears |= layer != model_.head() && (layer.value() - plan_.model.encoder->layers) % 2 == 0;
  return hears;
}

void StageWork::move_source(const TaskKey& key, Operation operation) {
  if (!plan_.direct_source) return;
  const bool outward = (key.phase == Phase::Forward) == (operation == Operation::Send);
  TaskKey one = key;
  one.operation = operation;
  one.group = MeshAxis::Pipeline;
  const Positions made = operation == Operation::Send ? last_ : Positions{};
  for (one.sequence = encoder_stage() + 2; one.sequence < plan_.mesh.pipeline; ++one.sequence) {
    if (!hears_from_afar(one.sequence) || stage_.value() != (outward ? encoder_stage() : one.sequence)) continue;
    const std::size_t moved = add(one, source(), made);
    if (operation == Operation::Receive) last_.push_back(moved);
  }
}

std::size_t StageWork::copy_input(TaskKey key, Operation operation, Positions after) {
  key.operation = operation;
  return add(key, stream_into(key.layer), std::move(after));
}

void StageWork::forward(const Turn& m, ChunkIndex c) {
  const LayerRange range = plan_.layers(stage_, c);
  const LayerIndex last(range.end.value() - 1);
  last_.clear();
  if (range.begin == range.end) return hand_on(at(m, c, LayerIndex::none(), Phase::Forward));
  if (range.begin != LayerIndex(0)) arrive(m, at(m, c, range.begin, Phase::Forward), LayerIndex(range.begin.value() - 1));
  for (LayerIndex layer = range.begin; layer < range.end; ++layer) {
    say_forward(at(m, c, layer, Phase::Forward));
    forwards_[{m, layer}] = last_.front();
    if (waits_on_host(layer)) copied_[{m, layer}] = copy_input(at(m, c, layer, Phase::Forward), Operation::CopyToHost, last_);
  }
  if (last == model_.head() || is_mine(LayerIndex(last.value() + 1))) return;
  move_source(at(m, c, last, Phase::Forward), Operation::Send);
  transfer(at(m, c, last, Phase::Forward), Operation::Send);
}

bool is_reached(const ModelGraph& model, LayerIndex layer) {
  if (!model.config.frozen.any()) return true;
  for (LayerIndex each(0); each <= layer; ++each)
    for (const Parameter& parameter : model.layer(each).parameters)
      if (!parameter.frozen) return true;
  return false;
}

void StageWork::backward(const Turn& m, ChunkIndex c) {
  const LayerRange range = plan_.layers(stage_, c);
  const LayerIndex last(range.end.value() - 1);
  last_.clear();
  if (!is_reached(model_, last)) return;
  if (range.begin == range.end) return hand_on(at(m, c, LayerIndex::none(), Phase::Backward));
  if (last != model_.head()) arrive(m, at(m, c, last, Phase::Backward), LayerIndex(last.value() + 1));
  for (LayerIndex layer = last; layer >= range.begin && is_reached(model_, layer); layer = LayerIndex(layer.value() - 1)) {
    last_.push_back(forwards_.at({m, layer}));
    if (is_again(m.microbatch, layer, range)) {
      const Positions gradient = std::move(last_);  // does not hold up recomputing
      const LayerIndex first = first_again(layer, range);
      last_ = {forwards_.at({m, first})};
      if (waits_on_host(layer))
        last_.push_back(copy_input(at(m, c, layer, Phase::Backward), Operation::CopyToDevice, {copied_.at({m, layer})}));
      for (LayerIndex each = first; each <= layer; each = LayerIndex(each.value() + 1)) say_again(at(m, c, each, Phase::Recompute));
      last_.insert(last_.end(), gradient.begin(), gradient.end());
    }
    say_backward(at(m, c, layer, Phase::Backward));
    backwards_[{m, layer}] = last_.front();
  }
  gradients_done_.push_back(last_.front());
  if (range.begin == LayerIndex(0) || is_mine(LayerIndex(range.begin.value() - 1))) return;
  if (!is_reached(model_, LayerIndex(range.begin.value() - 1))) return;
  move_source(at(m, c, range.begin, Phase::Backward), Operation::Send);
  transfer(at(m, c, range.begin, Phase::Backward), Operation::Send);
}

// A chunk without a layer, whose neighbours are on other stages.
void StageWork::hand_on(const TaskKey& key) {
  transfer(key, Operation::Receive);
  transfer(key, Operation::Send);
}

// What a chunk reads: from another stage, or what this stage's own chunk left.
void StageWork::arrive(const Turn& m, TaskKey key, LayerIndex from) {
  if (!is_mine(from)) {
    transfer(key, Operation::Receive);
    return move_source(key, Operation::Receive);
  }
  const auto& done = key.phase == Phase::Forward ? forwards_ : backwards_;
  if (const auto found = done.find({m, from}); found != done.end()) last_ = {found->second};
}

void StageWork::weights(const Turn& m, ChunkIndex c) {
  const LayerRange range = plan_.layers(stage_, c);
  for (LayerIndex layer = range.begin; layer < range.end; ++layer) {
    if (!is_reached(model_, layer)) continue;
    last_ = {backwards_.at({m, layer})};
    if (layer == LayerIndex(0)) continue;  // the embedding's gradient is complete
    const TaskKey key = at(m, c, layer, Phase::Weight);
    const auto say_block_weights = [&] {
      const auto experts = plan_.delay_wgrad && layer != model_.head() ? experts_back_.find({m, layer}) : experts_back_.end();
      const Positions whole = last_;
      if (experts != experts_back_.end()) last_ = {experts->second};  // while the rows' gradients are on their way
      if (has_feed_forward(layer)) say_word(is_routed(layer) ? "experts" : "mlp", key);
      if (experts != experts_back_.end()) last_.insert(last_.end(), whole.begin(), whole.end());
      if (has_mixer(layer) && is_linear_block(layer)) say_word("linear_attention", key);
      if (has_mixer(layer) && attends_in(layer)) say_word("attention", key);
    };
    if (layer == model_.head()) say_word("head", key);
    if (layer != model_.head() && predictions_of(layer) == 0) say_block_weights();
    for (std::int64_t each = 0; each < predictions_of(layer); ++each) {
      say_block_weights();
      say_word("mtp", key);
    }
    weights_[{m, layer}] = last_.front();
    gradients_done_.push_back(last_.front());
  }
}

std::vector<ExpectedTask> expected_work(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage,
                                        const std::vector<Bucket>& buckets) {
  return StageWork(model, plan, stage, buckets).list();
}

}  // namespace sim
