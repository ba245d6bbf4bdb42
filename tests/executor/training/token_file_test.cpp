#include "executor/training/token_file.h"

#include <algorithm>
#include <set>

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>

#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(TokenFile, SamplesAreWindowsWithOneMoreToken) {
  const ScratchFolder folder;
  write_tokens(folder.file("t.bin"), 25, 1000);
  const TokenFile file(folder.file("t.bin"), 6);
  EXPECT_EQ(file.num_samples(), 4);
  EXPECT_EQ(file.sample(3).size(), 7U);
  EXPECT_EQ(file.sample(1)[0], 6 * 6 + 18);
}

TEST(TokenFile, RefusesWhatIsNoTokenFile) {
  const ScratchFolder folder;
  EXPECT_THAT([&] { TokenFile(folder.file("none.bin"), 6); }, ThrowsMessage<sim::InputError>(HasSubstr("cannot be read")));
  write_tokens(folder.file("short.bin"), 6, 10);
  EXPECT_THAT([&] { TokenFile(folder.file("short.bin"), 6); },
              ThrowsMessage<sim::InputError>(HasSubstr("has 6 tokens, one sample takes 7")));
  std::ofstream(folder.file("odd.bin")) << "abc";
  EXPECT_THAT([&] { TokenFile(folder.file("odd.bin"), 1); }, ThrowsMessage<sim::InputError>(HasSubstr("3 bytes")));
}

TEST(TokenFile, ASampleMayBeADocumentWithPaddingBehindIt) {
  const ScratchFolder folder;
  const std::vector<std::uint16_t> tokens{5, 6, 0, 0, 7, 8, 9, 1, 0, 4};
  std::ofstream(folder.file("t.bin"), std::ios::binary) << std::string(reinterpret_cast<const char*>(tokens.data()), 2 * tokens.size());
  const TokenFile file(folder.file("t.bin"), 3, sim::TokenType::Unstated, TokenFile::WholeDocuments{});
  ASSERT_EQ(file.num_samples(), 2);  // of one token nothing can be predicted
  EXPECT_THAT(file.sample(0), testing::ElementsAre(5, 6, 0, 0));
  EXPECT_THAT(file.sample(1), testing::ElementsAre(7, 8, 9, 1));
  const std::vector<std::uint16_t> none{0, 0, 0};
  std::ofstream(folder.file("n.bin"), std::ios::binary) << std::string(reinterpret_cast<const char*>(none.data()), 2 * none.size());
  EXPECT_THAT([&] { TokenFile(folder.file("n.bin"), 3, sim::TokenType::Unstated, TokenFile::WholeDocuments{}); },
              ThrowsMessage<sim::InputError>(HasSubstr("no document of two tokens that token 0 ends")));
}

// The longest first; the file's last one is ended in its row. Of one that is longer than a row its next token is there to be predicted.
TEST(TokenFile, ASampleMayHoldAsManyDocumentsAsFit) {
  const ScratchFolder folder;
  const std::vector<std::uint16_t> tokens{5, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 7, 8, 9, 0, 4, 3};
  std::ofstream(folder.file("t.bin"), std::ios::binary) << std::string(reinterpret_cast<const char*>(tokens.data()), 2 * tokens.size());
  const TokenFile file(folder.file("t.bin"), 7, sim::TokenType::Unstated, TokenFile::WholeDocuments{.end_token = 0, .several = true});
  ASSERT_EQ(file.num_samples(), 3);
  EXPECT_THAT(file.sample(0), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(file.sample(1), testing::ElementsAre(7, 8, 9, 0, 5, 6, 0, 0));
  EXPECT_THAT(file.sample(2), testing::ElementsAre(4, 3, 0, 0, 0, 0, 0, 0));
}

TEST(TokenFile, ReadsLongTokens) {
  const ScratchFolder folder;
  std::vector<std::uint32_t> tokens(20, 100'000);
  tokens[8] = 70'000;
  std::ofstream(folder.file("t.bin"), std::ios::binary)
      << sim::token_header(sim::Bytes(4)) << std::string(reinterpret_cast<const char*>(tokens.data()), 4 * tokens.size());
  const TokenFile file(folder.file("t.bin"), 4);
  EXPECT_EQ(file.num_samples(), 4);
  EXPECT_THAT(file.sample(1), testing::ElementsAre(100'000, 100'000, 100'000, 100'000, 70'000));
  EXPECT_NO_THROW(file.check_vocabulary(100'001, {}));
  EXPECT_THAT([&] { file.check_vocabulary(80'000, {}); }, ThrowsMessage<sim::InputError>(HasSubstr("token 100000 at position 0")));
}

TEST(TokenFile, TwoFilesHaveTwoFingerprints) {
  const ScratchFolder folder;
  write_tokens(folder.file("a.bin"), 100, 13);
  write_tokens(folder.file("b.bin"), 100, 11);
  write_tokens(folder.file("c.bin"), 100, 13);
  const auto fingerprint = [&](const char* name) { return TokenFile(folder.file(name), 6).fingerprint(); };
  EXPECT_NE(fingerprint("a.bin"), fingerprint("b.bin"));
  EXPECT_EQ(fingerprint("a.bin"), fingerprint("c.bin"));
}

// Steps of four samples, then of two: the data go on where they were.
TEST(SampleOrder, GoesOnWhereAnotherBatchLeftIt) {
  const ScratchFolder folder;
  write_tokens(folder.file("t.bin"), 400, 13);
  sim::ParallelPlan plan = tiny_plan();
  const TokenFile file(folder.file("t.bin"), plan.workload.sequence);
  const at::Tensor before = load_batch(file, plan, sim::Rank(0), 3).ids;
  const std::int64_t consumed = 3 * plan.workload.global_batch;
  plan.workload.global_batch /= 2;
  const SampleShift shift{consumed - 3 * plan.workload.global_batch};
  const at::Tensor first = load_batch(file, plan, sim::Rank(0), 3, shift).ids, second = load_batch(file, plan, sim::Rank(0), 4, shift).ids;
  EXPECT_TRUE(at::equal(at::cat({first, second}), before));
}

TEST(TokenFile, NamesTheFirstTokenBeyondTheVocabulary) {
  const ScratchFolder folder;
  write_tokens(folder.file("t.bin"), 100, 13);
  const TokenFile file(folder.file("t.bin"), 6);
  EXPECT_NO_THROW(file.check_vocabulary(13, {}));
  EXPECT_THAT([&] { file.check_vocabulary(11, {}); }, ThrowsMessage<sim::InputError>(HasSubstr("token 11 at position")));
}

TEST(SampleOrder, IsAPermutationOfEachEpoch) {
  for (const std::int64_t size : {1, 2, 5, 64, 1000}) {
    std::set<std::int64_t> seen;
    for (std::int64_t index = 0; index < size; ++index) seen.insert(permuted({.index = index, .of = size}, {.seed = 1, .epoch = 0}));
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), size);
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), size - 1);
  }
}

TEST(SampleOrder, EpochsAndSeedsDiffer) {
  const auto order = [](PermutationKey key) {
    std::vector<std::int64_t> all;
    for (std::int64_t index = 0; index < 50; ++index) all.push_back(permuted({.index = index, .of = 50}, key));
    return all;
  };
  EXPECT_NE(order({.seed = 1, .epoch = 0}), order({.seed = 1, .epoch = 1}));
  EXPECT_NE(order({.seed = 1, .epoch = 0}), order({.seed = 2, .epoch = 0}));
  EXPECT_FALSE(std::ranges::is_sorted(order({.seed = 1, .epoch = 0})));
}

// Positions that predict nothing are counted among a rank's own tokens.
TEST(LoadBatch, ContextRanksShareMaskedTokens) {
  const ScratchFolder folder;
  write_tokens(folder.file("t.bin"), 400, 13);
  sim::ParallelPlan plan = tiny_plan({.context = 2});
  plan.model.bidirectional = true;
  plan.context_algorithm = sim::ContextAlgorithm::AllToAll;
  plan.microbatch_size = 2;
  sim::ParallelPlan alone = plan;
  alone.mesh.context = 1;
  const TokenFile file(folder.file("t.bin"), plan.workload.sequence);
  const auto told = [&](const sim::ParallelPlan& of, std::int32_t rank) {  // targets, -1 where nothing is predicted: [samples, tokens here]
    const StepBatch batch = load_batch(file, of, sim::Rank(rank), 0);
    return batch.targets.select(0, 0).index_fill(0, batch.without_loss.front(), -1).view({of.microbatch_size, -1});
  };
  EXPECT_TRUE(at::equal(at::cat({told(plan, 0), told(plan, 1)}, 1), told(alone, 0)));
}

TEST(LoadBatch, DataRanksShareTheGlobalBatchOfOneRank) {
  const ScratchFolder folder;
  write_tokens(folder.file("t.bin"), 400, 13);
  const TokenFile file(folder.file("t.bin"), 6);
  const StepBatch whole = load_batch(file, tiny_plan(), sim::Rank(0), 3);
  const StepBatch second = load_batch(file, tiny_plan({.data = 2}), sim::Rank(1), 3);
  EXPECT_EQ(second.first_sample, 2);
  EXPECT_TRUE(at::equal(second.ids, whole.ids.narrow(0, 2, 2)));
  EXPECT_TRUE(at::equal(whole.ids.narrow(1, 1, 5), whole.targets.narrow(1, 0, 5))) << "a target is the next token";
}

}  // namespace
}  // namespace executor
