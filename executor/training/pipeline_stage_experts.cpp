// The compute tasks of a block's experts, and what their exchanges hand over.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "executor/model/sent_to.h"
#include "executor/training/host_buffer.h"
#include "executor/training/pipeline_stage.h"
#include "sim/task_graph/meetings.h"

namespace executor {
namespace {

at::Tensor as_tensor(const RowCounts& counts) {
  at::Tensor result = at::empty({static_cast<std::int64_t>(counts.size())}, at::kLong);
  std::ranges::copy(counts, result.data_ptr<std::int64_t>());
  return result;
}

[[maybe_unused]] at::Tensor own_of(const at::Tensor& told, const TensorPosition& position) {
  const at::Tensor by_rank = told.dim() == 3 ? told.select(0, position.expert_part) : told;
  return by_rank.select(0, position.expert_rank);
}

at::Tensor ends_of(const RowCounts& counts) { return as_tensor(counts).cumsum(0).to(at::kInt); }

TokenExchange with_ends(const at::Tensor& ends) {
  TokenExchange exchange;
  exchange.ends = ends;
  return exchange;
}

}  // namespace

void PipelineStage::expert_input(const sim::TaskKey& key) {
  enter_core(key);
  ExpertActivations& kept = block_activations(key).experts;
  const at::Tensor normalized = std::exchange(partial_, {});
  {
    const Recomputing recomputing(modules_made_again(), kept.again);
    partial_ = block(key).experts->send(normalized, kept, {keeps_graph(key)});
  }
  if (keeps_graph(key)) forget_normalized(key, normalized);
  if (sends_rows()) return;
  if (kept.order.ends.defined() && block(key).experts->multiplies_at_once())
    kept.exchange = with_ends(kept.order.ends);
  else if (!recalls_row_counts(key))
    put_row_counts(row_counts(key).unsqueeze(0), key);
}

at::Tensor PipelineStage::row_counts(const sim::TaskKey& key) {
  const TokenOrder& order = block_activations(key).experts.order;
  if (!order.counts.empty()) return as_tensor(order.counts);
  return order.ends.diff(1, 0, at::zeros({1}, order.ends.options())).to(at::kLong);
}

// Context ranks may have stretches of different lengths, and so capacities.
bool PipelineStage::are_row_counts_alike(const sim::TaskKey& key) {
  const sim::ExpertForm& form = block(key).experts->form();
  return form.is_limited() && form.dispatch == sim::ExpertDispatch::Padded && tensor_.context == 1;
}

bool PipelineStage::recalls_row_counts(const sim::TaskKey& key) {
  const ExpertActivations& kept = block_activations(key).experts;
  if (key.phase != sim::Phase::Recompute || !kept.told.defined()) return false;
  assert(kept.order.counts.empty() || own_of(kept.told, tensor_).equal(as_tensor(kept.order.counts)));  // the same rows
  put_row_counts(kept.told, key);
  return true;
}

void PipelineStage::put_row_counts(const at::Tensor& counts, const sim::TaskKey& key) {
  ExpertActivations& kept = block_activations(key).experts;
  TokenExchange& exchange = kept.exchange;
  if (!counts.is_same(kept.told)) kept.told = host_buffer(counts.sizes(), {.device = counts.device(), .type = at::kLong}).copy_(counts);
  exchange = make_exchange(kept.told, tensor_, parameters_.device());
  if (block(key).experts->multiplies_at_once()) exchange.ends = sent_to(ends_of(exchange.held), parameters_.device());
  const bool are_all = !block(key).experts->form().is_limited();  // else some were dropped, or padded
  if (key.phase == sim::Phase::Forward && are_all) std::ranges::for_each(exchange.held, [&](std::int64_t rows) { expert_rows_.add(rows); });
}

// What recomputation ends with waits for the backward, which begins with the weighted sum.
void PipelineStage::put_rows(at::Tensor rows, const sim::TaskKey& key) {
  const bool comes_back =
      key.group == sim::MeshAxis::Expert ? key.sequence == 1 : key.operation == sim::Operation::ReduceScatter && plan_.mesh.expert == 1;
  const bool is_last = ends_recomputation(key) && comes_back;
  (is_last ? block_activations(key).experts.returned : partial(key)) = std::move(rows);
}

void PipelineStage::experts(const sim::TaskKey& key) {
  ExpertActivations& kept = block_activations(key).experts;
  {
    const Recomputing recomputing(modules_made_again(), kept.again);
    const Saving saving(sent(), kept_of(key).saved);
    partial_ = block(key).experts->compute(std::exchange(partial_, {}), kept, {keeps_graph(key)});
  }
  kept.again.forget();
  if (!ends_recomputation(key)) return;
  again_ = {};
  kept.shared_output.reset();
  if (!sends_rows()) kept.returned = std::exchange(partial_, {});
}

void PipelineStage::expert_output(const sim::TaskKey& key) {
  ExpertActivations& kept = block_activations(key).experts;
  partial_ = block(key).experts->combine(std::exchange(partial_, {}), kept);
  if (!keeps_graph(key)) {
    at::Tensor told = std::move(kept.told);
    kept = {};
    kept.told = std::move(told);
  }
  if (!shares_tensors() || stays_apart(key)) segment_residual(key);
}

void PipelineStage::expert_output_backward(const sim::TaskKey& key) {
  if (!shares_sequence() || stays_apart(key)) segment_residual_backward(key);
  ExpertActivations& kept = block_activations(key).experts;
  partial_ = block(key).experts->combine_backward(std::exchange(partial_, {}), kept);
}

void PipelineStage::experts_backward(const sim::TaskKey& key) {
  ExpertActivations& kept = block_activations(key).experts;
  kept.again.make();
  const PutOff put_off(later(key));
  partial_ = block(key).experts->compute_backward(std::exchange(partial_, {}), kept);
}

// The auxiliary loss is a mean over microbatches of all their tokens, and not of those alone that the loss is scaled by.
double PipelineStage::share_with_loss() const {
  if (batch_.tokens_with_loss == 0) return 1;
  return static_cast<double>(batch_.tokens_with_loss) / static_cast<double>(plan_.workload.global_batch * plan_.workload.sequence);
}

// Every tensor rank knows the whole auxiliary loss: one of them says it. Where they route apart, each that of its own tokens.
void PipelineStage::expert_input_backward(const sim::TaskKey& key) {
  const Experts& experts = *block(key).experts;
  const bool routes_apart = plan_.mesh.cuts_experts_apart();
  const double tokens = static_cast<double>(sim::tokens_to_route(plan_)) * share_with_loss();
  const double balance = tensor_.rank == 0 || routes_apart ? experts.form().balance_loss * loss_.value * tokens : 0;
  kept_of(key).again.make();
  {
    const PutOff put_off(plan_.delay_wgrad ? nullptr : later(key));  // those of the experts have run by now
    partial_ = experts.send_backward(std::exchange(partial_, {}), block_activations(key).experts, balance);
  }
  block_activations(key).experts = {};
  if (!shares_tensors() || stays_apart(key)) segment_norm_backward(key);
}

}  // namespace executor
