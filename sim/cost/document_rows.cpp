#include "sim/cost/document_rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sim/plan/fitted_rows.h"
#include "sim/units/at.h"
#include "sim/units/random_bits.h"

namespace sim {
namespace {

constexpr double kMostDrawn = 65'536, kFewestRows = 64, kMostRows = 2'048;  // documents; rows
constexpr std::int64_t kLongest = 1'000'000'000;

// Document by document, each a function of the seed and its number.
class Lengths {
 public:
  explicit Lengths(const SamplesPolicy& policy) : policy_(policy), key_{mix_bits(policy.seed)} {
    for (const SamplesPolicy::Length& length : policy.lengths) ends_.push_back(total_ += static_cast<double>(length.weight));
    deviation_ = std::sqrt(std::log1p(policy.spread * policy.spread));
    middle_ = policy.kind == LengthKind::LogNormal ? std::log(policy.mean) - deviation_ * deviation_ / 2 : 0;
  }
  std::int64_t next() {
    const double one = uniform(), other = uniform();
    if (policy_.kind != LengthKind::LogNormal) {
      const auto found = std::upper_bound(ends_.begin(), ends_.end() - 1, one * total_);
      return policy_.lengths[position_in(ends_, found)].tokens;
    }
    const double normal = std::sqrt(-2 * std::log1p(-one)) * std::cos(2 * std::numbers::pi * other);  // Box and Muller
    return std::llround(std::clamp(std::exp(middle_ + deviation_ * normal), 1.0, static_cast<double>(kLongest)));
  }

 private:
  double uniform() { return static_cast<double>(random_bits(key_, drawn_++) >> 11) * 0x1p-53; }

  const SamplesPolicy& policy_;
  RandomKey key_;
  std::uint64_t drawn_ = 0;
  std::vector<double> ends_;  // sums of weights
  double total_ = 0, deviation_ = 0, middle_ = 0;
};

using Row = std::vector<std::int64_t>;
struct Drawn {
  std::vector<Row> rows;
  double ends = 0, cut = 0, tokens = 0;  // documents that end in them; tokens without a place, of all
};

void packed(Drawn& drawn, Lengths& lengths, std::int64_t sequence) {
  std::int64_t left = 0;  // of the document that the row before has cut
  for (Row& row : drawn.rows)
    for (std::int64_t room = sequence; room > 0;) {
      if (left == 0) left = lengths.next();
      const std::int64_t here = std::min(left, room);
      row.push_back(here);
      drawn.ends += here == left ? 1 : 0;
      room -= here;
      left -= here;
    }
}

std::int64_t whole_document(Drawn& drawn, Lengths& lengths, std::int64_t sequence) {
  const std::int64_t length = lengths.next(), here = std::min(length, sequence);
  drawn.tokens += static_cast<double>(length);
  drawn.cut += static_cast<double>(length - here);
  drawn.ends += 1;
  return here;
}

void padded(Drawn& drawn, Lengths& lengths, std::int64_t sequence) {
  for (Row& row : drawn.rows) row.push_back(whole_document(drawn, lengths, sequence));
}

void fitted(Drawn& drawn, Lengths& lengths, std::int64_t sequence) {
  std::vector<std::int64_t> documents;
  for (auto room = sequence * static_cast<std::int64_t>(drawn.rows.size()); room > 0; room -= documents.back())
    documents.push_back(whole_document(drawn, lengths, sequence));
  drawn.rows.clear();
  for (const std::vector<std::size_t>& row : fitted_rows(documents, sequence)) {
    drawn.rows.emplace_back();
    for (const std::size_t document : row) drawn.rows.back().push_back(documents[document]);
  }
}

std::size_t rows_to_draw(const Workload& workload) {
  const auto sequence = static_cast<double>(workload.sequence);
  const bool holds_one = workload.samples.filling == RowFilling::Padded;
  const double documents = holds_one ? 1 : sequence / std::max(1.0, std::min(workload.samples.mean_length(), sequence));
  return count_of(std::clamp(kMostDrawn / documents, kFewestRows, kMostRows));
}

}  // namespace

DocumentRows::DocumentRows(const Workload& workload) {
  Lengths lengths(workload.samples);
  Drawn drawn;
  drawn.rows.resize(rows_to_draw(workload));
  constexpr void (*kFill[])(Drawn&, Lengths&, std::int64_t) = {padded, packed, fitted, padded};  // by RowFilling
  at(kFill, workload.samples.filling)(drawn, lengths, workload.sequence);
  begins_.push_back(0);
  double real = 0, squares = 0;
  for (const Row& row : drawn.rows) {
    lengths_.insert(lengths_.end(), row.begin(), row.end());
    begins_.push_back(lengths_.size());
    for (const std::int64_t length : row) {
      real += static_cast<double>(length);
      squares += static_cast<double>(length) * static_cast<double>(length);
    }
  }
  const double tokens = static_cast<double>(workload.sequence) * static_cast<double>(size());
  attended_ = squares / real;
  real_share_ = real / tokens;
  loss_share_ = (real - drawn.ends) / tokens;
  if (drawn.tokens > 0) cut_share_ = drawn.cut / drawn.tokens;
}

std::shared_ptr<const DocumentRows> document_rows(const Workload& workload) {
  struct Known {
    SamplesPolicy samples;
    std::int64_t sequence = 0;
    std::shared_ptr<const DocumentRows> rows;
  };
  thread_local Known known;
  if (!known.rows || known.sequence != workload.sequence || known.samples != workload.samples)
    known = {workload.samples, workload.sequence, std::make_shared<const DocumentRows>(workload)};
  return known.rows;
}

double real_share(const Workload& workload) { return workload.samples.has_documents() ? document_rows(workload)->real_share() : 1; }

double real_tokens(const Workload& workload) {
  return static_cast<double>(workload.global_batch * workload.sequence) * real_share(workload);
}

std::int64_t attended_tokens(const Workload& workload) {
  return workload.samples.has_documents() ? std::llround(document_rows(workload)->attended()) : 0;
}

}  // namespace sim
