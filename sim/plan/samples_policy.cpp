#include "sim/plan/samples_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "sim/units/at.h"
#include "sim/units/number_text.h"

namespace sim {
namespace {

constexpr std::int64_t kMostLength = 1'000'000'000, kMostWeight = 1'000'000'000, kMostToken = 4'294'967'295;
constexpr std::int64_t kMostSeed = 1'000'000'000'000'000;
constexpr double kMostSpread = 100;

template <class Kind, std::size_t Count>
std::optional<Kind> kind_named(std::string_view word, const std::string_view (&names)[Count]) {
  const auto* const found = std::find(std::begin(names), std::end(names), word);
  return found == std::end(names) ? std::nullopt : std::optional(static_cast<Kind>(found - std::begin(names)));
}

// "512" or "512*3".
std::optional<SamplesPolicy::Length> length_in(std::string_view text) {
  const auto read = repeated_in(text, {1, 1}, {kMostLength, kMostWeight});
  return read ? std::optional(SamplesPolicy::Length{read->number, read->times}) : std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view text, std::vector<Violation>& violations) : words_{std::string(text)}, violations_(violations) {}

  SamplesPolicy read() {
    SamplesPolicy policy;
    next();
    if (word_.empty()) return policy;
    const auto filling = kind_named<RowFilling>(word_, kRowFillingNames);
    if (!filling) return fault("says nothing of how documents become rows", "begin with packed, fitted or padded; empty: one fills a row");
    policy.filling = *filling;
    next();
    const auto kind = kind_named<LengthKind>(word_, kLengthKindNames);
    if (!kind) return fault("says nothing of how long documents are", "use fixed 512, list 128 512*3 or lognormal mean 800 spread 1.2");
    policy.kind = *kind;
    next();
    policy.kind == LengthKind::LogNormal ? read_curve(policy) : read_lengths(policy);
    while (!failed_ && !word_.empty()) read_rest(policy);
    return failed_ ? SamplesPolicy{} : policy;
  }

 private:
  void next() {
    word_.clear();
    words_ >> word_;
  }
  SamplesPolicy fault(std::string problem, std::string remedy) {
    violations_.push_back({word_, std::move(problem), std::move(remedy)});
    failed_ = true;
    return {};
  }
  void read_lengths(SamplesPolicy& policy) {
    for (std::optional<SamplesPolicy::Length> length; (length = length_in(word_)); next()) policy.lengths.push_back(*length);
    const bool is_one = policy.lengths.size() == 1 && policy.lengths.front().weight == 1;
    if (policy.kind == LengthKind::Fixed ? !is_one : policy.lengths.empty())
      fault("is no length of documents", policy.kind == LengthKind::Fixed ? "write fixed 512" : "write list 128 512*3 2048");
  }
  void read_curve(SamplesPolicy& policy) {
    const auto read = [&](std::string_view name, double low, double high) {
      const bool is_there = !failed_ && word_ == name;
      if (is_there) next();
      const auto value = number_in<double>(word_, low, high);
      if (!is_there || !value)
        return fault(fmt::format("stands where {} and its number should", name), "write lognormal mean 800 spread 1.2"), 0.0;
      next();
      return *value;
    };
    policy.mean = read("mean", 1.0, static_cast<double>(kMostLength));
    if (!failed_) policy.spread = read("spread", 0.0, kMostSpread);
  }
  void read_rest(SamplesPolicy& policy) {
    const bool is_seed = word_ == "seed";
    if (!is_seed && word_ != "end") return void(fault("says nothing of documents", "use seed 7, end 2"));
    next();
    const auto value = number_in<std::int64_t>(word_, 0, is_seed ? kMostSeed : kMostToken);
    if (!value)
      return void(fault(is_seed ? "is no seed" : "is no token", is_seed ? "write seed 7" : "write end 2: the token behind a document"));
    if (is_seed)
      policy.seed = static_cast<std::uint64_t>(*value);
    else
      policy.end_token = *value;
    next();
  }

  std::istringstream words_;
  std::vector<Violation>& violations_;
  std::string word_;
  bool failed_ = false;
};

}  // namespace

double SamplesPolicy::mean_length() const {
  if (kind == LengthKind::LogNormal) return mean;
  double tokens = 0, weights = 0;
  for (const Length& length : lengths) {
    tokens += static_cast<double>(length.tokens) * static_cast<double>(length.weight);
    weights += static_cast<double>(length.weight);
  }
  return weights > 0 ? tokens / weights : 0;
}

std::string to_text(const SamplesPolicy& policy) {
  if (!policy.has_documents()) return {};
  std::string text = fmt::format("{} {}", at(kRowFillingNames, policy.filling), at(kLengthKindNames, policy.kind));
  for (const SamplesPolicy::Length& length : policy.lengths)
    text += length.weight == 1 ? fmt::format(" {}", length.tokens) : fmt::format(" {}*{}", length.tokens, length.weight);
  if (policy.kind == LengthKind::LogNormal) text += fmt::format(" mean {} spread {}", policy.mean, policy.spread);
  if (policy.seed != SamplesPolicy{}.seed) text += fmt::format(" seed {}", policy.seed);
  if (policy.end_token) text += fmt::format(" end {}", *policy.end_token);
  return text;
}

SamplesPolicy parse_samples_policy(std::string_view text, std::vector<Violation>& violations) { return Reader(text, violations).read(); }

}  // namespace sim
