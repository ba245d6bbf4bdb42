#include "sim/cost/unit_copies.h"

#include "sim/cost/gradient_lifetime.h"
#include "sim/units/at.h"

namespace sim {
namespace {

// FSDP 1 (torch/distributed/fsdp): autograd joins the gradients of a unit's views (_flat_param.py, torch.split), which are divided in front of their sum
// (_runtime_utils.py, _reduce_grad). FSDP 2 cuts what it gathered into weights, and joins gradients by a copy that casts (_fully_shard/_fsdp_collectives.py,
// foreach_all_gather_copy_out, foreach_reduce_scatter_copy_in). DeepSpeed joins the parts of each weight (zero/partition_parameters.py, torch.cat), moves each gradient
// into a bucket (zero/stage3.py, __add_grad_to_ipg_bucket), orders the buckets by rank and divides them (comm/coalesced_collectives.py).
struct Copies {
  double of_weights = 0;    // behind each gather
  double of_gradients = 0;  // as they come
  double of_sums = 0;       // in the type that is sent, of each exchange
  bool casts_apart = true;  // else a copy casts
};
constexpr Copies kCopies[] = {{}, {0, 1, 1}, {1, 1, 0, false}, {1, 1, 2}};  // by UnitCopying

}  // namespace

UnitCopies unit_copies(const ParallelPlan& plan, Phase phase) {
  if (plan.zero_stage != 3 || plan.mesh.shards() == 1 || plan.cluster.hardware.kind != DeviceKind::Gpu) return {};
  const Copies& copies = sim::at(kCopies, unit_copying(plan.cluster.software));
  const auto element = static_cast<double>(plan.bytes(Numbers::Activations).value()),
             sent = static_cast<double>(plan.bytes(Numbers::Wire).value());
  const bool gathers = phase == Phase::Forward || (phase == Phase::Backward && plan.reshard_after_forward);
  const double gathered = gathers ? 2 * element * copies.of_weights : 0, cast = sent == element ? 0 : element + sent;
  if (!copies.casts_apart) return {.gathered = gathered, .reduced = copies.of_gradients * (element + sent)};
  const double each = copies.of_sums > 0 ? cast + copies.of_sums * 2 * sent : 0,
               sums = reduces_each(plan) ? 1 : 1.0 / static_cast<double>(plan.num_pieces());
  return {.gathered = gathered, .reduced = 2 * element * copies.of_gradients + sums * each};
}

}  // namespace sim
