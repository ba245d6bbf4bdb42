// Time of the operators between matrix products, as a program runs them: how many bytes pass through memory and how many kernels are issued depends
// on what it fuses. The one place where they are priced.
#pragma once

#include "sim/clock/kernel_clock.h"

namespace sim {

enum class Pass : std::uint8_t { Forward, Backward };

class OperatorClock {
 public:
  OperatorClock(const KernelClock& clock, const SoftwareStack& stack, const KernelSetting& setting);

  struct NormForm {
    bool rms = false;
  };
  struct ResidualForm {
    bool biased = false, dropout = false;
  };
  struct ActivationForm {
    bool gated = false, clamped = false;
  };
  struct RotaryForm {
    bool lengthens = false;  // cosines and sines have a factor (sim/model/rope_scaling.h)
  };
  // bytes: of what the operator puts out
  Work norm(double bytes, NormForm form, Pass pass) const;
  Work residual(double bytes, ResidualForm form, Pass pass) const;
  Work dropout(double bytes, Pass pass) const;  // where it stands apart from the sum
  Work activation(double bytes, ActivationForm form, Pass pass) const;
  Work rotary(double bytes, RotaryForm form, Pass pass) const;  // of queries and keys
  Work cross_entropy(double logits, Pass pass) const;           // elements
  Work embedding(double bytes, Pass pass) const;
  Work routing(double scores) const;  // of every token by every expert, in fp32: softmax, top k, counts; either pass
  struct ExpertRows {
    double elements = 0, held = 0;  // what `held` experts put out
  };
  Work expert_biases(ExpertRows rows, Pass pass) const;  // nothing, where the program's products add them
  Work permutation(double bytes) const;                  // rows out to the experts and back; either pass
  // A gradient of `parameters` elements is added to that of the microbatches before.
  Work accumulation(double parameters) const;
  // Gradient, master weight and moments are read, the latter two and the 16-bit weight written; and the norm before it.
  Work optimizer(double parameters) const;
  double optimizer_bytes() const;  // of a parameter

 private:
  const KernelClock& clock_;
  const SoftwareStack& stack_;
  const KernelSetting& setting_;
  Work clamps(double bytes, Pass pass) const;  // of gate and up, in front of their activation
  bool norm_fused_, sum_fused_, activation_fused_, rotary_fused_, loss_fused_;
};

}  // namespace sim
