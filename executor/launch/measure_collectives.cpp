// Collectives and transfers, with the communicators of a run. Groups: all ranks; neighbors two by two, all pairs at the same time.
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <set>

#include "executor/launch/measure_timer.h"

namespace executor {
namespace {

constexpr std::int64_t kPayloads[] = {256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20};

Repeats repeats_of(std::int64_t bytes) { return {static_cast<std::int32_t>(std::clamp<std::int64_t>((64 << 20) / bytes, 8, 60))}; }

sim::TaskKey measuring_key(sim::Operation operation) {
  return {.stage = {},
          .chunk = {},
          .microbatch = {},
          .layer = {},
          .phase = sim::Phase::Step,
          .operation = operation,
          .group = {},
          .sequence = 0};
}

// bytes: of the whole buffer, cut into equal shards.
void measure_group(KernelTimer& timer, Communicator& group, std::int64_t bytes, std::vector<Sample>& samples) {
  const std::int64_t shard_elements = std::max<std::int64_t>(bytes / 4 / group.size(), 1);
  const at::Tensor full = at::zeros({shard_elements * group.size()}, timer.of(at::kFloat)),
                   shard = at::zeros({shard_elements}, timer.of(at::kFloat));
  const auto add = [&](sim::Kernel kernel, const KernelTimer::Action& action) {
    const std::int64_t whole = full.numel() * 4;
    samples.push_back({kernel, {whole, group.size()}, timer.time_after_work(action, repeats_of(whole))});
  };
  add(sim::Kernel::AllReduce, [&] { group.all_reduce(full, ReduceOperation::Sum, measuring_key(sim::Operation::AllReduce))->wait(); });
  add(sim::Kernel::ReduceScatter, [&] { group.reduce_scatter(shard, full, measuring_key(sim::Operation::ReduceScatter))->wait(); });
  add(sim::Kernel::AllGather, [&] { group.all_gather(full, shard, measuring_key(sim::Operation::AllGather))->wait(); });
}

// There and back between neighbors; one way is half of it. Without a partner a rank only keeps the barriers.
void measure_transfer(KernelTimer& timer, std::int64_t bytes, std::vector<Sample>& samples) {
  Communicator& world = timer.mesh().of(sim::MeshAxis::World);
  const std::int32_t partner = world.rank() ^ 1;
  const at::Tensor buffer = at::zeros({bytes / 4}, timer.of(at::kFloat));
  const auto exchange = [&] {
    if (partner >= world.size()) return;
    const auto send = [&] { world.send(buffer, partner, measuring_key(sim::Operation::Send))->wait(); };
    const auto receive = [&] { world.receive(buffer, partner, measuring_key(sim::Operation::Receive))->wait(); };
    if (world.rank() < partner)
      send(), receive();
    else
      receive(), send();
  };
  samples.push_back({sim::Kernel::SendReceive, {bytes, 2}, timer.time_together(exchange, repeats_of(bytes)) / 2});
}

}  // namespace

void measure_collectives(KernelTimer& timer, std::vector<Sample>& samples) {
  if (timer.mesh().mesh().ranks() == 1) return;
  std::set<std::int32_t> measured{1};
  for (const sim::MeshAxis axis : {sim::MeshAxis::World, sim::MeshAxis::Tensor}) {
    Communicator& group = timer.mesh().of(axis);
    if (!measured.insert(group.size()).second) continue;
    for (const std::int64_t bytes : kPayloads) measure_group(timer, group, bytes, samples);
  }
  for (const std::int64_t bytes : kPayloads) measure_transfer(timer, bytes, samples);
}

}  // namespace executor
