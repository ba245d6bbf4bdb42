// A file of tokens, of 16 or 32 bits as sim/units/token_layout.h says, mapped into memory. And the order in which training sees it.
//
// Samples are windows of `sequence` tokens, one after the other without overlap; sample k predicts tokens k s + 1 .. k s + s from those before.
// Networks that look ahead predict tokens of their own instead (masked_tokens.h).
// Or they are whole documents, one each, or as many as fit (sim/plan/fitted_rows.h); what is behind the last one is the token that ends it again.
// An epoch sees each sample once, in an order that is a keyed permutation of (seed, epoch): sample number n of the run (over all
// steps) is entry n mod S of epoch n / S. No layout, rank or microbatch enters it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/training/batch.h"
#include "sim/plan/parallel_plan.h"
#include "sim/units/token_layout.h"

namespace executor {

class TokenFile {
 public:
  // Throws sim::InputError: no such file, another format, fewer tokens than one sample.
  // Samples are documents, each up to the token that ends one, with more of it behind until they fill `sequence`.
  struct WholeDocuments {
    std::int64_t end_token = 0;
    bool several = false;  // a sample
  };
  TokenFile(const std::string& path, std::int64_t sequence, sim::TokenType stated = sim::TokenType::Unstated,
            std::optional<WholeDocuments> documents = {});
  ~TokenFile();
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  std::int64_t num_samples() const { return num_samples_; }
  std::vector<std::int64_t> sample(std::int64_t index) const;  // sequence + 1 tokens

  // Tells two files apart without reading them whole: a hash of the size and of a thousand pieces.
  std::string fingerprint() const;

  // Refuses ids beyond the vocabulary, naming the first position. A rank reads its share of the file.
  struct Share {
    std::int64_t part = 0, of = 1;
  };
  void check_vocabulary(std::int64_t vocabulary, Share share) const;

 private:
  std::int64_t token(std::int64_t position) const;
  void index_documents();
  std::vector<std::int64_t> row_of_documents(std::int64_t index) const;

  std::string path_;
  sim::TokenLayout layout_;
  std::int64_t sequence_ = 1, num_samples_ = 0;
  std::span<const std::byte> file_;  // mapped
  struct Stretch {
    std::int64_t begin = 0, count = 0;
  };
  std::optional<WholeDocuments> whole_;
  std::vector<Stretch> documents_;              // where samples are documents
  std::vector<std::vector<std::size_t>> rows_;  // of them, by sample
};

// Where a plan's rows hold whole documents.
std::optional<TokenFile::WholeDocuments> whole_documents(const sim::ParallelPlan& plan);

// The entry at a position of a permutation of 0 .. of-1 that `key` chooses: a Feistel network on the next power of four, walked until it is
// inside. Constant memory, the same everywhere.
struct PermutationKey {
  std::uint64_t seed = 0, epoch = 0;
};
struct EpochPosition {
  std::int64_t index = 0, of = 1;
};
std::int64_t permuted(EpochPosition position, PermutationKey key);

// What a rank trains on in a step: of samples [first, first + m * microbatch) of the global batch its tokens. Step k begins with sample k times the
// batch, and `shift` samples further where earlier steps had another batch.
struct SampleShift {
  std::int64_t value = 0;
};
StepBatch load_batch(const TokenFile& file, const sim::ParallelPlan& plan, sim::Rank rank, std::int64_t step, SampleShift shift = {});

}  // namespace executor
