#include "sim/cost/memory_beside.h"

#include <algorithm>
#include <cmath>

#include "sim/cluster/software_stack.h"

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
  for (const std::int32_t degree :
       {mesh.ranks(), mesh.shards(), mesh.replicas, mesh.tensor, mesh.context, mesh.expert, mesh.reshard, mesh.pipeline})
    count += degree > 1;
  return count;  // of the last: the ranks that hold a tied embedding
}

// Forward and backward, from and to the neighbours of an inner stage; two stages have one neighbour each, both sides of it where chunks go round.
std::int32_t flows_of(const ParallelPlan& plan) {
  if (plan.mesh.pipeline == 1) return 0;
  return plan.mesh.pipeline == 2 && plan.chunks == 1 ? 2 : 4;
}

}  // namespace

MemoryBeside memory_beside(const ParallelPlan& plan, const MemoryBreakdown& at_peak) {
  if (plan.cluster.hardware.kind == DeviceKind::Cpu) return {};
  const auto of = [&](MemoryCategory category) { return at_peak[static_cast<std::size_t>(category)]; };
  MemoryBeside beside{
      .communicators = communicators_of(plan.mesh), .flows = flows_of(plan), .channels = channels_of(plan.cluster.hardware)};
  const Bytes both = in_pages(kReceives) + in_pages(kSends);
  beside.nccl = both * (std::int64_t{beside.channels} * (kConnections * beside.communicators + beside.flows / 2));
  const Bytes moving = of(MemoryCategory::Activations) + of(MemoryCategory::GatheredUnits) + of(MemoryCategory::CommunicationBuffers) +
                       of(MemoryCategory::Temporaries);
  beside.pool = Bytes(std::llround(SoftwareStack{}.fragmentation * static_cast<double>(moving.value())));
  return beside;
}

}  // namespace sim
