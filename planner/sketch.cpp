#include "planner/sketch.h"

#include <algorithm>
#include <cmath>

#include "planner/longest_step.h"
#include "sim/cost/resident_memory.h"
#include "sim/plan/stage_layers.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using sim::Bytes;
using sim::SimTime;
using sim::StageIndex;

struct LayerTimes {
  SimTime all{}, computing{};  // computing: without exchanges
};

SimTime in_turn(const InTurn& layer) { return layer.work + layer.exchange; }

// By itself: with the exchanges of its tokens, where `time` leaves these out.
SimTime alone_forward(const LayerPrice& price) { return std::max(price.forward.time, in_turn(price.forward_in_turn)); }
SimTime alone_backward(const LayerPrice& price) { return std::max(price.backward.time, in_turn(price.backward_in_turn)); }
SimTime exchanges(const LayerPrice& price) { return price.forward_in_turn.exchange + price.backward_in_turn.exchange; }
SimTime kernels(const LayerPrice& price) { return price.forward_in_turn.kernels + price.backward_in_turn.kernels; }
SimTime held(const LayerPrice& price) { return price.forward_in_turn.held + price.backward_in_turn.held; }
double share(const LayerPrice& price) { return std::max(price.forward_in_turn.share, price.backward_in_turn.share); }

// Actions of one chunk, as its host issues them. An order of them takes at least the sum of `time`, and of `issue`, whichever it is.
struct ChunkWork {
  PacedTime forward, backward, weight;  // backward: with what is computed again, the last layer first
  SimTime drain{};                      // of a backward that has computed again what it begins with
  SimTime computing{};                  // of all of them, without exchanges
  InTurn forward_in_turn, backward_in_turn;

  SimTime alone_forward() const { return std::max(forward.time, in_turn(forward_in_turn)); }
  SimTime alone_backward() const { return std::max(backward.time, in_turn(backward_in_turn)); }
};

ChunkWork work_of(const StageLayerPrices& prices, const sim::ModelGraph& model, sim::LayerRange layers) {
  ChunkWork work;
  PacedTime drain;
  for (sim::LayerIndex layer = layers.begin; layer < layers.end; ++layer) {
    const LayerPrice& price = price_of(prices, model, layer);
    work.forward = work.forward + price.forward;
    drain = layer.value() + 1 == layers.end.value() ? price.backward + drain : price.recompute + price.backward + drain;
    work.backward = price.recompute + price.backward + work.backward;
    work.weight = work.weight + price.weight;
    work.computing += price.computing;
    work.forward_in_turn += price.forward_in_turn;
    work.backward_in_turn += price.backward_in_turn;
    work.backward_in_turn.kernels += price.again;
  }
  work.drain = std::max(drain.time, in_turn(work.backward_in_turn));
  return work;
}

// Of one chunk behind another. Mostly it has the same layers as the one before, on a stage where they take the same: then it is not summed up again.
class ChunkWorks {
 public:
  explicit ChunkWorks(const sim::ModelGraph& model) : model_(model) {}
  const ChunkWork& of(const StageLayerPrices& prices, sim::LayerRange layers) {
    if (prices_ == nullptr || !prices_->shares(prices) || !are_alike(layers)) work_ = work_of(prices, model_, layers);
    prices_ = &prices, layers_ = layers;
    return work_;
  }

 private:
  bool are_alike(sim::LayerRange layers) const {
    const auto kinds = [&](sim::LayerIndex layer) { return model_.kinds.begin() + layer.value(); };
    return std::equal(kinds(layers.begin), kinds(layers.end), kinds(layers_.begin), kinds(layers_.end));
  }

  const sim::ModelGraph& model_;
  const StageLayerPrices* prices_ = nullptr;
  sim::LayerRange layers_{};
  ChunkWork work_;
};

// Actions that run beside another take what their kernels or their exchanges take, each on its own stream; the others both.
class PairedTime {
 public:
  void add(const ChunkWork& chunk, std::int64_t pieces, std::int64_t forward, std::int64_t backward) {
    alone_ += chunk.alone_forward() * (pieces - forward) + chunk.alone_backward() * (pieces - backward);
    paired_ += chunk.forward.time * forward + chunk.backward.time * backward;
    in_turn_ += chunk.forward_in_turn * forward;
    in_turn_ += chunk.backward_in_turn * backward;
  }
  SimTime all() const { return alone_ + beside(paired_, in_turn_); }

 private:
  SimTime alone_{}, paired_{};
  InTurn in_turn_;
};

LayerTimes sum(const StageLayerPrices& prices, const sim::ModelGraph& model, sim::LayerRange layers) {
  LayerTimes all;
  for (sim::LayerIndex layer = layers.begin; layer < layers.end; ++layer) {
    const LayerPrice& price = price_of(prices, model, layer);
    all.all += price.forward.time + price.recompute.time + price.backward.time + price.weight.time;
    all.computing += price.computing;
  }
  return all;
}

// Of units in two precisions at least what all of the leaner one take.
Bytes weights(const sim::ModelGraph& model, const sim::ParallelPlan& plan, StageIndex stage) {
  const sim::StageElements elements = sim::unpadded_stage_elements(model, plan, stage);
  const Bytes all = total(sim::resident_memory(plan, elements));
  if (!plan.workload.precision.has_full_units()) return all;
  return std::min(all, total(sim::resident_memory(sim::in_full_precision(plan), elements)));
}

Bytes step_data(const sim::ParallelPlan& plan, StageIndex stage) {
  sim::MemoryBreakdown memory{};
  sim::add_step_data(memory, plan, stage);
  return total(memory);
}

}  // namespace

namespace {

SimTime whole(const LayerPrice& price) { return price.forward.time + price.backward.time + price.weight.time; }

// Of a layer, on the stage where it is fastest.
template <class Time>
SimTime fastest(const std::vector<StageLayerPrices>& stages, sim::LayerKind kind, Time time) {
  SimTime least = time(stages.front()[kind]);
  for (const StageLayerPrices& stage : stages) least = std::min(least, time(stage[kind]));
  return least;
}

// Whether all blocks of the common kind find room in time.
bool holds_blocks(SimTime time, const LeastWork& work, const Pipelined& pipeline, SimTime step) {
  __extension__ using Work = __int128;
  const Work of_block = Work{work.common.count()} * pipeline.microbatches;
  std::int64_t room = 0;
  SimTime left = time;
  for (std::int64_t stage = 0; stage < pipeline.stages && left.count() > 0; ++stage, left -= step) {
    room += static_cast<std::int64_t>(left.count() / of_block);
    if (room >= work.blocks) return true;
  }
  return false;
}

}  // namespace

LeastWork least_work(const sim::ModelGraph& model, const std::vector<StageLayerPrices>& stages) {
  std::vector<std::int64_t> layers(model.firsts.size());
  for (sim::LayerIndex layer{0}; layer <= model.head(); ++layer) ++layers[model.kind(layer).position()];
  LeastWork least{.forward = SimTime::max(), .backward = SimTime::max()};
  SimTime all{};
  InTurn all_in_turn;
  for (const sim::LayerIndex first : model.firsts) {
    const sim::LayerKind kind = model.kind(first);
    const std::int64_t count = layers[kind.position()];
    const SimTime of_layer = fastest(stages, kind, whole);
    InTurn in_turn{
        .kernels = fastest(stages, kind, kernels), .exchange = fastest(stages, kind, exchanges), .held = fastest(stages, kind, held)};
    for (const StageLayerPrices& stage : stages) in_turn.share = std::max(in_turn.share, share(stage[kind]));
    const SimTime time = beside(of_layer, in_turn);
    all += of_layer * count;
    all_in_turn += in_turn * count;
    least.alone +=
        fastest(stages, kind, [](const LayerPrice& price) { return alone_forward(price) + alone_backward(price) + price.weight.time; }) *
        count;
    least.issue +=
        fastest(stages, kind, [](const LayerPrice& price) { return price.forward.issue + price.backward.issue + price.weight.issue; }) *
        count;
    least.computing += fastest(stages, kind, [](const LayerPrice& price) { return price.computing; }) * count;
    if (first == sim::LayerIndex(0) || first == model.head()) continue;
    least.forward = std::min(least.forward, fastest(stages, kind, alone_forward));
    least.backward = std::min(least.backward, fastest(stages, kind, alone_backward));
    if (time * count > least.common * least.blocks) least.common = time, least.blocks = count;
  }
  least.all = beside(all, all_in_turn);
  return least;
}

LeastWork least(const LeastWork& a, const LeastWork& b) {
  return {.all = std::min(a.all, b.all),
          .alone = std::min(a.alone, b.alone),
          .issue = std::min(a.issue, b.issue),
          .computing = std::min(a.computing, b.computing),
          .forward = std::min(a.forward, b.forward),
          .backward = std::min(a.backward, b.backward),
          .common = std::min(a.common, b.common),
          .blocks = std::min(a.blocks, b.blocks)};
}

SimTime least_time(const LeastWork& work, const Pipelined& pipeline) {
  const auto all = static_cast<double>(work.all.count()), alone = static_cast<double>(std::max(work.all, work.alone).count()),
             m = static_cast<double>(pipeline.microbatches);
  const auto stages = static_cast<double>(pipeline.stages);
  constexpr double kRounding = 1 - 1e-9;  // of doubles, downwards
  const SimTime step = pipeline.crosses_norm ? SimTime{} : pipeline.splits_backward ? work.forward : work.forward + work.backward;
  const double even = (all * (m - 1) + alone) / stages + static_cast<double>(step.count()) * (stages - 1) / 2;
  const double waiting =
      pipeline.one_chunk && !pipeline.splits_backward && !pipeline.crosses_norm ? all / (1 - std::pow(1 - 1 / m, stages)) : 0;
  const double issued = pipeline.crosses_norm ? 0 : static_cast<double>(work.issue.count()) * m / stages;
  SimTime low = clamped(std::max({even, waiting, issued}) * kRounding);
  if (low == kLongestStep || work.common.count() == 0 || holds_blocks(low, work, pipeline, step)) return low;
  const auto above = [](SimTime time) { return time + time / 16 + SimTime(1); };
  SimTime high = above(low);
  for (; !holds_blocks(high, work, pipeline, step); high = above(high)) {
    low = high;
    if (low >= kLongestStep) return kLongestStep;
  }
  for (constexpr std::int64_t kFineness = 4096; high - low > std::max(SimTime(1), low / kFineness);) {
    const SimTime middle = low + (high - low) / 2;
    (holds_blocks(middle, work, pipeline, step) ? high : low) = middle;
  }
  return low;
}

SimTime busiest_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers) {
  const sim::StageLayers parts(plan);
  SimTime busiest{};
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    SimTime all{};
    for (sim::ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
      all += sum(layers[stage.position()], model, parts.of(stage, chunk)).all * plan.num_pieces();
    }
    busiest = std::max(busiest, all);
  }
  return busiest;
}

SimTime computing_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers) {
  const sim::StageLayers parts(plan);
  SimTime all{};
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage)
    for (sim::ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk)
      all += sum(layers[stage.position()], model, parts.of(stage, chunk)).computing * plan.num_pieces();
  return all / plan.mesh.pipeline;
}

std::vector<PairedActions> paired_actions(const sim::ParallelPlan& plan, const StageOrders& orders) {
  std::vector<PairedActions> stages;
  for (const std::vector<sim::StageAction>& order : orders) {
    PairedActions& paired = stages.emplace_back();
    paired.forward.resize(sim::count_of(plan.chunks)), paired.backward.resize(sim::count_of(plan.chunks));
    for (std::size_t at = 0; at + 1 < order.size(); ++at) {
      if (!is_pair(order, at)) continue;
      ++paired.backward[order[at].chunk.position()];
      ++paired.forward[order[at + 1].chunk.position()];
    }
  }
  return stages;
}

std::vector<StageSketch> sketch_stages(const sim::ModelGraph& model, const sim::ParallelPlan& plan,
                                       const std::vector<StageLayerPrices>& layers, const std::vector<StageTransfers>& transfers,
                                       const std::vector<PairedActions>& paired) {
  const sim::StageLayers parts(plan);
  const std::int64_t pieces = plan.num_pieces();
  ChunkWorks works(model);
  std::vector<StageSketch> stages;
  stages.reserve(sim::count_of(plan.mesh.pipeline));
  SimTime arrive{}, drain{};
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    const StageLayerPrices& prices = layers[stage.position()];
    const TransferPrices& down = transfers[stage.position()].down;
    SimTime all{}, weights{}, issued{}, issued_weights{}, computing{};
    ChunkWork first;
    PairedTime pairs;
    for (sim::ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
      const ChunkWork& one = works.of(prices, parts.of(stage, chunk));
      if (chunk.value() == 0) first = one;
      all += (one.forward.time + one.backward.time + one.weight.time) * pieces;
      weights += one.weight.time * pieces;
      issued += (one.forward.issue + one.backward.issue + one.weight.issue) * pieces;
      issued_weights += one.weight.issue * pieces;
      computing += one.computing * pieces;
      if (paired.empty()) continue;
      const PairedActions& of_stage = sim::at(paired, stage.value());
      pairs.add(one, pieces, of_stage.forward[chunk.position()], of_stage.backward[chunk.position()]);
    }
    all = std::max(all, pairs.all());
    if (stage.value() > 0) arrive += down.forward_receive;
    const sim::LayerRange own = parts.of(stage, sim::ChunkIndex(0));
    const auto goes_back = [&](sim::LayerIndex end) { return end.value() > 0 && model.goes_back(sim::LayerIndex(end.value() - 1)); };
    const SimTime post = stage.value() > 0 && goes_back(own.begin) ? down.backward_post : SimTime{};
    stages.push_back({.arrive = arrive,
                      .ends = std::max(arrive + all, issued),
                      .last_backward = std::max(arrive + all - weights, issued - issued_weights),
                      .drain = drain + post,
                      .computing = computing});
    arrive = std::max(arrive + first.alone_forward(), first.forward.issued) + down.forward_post;
    drain += (goes_back(own.end) ? down.backward_receive : SimTime{}) + first.drain + post;
  }
  return stages;
}

SimTime sketch_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const std::vector<StageLayerPrices>& layers,
                    const std::vector<StageTransfers>& transfers, const std::vector<PairedActions>& paired) {
  if (plan.crosses_norm()) return busiest_time(model, plan, layers);
  SimTime bound{};
  for (const StageSketch& stage : sketch_stages(model, plan, layers, transfers, paired))
    bound = std::max({bound, stage.ends, stage.last_backward + stage.drain});
  return bound;
}

EndStages end_weights(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  return {.first = weights(model, plan, StageIndex(0)), .last = weights(model, plan, StageIndex(plan.mesh.pipeline - 1))};
}

EndStages end_step_data(const sim::ParallelPlan& plan) {
  return {.first = step_data(plan, StageIndex(0)), .last = step_data(plan, StageIndex(plan.mesh.pipeline - 1))};
}

}  // namespace planner
