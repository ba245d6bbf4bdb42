// How fast the kernels of this room are: bytes per second for what memory bounds (compare with BM_Copy), items per second otherwise.
#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>

#include "executor/kernels/cross_entropy.h"
#include "executor/kernels/exact_sum.h"
#include "executor/kernels/optimizer.h"

namespace executor {
namespace {

void BM_Copy(benchmark::State& state) {
  const at::Tensor from = at::zeros({state.range(0)}, at::kFloat), to = at::zeros({state.range(0)}, at::kFloat);
  for (auto _ : state) to.copy_(from);
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}

void BM_AdamW(benchmark::State& state) {
  const auto make = [&](double value) { return at::full({state.range(0)}, value, at::kFloat); };
  const AdamWShard shard{make(1), make(1e-3), make(0), make(0), {}};
  const DecayRange all{.begin = 0, .end = state.range(0), .weight_decay = 0.1};
  for (auto _ : state) step_adamw(shard, {&all, 1}, {.learning_rate = 1e-4, .step = 5});
  state.SetBytesProcessed(state.iterations() * state.range(0) * 28);  // reads 4 numbers, writes 3
}

void BM_Sgd(benchmark::State& state) {
  const auto make = [&](double value) { return at::full({state.range(0)}, value, at::kFloat); };
  const SgdShard shard{make(1), make(1e-3), make(0), {}};
  const DecayRange all{.begin = 0, .end = state.range(0), .weight_decay = 0.1};
  for (auto _ : state) step_sgd(shard, {&all, 1}, {.learning_rate = 1e-4, .momentum = 0.9});
  state.SetBytesProcessed(state.iterations() * state.range(0) * 20);
}

void BM_SquaredNorm(benchmark::State& state) {
  const at::Tensor values = at::full({state.range(0)}, 1e-3, at::kFloat);
  for (auto _ : state) {
    ExactSum sum;
    sum.add_squares(values);
    benchmark::DoNotOptimize(sum.value());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

void BM_CrossEntropy(benchmark::State& state) {
  constexpr std::int64_t kTokens = 512;
  const at::Tensor logits = at::full({kTokens, state.range(0)}, 0.5, at::kFloat), targets = at::zeros({kTokens}, at::kLong);
  const VocabularyShard shard{.first = 0, .real = state.range(0)};
  const at::Tensor maximum = empty_maximum(logits), sums = empty_sums(logits);
  for (auto _ : state) {
    local_maximum(maximum, logits, shard);
    local_exponentials(sums, {logits, targets, maximum}, shard);
    benchmark::DoNotOptimize(token_losses(sums).data_ptr());
    loss_gradient_in_place({logits, targets, maximum}, sums, shard, {.value = 1e-3});
  }
  state.SetItemsProcessed(state.iterations() * kTokens * state.range(0));
}

BENCHMARK(BM_Copy)->Arg(1 << 16)->Arg(1 << 24);
BENCHMARK(BM_AdamW)->Arg(1 << 13)->Arg(1 << 16)->Arg(1 << 24);
BENCHMARK(BM_Sgd)->Arg(1 << 24);
BENCHMARK(BM_SquaredNorm)->Arg(1 << 16)->Arg(1 << 24);
BENCHMARK(BM_CrossEntropy)->Arg(256)->Arg(8192);

}  // namespace
}  // namespace executor

int main(int count, char** arguments) {
  at::set_num_threads(1);
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
