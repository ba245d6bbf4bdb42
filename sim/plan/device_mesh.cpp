#include "sim/plan/device_mesh.h"

namespace sim {

Rank DeviceMesh::rank_of(const MeshCoordinate& at) const { return Rank((at.stage.value() * copies() + at.data) * tensor + at.tensor); }

MeshCoordinate DeviceMesh::coordinate(Rank rank) const {
  const std::int32_t replica = rank.value() / tensor;
  return {.data = replica % copies(), .stage = StageIndex(replica / copies()), .tensor = rank.value() % tensor};
}

RankSeries DeviceMesh::of_experts(Rank member, MeshAxis axis) const {
  const std::int32_t cut = expert_cut(), here = member.value() % (shards() * tensor), stage = member.value() - here;  // and its replica
  if (axis == MeshAxis::ExpertTensor) return {stage + here / cut * cut, 1, cut};
  if (axis == MeshAxis::Expert) return {stage + here / (cut * expert) * (cut * expert) + here % cut, cut, expert};
  return {stage + here % (cut * expert), cut * expert, expert_copies()};
}

std::vector<Rank> DeviceMesh::group(Rank member, MeshAxis axis, StageIndex copy) const {
  const MeshCoordinate here = coordinate(member);
  std::vector<Rank> members;
  for (Rank rank{0}; rank.value() < ranks(); ++rank) {
    const MeshCoordinate there = coordinate(rank);
    const std::int32_t mine = here.data * tensor + here.tensor, its = there.data * tensor + there.tensor, cut = expert_cut();
    const bool same_part = mine % cut == its % cut, same_experts = mine % (cut * expert) == its % (cut * expert);
    const bool same_replica = here.data / shards() == there.data / shards(), same_shard = here.data % shards() == there.data % shards();
    const bool same_sample = data_rank(here) == data_rank(there);
    const bool same_data = here.data == there.data, same_stage = here.stage == there.stage, same_tensor = here.tensor == there.tensor;
    const bool has_table = there.stage == StageIndex(0) || there.stage == copy;
    const bool belongs =
        axis == MeshAxis::World || (axis == MeshAxis::Data && same_stage && same_tensor && same_replica) ||
        (axis == MeshAxis::Replica && same_stage && same_tensor && same_shard) ||
        (axis == MeshAxis::Reshard && same_stage && same_tensor && here.data / reshard == there.data / reshard) ||
        (axis == MeshAxis::Distant && same_stage && same_tensor && same_replica && here.data % reshard == there.data % reshard) ||
        (axis == MeshAxis::Context && same_stage && same_tensor && same_sample) ||
        (axis == MeshAxis::ContextInner && same_stage && same_tensor && here.data / context_inner == there.data / context_inner) ||
        (axis == MeshAxis::ContextOuter && same_stage && same_tensor && same_sample &&
         here.data % context_inner == there.data % context_inner) ||
        (axis == MeshAxis::Expert && same_stage && same_part && mine / (cut * expert) == its / (cut * expert)) ||
        (axis == MeshAxis::ExpertData && same_stage && same_replica && same_experts) ||
        (axis == MeshAxis::ExpertTensor && same_stage && mine / cut == its / cut) ||
        (axis == MeshAxis::Tensor && same_stage && same_data) || (axis == MeshAxis::Pipeline && same_data && same_tensor) ||
        (axis == MeshAxis::Embedding && same_data && same_tensor && has_table);
    if (belongs || rank == member) members.push_back(rank);
  }
  return members;
}

}  // namespace sim
