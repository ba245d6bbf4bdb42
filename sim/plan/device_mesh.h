// Which rank stands where: D data x P pipeline x T tensor. Tensor is fastest (neighbours on one node), then data, then pipeline.
//
//   rank = (stage * D + data) * T + tensor            D = 2, P = 2, T = 2:   stage 0: 0 1 | 2 3    stage 1: 4 5 | 6 7
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/units/index.h"

namespace sim {

enum class MeshAxis : std::uint8_t { None, Data, Pipeline, Tensor, Embedding, World };  // Embedding: first and last stage (tied weights)
inline constexpr std::string_view kMeshAxisNames[] = {"none", "data", "pipeline", "tensor", "embedding", "world"};

struct MeshCoordinate {
  std::int32_t data = 0;
  StageIndex stage{0};
  std::int32_t tensor = 0;
  bool operator==(const MeshCoordinate&) const = default;
};

struct DeviceMesh {
  std::int32_t data = 1;
  std::int32_t pipeline = 1;
  std::int32_t tensor = 1;

  std::int32_t ranks() const { return data * pipeline * tensor; }
  Rank rank_of(const MeshCoordinate& at) const;
  MeshCoordinate coordinate(Rank rank) const;
  std::vector<Rank> group(Rank member, MeshAxis axis) const;  // ascending; the ranks that differ from `member` along axis alone
  bool operator==(const DeviceMesh&) const = default;
};

}  // namespace sim
