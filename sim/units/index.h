// Indices that do not mix: a stage is not a rank. Value -1 (none()) means "does not apply".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace sim {

template <class Tag>
class Index {
 public:
  constexpr Index() = default;
  constexpr explicit Index(std::int32_t value) : value_(value) {}
  static constexpr Index none() { return Index(-1); }
  constexpr std::int32_t value() const { return value_; }
  constexpr std::size_t position() const { return static_cast<std::size_t>(value_); }  // into a container
  constexpr bool exists() const { return value_ >= 0; }
  constexpr Index& operator++() {
    ++value_;
    return *this;
  }
  friend constexpr auto operator<=>(Index, Index) = default;

 private:
  std::int32_t value_ = -1;
};

using Rank = Index<struct RankTag>;         // a process
using DeviceId = Index<struct DeviceTag>;   // a device of a task graph: a rank, or a class of equal ranks
using NodeIndex = Index<struct NodeTag>;    // a machine of the cluster
using StageIndex = Index<struct StageTag>;  // position in the pipeline, 0 .. p-1
using ChunkIndex = Index<struct ChunkTag>;  // virtual stage of one rank, 0 .. v-1
using MicrobatchIndex = Index<struct MicrobatchTag>;
using SliceIndex = Index<struct SliceTag>;  // of a sample's tokens; none where samples pass whole
using LayerIndex = Index<struct LayerTag>;  // 0 embedding, 1 .. L blocks, L+1 head
using TaskId = Index<struct TaskTag>;
using LinkId = Index<struct LinkTag>;
using BucketIndex = Index<struct BucketTag>;

}  // namespace sim
