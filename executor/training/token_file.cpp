#include "executor/training/token_file.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "executor/model/random.h"
#include "executor/training/refusal.h"
#include "executor/training/token_share.h"

namespace executor {
namespace {

struct Mapped {
  const std::uint16_t* tokens;
  std::int64_t bytes;
};

Mapped map_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    const std::string reason = std::strerror(errno);
    if (file >= 0) close(file);
    refuse(path, "cannot be read: " + reason, "give the file that meshwright tokenize wrote");
  }
  if (status.st_size == 0 || status.st_size % 2 != 0) {
    close(file);
    refuse(path, fmt::format("has {} bytes: not a row of 16-bit tokens", status.st_size), "write it again with meshwright tokenize");
  }
  void* const memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) refuse(path, std::string("cannot be mapped into memory: ") + std::strerror(errno), "free some address space");
  return {static_cast<const std::uint16_t*>(memory), status.st_size};
}

at::Tensor columns_of(const at::Tensor& rows, const TokenStretches& stretches) {
  if (stretches.size() == 1) return rows.narrow(1, stretches.front().first, stretches.front().count).contiguous();
  std::vector<at::Tensor> pieces;
  for (const TokenStretch& stretch : stretches) pieces.push_back(rows.narrow(1, stretch.first, stretch.count));
  return at::cat(pieces, 1);
}

}  // namespace

TokenFile::TokenFile(const std::string& path, std::int64_t sequence) : path_(path), sequence_(sequence) {
  const Mapped mapped = map_file(path);
  tokens_ = mapped.tokens;
  num_tokens_ = mapped.bytes / 2;
  num_samples_ = (num_tokens_ - 1) / sequence;
  if (num_samples_ >= 1) return;
  munmap(const_cast<std::uint16_t*>(tokens_), static_cast<std::size_t>(mapped.bytes));
  refuse(path, fmt::format("has {} tokens, one sample takes {} (sequence {} + 1)", num_tokens_, sequence + 1, sequence),
         "use more text, or a plan with a shorter sequence");
}

TokenFile::~TokenFile() { munmap(const_cast<std::uint16_t*>(tokens_), static_cast<std::size_t>(num_tokens_) * 2); }

std::span<const std::uint16_t> TokenFile::sample(std::int64_t index) const {
  return {tokens_ + index * sequence_, static_cast<std::size_t>(sequence_) + 1};
}

void TokenFile::check_vocabulary(std::int64_t vocabulary, Share share) const {
  const std::uint16_t* const begin = tokens_ + num_tokens_ * share.part / share.of;
  const std::uint16_t* const end = tokens_ + num_tokens_ * (share.part + 1) / share.of;
  const auto beyond = [vocabulary](std::uint16_t token) { return token >= vocabulary; };
  if (begin == end || !beyond(*std::max_element(begin, end))) return;
  const std::uint16_t* const first = std::find_if(begin, end, beyond);
  refuse(path_, fmt::format("token {} at position {} is beyond the model's vocabulary of {}", *first, first - tokens_, vocabulary),
         "tokenize for this model, or plan with a model that has this vocabulary");
}

std::int64_t permuted(EpochPosition position, PermutationKey key) {
  const auto size = static_cast<std::uint64_t>(position.of);
  const RandomKey random = random_key({key.seed, label_of("sample order"), key.epoch});
  std::uint64_t half_bits = 1;
  while ((std::uint64_t{1} << (2 * half_bits)) < size) ++half_bits;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  auto value = static_cast<std::uint64_t>(position.index);
  do {  // a bijection of the power of four, repeated until it falls inside: a bijection of 0 .. size-1
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t left = value >> half_bits, right = value & mask;
      value = right << half_bits | ((left ^ random_bits(random, right * 4 + round)) & mask);
    }
  } while (value >= size);
  return static_cast<std::int64_t>(value);
}

StepBatch load_batch(const TokenFile& file, const sim::ParallelPlan& plan, sim::Rank rank, std::int64_t step) {
  const std::int64_t microbatches = plan.num_microbatches(), samples = plan.microbatch_size, sequence = plan.workload.sequence;
  const std::int64_t first = plan.mesh.data_rank(plan.mesh.coordinate(rank)) * microbatches * samples;
  StepBatch batch{.step = step, .first_sample = first, .ids = at::empty({microbatches, samples * sequence}, at::kLong), .targets = {}};
  batch.targets = at::empty_like(batch.ids);
  for (std::int64_t at = 0; at < microbatches * samples; ++at) {
    const std::int64_t number = step * plan.workload.global_batch + batch.first_sample + at;
    const PermutationKey key{.seed = plan.training.seed, .epoch = static_cast<std::uint64_t>(number / file.num_samples())};
    const auto tokens = file.sample(permuted({.index = number % file.num_samples(), .of = file.num_samples()}, key));
    std::copy_n(tokens.begin(), sequence, batch.ids.data_ptr<std::int64_t>() + at * sequence);
    std::copy_n(tokens.begin() + 1, sequence, batch.targets.data_ptr<std::int64_t>() + at * sequence);
  }
  const TokenStretches own = rank_tokens(plan, rank);
  for (at::Tensor* rows : {&batch.ids, &batch.targets}) *rows = columns_of(*rows, own);
  return batch;
}

}  // namespace executor
