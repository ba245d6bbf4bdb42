#include "executor/training/token_file.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "executor/model/random.h"
#include "executor/training/content_hash.h"
#include "executor/training/document_order.h"
#include "executor/training/made_up_images.h"
#include "executor/training/masked_tokens.h"
#include "executor/training/packed_rows.h"
#include "executor/training/refusal.h"
#include "executor/training/token_share.h"
#include "sim/plan/fitted_rows.h"
#include "sim/units/at.h"

namespace executor {
namespace {

std::span<const std::byte> map_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    const std::string reason = std::strerror(errno);
    if (file >= 0) close(file);
    refuse(path, "cannot be read: " + reason, "give the file that meshwright tokenize wrote");
  }
  const auto bytes = sim::count_of(status.st_size);
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) refuse(path, std::string("cannot be mapped into memory: ") + std::strerror(errno), "free some address space");
  return {static_cast<const std::byte*>(memory), bytes};
}

template <class Token>
std::int64_t token_at(const std::byte* tokens, std::int64_t position) {
  Token token;
  std::memcpy(&token, tokens + position * static_cast<std::int64_t>(sizeof token), sizeof token);
  return token;
}

at::Tensor columns_of(const at::Tensor& rows, const TokenStretches& stretches) {
  if (stretches.size() == 1) return rows.narrow(1, stretches.front().first, stretches.front().count).contiguous();
  std::vector<at::Tensor> pieces;
  for (const TokenStretch& stretch : stretches) pieces.push_back(rows.narrow(1, stretch.first, stretch.count));
  return at::cat(pieces, 1);
}

}  // namespace

TokenFile::TokenFile(const std::string& path, std::int64_t sequence, sim::TokenType stated, std::optional<WholeDocuments> documents)
    : path_(path),
      layout_(sim::token_layout(path, stated)),
      sequence_(sequence),
      num_samples_((layout_.tokens - 1) / sequence),
      whole_(documents) {
  if (!whole_ && num_samples_ < 1)
    refuse(path, fmt::format("has {} tokens, one sample takes {} (sequence {} + 1)", layout_.tokens, sequence + 1, sequence),
           "use more text, or a plan with a shorter sequence");
  file_ = map_file(path);
  if (whole_) index_documents();
}

// Those of which a token has a next one. In a row the file's last one is ended, too.
void TokenFile::index_documents() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t position = 0, begin = 0; position < layout_.tokens; ++position) {
    const bool is_ended = token(position) == whole_->end_token;
    if (!is_ended && position + 1 < layout_.tokens) continue;
    if (position > begin) {
      documents_.push_back({.begin = begin, .count = position + 1 - begin});
      lengths.push_back(std::min(sequence_, documents_.back().count + (is_ended ? 0 : 1)));
    }
    begin = position + 1;
  }
  if (documents_.empty())
    refuse(path_, fmt::format("holds no document of two tokens that token {} ends", whole_->end_token),
           "say which token ends one: samples \"... end 2\"");
  if (whole_->several)
    rows_ = sim::fitted_rows(lengths, sequence_);
  else
    for (std::size_t document = 0; document < documents_.size(); ++document) rows_.push_back({document});
  num_samples_ = std::ssize(rows_);
}

TokenFile::~TokenFile() { munmap(const_cast<std::byte*>(file_.data()), file_.size()); }

std::int64_t TokenFile::token(std::int64_t position) const {
  const std::byte* const tokens = file_.data() + layout_.begin.value();
  return layout_.width == sim::Bytes(2) ? token_at<std::uint16_t>(tokens, position) : token_at<std::uint32_t>(tokens, position);
}

// What a row has no place for is what follows its last token at the most.
std::vector<std::int64_t> TokenFile::row_of_documents(std::int64_t index) const {
  std::vector<std::int64_t> row;
  for (const std::size_t number : sim::at(rows_, index)) {
    const Stretch& document = documents_[number];
    for (std::int64_t at = 0; at < std::min(document.count, sequence_ + 1); ++at) row.push_back(token(document.begin + at));
    if (row.back() != whole_->end_token) row.push_back(whole_->end_token);
  }
  row.resize(sim::count_of(sequence_) + 1, whole_->end_token);
  return row;
}

std::vector<std::int64_t> TokenFile::sample(std::int64_t index) const {
  if (whole_) return row_of_documents(index);
  std::vector<std::int64_t> tokens(sim::count_of(sequence_) + 1);
  for (std::size_t at = 0; at < tokens.size(); ++at) tokens[at] = token(index * sequence_ + static_cast<std::int64_t>(at));
  return tokens;
}

void TokenFile::check_vocabulary(std::int64_t vocabulary, Share share) const {
  const std::int64_t end = layout_.tokens * (share.part + 1) / share.of;
  for (std::int64_t position = layout_.tokens * share.part / share.of; position < end; ++position)
    if (token(position) >= vocabulary)
      refuse(path_, fmt::format("token {} at position {} is beyond the model's vocabulary of {}", token(position), position, vocabulary),
             "tokenize for this model, or plan with a model that has this vocabulary; of other integers say what they are: --token-type");
}

std::optional<TokenFile::WholeDocuments> whole_documents(const sim::ParallelPlan& plan) {
  const sim::SamplesPolicy& samples = plan.workload.samples;
  const bool fits = samples.filling == sim::RowFilling::Fitted;
  if ((!fits && samples.filling != sim::RowFilling::Padded) || !samples.end_token) return std::nullopt;
  return TokenFile::WholeDocuments{.end_token = *samples.end_token, .several = fits};
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

std::string TokenFile::fingerprint() const {
  constexpr std::size_t kPieces = 1024, kPiece = 4096;
  const std::span<const std::byte> bytes = file_;
  std::vector<std::uint64_t> hashes{bytes.size(), static_cast<std::uint64_t>(layout_.width.value())};
  const std::size_t pieces = std::min(kPieces, (bytes.size() + kPiece - 1) / kPiece);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t begin = bytes.size() / pieces * piece;
    hashes.push_back(content_hash(bytes.subspan(begin, std::min(kPiece, bytes.size() - begin))));
  }
  return hash_text(content_hash(std::as_bytes(std::span(hashes))));
}

namespace {

// Of the run, counted from 0.
std::vector<std::int64_t> sample_of(const TokenFile& file, const sim::ParallelPlan& plan, std::int64_t number) {
  const PermutationKey key{.seed = plan.training.seed, .epoch = static_cast<std::uint64_t>(number / file.num_samples())};
  return file.sample(permuted({.index = number % file.num_samples(), .of = file.num_samples()}, key));
}

// Which of a microbatch's tokens the rank has, and what it needs to know of them.
struct OwnTokens {
  TokenStretches stretches;
  Documents documents = {};
};

// Documents of a row in the order in which context ranks take it.
OwnTokens deal_documents(const Documents& documents, const TokenStretches& own, std::int64_t ranks) {
  TokenStretches places;
  std::vector<DocumentRows> rows;
  for (const DocumentRows& one : order_of(documents.all(), ranks)) {
    const std::int64_t begin = rows.empty() ? 0 : rows.back().end();
    places.push_back({.begin = begin, .first = one.begin, .count = one.count});
    rows.push_back({.begin = begin, .count = one.count});
  }
  return {.stretches = rows_of(places, {.begin = own.front().first, .count = own.front().count}), .documents = Documents(std::move(rows))};
}

OwnTokens own_tokens(const at::Tensor& ids, const sim::ParallelPlan& plan, const TokenStretches& own) {
  if (!plan.workload.samples.has_documents()) return {.stretches = own};
  Documents documents = documents_in(ids, {.sequence = plan.workload.sequence, .end_token = plan.workload.samples.end_token.value()});
  if (!plan.context_by_document) return {.stretches = own, .documents = std::move(documents)};
  return deal_documents(documents, own, plan.mesh.context);
}

// Of positions in a microbatch's rows those that this rank has, as it counts them.
at::Tensor own_positions(const at::Tensor& positions, const at::Tensor& rows, const TokenStretches& own) {
  const at::Tensor marks = at::zeros_like(rows).index_fill_(0, positions, 1);
  return columns_of(marks.unsqueeze(0), own).flatten().nonzero().squeeze(1);
}

// Keeps what is this rank's of every microbatch's rows.
void take_own(StepBatch& batch, const sim::ParallelPlan& plan, const TokenStretches& own) {
  std::vector<at::Tensor> ids, targets;
  for (std::int64_t microbatch = 0; microbatch < batch.ids.size(0); ++microbatch) {
    const at::Tensor all = batch.ids.select(0, microbatch);
    OwnTokens tokens = own_tokens(all, plan, own);
    ids.push_back(columns_of(all.unsqueeze(0), tokens.stretches));
    targets.push_back(columns_of(batch.targets.narrow(0, microbatch, 1), tokens.stretches));
    if (at::Tensor* without = batch.without_loss.empty() ? nullptr : &sim::at(batch.without_loss, microbatch))
      *without = own_positions(*without, all, tokens.stretches);
    if (!tokens.documents.none()) batch.documents.push_back(std::move(tokens.documents));
    if (plan.context_by_document) batch.places.push_back(std::move(tokens.stretches));
  }
  batch.ids = at::cat(ids);
  batch.targets = at::cat(targets);
}

// What predicts nothing, among this rank's tokens. Every rank counts the whole batch's tokens, so that none has to be told.
void find_losses(StepBatch& batch, const TokenFile& file, const sim::ParallelPlan& plan, SampleShift shift) {
  if (!plan.workload.samples.has_documents()) return;
  const RowShape shape{.sequence = plan.workload.sequence, .end_token = plan.workload.samples.end_token.value()};
  for (std::int64_t microbatch = 0; microbatch < batch.ids.size(0); ++microbatch)
    batch.without_loss.push_back(without_loss_in(batch.ids.select(0, microbatch), shape));
  for (std::int64_t at = 0; at < plan.workload.global_batch; ++at) {
    const auto tokens = sample_of(file, plan, batch.step * plan.workload.global_batch + shift.value + at);
    batch.tokens_with_loss += shape.sequence - std::count(tokens.begin(), tokens.end() - 1, shape.end_token);
  }
}

// Of samples that predict tokens of their own, the first of which has this number in the run.
void mask(StepBatch& batch, const sim::ParallelPlan& plan, std::int64_t first) {
  if (!predicts_masked_tokens(plan.model)) return;
  const std::int64_t sequence = plan.workload.sequence, samples = plan.microbatch_size, all = batch.ids.numel() / sequence;
  const auto numbered = [&](std::int64_t sample) { return NumberedSample{.seed = plan.training.seed, .number = first + sample}; };
  for (std::int64_t sample = 0; sample < all; ++sample)
    mask_tokens({batch.ids.data_ptr<std::int64_t>() + sample * sequence, sim::count_of(sequence)}, numbered(sample), plan.model.vocabulary);
  for (std::int64_t sample = 0; sample < all; sample += samples)
    batch.without_loss.push_back(without_mask({.first = numbered(sample), .samples = samples, .sequence = sequence}));
  batch.tokens_with_loss = plan.workload.global_batch * num_masked(sequence);
}

}  // namespace

StepBatch load_batch(const TokenFile& file, const sim::ParallelPlan& plan, sim::Rank rank, std::int64_t step, SampleShift shift) {
  const std::int64_t microbatches = plan.num_microbatches(), samples = plan.microbatch_size, sequence = plan.workload.sequence;
  const std::int64_t first = plan.mesh.data_rank(plan.mesh.coordinate(rank)) * microbatches * samples;
  StepBatch batch{.step = step, .first_sample = first, .ids = at::empty({microbatches, samples * sequence}, at::kLong), .targets = {}};
  batch.targets = at::empty_like(batch.ids);
  if (plan.model.convolution) batch.images = empty_images(plan);
  const std::int64_t first_number = step * plan.workload.global_batch + shift.value + first,
                     next = predicts_masked_tokens(plan.model) ? 0 : 1;
  for (std::int64_t at = 0; at < microbatches * samples; ++at) {
    const std::int64_t number = first_number + at;
    const auto tokens = sample_of(file, plan, number);
    if (plan.model.convolution)
      make_up_image(batch.images.flatten(0, 1).select(0, at), {.seed = plan.training.seed, .sample = number, .label = tokens.back()});
    std::copy_n(tokens.begin(), sequence, batch.ids.data_ptr<std::int64_t>() + at * sequence);
    std::copy_n(tokens.begin() + next, sequence, batch.targets.data_ptr<std::int64_t>() + at * sequence);
  }
  mask(batch, plan, first_number);
  take_own(batch, plan, rank_tokens(plan, rank));
  find_losses(batch, file, plan, shift);
  return batch;
}

}  // namespace executor
