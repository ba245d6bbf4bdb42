// Kernels of a plan on a device whose profile says how its kernels behave (block "kernels"): the clocks of sim/clock, which the published record
// is held against, asked kernel by kernel.
#pragma once

#include <algorithm>

#include "sim/clock/operator_clock.h"
#include "sim/cost/task_kernels.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

inline bool is_modelled(const HardwareProfile& profile) { return profile.kernels && profile.measured.empty(); }
// Whether tensor ranks cast their parts of a product's operand before they gather it: half the bytes travel.
bool gathers_scaled(const ParallelPlan& plan);
KernelSetting setting_of(const ParallelPlan& plan);  // what the plan and its software say of kernels

class ModelledKernels {
 public:
  explicit ModelledKernels(const ParallelPlan& plan);  // must outlive this
  ModelledKernels(const ModelledKernels&) = delete;

  Work work(const KernelCall& call) const;
  Seconds time(const Work& work) const { return Seconds(work.device); }
  // Of the host, to issue a task: kernels, and the modules of the program that hold them.
  Seconds issue(const TaskKernels& kernels, const Work& work) const;
  // Of the device between its kernels, for modules of a program whose tensor group is on several nodes (SoftwareStack::host_per_tensor_node).
  Seconds waits(const TaskKernels& kernels) const;
  // The host waits for it: it has to know how many tokens each expert got before it can issue what follows.
  bool drains(const TaskKernels& kernels) const;
  bool drains(const TaskKey& collective) const;
  Seconds flat(Operation operation, Elements elements) const;  // NormPart, Accumulate, Update
  double optimizer_bytes() const;                              // of a parameter, read and written

 private:
  bool reads_counts() const;
  const KernelClock& clock_of(const KernelCall& call) const { return call.unscaled ? wide_clock_ : clock_; }
  Work product(const KernelCall& call) const;
  Work product_in_parts(KernelCall call) const;
  Work wide_product(const KernelCall& call) const;
  Work grouped(const KernelCall& call) const;
  Work convolution(const KernelCall& call) const;
  Work attention(const KernelCall& call) const;
  Work elementwise(const KernelCall& call) const;
  Seconds broadcasts() const;

  const ParallelPlan& plan_;
  Device device_;
  KernelSetting setting_, wide_setting_;  // wide: of products that stay out of 8 bit
  KernelClock clock_, wide_clock_;
  OperatorClock operators_;
  double launch_share_;                     // of the host's time for each kernel that a graph can hold
  double uncaptured_share_;                 // for each other one
  double weight_casts_;                     // of a scaled weight for one use of it
  double slowest_;                          // device of the mesh, in units of the mean one
  bool accumulates_, accumulates_experts_;  // into gradients of microbatches before; experts may have nobody to reduce with
};

}  // namespace sim
