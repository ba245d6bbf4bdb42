#include "executor/model/scored_block.h"

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "executor/model/gradient_place.h"

namespace executor {
namespace {

constexpr double kOutOfSight = -std::numeric_limits<double>::infinity();

class ScoredBlock {
 public:
  ScoredBlock(const HeadOperands& operands, const ScoreForm& form, const BlockPositions& positions)
      : operands_(operands),
        form_(form),
        positions_(positions),
        scale_(ScoreWidth{form.scale}.scale(operands)),
        times_(operands.queries.size(2) / operands.keys.size(2)),
        wide_(operands.queries.options().dtype(at::toOpMathType(operands.queries.scalar_type()))),
        hidden_(hidden()) {}

  struct SampleHead {
    std::int64_t sample, head;
  };
  template <class Each>
  void for_each_head(const Each& each) const {
    for (std::int64_t sample = 0; sample < operands_.queries.size(0); ++sample)
      for (std::int64_t head = 0; head < operands_.queries.size(2); ++head) each(SampleHead{sample, head});
  }
  static at::Tensor at(const at::Tensor& by_head, SampleHead place) { return by_head.select(0, place.sample).select(1, place.head); }
  at::Tensor of_keys(const at::Tensor& by_head, SampleHead place) const { return at(by_head, {place.sample, place.head / times_}); }

  at::Tensor capped(SampleHead place) const {
    return form_.capped(at::mm(at(operands_.queries, place), of_keys(operands_.keys, place).t()).to(wide_.dtype()).mul_(scale_));
  }
  at::Tensor scores(SampleHead place) const {
    at::Tensor all = capped(place);
    if (form_.slopes.defined()) all.add_(positions_.keys.to(wide_.dtype()).mul_(form_.slopes.select(0, place.head)));
    return all.masked_fill_(hidden_, kOutOfSight);
  }
  // e^(scores - l); nothing where a query sees no key of all.
  at::Tensor probabilities(SampleHead place, const at::Tensor& log_sum_exp) const {
    return scores(place).sub_(log_sum_exp.masked_fill(log_sum_exp == kOutOfSight, 0).unsqueeze(1)).exp_();
  }
  void backward(at::Tensor& slope, SampleHead place) const {
    if (form_.cap > 0) form_.through_cap(slope, capped(place));
    slope.mul_(scale_);
  }
  const at::TensorOptions& wide() const { return wide_; }

 private:
  at::Tensor hidden() const {
    const at::Tensor queries = positions_.queries.unsqueeze(1), keys = positions_.keys.unsqueeze(0);
    at::Tensor all = at::zeros({queries.size(0), keys.size(1)}, queries.options().dtype(at::kBool));
    if (form_.is_causal) all.logical_or_(queries < keys);
    if (form_.window == 0) return all;
    all.logical_or_(queries - form_.reach() >= keys);
    return form_.is_causal ? all : all.logical_or_(queries + form_.reach() <= keys);
  }

  const HeadOperands& operands_;
  const ScoreForm& form_;
  const BlockPositions& positions_;
  double scale_;
  std::int64_t times_;  // queries' heads of one of keys
  at::TensorOptions wide_;
  at::Tensor hidden_;  // [queries, keys]
};

using SampleHead = ScoredBlock::SampleHead;

}  // namespace

BlockScores attend_scored_block(const HeadOperands& operands, const ScoreForm& form, const BlockPositions& positions) {
  const ScoredBlock block(operands, form, positions);
  const std::int64_t samples = operands.queries.size(0), tokens = operands.queries.size(1), heads = operands.queries.size(2);
  BlockScores result{.output = at::empty({samples, tokens, heads, operands.values.size(3)}, operands.queries.options()),
                     .log_sum_exp = at::empty({samples, tokens, heads}, block.wide())};
  block.for_each_head([&](SampleHead place) {
    const at::Tensor sum = at::logsumexp(block.scores(place), 1);
    ScoredBlock::at(result.log_sum_exp, place).copy_(sum);
    const at::Tensor probabilities = block.probabilities(place, sum).to(operands.queries.scalar_type());
    ScoredBlock::at(result.output, place).copy_(at::mm(probabilities, block.of_keys(operands.values, place)));
  });
  return result;
}

HeadOperands scored_block_gradients(const HeadOperands& operands, const MergedScores& merged, const ScoreForm& form,
                                    const BlockPositions& positions) {
  const ScoredBlock block(operands, form, positions);
  const auto type = operands.queries.scalar_type();
  const HeadOperands result{at::empty(operands.queries.sizes(), operands.queries.options()),
                            at::zeros(operands.keys.sizes(), operands.keys.options()),
                            at::zeros(operands.values.sizes(), operands.values.options())};
  block.for_each_head([&](SampleHead place) {
    const at::Tensor out = ScoredBlock::at(merged.output_gradient, place);
    const at::Tensor probabilities = block.probabilities(place, ScoredBlock::at(merged.scores.log_sum_exp, place));
    const at::Tensor mean = out.to(block.wide().dtype()).mul(ScoredBlock::at(merged.scores.output, place)).sum(1, /*keepdim=*/true);
    block.of_keys(result.values, place).add_(at::mm(probabilities.to(type).t(), out));
    at::Tensor slope = at::mm(out, block.of_keys(operands.values, place).t()).to(block.wide().dtype());
    slope.sub_(mean).mul_(probabilities);
    block.backward(slope, place);
    const at::Tensor narrow = slope.to(type);
    ScoredBlock::at(result.queries, place).copy_(at::mm(narrow, block.of_keys(operands.keys, place)));
    block.of_keys(result.keys, place).add_(at::mm(narrow.t(), ScoredBlock::at(operands.queries, place)));
  });
  return result;
}

at::Tensor sink_scores(const ScoreForm& form, at::IntArrayRef sizes, at::TensorOptions options) {
  return at::empty(sizes, options).copy_(form.dealt_sinks(form.sinks.value.detach(), sizes.back()));
}

void add_sink_gradient(const ScoreForm& form, const MergedScores& merged) {
  if (!form.sinks.gradient.defined()) return;
  const at::Tensor& sums = merged.scores.log_sum_exp;
  const at::Tensor sinks = form.dealt_sinks(form.sinks.value.detach(), sums.size(2)).to(sums.scalar_type());
  const at::Tensor mean = merged.output_gradient.to(sums.scalar_type()).mul(merged.scores.output).sum(3);
  form.dealt_sinks(started(form.sinks.gradient), sums.size(2)).sub_((sinks - sums).exp_().mul_(mean).sum(0).sum(0));
}

}  // namespace executor
