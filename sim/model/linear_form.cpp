#include "sim/model/linear_form.h"

#include <algorithm>
#include <numeric>

namespace sim {
namespace {

// Of a token and a head, beside the state that it hands on: keys with keys, inverse with keys and values, queries with keys, the sum of values.
double delta_products(const Scan& scan) {
  const auto key = static_cast<double>(scan.key), value = static_cast<double>(scan.value), chunk = static_cast<double>(scan.chunk);
  return static_cast<double>(scan.heads) * (chunk * (3 * key + 2 * value) + 3 * key * value);
}

double state_products(const Scan& scan) {
  const auto key = static_cast<double>(scan.key), value = static_cast<double>(scan.value), chunk = static_cast<double>(scan.chunk);
  const auto heads = static_cast<double>(scan.heads), groups = static_cast<double>(scan.groups);
  return chunk * (groups * key + heads * value / 2) + 2 * heads * key * value;
}

struct Moved {
  double numbers = 0, bytes = 0;  // as activations; in fp32, or beside it in 16 bit
};

// Keys go through four kernels and what is made of them through two; values through one, and twice what is made of them.
Moved delta_traffic(const Scan& scan) {
  const auto key = static_cast<double>(scan.key), value = static_cast<double>(scan.value), chunk = static_cast<double>(scan.chunk);
  const auto heads = static_cast<double>(scan.heads);
  const double decays = scan.rule == LinearRule::ChannelDelta ? 4 * 4 * key : 0;  // of each channel, in fp32, by four kernels
  return {heads * (7 * key + 6 * value + 2 * key * value / chunk), heads * (chunk * 12 + decays)};
}

// States are written, passed on and read: twice in fp32, twice as activations (12 bytes); the products of keys twice in fp32.
Moved state_traffic(const Scan& scan) {
  const auto key = static_cast<double>(scan.key), value = static_cast<double>(scan.value), chunk = static_cast<double>(scan.chunk);
  const auto heads = static_cast<double>(scan.heads), groups = static_cast<double>(scan.groups);
  return {3 * heads * value + 4 * groups * key, 12 * heads * key * value / chunk + 8 * groups * chunk};
}

constexpr double kSelectiveFlops = 9;  // of a number of a state (github.com/state-spaces/mamba, issue 110)
constexpr double kCheckpointTokens = 2048,
                 kCheckpointBytes = 8;  // selective_scan_fwd keeps a pair of fp32 for each state behind so many tokens

// Values, steps and gate are read, what the scan puts out is written with its gate and without; B and C of all channels once.
Moved selective_traffic(const Scan& scan) {
  const auto channels = static_cast<double>(scan.heads), state = static_cast<double>(scan.key);
  return {5 * channels + 2 * state, channels * state * kCheckpointBytes / kCheckpointTokens};
}

Moved traffic_of(const Scan& scan) {
  if (scan.rule == LinearRule::Selective) return selective_traffic(scan);
  return scan.rule == LinearRule::StateSpace ? state_traffic(scan) : delta_traffic(scan);
}

}  // namespace

std::vector<std::int64_t> LinearForm::row_blocks() const {
  if (rule == LinearRule::Selective) return {values(), values()};
  if (rule == LinearRule::ShortConvolution) return {values(), values(), values()};
  if (rule == LinearRule::StateSpace) return {values(), values(), keys(), keys(), heads};
  if (rule == LinearRule::ChannelDelta) return {keys(), keys(), values(), heads};
  return {keys(), keys(), values(), values(), heads, heads};
}

std::int64_t LinearForm::projected() const {
  const std::vector<std::int64_t> blocks = row_blocks();
  return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
}

Scan scan_of(const LinearForm& form, const ScanSize& size) {
  return {.rule = form.rule,
          .tokens = size.tokens,
          .heads = form.heads / size.ranks,
          .groups = form.groups_of(size.ranks),
          .key = form.key,
          .value = form.value,
          .chunk = std::min(form.chunk, std::max<std::int64_t>(1, size.sample))};
}

double states_of(const Scan& scan) { return static_cast<double>(scan.tokens) * static_cast<double>(scan.heads * scan.key * scan.value); }

Flops scan_flops(const Scan& scan) {
  if (scan.rule == LinearRule::Selective) return Flops(kSelectiveFlops * states_of(scan));
  const double products = scan.rule != LinearRule::StateSpace ? delta_products(scan) : state_products(scan);
  return Flops(2 * static_cast<double>(scan.tokens) * products);
}

Bytes scan_bytes(const Scan& scan, Bytes element_size) {
  const Moved moved = traffic_of(scan);
  const double each = moved.numbers * static_cast<double>(element_size.value()) + moved.bytes;
  return Bytes(static_cast<std::int64_t>(static_cast<double>(scan.tokens) * each));
}

}  // namespace sim
