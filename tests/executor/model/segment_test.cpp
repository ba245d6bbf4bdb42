#include "executor/model/segment.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

sim::ModelConfig tiny_gpt2() {
  sim::ModelConfig config;
  config.model_type = "gpt2";
  config.layers = 1;
  config.hidden = 8;
  config.heads = config.kv_heads = 2;
  config.head_dim = 4;
  config.ffn = 12;
  config.vocabulary = 11;
  config.max_positions = 6;
  config.attention_bias = config.projection_bias = config.mlp_bias = true;
  return config;
}

// The leaves of one block, of one of `tensor.degree` ranks, cut from the same whole parameters.
struct Block {
  explicit Block(TensorPosition tensor, const sim::ModelConfig& config = tiny_gpt2())
      : parameters(sim::make_model_graph(config, {1}).layers[1].parameters) {
    for (std::size_t at = 0; at < parameters.size(); ++at) {
      const TensorPart part(parameters[at], tensor);
      const at::Tensor whole = random_tensor({parameters[at].elements()}, at);
      at::Tensor value = at::empty({part.elements()}, at::kDouble);
      for (std::int64_t element = 0; element < part.elements(); ++element) value[element] = whole[part.global_element(element)];
      if (parameters[at].columns > 1) value = value.view({part.rows(), part.columns()});
      leaves.push_back({.value = value, .gradient = at::zeros_like(value)});
    }
  }
  LayerParts parts() const { return {parameters, leaves}; }
  at::Tensor value(std::string_view suffix) const { return find_leaf(parts(), suffix).value; }
  std::vector<sim::Parameter> parameters;
  LayerLeaves leaves;
};

at::Tensor through(const BlockSegment& segment, const at::Tensor& input) {
  ResidualStream stream{.value = input, .addend = {}};
  return segment.core(norm_forward(stream, *segment.norm()).output);
}

TEST(Segment, WholeAttentionEqualsItsOperators) {
  const Block block({});
  const BlockSegment attention = make_attention(tiny_gpt2(), block.parts(), {.sequence = 5, .tensor = {}, .rotary = {}});
  const at::Tensor input = random_tensor({10, 8}, 77);
  const at::Tensor normalized = at::layer_norm(input, {8}, block.value("attention.norm.weight"), block.value("attention.norm.bias"), 1e-5);
  const at::Tensor joint = at::linear(normalized, block.value("qkv.weight"), block.value("qkv.bias")).view({2, 5, 3, 2, 4});
  const auto heads = [&](std::int64_t which) { return joint.select(2, which).transpose(1, 2); };
  const at::Tensor mixed = at::scaled_dot_product_attention(heads(0), heads(1), heads(2), {}, 0.0, true).transpose(1, 2).reshape({10, 8});
  const at::Tensor expected = at::linear(mixed, block.value("projection.weight"), block.value("projection.bias"));
  EXPECT_LT(relative_error(through(attention, input), expected), 1e-13);
}

TEST(Segment, PartsOfTensorRanksSumToTheWhole) {
  const Block whole({}), first({.degree = 2, .rank = 0}), second({.degree = 2, .rank = 1});
  const at::Tensor input = random_tensor({10, 8}, 77);
  const auto settings = [](std::int64_t degree) {
    return SegmentSettings{.sequence = 5, .tensor = {.degree = degree, .rank = 0}, .rotary = {}};
  };
  const auto attention = [&](const Block& block, std::int64_t degree) {
    return make_attention(tiny_gpt2(), block.parts(), settings(degree));
  };
  const auto mlp = [&](const Block& block, std::int64_t degree) { return make_mlp(tiny_gpt2(), block.parts(), settings(degree)); };
  const auto sum = [&](const BlockSegment& a, const BlockSegment& b) {
    return through(a, input) + through(b, input) + a.late_bias().value;
  };
  EXPECT_LT(relative_error(sum(attention(first, 2), attention(second, 2)), through(attention(whole, 1), input)), 1e-13);
  EXPECT_LT(relative_error(sum(mlp(first, 2), mlp(second, 2)), through(mlp(whole, 1), input)), 1e-13);
  EXPECT_FALSE(mlp(whole, 1).late_bias().value.defined()) << "one tensor rank adds it in the product";
}

// Slopes and sinks of heads that context ranks deal out, of each of two tensor ranks: what a rank scores are its columns of the whole.
TEST(Segment, HeadsMayBeDealtOut) {
  sim::ModelConfig config = tiny_gpt2();
  config.heads = config.kv_heads = 4;
  config.head_dim = 2;
  config.position = sim::Position::Alibi;
  config.sinks = true;
  const at::Tensor joint = random_tensor({10, 3, 4, 2}, 5);
  const auto mixed = [&](const Block& block, const SegmentSettings& settings, std::int64_t first, std::int64_t count) {
    return make_attention(config, block.parts(), settings).mixed(joint.narrow(2, first, count).reshape({10, -1}), {});
  };
  const Block whole({}, config);
  const at::Tensor expected = mixed(whole, {.sequence = 5, .tensor = {}, .rotary = {}}, 0, 4).view({10, 4, 2});
  for (std::int64_t tensor : {0, 1}) {
    const TensorPosition position{.degree = 2, .rank = tensor};
    const Block part(position, config);
    for (std::int64_t context : {0, 1}) {
      const std::int64_t head = 2 * tensor + context;
      const SegmentSettings settings{.sequence = 5, .tensor = position, .head_ranks = 2, .head_rank = context, .rotary = {}};
      EXPECT_LT(relative_error(mixed(part, settings, head, 1), expected.narrow(1, head, 1).reshape({10, 2})), 1e-13) << head;
    }
  }
}

TEST(Segment, LeavesAreFoundByName) {
  const Block block({});
  EXPECT_TRUE(find_leaf(block.parts(), "mlp.up.weight").value.defined());
  EXPECT_FALSE(find_leaf(block.parts(), "mlp.gate.weight").value.defined());
}

}  // namespace
}  // namespace executor
