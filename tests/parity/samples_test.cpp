// Rows of documents against every document trained alone, and every layout against one process, in fp64: relative L2 of every gradient <= 1e-10.
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr Tolerance kSamplesTolerance{1e-10};

sim::ParallelPlan document_plan(const sim::ModelConfig& model, sim::DeviceMesh mesh) {
  return with_precision(with_documents(tiny_plan(model, mesh)), sim::Precision::Fp64);
}

// Documents of each row as files of their own: their tokens, and what the last one that counts predicts.
std::vector<std::vector<std::int64_t>> documents_alone(const std::vector<std::int64_t>& tokens, const sim::ParallelPlan& plan) {
  const std::int64_t sequence = plan.workload.sequence, end = *plan.workload.samples.end_token;
  std::vector<std::vector<std::int64_t>> files;
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
    const bool begins = static_cast<std::int64_t>(at) % sequence == 0 || tokens[at - 1] == end;
    if (begins) files.emplace_back();
    if (tokens[at] == end) continue;  // predicts nothing
    if (files.back().empty()) files.back().push_back(tokens[at]);
    files.back().push_back(tokens[at + 1]);
  }
  return files;
}

struct Sum {
  double tokens = 0, loss = 0;
  Tensors gradients;
};

Sum sum_alone(const sim::ParallelPlan& plan, const std::vector<std::vector<std::int64_t>>& files) {
  Sum sum;
  for (const std::vector<std::int64_t>& file : files) {
    if (file.size() < 2) continue;
    sim::ParallelPlan alone = on_one_rank(plan);
    alone.workload.samples = {};
    alone.workload.global_batch = alone.microbatch_size = 1;
    alone.workload.sequence = static_cast<std::int64_t>(file.size()) - 1;
    const TrainingResult result = train({.plan = alone, .steps = 1, .ranks = Ranks::Alone, .tokens = file});
    const auto count = static_cast<double>(alone.workload.sequence);
    sum.tokens += count;
    sum.loss += count * result.losses.front();
    for (const auto& [name, gradient] : result.gradients.front()) {
      const auto [entry, is_new] = sum.gradients.try_emplace(name, gradient * count);
      if (!is_new) entry->second.add_(gradient, count);
    }
  }
  return sum;
}

void expect_the_same(const sim::ParallelPlan& plan, const std::vector<std::int64_t>& tokens, const Sum& sum) {
  const TrainingResult packed = train({.plan = plan, .steps = 1, .tokens = tokens});
  EXPECT_NEAR(packed.losses.front(), sum.loss / sum.tokens, 1e-10 * packed.losses.front());
  for (const auto& [name, gradient] : packed.gradients.front()) {
    const double error = (gradient - sum.gradients.at(name) / sum.tokens).norm().item<double>();
    EXPECT_LE(error, 1e-10 * gradient.norm().item<double>()) << name;
  }
}

// The same under every layout of it.
class EachAlone {
 public:
  explicit EachAlone(const sim::ParallelPlan& plan)
      : tokens_(made_up_tokens(plan, static_cast<std::uint64_t>(plan.workload.global_batch * plan.workload.sequence + 1))),
        sum_(sum_alone(plan, documents_alone(tokens_, plan))) {
    EXPECT_GT(sum_.tokens, 0.5 * static_cast<double>(tokens_.size()));
  }
  void expect_of(const sim::ParallelPlan& plan) const { expect_the_same(plan, tokens_, sum_); }

 private:
  std::vector<std::int64_t> tokens_;
  Sum sum_;
};

// Shorter and longer than a row.
struct WrittenDocuments {
  std::vector<std::int64_t> tokens;              // of all, one behind the other
  std::vector<std::vector<std::int64_t>> files;  // each alone, cut to a row and the token behind it
};
WrittenDocuments documents_of(const std::vector<std::int64_t>& lengths, const sim::ParallelPlan& plan) {
  WrittenDocuments all;
  for (const std::int64_t length : lengths) {
    const std::int64_t document = std::ssize(all.files);
    std::vector<std::int64_t>& file = all.files.emplace_back();
    for (std::int64_t at = 1; at < length; ++at) file.push_back(1 + (3 * at + 7 * document) % 30);
    file.push_back(*plan.workload.samples.end_token);
    all.tokens.insert(all.tokens.end(), file.begin(), file.end());
    if (std::ssize(file) > plan.workload.sequence + 1) file.resize(static_cast<std::uint64_t>(plan.workload.sequence + 1));
  }
  return all;
}

TEST(Samples, EveryPaddedDocumentAloneGivesTheSame) {
  if (num_ranks() > 2) GTEST_SKIP() << "fewer ranks tell as much";
  for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama()}) {
    sim::ParallelPlan plan = document_plan(model, num_ranks() == 2 ? sim::DeviceMesh{.data = 2} : sim::DeviceMesh{});
    plan.workload.samples.filling = sim::RowFilling::Padded;
    plan.microbatch_size = 2;
    std::vector<std::int64_t> lengths;
    for (std::int64_t document = 0; document < plan.workload.global_batch; ++document) lengths.push_back(2 + 2 * document);
    const WrittenDocuments all = documents_of(lengths, plan);
    expect_the_same(plan, all.tokens, sum_alone(plan, all.files));
  }
}

// Of 12 tokens: one that is longer, two and three that fill a row, and padding; as many rows as a batch has.
TEST(Samples, EveryFittedDocumentAloneGivesTheSame) {
  if (num_ranks() > 2) GTEST_SKIP() << "fewer ranks tell as much";
  std::vector<sim::DeviceMesh> meshes{{}};
  if (num_ranks() == 2) meshes = {{.data = 2}, {.context = 2}, {.tensor = 2}};
  for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama()})
    for (const sim::DeviceMesh& mesh : meshes) {
      sim::ParallelPlan plan = document_plan(model, mesh);
      plan.workload.samples.filling = sim::RowFilling::Fitted;
      plan.microbatch_size = 2;
      const WrittenDocuments all = documents_of({5, 20, 12, 7, 13, 2, 9, 6, 3, 4, 8, 10, 4}, plan);
      expect_the_same(plan, all.tokens, sum_alone(plan, all.files));
    }
}

TEST(Samples, EveryDocumentAloneGivesTheSame) {
  std::vector<sim::DeviceMesh> meshes{{}};
  if (num_ranks() == 2) meshes = {{.data = 2}, {.pipeline = 2}, {.tensor = 2}};
  if (num_ranks() == 4) meshes = {{.data = 2, .pipeline = 2}, {.pipeline = 2, .tensor = 2}};
  if (num_ranks() > 4) GTEST_SKIP() << "fewer ranks tell as much";
  for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama()}) {
    const EachAlone each(document_plan(model, {}));
    for (const sim::DeviceMesh& mesh : meshes) {
      sim::ParallelPlan plan = document_plan(model, mesh);
      each.expect_of(plan);
      plan.microbatch_size = 2;
      each.expect_of(plan);
    }
  }
}

// Latent attention; windows, scales of scores and caps (Gemma 2); two rotary bases (Gemma 3); sinks and experts (gpt-oss); slopes of heads (BLOOM).
std::vector<sim::ModelConfig> networks_of_other_scores() {
  std::vector<sim::ModelConfig> all{tiny_deepseek()};
  for (const char* name : {"gemma2", "gemma3_text", "gpt_oss", "bloom"})
    all.push_back(sim::load_model_config(std::string("tests/reference/families/") + name + ".json"));
  return all;
}

class SamplesOnTwoRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
  static TrainingResult alone(const sim::ModelConfig& model) {
    return train({.plan = on_one_rank(document_plan(model, {})), .steps = 3, .ranks = Ranks::Alone});
  }
  static void expect_agreement(const sim::ParallelPlan& plan, const TrainingResult& alone) {
    EXPECT_EQ(difference(train({.plan = plan, .steps = 3}), alone, kSamplesTolerance), "");
  }
};

TEST_F(SamplesOnTwoRanks, LayoutsAgreeWithOneProcess) {
  for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama()}) {
    const TrainingResult one = alone(model);
    for (const std::int32_t stage : {0, 1, 2, 3}) expect_agreement(with_zero(document_plan(model, {.data = 2}), stage), one);
    sim::ParallelPlan tensor = document_plan(model, {.tensor = 2});
    expect_agreement(tensor, one);
    tensor.sequence_parallel = true;
    tensor.recompute = sim::Recompute::Full;
    expect_agreement(tensor, one);
    expect_agreement(document_plan(model, {.pipeline = 2}), one);
    expect_agreement(with_schedule(document_plan(model, {.pipeline = 2}), "zb-1p", 1), one);
    expect_agreement(with_schedule(document_plan(model, {.pipeline = 2}), "interleaved", 2), one);
  }
}

TEST_F(SamplesOnTwoRanks, ScoresOfTheirOwnStayInsideADocument) {
  for (sim::ModelConfig& model : networks_of_other_scores()) {
    SCOPED_TRACE(model.model_type);
    if (model.experts) model.experts->balance_loss = 0;
    const EachAlone each(document_plan(model, {}));
    each.expect_of(document_plan(model, {.data = 2}));
    sim::ParallelPlan tensor = document_plan(model, {.tensor = 2});
    tensor.sequence_parallel = true;
    tensor.microbatch_size = 2;
    each.expect_of(tensor);
  }
}

// Documents begin and end inside the pieces of a rank, at their edges, and span pieces of both.
class SamplesOverContext : public testing::Test {
 protected:
  static void expect_agreement(const sim::ModelConfig& model, sim::DeviceMesh mesh, sim::ContextAlgorithm algorithm) {
    sim::ParallelPlan plan = document_plan(model, mesh);
    plan.context_algorithm = algorithm;
    for (const std::int64_t samples : {1, 2}) {
      plan.microbatch_size = samples;
      const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 3, .ranks = Ranks::Alone});
      EXPECT_EQ(difference(train({.plan = plan, .steps = 3}), alone, kSamplesTolerance), "") << model.model_type << " " << samples;
    }
  }
};

TEST_F(SamplesOverContext, AgreeWithOneProcess) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  using enum sim::ContextAlgorithm;
  for (const sim::ContextAlgorithm algorithm : {Ring, AllGather, AllToAll})
    for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama(), tiny_deepseek()}) expect_agreement(model, {.context = 2}, algorithm);
}

TEST_F(SamplesOverContext, BesideOtherRanks) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  expect_agreement(tiny_gpt2(), {.data = 2, .context = 2}, sim::ContextAlgorithm::Ring);
  expect_agreement(tiny_llama(), {.pipeline = 2, .context = 2}, sim::ContextAlgorithm::AllGather);
  expect_agreement(tiny_llama(), {.tensor = 2, .context = 2}, sim::ContextAlgorithm::Ring);
  sim::DeviceMesh neighbours{.context = 4};
  neighbours.context_inner = 2;
  sim::ModelConfig model = tiny_gpt2();
  model.max_positions = 16;
  sim::ParallelPlan plan = document_plan(model, neighbours);
  plan.context_algorithm = sim::ContextAlgorithm::Hierarchical;
  plan.workload.sequence = 16;
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 2, .ranks = Ranks::Alone});
  EXPECT_EQ(difference(train({.plan = plan, .steps = 2}), alone, kSamplesTolerance), "");
}

// Documents change places in a row; what is dropped of a token, and of what low-rank pairs read of it, does not.
TEST_F(SamplesOverContext, ByDocument) {
  if (num_ranks() != 2 && num_ranks() != 4) GTEST_SKIP() << "needs 2 or 4 ranks";
  std::vector<sim::DeviceMesh> meshes{{.context = 2}};
  if (num_ranks() == 4) meshes = {{.context = 4}, {.pipeline = 2, .context = 2}, {.tensor = 2, .context = 2}};
  for (const sim::DeviceMesh& mesh : meshes)
    for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama(), tiny_deepseek()}) {
      sim::ParallelPlan plan = document_plan(model, mesh);
      plan.workload.sequence = 16;
      plan.sequence_parallel = mesh.tensor > 1;
      plan.model.embedding_dropout = plan.model.residual_dropout = model.embedding_dropout;
      if (model.embedding_dropout > 0) plan = with_adapters(plan, "rank 3 alpha 5 on q,v,o,up,down dropout 0.2");
      plan.context_by_document = true;
      ASSERT_TRUE(sim::violations(plan).empty() && sim::why_not_runnable(plan).empty());
      const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 3, .ranks = Ranks::Alone});
      EXPECT_EQ(difference(train({.plan = plan, .steps = 3}), alone, kSamplesTolerance), "") << model.model_type;
    }
}

TEST_F(SamplesOnTwoRanks, ZeroStagesAreBitwiseEqual) {
  const sim::ParallelPlan plan = with_documents(tiny_plan(tiny_llama(), {.data = 2}));
  const TrainingResult ddp = train({.plan = plan, .steps = 2});
  for (const std::int32_t stage : {1, 2, 3})
    EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, stage), .steps = 2}), ddp), "") << "zero" << stage;
}

}  // namespace
}  // namespace parity
