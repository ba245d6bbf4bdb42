#include "sim/check/expected_work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <sstream>

#include "sim/check/layer_words.h"

namespace sim {
namespace {

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
        hidden_(element_ * (plan.microbatch_size * (plan.workload.sequence / plan.mesh.context) * model.config.hidden)) {}

  std::vector<ExpectedTask> list() && {
    for (MicrobatchIndex m(0); m.value() < plan_.num_microbatches(); ++m) {
      for (ChunkIndex c(0); c.value() < plan_.chunks; ++c) forward(m, c);
      for (ChunkIndex c(plan_.chunks - 1); c.exists(); c = ChunkIndex(c.value() - 1)) backward(m, c);
      for (ChunkIndex c(0); plan_.splits_backward() && c.value() < plan_.chunks; ++c) weights(m, c);
    }
    gradients();
    step();
    return std::move(tasks_);
  }

 private:
  using Positions = std::vector<std::size_t>;

  std::size_t add(const TaskKey& key, Bytes payload, Positions after) {
    tasks_.push_back({key, payload, std::move(after)});
    return tasks_.size() - 1;
  }
  void chain(const TaskKey& key, Bytes payload) { last_ = {add(key, payload, last_)}; }
  std::string_view pick(const Words& words) const {
    return plan_.mesh.tensor == 1 ? words.single : plan_.sequence_parallel ? words.sequence : words.tensor;
  }
  TaskKey at(MicrobatchIndex m, ChunkIndex c, LayerIndex layer, Phase phase) const {
    return {.stage = stage_, .chunk = c, .microbatch = m, .layer = layer, .phase = phase};
  }
  // Experts cut by a degree of their own: the ranks of a stage are dealt out anew.
  std::int32_t degree_of_experts() const { return plan_.mesh.expert_tensor > 0 ? plan_.mesh.expert_tensor : plan_.mesh.tensor; }
  bool has_own_degree() const { return degree_of_experts() != plan_.mesh.tensor; }
  std::int32_t copies_of_experts() const {
    return plan_.mesh.data * plan_.mesh.context / plan_.mesh.replicas * plan_.mesh.tensor / (plan_.mesh.expert * degree_of_experts());
  }
  // Then tensor ranks send the tokens that they have, and nothing is gathered around the experts unless shared ones want it.
  bool routes_its_part(LayerIndex layer) const {
    return layer != model_.head() && is_routed(layer) && has_own_degree() && plan_.mesh.tensor > 1 && plan_.model.experts->shared_ffn == 0;
  }
  bool norms_behind() const { return plan_.model.norm_place != NormPlace::Before; }
  // A norm behind the sum reads it; a program runs the block to its end.
  bool repeats_all() const { return norms_behind() || (habits_of(plan_.cluster).repeats_blocks && plan_.recompute == Recompute::Full); }
  bool is_routed(LayerIndex layer) const {
    if (!plan_.model.experts) return false;
    const ExpertForm& form = *plan_.model.experts;
    const bool is_exempt = std::find(form.dense_layers.begin(), form.dense_layers.end(), layer.value() - 1) != form.dense_layers.end();
    return layer.value() > form.first_dense_layers && layer.value() % form.every == 0 && !is_exempt;
  }
  bool repeats_feed_forward(LayerIndex layer) const {
    return plan_.recompute == Recompute::Selective && plan_.recompute_scope.modules.has(is_routed(layer) ? Module::Moe : Module::Mlp);
  }
  bool is_again(MicrobatchIndex m, LayerIndex layer, const LayerRange& part) const {
    if (layer == LayerIndex(0) || layer == model_.head()) return false;
    if (plan_.recompute != Recompute::Full) return repeats_feed_forward(layer);
    const RecomputeScope& scope = plan_.recompute_scope;
    const std::int32_t number = layer.value() - std::max(part.begin.value(), 1) + 1;  // of the part's blocks, from 1
    return !(scope.but_last && m.value() + 1 == plan_.num_microbatches()) && (scope.first == 0 || number <= scope.first) &&
           number % scope.every == 0;
  }
  void say_again(const TaskKey& key) {
    if (is_of_maps())
      say(map_words(key.layer), key);
    else if (plan_.recompute != Recompute::Full)
      say(kFeedForwardAgain, key);
    else
      say(repeats_all() ? kBlockForward : kBlockAgain, key);
  }
  // A layer of maps convolves if it has a matrix.
  const Words& map_words(LayerIndex layer) const {
    if (layer == model_.head()) return kClasses;
    for (const Parameter& parameter : model_.layer(layer).parameters)
      if (parameter.columns > 1) return kMaps;
    return kPointwise;
  }
  bool is_of_maps() const { return plan_.model.convolution.has_value(); }
  const Words& forward_words(LayerIndex layer) const {
    if (is_of_maps()) return map_words(layer);
    return layer == LayerIndex(0) ? kEmbeddingForward : layer == model_.head() ? kHeadForward : kBlockForward;
  }
  const Words& backward_words(LayerIndex layer) const {
    if (is_of_maps()) return map_words(layer);
    return layer == LayerIndex(0) ? kEmbeddingBackward : layer == model_.head() ? kHeadBackward : kBlockBackward;
  }

  void say(const Words& words, TaskKey key);
  void say_word(std::string_view word, TaskKey key);
  void attend(TaskKey key);
  void ask_experts(TaskKey key);
  void beside(const TaskKey& hop, Bytes payload, const TaskKey& scores);
  void transfer(TaskKey key, Operation operation);
  Bytes stream() const { return plan_.sequence_parallel ? hidden_ / std::int64_t{plan_.mesh.tensor} : hidden_; }
  // Of maps, what crosses between two layers: forward leaves behind the one that sends and enters before the one that receives; backward likewise.
  Bytes crossing(const TaskKey& key, Operation operation) const {
    if (!is_of_maps()) return stream();
    const bool behind = (key.phase == Phase::Forward) == (operation == Operation::Send);
    const LayerIndex from(key.layer.value() - (behind ? 0 : 1));
    return element_ * (plan_.microbatch_size * model_.layer(from).handed_on);
  }
  bool waits_on_host(LayerIndex layer) const { return plan_.offload_activations && layer != LayerIndex(0) && layer != model_.head(); }
  std::size_t copy_input(TaskKey key, Operation operation, Positions after);
  void hand_on(const TaskKey& key);
  void arrive(MicrobatchIndex m, TaskKey key, LayerIndex from);
  void forward(MicrobatchIndex m, ChunkIndex c);
  void backward(MicrobatchIndex m, ChunkIndex c);
  void weights(MicrobatchIndex m, ChunkIndex c);
  bool is_mine(LayerIndex layer) const { return plan_.owns(stage_, layer); }
  void gradients();
  Positions sum_replicated();
  void copy_to_host(const Positions& summed);
  void reduce(std::size_t bucket, MicrobatchIndex m, Positions after);
  Positions backwards_of(const Bucket& bucket, MicrobatchIndex m) const;
  void step();

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  StageIndex stage_;
  const std::vector<Bucket>& buckets_;
  Bytes element_, weight_, gradient_, sent_, hidden_;  // of an activation, a weight, a gradient kept and sent; of a microbatch
  std::vector<ExpectedTask> tasks_;
  Positions last_;                                                                                // the end of the current chain
  std::map<std::pair<MicrobatchIndex, LayerIndex>, std::size_t> copied_;                          // inputs of blocks, to the host
  std::map<std::pair<MicrobatchIndex, LayerIndex>, std::size_t> forwards_, backwards_, weights_;  // the last task of each
  Positions reduced_, gradients_done_;                                                            // what the norm waits for
  std::map<std::size_t, Positions> final_;                                                        // by bucket: what completes its gradients
  std::map<std::size_t, std::size_t> on_host_;                                                    // by bucket: the copy of them
};

void StageWork::say_word(std::string_view word, TaskKey key) {
  const Bytes statistics = std::max(element_, Bytes(4)) * (plan_.microbatch_size * (plan_.workload.sequence / plan_.mesh.context));
  const bool collective = word == "max" || word == "sum" || std::string_view("+><").find(word.front()) != std::string_view::npos;
  if (!collective) {
    key.operation =
        static_cast<Operation>(std::find(std::begin(kOperationNames), std::end(kOperationNames), word) - std::begin(kOperationNames));
    return chain(key, Bytes(0));
  }
  key.group = MeshAxis::Tensor;
  key.operation = word.front() == '>' ? Operation::AllGather : word.front() == '<' ? Operation::ReduceScatter : Operation::AllReduce;
  key.sequence = word == "max" ? 0 : word == "sum" ? 1 : word[1] - '0';
  chain(key, word == "max" ? statistics : word == "sum" ? statistics * 2 : hidden_);
}

void StageWork::say(const Words& words, TaskKey key) {
  std::string_view chosen = pick(words);
  if (routes_its_part(key.layer))
    chosen = &words == &kBlockBackward ? kRoutedBackward : &words == &kFeedForwardAgain ? words.single : kRoutedForward;
  std::istringstream text{std::string(chosen)};
  for (std::string word; text >> word;)
    if (word == "attention" && plan_.mesh.context > 1)
      attend(key);
    else if (word == "mlp" && is_routed(key.layer))
      ask_experts(key);
    else
      say_word(word, key);
}

// A hop of the ring and the scores of a block start together; what comes next needs both.
void StageWork::beside(const TaskKey& hop, Bytes payload, const TaskKey& scores) {
  Positions both{add(scores, Bytes(0), last_)};
  if (payload.value() > 0) both.push_back(add(hop, payload, last_));
  last_ = both;
}

// Tokens go to the ranks of their experts and come back; recomputation stops at what the backward reads: the rows that came back.
void StageWork::ask_experts(TaskKey key) {
  const bool backward = key.phase == Phase::Backward, cut = plan_.mesh.expert > 1;
  const ExpertForm& form = *plan_.model.experts;
  const bool own = has_own_degree();
  const std::int64_t tokens = plan_.microbatch_size * (plan_.workload.sequence / plan_.mesh.context) / (own ? plan_.mesh.tensor : 1);
  const double places =
      std::max(1.0, std::ceil(static_cast<double>(tokens * form.topk) / static_cast<double>(form.experts) * form.capacity_factor)) *
      static_cast<double>(form.experts);
  double each = static_cast<double>(tokens * form.topk);
  if (form.capacity_factor > 0 && form.dispatch == ExpertDispatch::Padded) each = places;
  if (form.capacity_factor > 0 && form.dispatch == ExpertDispatch::Drop) each = std::min(each, places);
  const Bytes rows = element_ * (static_cast<std::int64_t>(each) * model_.config.hidden);
  TaskKey exchange = key;
  exchange.group = MeshAxis::Expert;
  exchange.operation = Operation::AllToAll;
  TaskKey shared = key;
  shared.group = MeshAxis::ExpertTensor;
  shared.operation = Operation::AllGather;
  const bool is_shared = own && degree_of_experts() > 1;
  const Bytes all = rows * std::int64_t{degree_of_experts()};
  say_word(backward ? "expert_output" : "expert_input", key);
  if (cut) chain(exchange, rows);
  if (is_shared) chain(shared, all);
  say_word("experts", key);
  shared.operation = Operation::ReduceScatter;
  if (is_shared) chain(shared, all);
  exchange.sequence = 1;
  if (cut) chain(exchange, rows);
  if (key.phase == Phase::Recompute && !repeats_all()) return;
  say_word(backward ? "expert_input" : "expert_output", key);
}

// Attention over context ranks: what each algorithm moves between the projections, n tokens of keys and values being a block.
void StageWork::attend(TaskKey key) {
  const std::int64_t ranks = plan_.mesh.context, tokens = plan_.microbatch_size * plan_.workload.sequence / ranks;
  const AttentionForm& form = plan_.model.attention;
  const bool latent = form.kind == AttentionKind::Latent;
  const std::int64_t key_width = latent ? form.qk_nope + form.qk_rope : plan_.model.head_dim,
                     value_width = latent ? form.v_dim : plan_.model.head_dim;
  const std::int64_t heads = plan_.model.heads / plan_.mesh.tensor,
                     kv_heads = (latent ? plan_.model.heads : plan_.model.kv_heads) / plan_.mesh.tensor;
  const Bytes block = element_ * (tokens * (key_width + value_width) * kv_heads), query = element_ * (tokens * key_width * heads),
              output = element_ * (tokens * value_width * heads);
  const bool backward = key.phase == Phase::Backward;
  const auto exchange = [&](Operation operation, std::int32_t sequence, Bytes payload) {
    TaskKey one = key;
    one.group = MeshAxis::Context;
    one.operation = operation;
    one.sequence = sequence;
    chain(one, payload);
  };
  say_word(backward ? "attention_output" : "attention_input", key);
  switch (plan_.context_algorithm) {
    case ContextAlgorithm::AllGather:
      exchange(Operation::AllGather, 0, block * ranks);
      say_word("attention_scores", key);
      if (backward) exchange(Operation::ReduceScatter, 0, block * ranks);
      break;
    case ContextAlgorithm::AllToAll:
      exchange(Operation::AllToAll, 0, backward ? output : query + block);
      say_word("attention_scores", key);
      exchange(Operation::AllToAll, 1, backward ? query + block : output);
      break;
    case ContextAlgorithm::Ring:
      for (std::int32_t step = 0; step < ranks; ++step) {
        TaskKey hop = key, scores = key;
        hop.operation = Operation::RingHop;
        hop.group = MeshAxis::Context;
        scores.operation = Operation::AttentionScores;
        hop.sequence = scores.sequence = step;
        const std::int64_t blocks = (step + 1 < ranks ? 1 : 0) + (backward && step > 0 ? 1 : 0);
        beside(hop, block * blocks, scores);
      }
      if (backward) exchange(Operation::RingHop, static_cast<std::int32_t>(ranks), block);
      break;
  }
  say_word(backward ? "attention_input" : "attention_output", key);
}

void StageWork::transfer(TaskKey key, Operation operation) {
  key.operation = operation;
  key.group = MeshAxis::Pipeline;
  chain(key, crossing(key, operation));
}

std::size_t StageWork::copy_input(TaskKey key, Operation operation, Positions after) {
  key.operation = operation;
  return add(key, stream(), std::move(after));
}

void StageWork::forward(MicrobatchIndex m, ChunkIndex c) {
  const LayerRange range = plan_.layers(stage_, c);
  const LayerIndex last(range.end.value() - 1);
  last_.clear();
  if (range.begin == range.end) return hand_on(at(m, c, LayerIndex::none(), Phase::Forward));
  if (range.begin != LayerIndex(0)) arrive(m, at(m, c, range.begin, Phase::Forward), LayerIndex(range.begin.value() - 1));
  for (LayerIndex layer = range.begin; layer < range.end; ++layer) {
    say(forward_words(layer), at(m, c, layer, Phase::Forward));
    forwards_[{m, layer}] = last_.front();
    if (waits_on_host(layer)) copied_[{m, layer}] = copy_input(at(m, c, layer, Phase::Forward), Operation::CopyToHost, last_);
  }
  if (last != model_.head() && !is_mine(LayerIndex(last.value() + 1))) transfer(at(m, c, last, Phase::Forward), Operation::Send);
}

void StageWork::backward(MicrobatchIndex m, ChunkIndex c) {
  const LayerRange range = plan_.layers(stage_, c);
  const LayerIndex last(range.end.value() - 1);
  last_.clear();
  if (range.begin == range.end) return hand_on(at(m, c, LayerIndex::none(), Phase::Backward));
  if (last != model_.head()) arrive(m, at(m, c, last, Phase::Backward), LayerIndex(last.value() + 1));
  for (LayerIndex layer = last; layer >= range.begin; layer = LayerIndex(layer.value() - 1)) {
    last_.push_back(forwards_.at({m, layer}));
    if (is_again(m, layer, range)) {
      const Positions gradient = std::move(last_);  // does not hold up recomputing
      last_ = {forwards_.at({m, layer})};
      if (waits_on_host(layer))
        last_.push_back(copy_input(at(m, c, layer, Phase::Backward), Operation::CopyToDevice, {copied_.at({m, layer})}));
      say_again(at(m, c, layer, Phase::Recompute));
      last_.insert(last_.end(), gradient.begin(), gradient.end());
    }
    say(backward_words(layer), at(m, c, layer, Phase::Backward));
    backwards_[{m, layer}] = last_.front();
  }
  gradients_done_.push_back(last_.front());
  if (range.begin != LayerIndex(0) && !is_mine(LayerIndex(range.begin.value() - 1)))
    transfer(at(m, c, range.begin, Phase::Backward), Operation::Send);
}

// A chunk without a layer, whose neighbours are on other stages.
void StageWork::hand_on(const TaskKey& key) {
  transfer(key, Operation::Receive);
  transfer(key, Operation::Send);
}

// What a chunk reads: from another stage, or what this stage's own chunk left.
void StageWork::arrive(MicrobatchIndex m, TaskKey key, LayerIndex from) {
  if (!is_mine(from)) return transfer(key, Operation::Receive);
  const auto& done = key.phase == Phase::Forward ? forwards_ : backwards_;
  if (const auto found = done.find({m, from}); found != done.end()) last_ = {found->second};
}

void StageWork::weights(MicrobatchIndex m, ChunkIndex c) {
  const LayerRange range = plan_.layers(stage_, c);
  for (LayerIndex layer = range.begin; layer < range.end; ++layer) {
    last_ = {backwards_.at({m, layer})};
    if (layer == LayerIndex(0)) continue;  // the embedding's gradient is complete
    for (const std::string_view word :
         layer == model_.head() ? std::span<const std::string_view>(kHeadWeights) : std::span<const std::string_view>(kBlockWeights))
      say_word(word == "mlp" && is_routed(layer) ? "experts" : word, at(m, c, layer, Phase::Weight));
    weights_[{m, layer}] = last_.front();
    gradients_done_.push_back(last_.front());
  }
}

// Of one microbatch, or of all for none().
StageWork::Positions StageWork::backwards_of(const Bucket& bucket, MicrobatchIndex m) const {
  Positions positions;
  for (const BucketSlot& slot : bucket.slots)
    for (MicrobatchIndex each(0); each.value() < plan_.num_microbatches(); ++each)
      if (!m.exists() || each == m)
        for (const auto* done : {&backwards_, &weights_})
          if (const auto found = done->find({each, slot.layer}); found != done->end()) positions.push_back(found->second);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

void StageWork::reduce(std::size_t number, MicrobatchIndex m, Positions after) {
  const Bucket& bucket = buckets_[number];
  const std::int32_t copies = bucket.expert ? copies_of_experts() : plan_.mesh.copies();
  if (copies == 1 && plan_.mesh.replicas == 1) {
    reduced_.insert(reduced_.end(), after.begin(), after.end());
    final_[number].insert(final_[number].end(), after.begin(), after.end());
    return;
  }
  const bool whole = plan_.zero_stage == 0 || plan_.gradient_sync == GradientSync::AllReduce;
  TaskKey key{.stage = stage_,
              .chunk = bucket.chunk,
              .microbatch = m,
              .layer = bucket.ready_after,
              .phase = Phase::Gradients,
              .operation = whole ? Operation::AllReduce : Operation::ReduceScatter,
              .group = bucket.expert ? MeshAxis::ExpertData : MeshAxis::Data,
              .sequence = static_cast<std::int32_t>(number)};
  Positions done = std::move(after);
  if (copies > 1) done = {add(key, sent_ * bucket.elements, std::move(done))};
  if (plan_.mesh.replicas > 1) {
    key.operation = Operation::AllReduce;
    key.group = MeshAxis::Replica;
    done = {add(key, sent_ * (whole || copies == 1 ? bucket.elements : bucket.shard_elements), std::move(done))};
  }
  if (m.exists() && plan_.num_microbatches() > 1) {
    key.operation = Operation::Accumulate;
    key.group = MeshAxis::None;
    done = {add(key, Bytes(0), std::move(done))};
  }
  reduced_.insert(reduced_.end(), done.begin(), done.end());
  final_[number].insert(final_[number].end(), done.begin(), done.end());
}

void StageWork::gradients() {
  const bool each = plan_.accumulation == Accumulation::ReduceEach;
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    const Bucket& bucket = buckets_[number];
    if (bucket.frozen) continue;
    if (bucket.tied) {
      const TaskKey key{.stage = stage_,
                        .chunk = bucket.chunk,
                        .layer = bucket.ready_after,
                        .phase = Phase::Gradients,
                        .operation = Operation::AllReduce,
                        .group = MeshAxis::Embedding,
                        .sequence = static_cast<std::int32_t>(number)};
      reduce(number, MicrobatchIndex::none(), {add(key, sent_ * bucket.elements, backwards_of(bucket, MicrobatchIndex::none()))});
    } else if (!each) {
      reduce(number, MicrobatchIndex::none(), backwards_of(bucket, MicrobatchIndex::none()));
    } else {
      for (MicrobatchIndex m(0); m.value() < plan_.num_microbatches(); ++m) reduce(number, m, backwards_of(bucket, m));
    }
  }
  const Positions summed = sum_replicated();
  if (plan_.offload_optimizer) copy_to_host(summed);
}

StageWork::Positions StageWork::sum_replicated() {
  const bool sequence = plan_.sequence_parallel, tensor = plan_.mesh.tensor > 1;
  std::int64_t replicated = 0;
  for (LayerIndex layer(0); layer <= model_.head(); ++layer)
    for (const Parameter& parameter : model_.layer(layer).parameters)
      if (plan_.owns(stage_, layer) && !parameter.frozen && parameter.split == TensorSplit::None &&
          (sequence || (tensor && parameter.partial_gradient)) && !(parameter.expert && has_own_degree()))
        replicated += parameter.elements() / (parameter.expert ? plan_.mesh.expert : 1);
  if (replicated == 0) return {};
  const TaskKey key{.stage = stage_, .phase = Phase::Gradients, .operation = Operation::AllReduce, .group = MeshAxis::Tensor};
  reduced_.push_back(add(key, sent_ * replicated, gradients_done_));
  return {reduced_.back()};
}

// Once a step, what the rank steps of each bucket: all of it without sharding, else its shard.
void StageWork::copy_to_host(const Positions& summed) {
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    const Bucket& bucket = buckets_[number];
    if (bucket.frozen) continue;
    const TaskKey key{.stage = stage_,
                      .chunk = bucket.chunk,
                      .layer = bucket.ready_after,
                      .phase = Phase::Gradients,
                      .operation = Operation::CopyToHost,
                      .sequence = static_cast<std::int32_t>(number)};
    Positions after = final_[number];
    after.insert(after.end(), summed.begin(), summed.end());
    on_host_[number] = add(key, gradient_ * (plan_.zero_stage == 0 ? bucket.elements : bucket.shard_elements), std::move(after));
  }
}

void StageWork::step() {
  const auto key = [&](Operation operation, MeshAxis group) {
    return TaskKey{.stage = stage_, .phase = Phase::Step, .operation = operation, .group = group};
  };
  reduced_.insert(reduced_.end(), gradients_done_.begin(), gradients_done_.end());
  std::size_t ready = add(key(Operation::NormPart, MeshAxis::None), Bytes(0), reduced_);
  if (plan_.mesh.copies() * plan_.mesh.pipeline * plan_.mesh.tensor > 1)
    ready = add(key(Operation::AllReduce, MeshAxis::World), kStepSummary, {ready});
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    if (buckets_[number].frozen) continue;
    TaskKey update = key(Operation::Update, MeshAxis::None);
    update.layer = buckets_[number].ready_after;
    update.sequence = static_cast<std::int32_t>(number);
    std::size_t updated = 0;
    if (plan_.offload_optimizer) {
      update.operation = Operation::HostUpdate;
      updated = add(update, Bytes(0), {ready, on_host_.at(number)});
      update.operation = Operation::CopyToDevice;
      updated = add(update, weight_ * (plan_.zero_stage == 0 ? buckets_[number].elements : buckets_[number].shard_elements), {updated});
    } else {
      updated = add(update, Bytes(0), {ready});
    }
    const bool expert = buckets_[number].expert;
    if ((expert ? copies_of_experts() : plan_.mesh.copies()) == 1 || plan_.zero_stage == 0 || plan_.zero_stage == 3) continue;
    update.operation = Operation::AllGather;
    update.group = expert ? MeshAxis::ExpertData : MeshAxis::Data;
    add(update, gathered_bytes(plan_, buckets_[number]), {updated});
  }
}

}  // namespace

std::vector<ExpectedTask> expected_work(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage,
                                        const std::vector<Bucket>& buckets) {
  return StageWork(model, plan, stage, buckets).list();
}

TaskKey expected_form(TaskKey key, const ParallelPlan& plan) {
  const bool reduces =
      key.phase == Phase::Gradients && (key.group == MeshAxis::Data || key.group == MeshAxis::Replica || key.group == MeshAxis::ExpertData);
  if (reduces && plan.accumulation == Accumulation::ReduceLast) key.microbatch = MicrobatchIndex::none();
  return key;
}

bool is_gathering(const TaskKey& key) {
  const bool of_layer = key.phase == Phase::Forward || key.phase == Phase::Backward;
  return of_layer && ((key.operation == Operation::AllGather &&
                       (key.group == MeshAxis::Data || key.group == MeshAxis::ExpertData || key.group == MeshAxis::Reshard)) ||
                      key.operation == Operation::Reshard);
}

}  // namespace sim
