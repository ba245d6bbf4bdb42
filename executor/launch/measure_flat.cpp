// What a step does to flat buffers: optimizer, gradient norm, copies.
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>

#include "executor/kernels/exact_sum.h"
#include "executor/kernels/on_device.h"
#include "executor/kernels/optimizer.h"
#include "executor/launch/measure_timer.h"

namespace executor {
namespace {

// Numbers that differ, between 0 and one: equal ones flatter. Second moments are none below 0.
struct Flat {
  at::TensorOptions options;
  at::Tensor operator()(std::int64_t elements) const { return at::rand({elements}, options); }
};

// As a step does it: on a device the sum stays there until all buckets are in it.
void add_squares(const at::Tensor& limbs, const at::Tensor& values) {
  if (values.is_cpu())
    ExactSum().add_squares(values);
  else
    on_device::add_squares(limbs, values);
}

}  // namespace

void measure_flat(KernelTimer& timer, std::vector<Sample>& samples) {
  const Flat flat{timer.of(at::kFloat)};
  const at::Tensor limbs = at::zeros({static_cast<std::int64_t>(ExactSum::kLimbs)}, timer.of(at::kLong));
  const std::int64_t longest = (std::int64_t{1} << 22) * measured_shapes(timer.options().device).factor;
  for (std::int64_t elements = 1 << 10; elements <= longest; elements <<= 2) {
    const DecayRange all{.begin = 0, .end = elements, .weight_decay = 0.1};
    const AdamWShard adamw{flat(elements), flat(elements), flat(elements), flat(elements), {}};
    const SgdShard sgd{adamw.master, adamw.gradient, adamw.first_moment, {}};
    const auto add = [&](sim::Kernel kernel, std::int64_t size, const KernelTimer::Action& action) {
      samples.push_back({kernel, {size}, timer.time(action)});
    };
    add(sim::Kernel::AdamW, elements, [&] { step_adamw(adamw, {&all, 1}, {.learning_rate = 1e-6, .step = 3}); });
    add(sim::Kernel::Sgd, elements, [&] { step_sgd(sgd, {&all, 1}, {.learning_rate = 1e-6, .momentum = 0.9}); });
    add(sim::Kernel::SquaredNorm, elements, [&] { add_squares(limbs, adamw.gradient); });
    add(sim::Kernel::Copy, elements * 4, [&] { adamw.master.copy_(adamw.gradient); });
  }
}

}  // namespace executor
