#include "sim/clock/operator_clock.h"

namespace sim {
namespace {

constexpr double kMask = 0.5;  // of dropout, one byte an element, in units of a 16-bit tensor

// Time of an operator that is made of elementwise kernels, in passes of a 16-bit tensor through memory at the rate of a copy.
struct EagerPasses {
  double forward, backward;
};
constexpr EagerPasses kEagerNorm = {8, 1.6 * 8}, kEagerRotary = {11, 11};
// Modules of Transformers (5.17; PyTorch 2.11), measured on an H200 with 16,384 x 4,096 numbers. As counted in its code LlamaRMSNorm has 18 and 46,
// apply_rotary_pos_emb 10 and 15: it walks transposed heads.
constexpr EagerPasses kEagerRmsNorm = {23.5, 51}, kTransposedRotary = {25.5, 33};

// torch.autocast has LayerNorm in fp32, which adds nothing in 16 bit to a stream that began in it. Beyond what kernels of 16 bit read and write, in passes of
// those: of a norm its input and output are twice as wide, its output is cast; of a sum the stream is read and written; gradients the same way back.
constexpr EagerPasses kAutocastNorm = {5, 9}, kAutocastSum = {2, 6};

double passes(const EagerPasses& eager, Pass pass) { return pass == Pass::Forward ? eager.forward : eager.backward; }

// Megatron-Core, TEGroupedMLP._apply_bias: for each expert its bias times the tokens' weights (fp32), the sum with its rows, one concatenation, a cast; in
// units of a 16-bit pass: 2 + 5 + 4 + 3. Backward: cast and its sum's (6), gradients of weights and biases by a product and a sum each (12), one
// concatenation (2).
constexpr double kBiasForward = 14, kBiasBackward = 20;
constexpr double kBiasCallsForward = 2, kBiasCallsBackward = 5;  // for each expert

}  // namespace

OperatorClock::OperatorClock(const KernelClock& clock, const SoftwareStack& stack, const KernelSetting& setting)
    : clock_(clock),
      stack_(stack),
      setting_(setting),
      norm_fused_(setting.fused_norm || setting.compiled),
      sum_fused_(stack.fused_residual || setting.compiled),
      activation_fused_(stack.fused_activation || setting.compiled),
      rotary_fused_(stack.fused_rotary || setting.compiled),
      loss_fused_(setting.fused_loss || stack.fused_loss || setting.compiled) {}

Work OperatorClock::norm(double bytes, NormForm form, Pass pass) const {
  const double unfused = passes(form.rms ? kEagerRmsNorm : kEagerNorm, pass);
  const bool is_fused = norm_fused_ && (setting_.compiled || !form.rms || !stack_.unfused_rms_norm);
  const bool casts = setting_.autocast && !form.rms;
  const double beyond = casts ? passes(kAutocastNorm, pass) : 0, cast_kernels = casts ? 1 : 0;
  if (pass == Pass::Forward) return clock_.bytes(bytes * ((is_fused ? 2 : unfused) + beyond), (is_fused ? 1 : 5) + cast_kernels);
  return clock_.bytes(bytes * ((is_fused ? 4 : unfused) + beyond), (is_fused ? 2 : 8) + cast_kernels);
}

Work OperatorClock::residual(double bytes, ResidualForm form, Pass pass) const {
  const double mask = form.dropout ? kMask : 0, beyond = setting_.autocast ? passes(kAutocastSum, pass) : 0;
  if (pass == Pass::Forward)
    return clock_.bytes(bytes * ((sum_fused_ ? 3 : 4 + (form.biased ? 2 : 0) + 4 * mask) + mask + beyond), norm_fused_ ? 1 : 3);
  return clock_.bytes(bytes * ((sum_fused_ ? 2 : 4) + 3 * mask + beyond), norm_fused_ ? 1 : 4);
}

Work OperatorClock::dropout(double bytes, Pass pass) const {
  return clock_.bytes(bytes * (pass == Pass::Forward ? (sum_fused_ ? 1 : 5) : (sum_fused_ ? 3 : 5)) * kMask, sum_fused_ ? 0 : 1);
}

// Megatron-Core (core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl): each half is clamped and both are joined again, twice as wide as what the
// activation puts out. Backward: gradients where nothing was cut off, from what was clamped, and joined.
Work OperatorClock::clamps(double bytes, Pass pass) const {
  constexpr double kForward = 4 + 4, kBackward = 6 + 4;
  return clock_.bytes(bytes * (pass == Pass::Forward ? kForward : kBackward), 3);
}

Work OperatorClock::activation(double bytes, ActivationForm form, Pass pass) const {
  if (form.clamped && stack_.unfused_gate_limit) return clamps(bytes, pass) + activation(bytes, {.gated = form.gated}, pass);
  if (pass == Pass::Forward) return clock_.bytes(bytes * ((form.gated ? 1 : 0) + (activation_fused_ ? 2 : 4)), activation_fused_ ? 1 : 2);
  const double passes = form.gated ? (activation_fused_ ? 5 : 8) : (activation_fused_ ? 3 : 5);
  return clock_.bytes(bytes * passes, activation_fused_ ? 1 : 3);
}

Work OperatorClock::rotary(double bytes, RotaryForm form, Pass pass) const {
  const bool is_fused = rotary_fused_ && !(form.lengthens && stack_.unfused_long_rotary);
  const bool walks_transposed = stack_.transposed_rotary || stack_.unfused_adapters;  // PEFT's adapters stand in modules of Transformers
  const EagerPasses& eager = walks_transposed ? kTransposedRotary : kEagerRotary;
  return clock_.bytes(bytes * (is_fused ? 2 : passes(eager, pass)), is_fused && stack_.fused_rotary ? 1 : 8);
}

// Bytes of a logit in 16 bit. Each pass of a loss by operators reads or writes 4: cast, maximum, difference, exponential, sum, quotient; product, cast.
Work OperatorClock::cross_entropy(double logits, Pass pass) const {
  struct Loss {
    double forward, backward, forward_kernels, backward_kernels;
  };
  constexpr Loss kFused = {8, 11, 2, 2}, kByOperator = {6 + 4 + 8 + 8 + 4 + 8, 8 + 6, 20, 8}, kUsual = {15, 13, 8, 6};
  const Loss& loss = loss_fused_ ? kFused : stack_.loss_by_operator ? kByOperator : kUsual;
  if (pass == Pass::Forward) return clock_.bytes(logits * loss.forward, loss.forward_kernels);
  return clock_.bytes(logits * loss.backward, loss.backward_kernels);
}

Work OperatorClock::embedding(double bytes, Pass pass) const { return clock_.bytes((pass == Pass::Forward ? 4 : 3) * bytes, 4); }

Work OperatorClock::routing(double scores) const { return clock_.bytes(scores * kRoutingBytes, 10); }
Work OperatorClock::expert_biases(ExpertRows rows, Pass pass) const {
  if (!stack_.unfused_expert_bias) return {};
  const bool is_forward = pass == Pass::Forward;
  Work work = clock_.bytes(2 * rows.elements * (is_forward ? kBiasForward : kBiasBackward),
                           rows.held * (is_forward ? kBiasCallsForward : kBiasCallsBackward) + 2);
  work.uncaptured = work.kernels;
  return work;
}
Work OperatorClock::permutation(double bytes) const { return clock_.bytes(bytes * kPermutationPasses, 12); }

Work OperatorClock::accumulation(double parameters) const {
  const double sum = setting_.accumulate_bytes;
  return clock_.bytes(parameters * (stack_.fused_accumulation ? 2 * sum - clock_.element() : 2 * sum + clock_.element()));
}

double OperatorClock::optimizer_bytes() const {
  return 8 + 8 * setting_.moments + 6 + (stack_.fused_optimizer ? 12 : 30) + (setting_.has_trust_ratio ? 16 : 0);
}

Work OperatorClock::optimizer(double parameters) const { return clock_.bytes(parameters * optimizer_bytes()); }

}  // namespace sim
