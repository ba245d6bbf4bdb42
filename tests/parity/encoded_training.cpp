#include "tests/parity/encoded_training.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/round.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "executor/kernels/optimizer.h"
#include "executor/training/task_runner.h"
#include "sim/units/at.h"
#include "tests/parity/made_up_tokens.h"
#include "tests/parity/tiny_plans.h"

namespace parity {
namespace {

using ByRank = std::vector<at::Tensor>;

// Forward and backward of one rank's samples, alone, at given weights.
std::int64_t samples_at_once(const sim::ParallelPlan& plan) {
  const bool each = plan.accumulation == sim::Accumulation::ReduceEach;
  return each ? plan.microbatch_size : plan.workload.global_batch / plan.mesh.data;
}

class Alone {
 public:
  explicit Alone(const sim::ParallelPlan& plan)
      : plan_(of_one_rank(plan)),
        model_(sim::make_model_graph(plan_)),
        communicators_(plan_.mesh, nullptr),
        parameters_(model_, plan_, sim::Rank(0), c10::kCPU),
        runner_(model_, plan_, communicators_, parameters_, {}) {
    parameters_.fill_initial_values();
  }

  Tensors weights() const {
    Tensors all;
    each([&](const executor::FlatBucket& bucket, executor::BucketRange range, const sim::Parameter& parameter) {
      all[parameter.name] = bucket.weights_of(range).clone();
    });
    return all;
  }
  struct Pass {
    double loss = 0;
    Tensors gradients;  // of the mean over its tokens
  };
  Pass at_weights(const Tensors& weights, const executor::StepBatch& batch) {
    each([&](const executor::FlatBucket& bucket, executor::BucketRange range, const sim::Parameter& parameter) {
      bucket.weights_of(range).copy_(weights.at(parameter.name));
    });
    Pass pass{.loss = runner_.run_step(batch, {}).loss, .gradients = {}};
    each([&](const executor::FlatBucket& bucket, executor::BucketRange range, const sim::Parameter& parameter) {
      pass.gradients[parameter.name] = bucket.final_gradients(range).clone();
    });
    return pass;
  }
  template <class Visit>
  void each(Visit visit) const {
    for (const executor::FlatBucket& bucket : parameters_.buckets())
      for (const sim::BucketSlot& slot : bucket.layout().slots)
        visit(bucket, executor::BucketRange{.begin = slot.offset, .count = slot.elements}, parameters_.parameter(slot));
  }

 private:
  // What is reduced at once: all its microbatches, or one.
  static sim::ParallelPlan of_one_rank(const sim::ParallelPlan& plan) {
    sim::ParallelPlan alone = with_precision(on_one_rank(plan), sim::Precision::Fp64);
    alone.accumulation = sim::Accumulation::ReduceLast;
    alone.workload.global_batch = samples_at_once(plan);
    return alone;
  }

  sim::ParallelPlan plan_;
  sim::ModelGraph model_;
  executor::MeshCommunicators communicators_;
  executor::ParameterStore parameters_;
  executor::TaskRunner runner_;
};

// Numbers as they come back from blocks of 64.
at::Tensor through_blocks(const at::Tensor& values, sim::Codec codec) {
  const std::int64_t elements = values.numel(), padded = (elements + 63) / 64 * 64;
  const at::Tensor blocks = at::constant_pad_nd(values.to(at::kFloat), {0, padded - elements}).view({-1, 64});
  const float most = codec == sim::Codec::Fp8 ? 448 : codec == sim::Codec::Int8 ? 127 : 7;
  const at::Tensor scale = at::amax(at::abs(blocks), 1, true) / most;
  const at::Tensor shares = at::where(scale > 0, blocks / scale, at::zeros_like(blocks));
  const at::Tensor codes = codec == sim::Codec::Fp8 ? shares.to(at::kFloat8_e4m3fn).to(at::kFloat) : at::round(shares);
  return (codes * scale).view({-1}).narrow(0, 0, elements).to(at::kDouble);
}

at::Tensor sum_of_blocks(const ByRank& parts, sim::Codec codec, std::size_t neighbours) {
  at::Tensor all;
  const auto add = [](at::Tensor& sum, const at::Tensor& next) { sum = sum.defined() ? sum + next : next; };
  if (codec != sim::Codec::Int4 || neighbours == 1) {
    for (const at::Tensor& part : parts) add(all, through_blocks(part, codec));
    return all;
  }
  for (std::size_t first = 0; first < parts.size(); first += neighbours) {
    at::Tensor near;
    for (std::size_t at = first; at < first + neighbours; ++at) add(near, through_blocks(parts[at], codec));
    add(all, through_blocks(near, codec));
  }
  return all;
}

// Each rank's, rounded; their sum in fp32, rank after rank, rounded once more.
at::Tensor sum_in_sixteen_bits(const ByRank& parts, at::ScalarType type) {
  at::Tensor all = at::zeros_like(parts.front(), at::kFloat);
  for (const at::Tensor& part : parts) all += part.to(type);
  return all.to(type).to(at::kDouble);
}

// Gram and Schmidt; a column's length is taken a little longer, as PyTorch does. By the same operators as the worker's: a column that is nearly along
// those before it is what rounding left of it, and another order of the same sums would be told as another gradient.
void make_orthogonal(const at::Tensor& matrix) {
  for (std::int64_t at = 0; at < matrix.size(1); ++at) {
    const at::Tensor column = matrix.narrow(1, at, 1).squeeze(1);
    column.copy_(column / (column.norm() + 1e-8));
    if (at + 1 < matrix.size(1)) {
      const at::Tensor rest = matrix.slice(1, at + 1);
      rest.copy_(rest.addr(column, rest.t().mv(column), 1, -1));
    }
  }
}

// PowerSGD of one matrix.
class Factors {
 public:
  Factors(const sim::Parameter& parameter, std::int32_t rank, std::uint64_t seed) : rows_(parameter.rows), columns_(parameter.columns) {
    rank_ = std::min({std::int64_t{rank}, rows_, columns_});
    is_worth_it_ = rows_ * columns_ > 2 * rank_ * (rows_ + columns_);
    if (!is_worth_it_) return;
    q_ = at::empty({columns_, rank_}, at::kDouble);
    const auto key = executor::random_key({seed, executor::label_of("powersgd"), executor::label_of(parameter.name)});
    for (std::int64_t at = 0; at < q_.numel(); ++at)
      q_.data_ptr<double>()[at] = executor::random_normal(key, static_cast<std::uint64_t>(at));
  }

  at::Tensor sum(const ByRank& parts) {
    at::Tensor all = at::zeros_like(parts.front());
    if (!is_worth_it_) {
      for (const at::Tensor& part : parts) all += part;
      return all;
    }
    errors_.resize(parts.size(), at::zeros({rows_, columns_}, at::kDouble));
    for (std::size_t rank = 0; rank < parts.size(); ++rank) errors_[rank] = errors_[rank] + parts[rank].view({rows_, columns_});
    make_orthogonal(q_);
    at::Tensor p = at::zeros({rows_, rank_}, at::kDouble), q = at::zeros_like(q_);
    for (const at::Tensor& error : errors_) p += error.matmul(q_);
    make_orthogonal(p);
    for (const at::Tensor& error : errors_) q += error.t().matmul(p);
    q_ = q;
    all = p.matmul(q.t());
    for (at::Tensor& error : errors_) error = error - all / static_cast<double>(parts.size());
    return all.reshape({-1});
  }

 private:
  std::int64_t rows_, columns_, rank_ = 0;
  bool is_worth_it_ = false;
  ByRank errors_;
  at::Tensor q_;
};

class OneProcess {
 public:
  explicit OneProcess(const sim::ParallelPlan& plan) : plan_(plan), alone_(plan), tokens_(plan), weights_(alone_.weights()) {
    alone_.each([&](const executor::FlatBucket&, executor::BucketRange range, const sim::Parameter& parameter) {
      parameters_.emplace(parameter.name, &parameter);
      factors_.try_emplace(parameter.name, parameter, codec().rank, plan.training.seed);
      velocities_[parameter.name] = at::zeros({range.count}, at::kDouble);
    });
  }

  TrainingResult train(std::int64_t steps) {
    TrainingResult result;
    for (std::int64_t step = 0; step < steps; ++step) one_step(step, result);
    result.weights = weights_;
    return result;
  }

 private:
  sim::WireCodec codec() const { return plan_.workload.precision.gradient_codec(); }

  // By what is reduced at once, and rank.
  std::vector<std::vector<Alone::Pass>> passes(std::int64_t step) {
    Tensors seen = weights_;
    if (const sim::WireCodec gathered = plan_.workload.precision.weight_codec())
      for (auto& [name, values] : seen) values = through_blocks(values, gathered.codec);
    const std::int64_t at_once = samples_at_once(plan_) / plan_.microbatch_size;
    std::vector<std::vector<Alone::Pass>> all(sim::count_of(plan_.num_microbatches() / at_once));
    for (std::int32_t rank = 0; rank < plan_.mesh.data; ++rank) {
      const executor::StepBatch batch = executor::load_batch(*tokens_, plan_, sim::Rank(rank), step);
      for (std::size_t at = 0; at < all.size(); ++at) {
        executor::StepBatch one = batch;
        one.ids = batch.ids.narrow(0, static_cast<std::int64_t>(at) * at_once, at_once);
        one.targets = batch.targets.narrow(0, static_cast<std::int64_t>(at) * at_once, at_once);
        all[at].push_back(alone_.at_weights(seen, one));
      }
    }
    return all;
  }

  at::Tensor sent(const std::string& name, const ByRank& parts) {
    if (codec().is_low_rank()) return factors_.at(name).sum(parts);
    if (codec().is_blocks()) return sum_of_blocks(parts, codec().codec, sim::count_of(plan_.mesh.reshard));
    const sim::Precision wire = plan_.workload.precision.of(sim::Numbers::Wire);
    if (sim::is_sixteen_bit(wire)) return sum_in_sixteen_bits(parts, wire == sim::Precision::Bf16 ? at::kBFloat16 : at::kHalf);
    at::Tensor all = parts.front().clone();
    for (std::size_t rank = 1; rank < parts.size(); ++rank) all += parts[rank];
    return all;
  }

  void one_step(std::int64_t step, TrainingResult& result) {
    const auto all = passes(step);
    const double share = static_cast<double>(samples_at_once(plan_)) / static_cast<double>(plan_.workload.global_batch);
    double loss = 0, squares = 0;
    for (const auto& ranks : all)
      for (const Alone::Pass& pass : ranks) loss += pass.loss * share;
    Tensors sums;
    for (const auto& [name, parameter] : parameters_) {
      at::Tensor& sum = sums[name];
      for (const auto& ranks : all) {
        ByRank parts;
        for (const Alone::Pass& pass : ranks) parts.push_back(pass.gradients.at(name) * share);
        const at::Tensor next = sent(name, parts);
        sum = sum.defined() ? sum + next : next;
      }
      squares += sum.square().sum().item<double>();
    }
    result.losses.push_back(loss);
    result.norms.push_back(std::sqrt(squares));
    update(sums, step);
    result.gradients.push_back(std::move(sums));
  }

  // The worker's own loop: it is not what is judged here.
  void update(const Tensors& gradients, std::int64_t step) {
    const sim::TrainingSettings& settings = plan_.training;
    for (const auto& [name, weight] : weights_) {
      const double decay = parameters_.at(name)->weight_decay ? settings.weight_decay : 0;
      executor::step_sgd({.master = weight, .gradient = gradients.at(name), .velocity = velocities_.at(name), .rounded = {}},
                         std::array{executor::DecayRange{.begin = 0, .end = weight.numel(), .weight_decay = decay}},
                         {.learning_rate = executor::learning_rate(settings, {step}),
                          .momentum = settings.momentum,
                          .gradient_factor = 1,
                          .factor_there = {}});
    }
  }

  const sim::ParallelPlan& plan_;
  Alone alone_;
  MadeUpTokens tokens_;
  Tensors weights_, velocities_;
  std::map<std::string, const sim::Parameter*> parameters_;
  std::map<std::string, Factors> factors_;
};

}  // namespace

TrainingResult train_encoded(const sim::ParallelPlan& plan, std::int64_t steps) { return OneProcess(plan).train(steps); }

}  // namespace parity
