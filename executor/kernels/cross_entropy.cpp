#include "executor/kernels/cross_entropy.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <cmath>

#include "executor/kernels/cross_entropy_loops.h"
#include "executor/kernels/numbers.h"
#include "executor/kernels/on_device.h"

namespace executor {
namespace {

at::ScalarType statistic_type(const at::Tensor& logits) { return logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

void require(const at::Tensor& logits, const at::Tensor& statistic, const VocabularyShard& shard) {
  TORCH_CHECK(logits.dim() == 2 && logits.is_contiguous(), "logits are contiguous [tokens, columns]");
  TORCH_CHECK(logits.device() == statistic.device(), "logits on ", logits.device(), ", their statistics on ", statistic.device());
  TORCH_CHECK(statistic.is_contiguous() && statistic.scalar_type() == statistic_type(logits) && statistic.size(-1) == logits.size(0),
              "statistics of these logits are ", statistic_type(logits), " [.., tokens]");
  TORCH_CHECK(0 <= shard.real && shard.real <= logits.size(1), "real columns lie inside the logits");
}

std::int64_t target_column(const at::Tensor& targets, std::int64_t token, const VocabularyShard& shard) {
  const std::int64_t column = numbers<std::int64_t>(targets)[token] - shard.first;
  return 0 <= column && column < shard.real ? column : -1;
}

// Calls `with` with a (logit type, statistic type) pair of null pointers.
template <class With>
void by_type(const at::Tensor& logits, const With& with) {
  switch (logits.scalar_type()) {
    case at::kFloat: return with(static_cast<float*>(nullptr), float());
    case at::kDouble: return with(static_cast<double*>(nullptr), double());
    case at::kBFloat16: return with(static_cast<Bfloat16Bits*>(nullptr), float());
    case at::kHalf: return with(static_cast<Float16Bits*>(nullptr), float());
    default: TORCH_CHECK(false, "no cross-entropy of ", logits.scalar_type(), " logits");
  }
}

template <class Logit, class Statistic>
TokenLogits<Logit, Statistic> token_logits(const at::Tensor& logits, std::int64_t token, const VocabularyShard& shard) {
  const std::int64_t columns = logits.size(1);
  return {.logits = numbers<std::remove_const_t<Logit>>(logits) + token * columns,
          .columns = columns,
          .real = shard.real,
          .target = -1,
          .maximum = 0};
}

}  // namespace

at::Tensor empty_maximum(const at::Tensor& logits) { return at::empty({logits.size(0)}, logits.options().dtype(statistic_type(logits))); }
at::Tensor empty_sums(const at::Tensor& logits) { return at::empty({2, logits.size(0)}, logits.options().dtype(statistic_type(logits))); }

void local_maximum(const at::Tensor& maximum, const at::Tensor& logits, const VocabularyShard& shard) {
  require(logits, maximum, shard);
  if (!logits.is_cpu()) return on_device::local_maximum(maximum, logits, shard);
  by_type(logits, [&]<class Logit, class Statistic>(Logit*, Statistic) {
    auto* result = numbers<Statistic>(maximum);
    for (std::int64_t token = 0; token < logits.size(0); ++token) {
      result[token] = maximum_loop(token_logits<const Logit, Statistic>(logits, token, shard));
    }
  });
}

void local_exponentials(const at::Tensor& sums, const CrossEntropyTargets& at, const VocabularyShard& shard) {
  require(at.logits, sums, shard);
  if (!at.logits.is_cpu()) return on_device::local_exponentials(sums, at, shard);
  by_type(at.logits, [&]<class Logit, class Statistic>(Logit*, Statistic) {
    const std::int64_t tokens = at.logits.size(0);
    auto* sum = numbers<Statistic>(sums);
    for (std::int64_t token = 0; token < tokens; ++token) {
      auto row = token_logits<const Logit, Statistic>(at.logits, token, shard);
      row.maximum = numbers<Statistic>(at.maximum)[token];
      sum[token] = exponentials_loop(row);
      const std::int64_t target = target_column(at.targets, token, shard);
      sum[tokens + token] = target < 0 ? Statistic(0) : load(row.logits[target]) - row.maximum;
    }
  });
}

at::Tensor token_losses(const at::Tensor& sums) {
  if (!sums.is_cpu()) return on_device::token_losses(sums);
  const std::int64_t tokens = sums.size(1);
  at::Tensor losses = at::empty({tokens}, sums.options());
  const auto fill = [&]<class Statistic>(Statistic* loss) {
    const Statistic* sum = numbers<Statistic>(sums);
    for (std::int64_t token = 0; token < tokens; ++token) loss[token] = std::log(sum[token]) - sum[tokens + token];
  };
  if (sums.scalar_type() == at::kDouble)
    fill(numbers<double>(losses));
  else
    fill(numbers<float>(losses));
  return losses;
}

void loss_gradient_in_place(const CrossEntropyTargets& at, const at::Tensor& sums, const VocabularyShard& shard, const LossFactor& factor) {
  require(at.logits, sums, shard);
  if (!at.logits.is_cpu()) return on_device::loss_gradient_in_place(at, sums, shard, factor);
  by_type(at.logits, [&]<class Logit, class Statistic>(Logit*, Statistic) {
    for (std::int64_t token = 0; token < at.logits.size(0); ++token) {
      auto row = token_logits<Logit, Statistic>(at.logits, token, shard);
      row.maximum = numbers<Statistic>(at.maximum)[token];
      row.target = target_column(at.targets, token, shard);
      gradient_loop(row, {.sum = numbers<Statistic>(sums)[token], .scale = static_cast<Statistic>(factor.value)});
    }
  });
}

}  // namespace executor
