#include "sim/cost/memory_beside.h"

#include <algorithm>

#include "sim/cluster/software_stack.h"
#include "sim/cost/library_workspaces.h"
#include "sim/cost/loss_tokens.h"
#include "sim/cost/resident_memory.h"
#include "sim/cost/unit_memory.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr Bytes kPage{std::int64_t{2} << 20};
constexpr Bytes kReceives{(std::int64_t{4} << 20) + (std::int64_t{512} << 10) + 4'915'200}, kSends{1 << 12};
constexpr std::int64_t kConnections = 2;  // ring, tree
constexpr std::int32_t kMostChannels = 32;

constexpr Bytes in_pages(Bytes amount) { return kPage * ((amount.value() + kPage.value() - 1) / kPage.value()); }

std::int32_t channels_of(const HardwareProfile& hardware) {
  const LinkProfile& link = hardware.devices_per_node > 1 ? hardware.intra_node : hardware.inter_node;
  return std::min(kMostChannels, 2 * link.lanes);
}

std::int32_t communicators_of(const DeviceMesh& mesh) {
  std::int32_t count = 0;
  for (const std::int32_t degree : {mesh.ranks(), mesh.shards(), mesh.replicas, mesh.tensor, mesh.context, mesh.expert,
                                    mesh.cuts_experts_apart() ? mesh.expert_cut() : 1, mesh.reshard, mesh.pipeline})
    count += degree > 1;
  return count;  // of the last: the ranks that hold a tied embedding
}

// Forward and backward, from and to the neighbours of an inner stage; two stages have one neighbour each, both sides of it where chunks go round.
std::int32_t flows_of(const ParallelPlan& plan) {
  if (plan.mesh.pipeline == 1) return 0;
  return plan.mesh.pipeline == 2 && plan.chunks == 1 ? 2 : 4;
}

// Trained weights of the largest unit, and what lands of it and the next one: two of blocks, or one of the ends (both in the root's unit).
struct LargestUnit {
  Bytes trained{}, landing{};
};
LargestUnit largest_unit(const ParallelPlan& plan) {
  const ModelGraph model = make_model_graph(plan);
  Bytes ends{};
  LargestUnit most;
  for (const LayerIndex layer : model.firsts) {
    const bool is_block = layer != LayerIndex(0) && layer != model.head();
    const Bytes each = plan.bytes(Numbers::Weights, layer) * std::int64_t{is_block ? plan.layers_per_unit : 1};
    Bytes unit{}, trained{};
    for (const Parameter& parameter : model.layer(layer).parameters) {
      const Bytes own = each * local_elements(parameter, plan.mesh);
      unit += own;
      if (!parameter.frozen) trained += own;
    }
    if (!is_block) ends += unit;
    most = {std::max(most.trained, trained), std::max(most.landing, is_block ? unit * std::int64_t{2} : unit)};
  }
  if (habits_of(plan.cluster).root_unit && plan.mesh.pipeline == 1) most.landing = std::max(most.landing, ends);
  return most;
}

// Weights that gradients are still to come for: all, or where parts are frozen as many as have states.
Bytes trained_weights(const ParallelPlan& plan, const MemoryBreakdown& at_peak) {
  const Bytes all = sim::at(at_peak, MemoryCategory::Parameters);
  if (!plan.model.adapters && !plan.model.frozen.any()) return all;
  const bool are_masters = shards_masters(plan);
  const Bytes masters = plan.bytes(Numbers::Masters), weight = are_masters ? masters : plan.bytes(Numbers::Weights);
  const Bytes state = optimizer_bytes_per_element(plan.workload, habits_of(plan.cluster)) - (are_masters ? masters : Bytes{});
  return state == Bytes{} ? all : std::min(all, weight * (sim::at(at_peak, MemoryCategory::OptimizerState).value() / state.value()));
}

Bytes cached_logits(const ParallelPlan& plan) {
  const double each = habits_of(plan.cluster).cached_logit_bytes;
  const std::int64_t rank_words = plan.model.vocabulary / plan.mesh.tensor;
  return scaled(Bytes(tokens_with_loss(plan) * rank_words), each);
}

}  // namespace

MemoryBeside memory_beside(const ParallelPlan& plan, const MemoryBreakdown& at_peak) {
  if (plan.cluster.hardware.kind == DeviceKind::Cpu) return {};
  const auto of = [&](MemoryCategory category) { return sim::at(at_peak, category); };
  MemoryBeside beside{
      .communicators = communicators_of(plan.mesh), .flows = flows_of(plan), .channels = channels_of(plan.cluster.hardware)};
  const Bytes both = in_pages(kReceives) + in_pages(kSends);
  beside.nccl = both * (std::int64_t{beside.channels} * (kConnections * beside.communicators + beside.flows / 2));
  const Bytes moving = of(MemoryCategory::Activations) + of(MemoryCategory::GatheredUnits) + of(MemoryCategory::CommunicationBuffers) +
                       of(MemoryCategory::Temporaries) - std::min(of(MemoryCategory::Temporaries), library_workspaces(plan));
  const SoftwareStack& habits = habits_of(plan.cluster);
  beside.pool = scaled(moving, habits.fragmentation) + cached_logits(plan);
  const bool lands = habits.stages_gathers && sharding_strategy(plan).shards_parameters, by_units = follows_units(plan);
  if (!lands && !by_units) return beside;
  const LargestUnit unit = largest_unit(plan);
  if (lands) beside.pool += std::min(of(MemoryCategory::GatheredUnits), unit.landing);
  if (!by_units) return beside;
  const Bytes reduced = std::max(Bytes{}, of(MemoryCategory::Gradients) - unit.trained);  // those of the largest unit are not reduced yet
  beside.pool += std::max(Bytes{}, trained_weights(plan, at_peak) - reduced);
  return beside;
}

}  // namespace sim
