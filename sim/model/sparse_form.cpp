#include "sim/model/sparse_form.h"

#include <algorithm>

namespace sim {
namespace {

constexpr double kScoreBytes = 4, kIndexBytes = 4;

double real(std::int64_t value) { return static_cast<double>(value); }

double all_pairs(std::int64_t sequence) { return real(sequence) * (real(sequence) + 1) / 2; }

}  // namespace

double chosen_pairs(const Choice& choice) {
  const double most = real(std::min(choice.sequence, choice.topk));
  return real(choice.sequence) * most - most * (most - 1) / 2;
}

Flops sparse_flops(const SparseAttention& shape, bool backward) {
  const double widths = backward ? 3 * real(shape.key) + 2 * real(shape.value) : real(shape.key + shape.value);
  return Flops(2 * real(shape.samples * shape.heads) * chosen_pairs({shape.sequence, shape.topk}) * widths);
}

// Queries and outputs of heads, a latent vector and the places of chosen tokens; backward their gradients, that of the vector summed in fp32.
Bytes sparse_bytes(const SparseAttention& shape, Bytes element_size, bool backward) {
  const std::int64_t tokens = shape.samples * shape.sequence, once = shape.heads * (shape.key + shape.value) + shape.key;
  const Bytes places(static_cast<std::int64_t>(real(shape.samples) * chosen_pairs({shape.sequence, shape.topk}) * kIndexBytes));
  const Bytes forward = element_size * (tokens * once) + places;
  return backward ? forward + element_size * (tokens * once) + Bytes(4) * (tokens * shape.key) : forward;
}

Flops index_flops(const IndexScores& shape, bool backward) {
  const double products = backward ? 3 * chosen_pairs({shape.sequence, shape.topk}) : all_pairs(shape.sequence);
  return Flops(2 * real(shape.samples * shape.heads * shape.width) * products);
}

Bytes index_bytes(const IndexScores& shape, Bytes element_size, bool backward) {
  const std::int64_t numbers = shape.samples * shape.sequence * (shape.heads * (shape.width + 1) + shape.width);
  const double chosen = real(shape.samples) * chosen_pairs({shape.sequence, shape.topk});
  const double forward = 2 * kScoreBytes * real(shape.samples) * all_pairs(shape.sequence) + kIndexBytes * chosen;
  const double scores = backward ? 2 * kScoreBytes * chosen : forward;
  return element_size * (numbers * (backward ? 2 : 1)) + Bytes(static_cast<std::int64_t>(scores));
}

}  // namespace sim
