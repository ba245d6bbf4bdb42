#include "sim/estimate/layer_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/clock/expert_load.h"
#include "sim/clock/operator_clock.h"

namespace sim {
namespace {

class BlockWriter {
 public:
  BlockWriter(const RunDescription& run, const SoftwareStack& stack, const KernelClock& clock)
      : run_(run),
        net_(run.network),
        stack_(stack),
        clock_(clock),
        operators_(clock, stack, run.execution),
        tokens_(run.tokens()),
        tensor_(static_cast<double>(run.layout.tensor)) {}

  void attention(bool windowed);
  void dense_mlp(double ffn);
  void experts();
  void rest();
  LayerWork take() const { return work_; }

 private:
  enum class Cut { None, Outputs, Inputs };  // by the tensor group: what is not cut is gathered (the input, the gradient of the output)
  // tokens x inputs -> outputs; widths are this rank's. Gradients: to the input, and to the weight unless that is frozen.
  void linear(double inputs, double outputs, double tokens, double batch = 1, Cut cut = Cut::None);
  Work product(const MatrixShape& shape) const;
  void latent_projections();
  void plain_projections();
  void adapters(double inputs, double outputs);
  double heads() const { return static_cast<double>(net_.heads) / tensor_; }
  double kv_heads() const { return std::max(1.0, static_cast<double>(net_.kv_heads) / tensor_); }
  double hidden() const { return static_cast<double>(net_.hidden); }
  double weight_casts() const;

  const RunDescription& run_;
  const Network& net_;
  const SoftwareStack& stack_;
  const KernelClock& clock_;
  OperatorClock operators_;
  double tokens_, tensor_;
  bool of_experts_ = false;  // linear layers that are written now
  LayerWork work_;
};

// Weights that stay whole are cast once a step; those gathered in fp8 were cast as shards.
double BlockWriter::weight_casts() const {
  if (run_.execution.fp8_parameters) return 0;
  return stack_.cached_fp8_weights && run_.layout.zero_stage < 3 ? 1 / real(run_.layout.microbatches) : 1;
}

Work BlockWriter::product(const MatrixShape& shape) const {
  return of_experts_ ? clock_.grouped(shape, net_.experts->dispatch) : clock_.product(shape);
}

void BlockWriter::linear(double inputs, double outputs, double tokens, double batch, Cut cut) {
  const double part = gathers_fp8(run_.layout, run_.execution, stack_) ? 1 / tensor_ : 1;
  work_.linear += product({tokens, outputs, inputs, batch, weight_casts(), cut == Cut::Outputs ? part : 1});
  work_.input_gradient += product({tokens, inputs, outputs, batch, weight_casts(), cut == Cut::Inputs ? part : 1});
  const Work weights = net_.low_rank ? Work{} : product({outputs, inputs, tokens, batch});
  work_.weight_gradient += weights;
  if (cut == Cut::Outputs) work_.beside_sums += weights.device;
  if (net_.low_rank && net_.low_rank->base_bytes < 2) work_.linear += clock_.bytes(inputs * outputs * batch * 3);  // to 16 bit, when used
  if (net_.bias && !net_.low_rank) work_.weight_gradient += clock_.bytes(tokens * outputs * batch * clock_.element());
}

void BlockWriter::adapters(double inputs, double outputs) {
  if (!net_.low_rank) return;
  const double rank = static_cast<double>(net_.low_rank->rank);
  for (const auto& [in, out] : {std::pair{inputs, rank}, std::pair{rank, outputs}}) {
    work_.linear += clock_.half_product({tokens_, out, in});
    work_.input_gradient += clock_.half_product({tokens_, in, out});
    work_.weight_gradient += clock_.half_product({out, in, tokens_});
  }
  work_.elementwise += clock_.bytes(3 * tokens_ * outputs * clock_.element());
}

void BlockWriter::latent_projections() {
  const AttentionForm& form = net_.attention;
  const double key_dim = real(form.key_width());
  if (form.q_lora > 0) linear(hidden(), real(form.q_lora), tokens_);
  linear(form.q_lora > 0 ? real(form.q_lora) : hidden(), heads() * key_dim, tokens_);
  linear(hidden(), real(form.kv_lora + form.qk_rope), tokens_);
  linear(real(form.kv_lora), heads() * real(form.qk_nope + form.v_dim), tokens_);
  linear(heads() * real(form.v_dim), hidden(), tokens_, 1, Cut::Inputs);
  const Work copies = clock_.bytes(tokens_ * heads() * (3 * key_dim + real(form.v_dim)) * 2 * clock_.element(), 4);
  work_.elementwise += copies;
  work_.elementwise_back += copies;
}

void BlockWriter::plain_projections() {
  const double dim = static_cast<double>(net_.head_dim), width = (heads() + 2 * kv_heads()) * dim;
  linear(hidden(), width, tokens_, 1, Cut::Outputs);
  linear(heads() * dim, hidden(), tokens_, 1, Cut::Inputs);
  adapters(hidden(), width);
  adapters(heads() * dim, hidden());
}

void BlockWriter::attention(bool windowed) {
  const AttentionForm& form = net_.attention;
  const bool latent = form.kind == AttentionKind::Latent;
  if (latent)
    latent_projections();
  else
    plain_projections();
  const bool is_flash = run_.execution.attention >= AttentionKernel::Flash1, causal = net_.kind != NetworkKind::Encoder;
  const double length = net_.effective_sequence, seen = windowed ? std::min(length, static_cast<double>(form.window)) : length;
  double keys = is_flash && causal ? seen - seen * seen / (2 * length) : length;  // unfused kernels compute masked scores, too
  const double queries = length / real(run_.layout.context);
  const AttentionShape shape{static_cast<double>(run_.layout.micro_batch),
                             heads(),
                             kv_heads(),
                             queries,
                             keys,
                             static_cast<double>(latent ? form.key_width() : net_.head_dim),
                             static_cast<double>(latent ? form.v_dim : net_.head_dim),
                             causal,
                             run_.layout.context_ring ? queries * (real(run_.layout.context) - 1) : 0};
  work_.attention += is_flash ? clock_.flash(shape, false) : clock_.unfused(shape, false);
  work_.attention_back += is_flash ? clock_.flash(shape, true) : clock_.unfused(shape, true);
  if (!net_.rotary) return;
  const double width = (heads() + kv_heads()) * static_cast<double>(latent ? form.qk_rope : net_.head_dim) * tokens_ * clock_.element();
  const Work turn = operators_.rotary(width);
  work_.elementwise += turn;
  work_.elementwise_back += turn;
}

void BlockWriter::dense_mlp(double ffn) {
  const double inner = ffn / tensor_;
  const double before = work_.linear.device;
  linear(hidden(), inner * (net_.gated ? 2 : 1), tokens_, 1, Cut::Outputs);
  work_.widening.device += work_.linear.device - before;
  linear(inner, hidden(), tokens_, 1, Cut::Inputs);
  const double size = tokens_ * inner * clock_.element();
  work_.elementwise += operators_.activation(size, {net_.gated}, Pass::Forward);
  work_.elementwise_back += operators_.activation(size, {net_.gated}, Pass::Backward);
}

void BlockWriter::experts() {
  const ExpertForm& form = *net_.experts;
  const double held = real(form.experts) / real(run_.layout.expert);
  const double cut = run_.layout.expert_cut(), width = real(form.expert_ffn) / cut;
  const double routed = tokens_ * real(form.topk) * expert_load(form, run_.layout.expert, clock_.behavior()).computed * cut / tensor_;
  const double before = work_.linear.device;
  const double rows = expert_rows(routed / held, clock_.behavior());
  of_experts_ = true;
  linear(hidden(), width * (net_.gated ? 2 : 1), rows, held);
  work_.widening.device += work_.linear.device - before;
  linear(width, hidden(), rows, held);
  of_experts_ = false;
  if (form.shared_ffn > 0) dense_mlp(static_cast<double>(form.shared_ffn));
  const double element = clock_.element();
  const Work activation = clock_.bytes(routed * width * element * (net_.gated ? 3 : 2));
  const Work permutation = operators_.permutation(routed * hidden() * element) + operators_.routing(tokens_ * real(form.experts));
  work_.elementwise += activation + permutation;
  work_.elementwise_back += 1.5 * activation + permutation;
  work_.linear += clock_.half_product({tokens_, static_cast<double>(form.experts), hidden()});
  const double away = 1 - 1 / static_cast<double>(run_.layout.expert);
  work_.dispatched_bytes += routed * hidden() * element * away / (run_.layout.sequence_parallel ? cut : 1);
}

// Two norms and two residual sums; they see all tokens of the tensor group unless sequence parallelism cuts them.
void BlockWriter::rest() {
  const double size = tokens_ * hidden() * clock_.element() / (run_.layout.sequence_parallel ? tensor_ : 1);
  const OperatorClock::ResidualForm sum{net_.bias, stack_.dropout};
  work_.elementwise += 2 * (operators_.norm(size, {net_.rms_norm}, Pass::Forward) + operators_.residual(size, sum, Pass::Forward));
  work_.elementwise_back += 2 * (operators_.norm(size, {net_.rms_norm}, Pass::Backward) + operators_.residual(size, sum, Pass::Backward));
}

}  // namespace

LayerWork block_work(const RunDescription& run, const SoftwareStack& stack, const KernelClock& clock, BlockPlace place) {
  BlockWriter writer(run, stack, clock);
  writer.attention(place.windowed);
  if (place.kind == BlockKind::Experts)
    writer.experts();
  else
    writer.dense_mlp(static_cast<double>(run.network.ffn));
  writer.rest();
  return writer.take();
}

LayerWork embedding_work(const RunDescription& run, const SoftwareStack& stack, const KernelClock& clock) {
  const double size = run.tokens() * static_cast<double>(run.network.hidden) * clock.element();
  const double table =
      static_cast<double>(run.network.vocabulary * run.network.hidden) / static_cast<double>(run.layout.tensor) * clock.element();
  LayerWork work;
  const OperatorClock operators(clock, stack, run.execution);
  work.elementwise = operators.embedding(size, Pass::Forward);
  work.elementwise_back = operators.embedding(size, Pass::Backward) + clock.bytes(2 * table, 0);
  return work;
}

LayerWork head_work(const RunDescription& run, const SoftwareStack& stack, const KernelClock& clock) {
  const double tokens = run.tokens() * tokens_with_loss(run, stack), hidden = real(run.network.hidden);
  const double width = real(run.network.vocabulary) / real(run.layout.tensor);
  const double loss_width = stack.vocabulary_parallel ? width : real(run.network.vocabulary);
  LayerWork work;
  work.linear = clock.half_product({tokens, width, hidden});
  work.input_gradient = clock.half_product({tokens, hidden, width});
  if (!run.network.low_rank) work.weight_gradient = clock.half_product({width, hidden, tokens});
  const OperatorClock operators(clock, stack, run.execution);
  work.elementwise = operators.cross_entropy(tokens * loss_width, Pass::Forward);
  work.elementwise_back = operators.cross_entropy(tokens * loss_width, Pass::Backward);
  return work;
}

double tokens_with_loss(const RunDescription& run, const SoftwareStack& stack) {
  return run.network.kind == NetworkKind::Encoder && stack.masked_loss ? common_behavior().masked_share : 1;
}

BlockKind block_kind(const Network& network, std::int64_t layer) {
  return network.experts && layer >= network.experts->first_dense_layers ? BlockKind::Experts : BlockKind::Dense;
}

}  // namespace sim
