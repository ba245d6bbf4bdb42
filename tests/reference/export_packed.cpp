#include "tests/reference/export_packed.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include "executor/model/packed_weight.h"
#include "executor/model/random.h"
#include "executor/training/safetensors.h"

namespace {

struct Case {
  const char* name;
  std::int64_t rows, columns;
  at::ScalarType type;  // that its numbers are rounded to
};
// Scales of one group and of several, whole blocks and a rest, and weights as they are published.
constexpr Case kCases[] = {{"few", 64, 96, at::kFloat},
                           {"groups", 300, 128, at::kFloat},
                           {"many", 768, 512, at::kFloat},
                           {"published", 512, 384, at::kBFloat16},
                           {"rest", 7, 12, at::kFloat}};

at::Tensor drawn(const Case& of) {
  const at::Tensor numbers = at::empty({of.rows, of.columns}, at::kFloat);
  const executor::RandomKey key = executor::random_key({7, executor::label_of(of.name)});
  for (std::int64_t at = 0; at < numbers.numel(); ++at)
    numbers.data_ptr<float>()[at] = static_cast<float>(0.02 * executor::random_normal(key, static_cast<std::uint64_t>(at)));
  numbers.flatten().narrow(0, 0, sim::kScaledBlock).zero_();
  return numbers.to(of.type).to(at::kFloat);
}

}  // namespace

namespace parity {

void export_packed(const std::string& folder) {
  std::vector<executor::NamedTensor> stored;
  for (const Case& each : kCases) {
    const sim::Parameter parameter{.name = each.name, .rows = each.rows, .columns = each.columns, .row_blocks = {}};
    const executor::PackedWeight packing(sim::BaseFormat::Nf4, parameter, {}, at::kFloat);
    const sim::PackedPiece piece = sim::packed_pieces(parameter, 1).front();
    const sim::PackedLayout layout = sim::packed_layout(sim::BaseFormat::Nf4, piece);
    const at::Tensor whole = drawn(each), packed = packing.pack(whole);
    const auto add = [&](const char* what, const at::Tensor& values) {
      stored.push_back({.name = fmt::format("{}:{}", what, each.name), .values = values.contiguous()});
    };
    const auto bytes = [&](std::int64_t first, std::int64_t count) { return packed.narrow(0, first, count).clone(); };
    add("weight", whole);
    add("codes", bytes(layout.codes, (piece.elements() + 1) / 2));
    add("block_scales", bytes(layout.block_scales, piece.blocks()));
    add("scales", bytes(layout.scales, 4 * piece.scales_of_scales()).view(at::kFloat));
    add("mean", bytes(layout.mean, 4).view(at::kFloat));
    add("numbers", packing.unpack(packed));
  }
  executor::write_safetensors(folder + "/packed.safetensors", stored);
}

}  // namespace parity
