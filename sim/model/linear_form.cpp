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

}  // namespace

std::vector<std::int64_t> LinearForm::row_blocks() const {
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
          .groups = form.groups / size.ranks,
          .key = form.key,
          .value = form.value,
          .chunk = std::min(form.chunk, std::max<std::int64_t>(1, size.sample))};
}

Flops scan_flops(const Scan& scan) {
  const double products = scan.rule != LinearRule::StateSpace ? delta_products(scan) : state_products(scan);
  return Flops(2 * static_cast<double>(scan.tokens) * products);
}

Bytes scan_bytes(const Scan& scan, Bytes element_size) {
  const Moved moved = scan.rule != LinearRule::StateSpace ? delta_traffic(scan) : state_traffic(scan);
  const double each = moved.numbers * static_cast<double>(element_size.value()) + moved.bytes;
  return Bytes(static_cast<std::int64_t>(static_cast<double>(scan.tokens) * each));
}

}  // namespace sim
