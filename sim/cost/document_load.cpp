#include "sim/cost/document_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/clock/kernel_setting.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"
#include "sim/units/random_bits.h"

namespace sim {
namespace {

constexpr std::uint64_t kMicrobatches = 4'096;  // drawn of a distribution
constexpr std::int64_t kPools = 64;             // microbatches whose documents are dealt out
constexpr std::int64_t kFewestSums = 256, kMostSums = 2'048, kMostAddends = 262'144;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::size_t one_of(std::size_t count, RandomKey key, std::uint64_t draw) { return random_bits(key, draw) % count; }

// The largest of `ranks`, at equal steps of its distribution.
std::vector<double> largest_of(const std::vector<double>& ascending, std::int32_t ranks, std::size_t steps) {
  std::vector<double> values;
  const auto count = static_cast<double>(ascending.size());
  for (std::size_t step = 0; step < steps; ++step) {
    const double below = std::pow((static_cast<double>(step) + 0.5) / static_cast<double>(steps), 1.0 / ranks);
    values.push_back(ascending[std::min(ascending.size() - 1, count_of(below * count))]);
  }
  return values;
}

// Means of so many of `values`, ascending.
std::vector<double> means_of(const std::vector<double>& values, std::int64_t addends, RandomKey key) {
  std::vector<double> means(count_of(std::clamp(kMostAddends / addends, kFewestSums, kMostSums)));
  std::uint64_t draw = 0;
  for (double& one : means) {
    for (std::int64_t at = 0; at < addends; ++at) one += values[one_of(values.size(), key, draw++)];
    one /= static_cast<double>(addends);
  }
  std::ranges::sort(means);
  return means;
}

// Small and large ones mixed as evenly as they go, by bits of their places reversed (van der Corput): a pipeline waits for neither's run.
std::vector<double> mixed(const std::vector<double>& ascending) {
  std::vector<std::pair<std::uint64_t, double>> places;
  for (std::uint64_t at = 0; at < ascending.size(); ++at) {
    std::uint64_t reversed = 0;
    for (std::uint64_t bit = 0; bit < 32; ++bit) reversed |= (at >> bit & 1) << (31 - bit);
    places.emplace_back(reversed, ascending[at]);
  }
  std::ranges::sort(places);
  std::vector<double> values;
  for (const auto& [place, value] : places) values.push_back(value);
  return values;
}

// A pipeline that has most work fills and drains with microbatches like any other.
double steady_share(const ParallelPlan& plan) {
  const auto microbatches = static_cast<double>(plan.num_microbatches());
  return microbatches / (microbatches + static_cast<double>(plan.mesh.pipeline - 1) / plan.chunks);
}

ContextPool context_pool(const ParallelPlan& plan) {
  return {.ranks = plan.mesh.copies(),
          .context = plan.mesh.context,
          .room = std::max<std::int64_t>(1, plan.workload.sequence * plan.microbatch_size / plan.mesh.context)};
}

// As many of them as asked for, from the first on, and again.
std::vector<double> repeated(const std::vector<double>& some, std::size_t count) {
  std::vector<double> all;
  while (all.size() < count) all.push_back(some[all.size() % some.size()]);
  return all;
}

}  // namespace

double expected_largest(const std::vector<double>& ascending, std::int64_t ranks) {
  const auto count = static_cast<double>(ascending.size()), power = static_cast<double>(ranks);
  double sum = 0, below = 0;
  for (std::size_t at = 0; at < ascending.size(); ++at) {
    const double up_to = std::pow(static_cast<double>(at + 1) / count, power);
    sum += ascending[at] * (up_to - below);
    below = up_to;
  }
  return sum;
}

bool skips_other_documents(const ParallelPlan& plan) { return skips_documents(attention_kernel(plan, plan.cluster.software)); }

std::int32_t ranks_that_meet(const ParallelPlan& plan) {
  const DeviceMesh& mesh = plan.mesh;
  if (plan.zero_stage == 3) return std::max(1, mesh.shards() / mesh.context);
  if (plan.accumulation == Accumulation::ReduceEach && plan.num_microbatches() > 1) return mesh.data;
  return std::clamp(mesh.expert / mesh.context, 1, mesh.data);
}

DocumentLoads::DocumentLoads(const ParallelPlan& plan) : plan_(plan), documents_(document_rows(plan.workload)) {}

DocumentLoads::Rows DocumentLoads::drawn(const Operator& op) const {
  Rows rows;
  for (std::size_t row = 0; row < documents_->size(); ++row) {
    double pairs = 0;
    for (const std::int64_t length : documents_->lengths(row)) pairs += attention_pairs(static_cast<double>(length), op, plan_.model);
    rows.work.push_back(pairs);
  }
  rows.length = std::max<std::int64_t>(1, std::llround(documents_->attended()));
  rows.mean = mean(rows.work);
  for (double& work : rows.work) work /= rows.mean;
  for (std::uint64_t number = 0; number < kMicrobatches; ++number) rows.microbatches.push_back(microbatch(rows, number));
  std::ranges::sort(rows.microbatches);
  if (!plan_.context_by_document) return rows;
  const std::vector<double> some = pools(rows, op);
  const std::size_t microbatches = count_of(plan_.num_microbatches());
  rows.pooled = mean(some);
  // Without a pipeline a step is as long as the sum of its microbatches, whatever each is. Stages of a pipeline wait for the long ones, which are so on every stage.
  rows.pools = plan_.mesh.pipeline == 1 ? std::vector<double>(microbatches, rows.pooled) : repeated(some, microbatches);
  if (plan_.mesh.pipeline == 1) return rows;
  const double drawn = mean(rows.pools);
  for (double& pool : rows.pools) pool *= rows.pooled / drawn;  // a step's few microbatches are as long as many in the mean
  return rows;
}

std::size_t DocumentLoads::drawn_row(std::uint64_t number) const {
  return one_of(documents_->size(), RandomKey{mix_bits(plan_.workload.samples.seed + 1)}, number);
}

// What all data ranks read in a microbatch.
std::vector<PooledDocument> DocumentLoads::pool_of(std::int64_t microbatch, const Operator& op) const {
  std::vector<PooledDocument> documents;
  for (std::int64_t rank = 0; rank < plan_.mesh.data; ++rank)
    for (std::int64_t sample = 0; sample < plan_.microbatch_size; ++sample) {
      const std::int64_t number = (rank * kPools + microbatch) * plan_.microbatch_size + sample;
      for (const std::int64_t length : documents_->lengths(drawn_row(static_cast<std::uint64_t>(number))))
        documents.push_back({length, attention_pairs(static_cast<double>(length), op, plan_.model)});
    }
  return documents;
}

// The mean row of each, times what the fullest rank has over the mean one.
std::vector<double> DocumentLoads::pools(const Rows& rows, const Operator& op) const {
  const double num_rows = static_cast<double>(plan_.mesh.data) * static_cast<double>(plan_.microbatch_size);
  std::vector<double> all;
  for (std::int64_t microbatch = 0; microbatch < kPools; ++microbatch) {
    const std::vector<PooledDocument> documents = pool_of(microbatch, op);
    double work = 0;
    for (const PooledDocument& one : documents) work += one.work;
    all.push_back(work * fullest_over_mean(documents, context_pool(plan_)) / (num_rows * rows.mean));
  }
  return all;
}

double DocumentLoads::share_that_travels() const {
  if (!plan_.context_by_document) return 1;
  std::vector<PooledDocument> all;
  for (std::size_t row = 0; row < documents_->size(); ++row)
    for (const std::int64_t length : documents_->lengths(row)) all.push_back({length, 0});
  return sim::share_that_travels(all, context_pool(plan_));
}

DocumentLoads::Rows& DocumentLoads::rows_of(const Operator& op) {
  const auto [entry, is_new] = rows_.try_emplace({op.window, op.chunked});
  if (is_new) entry->second = drawn(op);
  return entry->second;
}

double DocumentLoads::microbatch(const Rows& rows, std::uint64_t number) const {
  const auto samples = static_cast<std::uint64_t>(plan_.microbatch_size);
  double sum = 0;
  for (std::uint64_t sample = 0; sample < samples; ++sample) sum += rows.work[drawn_row(number * samples + sample)];
  return sum / static_cast<double>(samples);
}

std::vector<double> DocumentLoads::fold(const Rows& rows, std::int32_t size) const {
  const RandomKey key{mix_bits(plan_.workload.samples.seed + 2)};
  const std::int64_t microbatches = plan_.num_microbatches();
  const std::int32_t inner = std::min(size, ranks_that_meet(plan_)), outer = std::max(1, size / inner);
  const std::vector<double> each = largest_of(rows.microbatches, inner, rows.microbatches.size());
  const std::vector<double> sums = means_of(each, microbatches, key);
  const double waits_each = expected_largest(rows.microbatches, inner) / mean(rows.microbatches);
  const double waits_once = expected_largest(sums, outer) / mean(sums) - 1;
  const double step = waits_each * (1 + waits_once * steady_share(plan_));
  std::vector<double> values = largest_of(rows.microbatches, inner, count_of(microbatches));
  const double scale = step / mean(values);
  for (double& value : values) value = std::max(value * scale, rows.microbatches.front());
  return mixed(values);
}

const std::vector<double>& DocumentLoads::folded(Rows& rows, std::int32_t size) {
  const auto [entry, is_new] = rows.folded.try_emplace(size);
  if (is_new) entry->second = fold(rows, size);
  return entry->second;
}

AttentionWork DocumentLoads::work(const Operator& op, DataRanks ranks, MicrobatchIndex index) {
  Rows& rows = rows_of(op);
  if (plan_.context_by_document) return {rows.length, rows.mean * rows.pools[index.position()]};
  const auto number = static_cast<std::uint64_t>(ranks.first * plan_.num_microbatches() + index.value());
  return {rows.length, rows.mean * (ranks.alone ? microbatch(rows, number) : folded(rows, ranks.size)[index.position()])};
}

AttentionWork DocumentLoads::least(const Operator& op) {
  const Rows& rows = rows_of(op);
  return {rows.length, rows.mean * (plan_.context_by_document ? *std::ranges::min_element(rows.pools) : rows.microbatches.front())};
}

DocumentFigures document_figures(const ParallelPlan& plan) {
  const auto rows = document_rows(plan.workload);
  const bool skips = skips_other_documents(plan);
  return {.documents = rows->documents(),
          .attended = attended_tokens(plan.workload),
          .real_share = rows->real_share(),
          .loss_share = rows->loss_share(),
          .cut_share = rows->cut_share(),
          .slowest = skips ? DocumentLoads(plan).slowest({.kind = OperatorKind::Attention, .name = "attention"}) : 1,
          .meeting = ranks_that_meet(plan)};
}

double DocumentLoads::slowest(const Operator& op) {
  Rows& rows = rows_of(op);
  return plan_.context_by_document ? rows.pooled : mean(folded(rows, plan_.mesh.data));
}

}  // namespace sim
