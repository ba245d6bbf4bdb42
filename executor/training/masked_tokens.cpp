#include "executor/training/masked_tokens.h"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>

#include "executor/model/random.h"
#include "executor/training/token_file.h"
#include "sim/units/at.h"

namespace executor {
namespace {

constexpr double kMaskedShare = 0.15;

}  // namespace

bool predicts_masked_tokens(const sim::ModelConfig& config) { return config.bidirectional; }

std::int64_t num_masked(std::int64_t sequence) {
  return std::max<std::int64_t>(1, std::llround(kMaskedShare * static_cast<double>(sequence)));
}

std::vector<std::int64_t> masked_positions(const NumberedSample& sample, std::int64_t sequence) {
  const PermutationKey key{.seed = random_key({sample.seed, label_of("masked positions")}).value,
                           .epoch = static_cast<std::uint64_t>(sample.number)};
  std::vector<std::int64_t> positions;
  for (std::int64_t at = 0; at < num_masked(sequence); ++at) positions.push_back(permuted({.index = at, .of = sequence}, key));
  std::ranges::sort(positions);
  return positions;
}

void mask_tokens(std::span<std::int64_t> ids, const NumberedSample& sample, std::int64_t vocabulary) {
  const RandomKey key = random_key({sample.seed, label_of("masked tokens"), static_cast<std::uint64_t>(sample.number)});
  for (const std::int64_t position : masked_positions(sample, std::ssize(ids)))
    sim::at(ids, position) =
        static_cast<std::int64_t>(random_bits(key, static_cast<std::uint64_t>(position)) % static_cast<std::uint64_t>(vocabulary));
}

at::Tensor without_mask(const MaskedRows& rows) {
  const auto& [first, samples, sequence] = rows;
  std::vector<std::int64_t> others;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const std::vector<std::int64_t> masked = masked_positions({.seed = first.seed, .number = first.number + sample}, sequence);
    for (std::int64_t position = 0; position < sequence; ++position)
      if (!std::ranges::binary_search(masked, position)) others.push_back(sample * sequence + position);
  }
  return at::tensor(others, at::kLong);
}

}  // namespace executor
