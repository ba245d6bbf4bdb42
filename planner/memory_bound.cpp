#include "planner/memory_bound.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "planner/recomputation.h"
#include "planner/replay_stage.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/cost/resident_memory.h"
#include "sim/cost/unit_memory.h"
#include "sim/cost/whole_backwards.h"
#include "sim/plan/stage_layers.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using sim::ActionKind;
using sim::Bytes;
using sim::LayerIndex;
using sim::LayerRange;

// What one action of a chunk does to memory. Peaks are relative to what was alive when it began.
struct ActionMemory {
  Bytes change{};
  Bytes peak{};       // of all but its last unit, the next gathered unit included
  Bytes last_peak{};  // while its last unit runs; the unit gathered meanwhile belongs to the next action
  LayerIndex first_layer, last_layer;
};

// Which run of the chunk an action is: the first takes what stays for the step (gradients that are reduced last, kept units), the last frees it.
struct Run {
  bool first = false, last = false;
  bool left = false;                   // by a forward: weights that neighbours keep, or that all have until the backward
  bool whole = false;                  // though the schedule splits backwards
  sim::MicrobatchIndex microbatch{0};  // where it matters; else the first
};

class StageWalk {
 public:
  StageWalk(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const ActivationMemory& activations, const StageWeights* weights,
            const sim::WholeBackwards& whole, sim::StageIndex stage)  // no weights: they and their gradients count for nothing
      : model_(model),
        plan_(plan),
        layers_(plan),
        pieces_(plan.num_pieces()),
        activations_(activations),
        weights_(weights),
        whole_(whole),
        stage_(stage),
        gathers_(weights != nullptr && gathers_units(plan)),
        keeps_near_(gathers_ && plan.reshard_after_forward && plan.mesh.reshard > 1),
        placement_(plan.placement()),
        shape_(plan.pipeline_shape()),
        splits_backward_(plan.splits_backward() && !weights_in_turn(plan)),
        frees_gradients_(weights != nullptr &&
                         (plan.offload_parameters || (plan.optimizer_in_backward && !sim::follows_units(plan)) ||
                          (plan.mesh.copies() > 1 && sim::sharding_strategy(plan).shards_gradients && !sim::follows_units(plan)))),
        takes_gradients_(frees_gradients_ || (weights != nullptr && sim::drops_gradients(plan))),
        follows_units_(sim::follows_units(plan)),
        each_pass_(sim::reshards_after_backward(plan)),
        adds_up_(weights != nullptr && follows_units_ && plan.accumulation == sim::Accumulation::ReduceLast && pieces_ > 1),
        reduces_each_((sim::reduces_each(plan) && !sim::has_buckets_beside(plan)) || adds_on_host(plan)),
        spares_some_(spares_some(plan)) {
    if (spares_some_ && plan.recompute_scope.but_last)
      exempt_ = sim::MicrobatchIndex(static_cast<std::int32_t>(plan.num_microbatches()) - 1);
  }

  Bytes peak(const std::vector<sim::StageAction>& order);  // the most beyond what is resident

 private:
  struct Backwards {
    std::array<std::array<std::array<ActionMemory, 2>, 2>, 2> backward;  // [is first][is last][are left]
    std::array<ActionMemory, 2> weight;                                  // [is last]
  };
  struct Runs {
    std::array<std::array<ActionMemory, 2>, 2> forward;  // [takes what stays][are left]
    std::array<Backwards, 2> backwards;                  // [is whole]
  };
  struct Chunk {
    std::array<Runs, 2> runs;            // [is exempt]
    std::array<std::int64_t, 3> done{};  // by kind
    Bytes sums{}, standing{};            // of gradients, before they are reduced; of them alive now
    bool left = false;
  };
  Chunk chunk(sim::ChunkIndex index) const;
  Runs runs(sim::ChunkIndex index, sim::MicrobatchIndex microbatch) const;
  Backwards backwards(sim::ChunkIndex index, sim::MicrobatchIndex microbatch, bool whole) const;
  bool is_whole(const sim::StageAction& action) const {
    return !whole_.empty() && whole_.has(sim::WholeBackwards::Place{stage_, action.chunk, action.microbatch});
  }
  // Of a microbatch that is computed again otherwise than those in front of it.
  bool is_exempt(const sim::StageAction& action) const { return exempt_ && action.microbatch == *exempt_; }
  std::vector<sim::MicrobatchIndex> microbatches() const {  // [is exempt]
    return exempt_ ? std::vector{sim::MicrobatchIndex(0), *exempt_} : std::vector{sim::MicrobatchIndex(0)};
  }
  Bytes plain_peak(const std::vector<sim::StageAction>& order) const;
  bool is_like_before(sim::ChunkIndex chunk) const;
  ActionMemory action(sim::ChunkIndex chunk, ActionKind kind, Run run) const;
  const ActionMemory& next(const std::vector<Chunk>& chunks, const sim::StageAction& action) const;
  const LayerMemories& memories(LayerIndex layer, const Run& run) const {
    const bool is_spared = spares_some_ && !plan_.recomputes(layer, run.microbatch), whole = run.whole && splits_backward_;
    if (is_spared) return (whole ? activations_.spared_whole : activations_.spared)[model_.kind(layer)];
    return (whole ? activations_.whole : activations_.layers)[model_.kind(layer)];
  }
  LayerRange unit_of(LayerIndex layer, ActionKind kind) const {  // layers whose weights come and go together
    const LayerRange alone{layer, LayerIndex(layer.value() + 1)};
    return gathers_ && kind != ActionKind::Weight ? sim::unit_of(plan_, layer) : alone;
  }
  static Bytes sum(const std::vector<Bytes>& by_layer, LayerRange layers) {
    return std::accumulate(by_layer.begin() + layers.begin.value(), by_layer.begin() + layers.end.value(), Bytes{});
  }
  Bytes passing_unit(LayerRange unit) const;   // gathered for the visits of its layers
  Bytes sums(LayerRange chunk) const;          // of gradients, which are added up before they are reduced
  Bytes coming_unit(LayerIndex layer) const {  // of it, what is surely on its way while the unit before computes
    const bool is_sure = plan_.prefetch > 0 && !plan_.offload_parameters;  // else behind what else comes from the host
    return gathers_ && is_sure && plan_.reshard_after_forward && !follows_units_ && model_.goes_back(layer)
               ? weights_->first_bucket[sim::unit_of(plan_, layer).begin.position()]
               : Bytes{};
  }
  // What neighbours keep of a unit; none is counted of a chunk's first and last, which may stay gathered from one action to the next.
  Bytes kept(LayerRange unit, LayerRange chunk) const {
    if (!keeps_near_ || unit.begin <= chunk.begin || unit.end >= chunk.end) return {};
    return weights_->of_all_shards[unit.begin.position()] / std::int64_t{plan_.mesh.reshard};
  }
  std::span<const bool> leaves() const {
    static constexpr std::array kBoth{false, true};
    return std::span(kBoth).first(keeps_near_ || each_pass_ ? 2 : 1);
  }
  bool may_be(Run run) const { return pieces_ == 1 ? run.first && run.last : !(run.first && run.last); }
  bool is_head(LayerIndex layer) const { return layer.position() + 1 == weights_->by_layer.size(); }

  const sim::ModelGraph& model_;
  const sim::ParallelPlan& plan_;
  sim::StageLayers layers_;
  std::int64_t pieces_;
  const ActivationMemory& activations_;
  const StageWeights* weights_;
  const sim::WholeBackwards& whole_;
  sim::StageIndex stage_;
  bool gathers_, keeps_near_;
  sim::ChunkPlacement placement_;
  sim::PipelineShape shape_;
  bool splits_backward_, frees_gradients_, takes_gradients_;
  bool follows_units_, each_pass_;  // follows: of units, copies of weights and sums of gradients are counted
  bool adds_up_;                    // gradients of all microbatches, before they are reduced
  bool reduces_each_;
  bool spares_some_;
  std::optional<sim::MicrobatchIndex> exempt_;
};

const LayerMemory& of_kind(const LayerMemories& all, ActionKind kind) {
  return kind == ActionKind::Forward ? all.forward : kind == ActionKind::Backward ? all.backward : all.weight;
}

// In the format of the reduction; where weights have a backward of their own, they wait in that of the weights first.
Bytes StageWalk::sums(LayerRange chunk) const {
  Bytes all{};
  if (!adds_up_) return all;
  for (LayerIndex layer = chunk.begin; layer < chunk.end; layer = LayerIndex(layer.value() + 1)) {
    const Bytes own = plan_.bytes(sim::Numbers::Gradients, layer);
    Bytes least = std::min(own, plan_.bytes(sim::Numbers::Wire, layer));
    if (splits_backward_) least = std::min(least, plan_.bytes(sim::Numbers::Weights, layer));
    all += least * (weights_->gradients_end[layer.position()].value() / own.value());
  }
  return all;
}

// Who reads the embedding's table on its stage gathers it, too.
Bytes StageWalk::passing_unit(LayerRange unit) const {
  if (!gathers_ || !plan_.reshard_after_forward || (follows_units_ && is_head(unit.begin))) return {};
  const bool reads_embedding = plan_.reads_embedding(unit.begin);
  return sum(weights_->by_layer, unit) + (reads_embedding ? weights_->by_layer.front() : Bytes{});
}

ActionMemory StageWalk::action(sim::ChunkIndex chunk, ActionKind kind, Run run) const {
  const bool forward = kind == ActionKind::Forward;
  const sim::LayerRange range = layers_.of(stage_, chunk);
  const bool weight = kind == ActionKind::Weight;
  const std::int32_t virtual_stage = sim::virtual_stage(placement_, shape_, {stage_, chunk});
  const LayerIndex bottom = range.begin, top(range.end.value() - 1);
  ActionMemory all{.first_layer = forward ? bottom : top, .last_layer = forward ? top : bottom};
  const bool keeps_units = gathers_ && !plan_.reshard_after_forward, completes = weight || !splits_backward_;
  const auto is_remote = [&](std::int32_t other) {  // a virtual stage that what is read (or made) crosses a link to
    if (weight || other < 0 || other >= shape_.stages * static_cast<std::int32_t>(shape_.chunks)) return false;
    const LayerIndex in_front((other > virtual_stage ? range.end : range.begin).value() - 1);  // of the boundary
    return sim::site_of(placement_, shape_, other).stage != stage_ && (forward || model_.goes_back(in_front));
  };
  const auto message = [&](std::int32_t other) {  // to or from it
    return is_remote(other) ? activations_.layers[model_.kind(other > virtual_stage ? range.end : range.begin)].received : Bytes{};
  };
  const std::int32_t step = forward ? 1 : -1;
  const bool takes = !(forward && activations_.messages_held), gives = forward || !activations_.messages_held;
  const Bytes came = takes ? message(virtual_stage - step) : Bytes{};
  Bytes alive = came;
  for (LayerIndex layer = all.first_layer;; layer = LayerIndex(layer.value() + step)) {
    const LayerRange unit = unit_of(layer, kind);
    const bool goes_back = model_.goes_back(layer);  // else its weights may go with the last forward: none are counted
    const Bytes weights = keeps_units && goes_back ? sum(weights_->by_layer, unit) : Bytes{};
    const LayerIndex low = unit.begin, high(unit.end.value() - 1), after(forward ? unit.end.value() : low.value() - 1);
    const bool opens = layer == (forward ? low : high), closes = layer == (forward ? high : low), is_last = layer == all.last_layer;
    const bool in_last_unit = low <= all.last_layer && all.last_layer <= high;
    const Bytes gathered =
        weight || (!forward && !goes_back) ? Bytes{} : passing_unit(unit) + (in_last_unit ? Bytes{} : coming_unit(after));
    if (run.left && opens && !in_last_unit) alive -= kept(unit_of(after, kind), range);
    if (run.first && forward && opens && keeps_units) alive += weights;
    const LayerMemories& of_layer = memories(layer, run);
    const LayerMemory& memory = of_kind(of_layer, kind);
    const Bytes made_again = !weight && plan_.makes_input_again(layer, run.microbatch) ? of_layer.received : Bytes{};
    if (!forward) alive += made_again;
    const Bytes awaited = layer == all.first_layer ? came : Bytes{};  // what is made again does not wait for it
    const Bytes before_gradients = alive - awaited + of_layer.recompute_peak + gathered;
    if (kind == ActionKind::Backward && takes_gradients_) {
      if (run.first) alive += weights_->tied_gradients[layer.position()];
      if (run.first || reduces_each_) alive += weights_->gradients_begin[layer.position()];
    }
    Bytes peak = alive + memory.peak + gathered;  // below what was alive at first: weight gradients only free
    if (kind == ActionKind::Backward) peak = std::max(peak, before_gradients);
    if (in_last_unit)
      all.last_peak = opens ? peak : std::max(all.last_peak, peak);
    else
      all.peak = std::max(all.peak, peak);
    alive += memory.change;
    if (forward) alive -= made_again;
    if (forward && closes) alive += kept(unit, range);
    if ((each_pass_ ? run.left : run.last) && kind == ActionKind::Backward && closes && keeps_units) alive -= weights;
    if ((run.last || reduces_each_) && !forward && completes && frees_gradients_) alive -= weights_->gradients_end[layer.position()];
    if (is_last) break;
  }
  all.change = alive - (gives ? message(virtual_stage + step) : Bytes{});
  return all;
}

StageWalk::Backwards StageWalk::backwards(sim::ChunkIndex index, sim::MicrobatchIndex microbatch, bool whole) const {
  Backwards all;
  for (const bool last : {false, true}) {
    for (const bool first : {false, true})
      for (const bool left : leaves()) {
        const Run run{.first = first, .last = last, .left = left, .whole = whole, .microbatch = microbatch};
        if (may_be(run)) all.backward[first][last][left] = action(index, ActionKind::Backward, run);
      }
    if (splits_backward_) all.weight[last] = action(index, ActionKind::Weight, {.last = last, .whole = whole, .microbatch = microbatch});
  }
  return all;
}

StageWalk::Runs StageWalk::runs(sim::ChunkIndex index, sim::MicrobatchIndex microbatch) const {
  Runs runs;
  for (const bool first : {false, true})
    for (const bool left : leaves())
      runs.forward[first][left] = action(index, ActionKind::Forward, {.first = first, .left = left, .microbatch = microbatch});
  runs.backwards[false] = backwards(index, microbatch, false);
  if (!whole_.empty()) runs.backwards[true] = backwards(index, microbatch, true);
  return runs;
}

StageWalk::Chunk StageWalk::chunk(sim::ChunkIndex index) const {
  Chunk chunk;
  auto next = chunk.runs.begin();
  for (const sim::MicrobatchIndex microbatch : microbatches()) *next++ = runs(index, microbatch);
  chunk.sums = sums(layers_.of(stage_, index));
  return chunk;
}

const ActionMemory& StageWalk::next(const std::vector<Chunk>& chunks, const sim::StageAction& action) const {
  const Chunk& chunk = chunks[action.chunk.position()];
  const Runs& runs = chunk.runs[is_exempt(action)];
  const std::int64_t done = sim::at(chunk.done, action.kind);
  if (action.kind == ActionKind::Forward) return runs.forward[each_pass_ ? !chunk.left : done == 0][chunk.left];
  const Backwards& backwards = runs.backwards[is_whole(action)];
  if (action.kind == ActionKind::Weight) return backwards.weight[done + 1 == pieces_];
  return backwards.backward[done == 0][done + 1 == pieces_][chunk.left];
}

// Whether a chunk has the layers of the one before, and neighbours alike, so that its actions do the same.
bool StageWalk::is_like_before(sim::ChunkIndex chunk) const {
  const bool by_position = spares_some_ || plan_.recompute_scope.together > 1;
  if (chunk.value() < 1 || by_position || placement_ != sim::ChunkPlacement::Loop) return false;
  const LayerRange own = layers_.of(stage_, chunk), other = layers_.of(stage_, sim::ChunkIndex(chunk.value() - 1));
  const auto& kinds = model_.kinds;
  const bool have_neighbours = other.begin.value() > 0 && own.end.position() < kinds.size();
  return have_neighbours && std::equal(kinds.begin() + own.begin.value() - 1, kinds.begin() + own.end.value() + 1,
                                       kinds.begin() + other.begin.value() - 1, kinds.begin() + other.end.value() + 1);
}

// No run takes or frees what others do not.
Bytes StageWalk::plain_peak(const std::vector<sim::StageAction>& order) const {
  struct Alone {
    Bytes change{}, peak{};
  };
  const std::vector<sim::MicrobatchIndex> microbatches = this->microbatches();
  std::array<std::vector<std::array<Alone, 3>>, 4> chunks;  // [is exempt, is whole], by chunk and kind
  for (std::size_t at = 0; at < 2 * microbatches.size(); ++at) {
    const bool whole = at % 2 == 1;
    for (sim::ChunkIndex index{0}; (!whole || !whole_.empty()) && index.value() < plan_.chunks; ++index) {
      if (is_like_before(index)) {
        chunks[at].push_back(chunks[at].back());
        continue;
      }
      std::array<Alone, 3>& of_chunk = chunks[at].emplace_back();
      for (const ActionKind kind : {ActionKind::Forward, ActionKind::Backward, ActionKind::Weight}) {
        if (kind == ActionKind::Weight && !splits_backward_) continue;
        const ActionMemory one = action(index, kind, {.whole = whole, .microbatch = microbatches[at / 2]});
        sim::at(of_chunk, kind) = {one.change, std::max(one.peak, one.last_peak)};
      }
    }
  }
  Bytes alive{}, most{};
  for (const sim::StageAction& one : order) {
    const Alone& now = sim::at(chunks[(is_exempt(one) ? 2 : 0) + (is_whole(one) ? 1 : 0)][one.chunk.position()], one.kind);
    most = std::max(most, alive + now.peak);
    alive += now.change;
  }
  return most;
}

Bytes StageWalk::peak(const std::vector<sim::StageAction>& order) {
  if (!gathers_ && !takes_gradients_) return plain_peak(order);
  std::vector<Chunk> chunks;
  for (sim::ChunkIndex index{0}; index.value() < plan_.chunks; ++index) chunks.push_back(chunk(index));
  Bytes alive{}, most{};
  for (std::size_t at = 0; at < order.size(); ++at) {
    const ActionMemory& now = next(chunks, order[at]);
    Chunk& chunk = chunks[order[at].chunk.position()];
    ++sim::at(chunk.done, order[at].kind);
    const std::int64_t done = sim::at(chunk.done, order[at].kind);
    if (order[at].kind == ActionKind::Backward && done == pieces_) {  // some may be reduced from here on
      alive -= std::exchange(chunk.standing, Bytes{});
      chunk.sums = {};
    }
    if (order[at].kind != ActionKind::Weight) chunk.left = (keeps_near_ || each_pass_) && order[at].kind == ActionKind::Forward;
    Bytes next_unit{};
    if (gathers_ && at + 1 < order.size() && order[at + 1].kind != ActionKind::Weight) {
      const LayerIndex next_layer = next(chunks, order[at + 1]).first_layer;
      if (sim::unit_of(plan_, next_layer).begin != sim::unit_of(plan_, now.last_layer).begin) next_unit = coming_unit(next_layer);
    }
    most = std::max({most, alive + now.peak, alive + now.last_peak + next_unit});
    alive += now.change;
    if (order[at].kind == (splits_backward_ ? ActionKind::Weight : ActionKind::Backward) && done == 1)
      alive += chunk.standing = std::exchange(chunk.sums, Bytes{});
  }
  return most;
}

// With delay_wgrad weights' gradients that run in turn with their backward's exchanges wait for nothing.
sim::WholeBackwards whole_backwards(const sim::ParallelPlan& plan, std::span<const std::vector<sim::StageAction>> orders) {
  if (!plan.expert_overlap || !plan.delay_wgrad || weights_in_turn(plan)) return {plan, orders};
  std::set<sim::WholeBackwards::Place> whole;
  for (std::size_t stage = 0; stage < orders.size(); ++stage)
    for (std::size_t at = 0; at + 1 < orders[stage].size(); ++at) {
      const sim::StageAction& one = orders[stage][at];
      const bool in_turn = one.kind == ActionKind::Backward && turn_of(plan, orders[stage], at + 1).begin == at;
      if (in_turn && orders[stage][at + 1].kind == ActionKind::Weight)
        whole.insert({sim::StageIndex(static_cast<std::int32_t>(stage)), one.chunk, one.microbatch});
    }
  return sim::WholeBackwards(std::move(whole));
}

}  // namespace

Bytes first_working_memory(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const ActivationMemory& activations,
                           const std::vector<sim::StageAction>& order) {
  const sim::WholeBackwards whole = whole_backwards(plan, std::span(&order, 1));
  return StageWalk(model, plan, activations, nullptr, whole, sim::StageIndex(0)).peak(order);
}

MemoryBound memory_bound(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const ActivationMemory& activations,
                         const std::vector<StageWeights>& weights, const StageOrders& orders) {
  MemoryBound bound;
  const sim::WholeBackwards whole = whole_backwards(plan, orders);
  for (std::size_t at = 0; at < weights.size(); ++at) {
    const sim::StageIndex stage(static_cast<std::int32_t>(at));
    // Which blocks send what they keep to the host is of the cut: where a number of them is said, what is resident is a bound.
    const Bytes working =
        plan.offload_blocks > 0 ? Bytes{} : StageWalk(model, plan, activations, &weights[at], whole, stage).peak(orders[at]);
    sim::MemoryBreakdown resident = weights[at].resident;
    sim::add_step_data(resident, plan, stage);
    const Bytes peak = total(resident) + working;
    if (peak <= bound.peak) continue;
    bound = {.peak = peak, .resident = resident, .working = working};
  }
  return bound;
}

}  // namespace planner
