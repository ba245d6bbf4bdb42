#include "executor/model/cut_heads.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <vector>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kCutTokens = 5;

// Of each part of a whole row, side by side.
struct CutColumns {
  std::int64_t first, count;
};
at::Tensor taken_columns(const at::Tensor& whole, const std::vector<CutColumns>& parts) {
  std::vector<at::Tensor> all;
  for (const CutColumns& part : parts) all.push_back(whole.narrow(1, part.first, part.count));
  return at::cat(all, 1).contiguous();
}

// Two ranks of 4 heads on 2 of keys, 3 wide: each has half of the queries, of the keys, and of the values.
std::vector<CutColumns> half_of_heads(std::int64_t rank) { return {{rank * 6, 6}, {12 + rank * 3, 3}, {18 + rank * 3, 3}}; }

NormLayer part_of_norm(const NormLayer& whole, std::int64_t first, std::int64_t count) {
  NormLayer part = whole;
  part.scale = {.value = whole.scale.value.narrow(0, first, count).clone(), .gradient = at::zeros({count}, at::kDouble)};
  return part;
}

TEST(CutNorms, AreNormsOfAllRanks) {
  for (const bool offset : {false, true}) {
    const auto layer = [&](std::int64_t width, std::uint64_t seed) {
      return NormLayer{.kind = sim::Norm::RmsNorm, .epsilon = 1e-3, .scale = random_leaf({width}, seed), .shift = {}, .offset = offset};
    };
    const HeadShape whole_shape{.heads = 4, .kv_heads = 2, .head_dim = 3, .sequence = kCutTokens},
        shape{.heads = 2, .kv_heads = 1, .head_dim = 3};
    const HeadNorms norms{.queries = layer(12, 1), .keys = layer(6, 2), .is_joint = true};
    const at::Tensor input = random_tensor({kCutTokens, 24}, 3), slope = random_tensor({kCutTokens, 24}, 4), leaf = recorded(input);
    const at::Tensor expected = norm_heads(leaf * 1, whole_shape, norms);
    expected.backward(slope.clone());
    std::vector<HeadNorms> own;
    std::vector<CutNorms> ranks;
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      own.push_back({.queries = part_of_norm(norms.queries, rank * 6, 6), .keys = part_of_norm(norms.keys, rank * 3, 3), .is_joint = true});
      ranks.emplace_back(shape, own.back(), 2);
    }
    const at::Tensor sums = ranks[0].leave(taken_columns(input, half_of_heads(0))) + ranks[1].leave(taken_columns(input, half_of_heads(1)));
    EXPECT_EQ(sums.sizes(), at::IntArrayRef({kCutTokens, 2}));
    for (std::int64_t rank = 0; rank < 2; ++rank)
      EXPECT_LT(relative_error(ranks[static_cast<std::size_t>(rank)].arrive(sums), taken_columns(expected.detach(), half_of_heads(rank))),
                1e-14);
    const at::Tensor slopes =
        ranks[0].leave_back(taken_columns(slope, half_of_heads(0))) + ranks[1].leave_back(taken_columns(slope, half_of_heads(1)));
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      EXPECT_LT(relative_error(ranks[at].arrive_back(slopes), taken_columns(leaf.grad(), half_of_heads(rank))), 1e-13);
      EXPECT_LT(relative_error(own[at].queries.scale.gradient, norms.queries.scale.gradient.narrow(0, rank * 6, 6)), 1e-13);
      EXPECT_LT(relative_error(own[at].keys.scale.gradient, norms.keys.scale.gradient.narrow(0, rank * 3, 3)), 1e-13);
    }
  }
}

// Four ranks, two heads of keys 4 wide, values 2 wide: two ranks share a head, of which each makes half.
TEST(SharedKeys, AreWholeHeadsOfWhatAllMade) {
  constexpr std::int64_t kRanks = 4;
  const HeadShape shape{.heads = 1, .kv_heads = 1, .head_dim = 4, .value_dim = 2, .gates = 1};
  const at::Tensor whole = random_tensor({kCutTokens, 16 + 8 + 4 + 4}, 1);
  const auto made = [&](std::int64_t rank) {
    return taken_columns(whole, {{rank * 4, 4}, {16 + rank * 2, 2}, {24 + rank, 1}, {28 + rank, 1}});
  };
  const auto of_heads = [&](std::int64_t rank) {
    return std::vector<CutColumns>{{rank * 4, 4}, {16 + rank / 2 * 4, 4}, {24 + rank / 2 * 2, 2}, {28 + rank, 1}};
  };
  std::vector<at::Tensor> all;
  for (std::int64_t rank = 0; rank < kRanks; ++rank) all.push_back(made(rank));
  at::Tensor back, expected = at::zeros_like(whole);
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    SharedKeys keys(shape, {.all = kRanks, .own = rank, .kv_heads = 2});
    EXPECT_TRUE(at::equal(keys.leave(all[static_cast<std::size_t>(rank)]), all[static_cast<std::size_t>(rank)]));
    const at::Tensor rows = keys.arrive(at::cat(all));
    EXPECT_TRUE(at::equal(rows, taken_columns(whole, of_heads(rank))));
    const at::Tensor slope = random_tensor(rows.sizes(), static_cast<std::uint64_t>(10 + rank)), sent = keys.leave_back(slope);
    back = back.defined() ? back + sent : sent;
    std::int64_t column = 0;
    for (const CutColumns& part : of_heads(rank)) {
      expected.narrow(1, part.first, part.count).add_(slope.narrow(1, column, part.count));
      column += part.count;
    }
  }
  for (std::int64_t rank = 0; rank < kRanks; ++rank)
    EXPECT_LT(relative_error(back.narrow(0, rank * kCutTokens, kCutTokens),
                             taken_columns(expected, {{rank * 4, 4}, {16 + rank * 2, 2}, {24 + rank, 1}, {28 + rank, 1}})),
              1e-15);
}

}  // namespace
}  // namespace executor
