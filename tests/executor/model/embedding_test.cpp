#include "executor/model/embedding.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/tensor.h>
#include <ATen/record_function.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

const std::vector<sim::Parameter> kTables{table("embedding.tokens.weight", 10, 4), table("embedding.positions.weight", 6, 4)};
const TokenStretches kAll{{.begin = 0, .first = 0, .count = 6}};

at::Tensor ids() {
  at::Tensor tensor = at::empty({6}, at::kLong);
  const std::int64_t values[] = {9, 0, 4, 5, 4, 9};  // two samples of three; repeats
  std::copy(std::begin(values), std::end(values), tensor.data_ptr<std::int64_t>());
  return tensor;
}

TEST(Embedding, ForwardAndBackward) {
  const LayerLeaves leaves{random_leaf({10, 4}, 1), random_leaf({6, 4}, 2)};
  const Embedding embedding({}, {kTables, leaves}, {.sequence = 3, .tensor = {}, .stretches = kAll, .rotary = {}});
  const at::Tensor table = recorded(leaves[0].value), positions = recorded(leaves[1].value);
  const at::Tensor expected = at::embedding(table, ids()) + positions.narrow(0, 0, 3).repeat({2, 1});
  at::Tensor stream = embedding.look_up(ids());
  embedding.add_positions(stream, {});
  EXPECT_TRUE(at::equal(stream, expected.detach()));

  const at::Tensor gradient = random_tensor({6, 4}, 3);
  expected.backward(gradient);
  at::Tensor given = gradient.clone();
  embedding.positions_backward(given, {});
  embedding.look_up_backward(given, ids());
  EXPECT_LT(relative_error(leaves[0].gradient, table.grad()), 1e-15);
  EXPECT_LT(relative_error(leaves[1].gradient, positions.grad()), 1e-15);
}

// Additions of an embedding of so many samples of three tokens, both ways.
std::int64_t additions_of(std::int64_t samples) {
  const LayerLeaves leaves{random_leaf({10, 4}, 1), random_leaf({6, 4}, 2)};
  const TokenStretches all{{.begin = 0, .first = 0, .count = 3 * samples}};
  const Embedding embedding({}, {kTables, leaves}, {.sequence = 3, .tensor = {}, .stretches = all, .rotary = {}});
  at::Tensor stream = random_tensor({3 * samples, 4}, 3);
  static std::int64_t count = 0;
  count = 0;
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback([](const at::RecordFunction& called) {
                                              if (std::string_view(called.name()) == "aten::add_") ++count;
                                              return std::unique_ptr<at::ObserverContext>();
                                            }).scopes({at::RecordScope::FUNCTION}));
  embedding.add_positions(stream, {});
  embedding.positions_backward(stream, {});
  at::removeCallback(handle);
  return count;
}
TEST(Embedding, PositionsOfMoreSamplesAreAddedAtOnce) {
  EXPECT_GT(additions_of(1), 0);
  EXPECT_EQ(additions_of(4), additions_of(1));
}

// All tokens are of the first type.
TEST(Embedding, TypesOfTokens) {
  const std::vector<sim::Parameter> tables{kTables[0], table("embedding.types.weight", 2, 4)};
  const LayerLeaves leaves{random_leaf({10, 4}, 1), random_leaf({2, 4}, 2)};
  const Embedding embedding({}, {tables, leaves}, {.sequence = 3, .tensor = {}, .stretches = kAll, .rotary = {}});
  at::Tensor stream = embedding.look_up(ids());
  embedding.add_positions(stream, {});
  EXPECT_TRUE(at::equal(stream, at::embedding(leaves[0].value, ids()) + leaves[1].value[0]));
  const at::Tensor gradient = random_tensor({6, 4}, 3);
  at::Tensor given = gradient.clone();
  embedding.positions_backward(given, {});
  EXPECT_LT(relative_error(leaves[1].gradient[0], gradient.sum(0)), 1e-15);
  EXPECT_EQ(leaves[1].gradient[1].abs().max().item<double>(), 0.0);
}

// Two samples of three tokens, cut in the middle of the second: each stretch adds the positions of its own tokens.
TEST(Embedding, StretchesOfTheSequenceKnowTheirPositions) {
  const LayerLeaves leaves{random_leaf({10, 4}, 1), random_leaf({6, 4}, 2)};
  const Embedding whole({}, {kTables, leaves}, {.sequence = 3, .tensor = {}, .stretches = kAll, .rotary = {}});
  const at::Tensor gradient = random_tensor({6, 4}, 3);
  at::Tensor expected = at::zeros({6, 4}, at::kDouble), given = gradient.clone();
  whole.add_positions(expected, {});
  whole.positions_backward(given, {});
  const at::Tensor expected_gradient = leaves[1].gradient.clone();
  leaves[1].gradient.zero_();
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 4}, {4, 2}}) {
    const Embedding part({}, {kTables, leaves},
                         {.sequence = 3, .tensor = {}, .stretches = {{.begin = 0, .first = first, .count = count}}, .rotary = {}});
    at::Tensor stretch = at::zeros({count, 4}, at::kDouble), slope = gradient.narrow(0, first, count).clone();
    part.add_positions(stretch, {});
    part.positions_backward(slope, {});
    EXPECT_TRUE(at::equal(stretch, expected.narrow(0, first, count)));
  }
  EXPECT_LT(relative_error(leaves[1].gradient, expected_gradient), 1e-15);
}

// Blenderbot small: the target's tokens are normed without their factor, and positions come behind; the source's as in BART.
TEST(Embedding, PositionsBehindTheNorm) {
  const std::vector<sim::Parameter> tables{table("embedding.tokens.weight", 10, 4), table("embedding.source_positions.weight", 3, 4),
                                           table("embedding.positions.weight", 3, 4), table("embedding.source_norm.weight", 4, 1),
                                           table("embedding.norm.weight", 4, 1)};
  sim::ModelConfig config;
  config.norm = sim::Norm::RmsNorm;
  config.embedding_factor = 2;
  config.encoder = sim::EncoderForm{.late_positions = true};
  const LayerLeaves leaves{random_leaf({10, 4}, 1), random_leaf({3, 4}, 2), random_leaf({3, 4}, 3), random_leaf({4}, 4),
                           random_leaf({4}, 5)};
  const SampleRows source{.sequence = 3, .first = 0, .count = 1}, target{.sequence = 3, .first = 1, .count = 2};
  const Embedding embedding(config, {tables, leaves},
                            {.sequence = 3, .tensor = {}, .stretches = kAll, .rotary = {}, .rows = target, .source = source});
  std::vector<at::Tensor> values;
  for (const Leaf& leaf : leaves) values.push_back(recorded(leaf.value));
  const auto normed = [&](const at::Tensor& rows, const at::Tensor& scale) {
    return rows * (rows.square().mean(-1, true) + config.norm_epsilon).rsqrt() * scale;
  };
  const at::Tensor tokens = at::embedding(values[0], ids()).view({2, 3, 4});
  const at::Tensor front = normed(tokens.narrow(1, 0, 1) * 2 + values[1].narrow(0, 0, 1), values[3]);
  const at::Tensor behind = normed(tokens.narrow(1, 1, 2), values[4]) + values[2].narrow(0, 0, 2);
  const at::Tensor expected = at::cat({front, behind}, 1).view({6, 4}), gradient = random_tensor({6, 4}, 6);
  at::Tensor stream = embedding.look_up(ids()), given = gradient.clone();
  const EmbeddingActivations kept = embedding.add_positions(stream, {});
  EXPECT_LT(relative_error(stream, expected.detach()), 1e-14);
  expected.backward(gradient);
  embedding.positions_backward(given, {}, kept);
  embedding.look_up_backward(given, ids());
  for (std::size_t at = 0; at < leaves.size(); ++at) EXPECT_LT(relative_error(leaves[at].gradient, values[at].grad()), 1e-13) << at;
}

// Documents of two, one and three tokens.
TEST(Embedding, PositionsBeginAnewInEachDocument) {
  const LayerLeaves leaves{random_leaf({10, 4}, 1), random_leaf({6, 4}, 2)};
  const Embedding embedding({}, {kTables, leaves}, {.sequence = 6, .tensor = {}, .stretches = kAll, .rotary = {}});
  const Documents documents({{.begin = 0, .count = 2}, {.begin = 2, .count = 1}, {.begin = 3, .count = 3}});
  const at::Tensor rows = at::tensor({0, 1, 0, 0, 1, 2}, at::kLong), table = recorded(leaves[1].value), gradient = random_tensor({6, 4}, 3);
  at::Tensor stream = at::zeros({6, 4}, at::kDouble), given = gradient.clone();
  embedding.add_positions(stream, {}, documents);
  EXPECT_TRUE(at::equal(stream, leaves[1].value.index_select(0, rows)));
  at::embedding(table, rows).backward(gradient);
  embedding.positions_backward(given, {}, {}, documents);
  EXPECT_LT(relative_error(leaves[1].gradient, table.grad()), 1e-15);
}

TEST(Embedding, TensorRanksOwnRows) {
  const Leaf whole = random_leaf({10, 4}, 1);
  at::Tensor sum = at::zeros({6, 4}, at::kDouble), gradient_sum = at::zeros({10, 4}, at::kDouble);
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const LayerLeaves leaves{{.value = whole.value.narrow(0, 5 * rank, 5), .gradient = gradient_sum.narrow(0, 5 * rank, 5)},
                             random_leaf({6, 4}, 2)};
    const Embedding embedding({}, {kTables, leaves},
                              {.sequence = 3, .tensor = {.degree = 2, .rank = rank}, .stretches = kAll, .rotary = {}});
    sum += embedding.look_up(ids());
    const at::Tensor gradient = at::ones({6, 4}, at::kDouble);
    embedding.look_up_backward(gradient, ids());
  }
  EXPECT_TRUE(at::equal(sum, whole.value.index_select(0, ids())));
  EXPECT_EQ(gradient_sum.select(1, 0).sum().item<double>(), 6.0);
  EXPECT_EQ(gradient_sum[4][0].item<double>(), 2.0) << "id 4 occurs twice";
}

}  // namespace
}  // namespace executor
