#include "sim/plan/group_shares.h"

#include <fmt/format.h>

#include <numeric>

#include "sim/plan/rules.h"

namespace sim {
namespace {

const DeviceGroup& group_at(const ParallelPlan& plan, const MeshCoordinate& at) {
  return group_of(plan.cluster.groups, plan.mesh.rank_of(at));
}

// Of the data ranks that take part in a microbatch.
std::int64_t sum_of_shares(const ParallelPlan& plan) {
  std::int64_t sum = 0;
  for (std::int32_t data = 0; data < plan.mesh.copies(); data += plan.mesh.context) sum += group_at(plan, {.data = data}).share;
  return sum;
}

// The least microbatch of which each rank's share is whole samples; each whole one is a multiple of it.
std::int64_t least_whole(const ParallelPlan& plan) {
  const std::int64_t sum = sum_of_shares(plan);
  std::int64_t samples = 1;
  for (const DeviceGroup& group : plan.cluster.groups) samples = std::lcm(samples, sum / std::gcd(sum, plan.mesh.data * group.share));
  return samples;
}

// Ranks that share a sample stand on devices of one group, and those of its stages have equal shares.
void check_samples_of_groups(const ParallelPlan& plan, Rules& rules) {
  for (Rank rank(0); rank.value() < plan.mesh.ranks() && rules.clean(); ++rank) {
    const MeshCoordinate at = plan.mesh.coordinate(rank);
    const DeviceGroup& own = group_of(plan.cluster.groups, rank);
    const DeviceGroup& first = group_at(plan, {.data = at.data - at.data % plan.mesh.context, .stage = at.stage});
    rules.must(&own == &first, "/cluster/groups",
               fmt::format("{} and {} would share a sample among tensor or context ranks", first.hardware.name, own.hardware.name),
               "use degrees of which whole replicas stand on devices of one group");
    rules.must(
        group_at(plan, {.data = at.data}).share == own.share, "/cluster/groups",
        fmt::format("a sample passes stages whose devices have shares {} and {}", group_at(plan, {.data = at.data}).share, own.share),
        "give all groups one share, and the stages' blocks by cut; or use pipeline=1");
  }
}

}  // namespace

std::int64_t samples_of(const ParallelPlan& plan, const DeviceGroup& group) {
  const std::int64_t all = plan.microbatch_size * plan.mesh.data * group.share, sum = sum_of_shares(plan);
  return all % sum == 0 ? all / sum : 0;
}

ParallelPlan as_of_group(const ParallelPlan& plan, const DeviceGroup& group) {
  ParallelPlan alone = plan;
  alone.cluster.hardware = group.hardware;
  alone.cluster.groups.clear();
  alone.microbatch_size = samples_of(plan, group);
  alone.workload.global_batch = plan.num_microbatches() * plan.mesh.data * alone.microbatch_size;
  return alone;
}

void check_groups(const ParallelPlan& plan, Rules& rules) {
  if (plan.cluster.groups.empty()) return;
  const auto needs = [&](bool holds, const std::string& problem, const std::string& remedy) {
    rules.must(holds, "/cluster/groups", problem, remedy);
  };
  needs(plan.mesh.expert == 1, "with shares send unequal numbers of tokens to experts of other ranks", "use expert=1, or leave share out");
  needs(!plan.workload.samples.has_documents(), "with shares are not known beside documents", "leave samples out, or share");
  needs(!plan.shares_statistics(), "with shares have batches of unequal weight in statistics over ranks",
        "use sync_batch_norm=false, or leave share out");
  needs(!plan.offload_optimizer, "with shares are not known where the host steps the optimizer",
        "use offload_optimizer=false, or leave share out");
  check_samples_of_groups(plan, rules);
  if (!rules.clean()) return;
  const std::int64_t least = least_whole(plan);
  needs(plan.microbatch_size % least == 0, fmt::format("deal {} a rank out in shares that are no whole samples", plan.microbatch_size),
        fmt::format("use microbatch={}", least));
}

}  // namespace sim
