// Facts: releases 0.1.0, 0.2.0 to 0.2.2 (TOML) and 0.3.0: models/*/infra/parallelize.py, distributed/tensor_parallel.py (maybe_enable_async_tp),
// config/configs.py (CompileConfig), components/quantization/float8.py and mx.py.
#include "sim/recipe/torchtitan_refusals.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "sim/recipe/torchtitan.h"

namespace sim {
namespace {

bool is_of_toml(const Draft& draft) { return flag_of(draft, std::string(kIsOfToml), false); }

bool says(const Draft& draft, const std::string& name, std::string_view part) {
  return text_of(draft, name, "").find(part) != std::string::npos;
}

// A function of the registry may compile by itself.
bool compiles_blocks(const Draft& draft) {
  const bool has_blocks = text_of(draft, "compile.components", "model").find("model") != std::string::npos;
  return has_blocks && flag_of(draft, "compile.enable", !is_of_toml(draft));
}

bool has_tensor_ranks(const Draft& draft) { return draft.plan.mesh.tensor > 1; }

bool replicates_beside_others(const Draft& draft) {
  const DeviceMesh& mesh = draft.plan.mesh;
  const bool is_alone = mesh.tensor == 1 && mesh.pipeline == 1;
  return is_of_toml(draft) && draft.replicate.value_or(1) > 1 && !shards_over_data(draft) && mesh.context == 1 && !is_alone;
}

bool overlaps_uncompiled(const Draft& draft) {
  const bool asks = flag_of(draft, "compile.enable_async_tensor_parallel", false);
  return asks && !compiles_blocks(draft) && (has_tensor_ranks(draft) || !is_of_toml(draft));
}

bool gathers_beside_a_recipe(const Draft& draft) {
  return is_of_toml(draft) && draft.scales_products && draft.gathers_scaled && draft.said.contains("float8.recipe_name");
}

bool scales_experts_in_parts(const Draft& draft) {
  const DeviceMesh& mesh = draft.plan.mesh;
  return is_of_toml(draft) && says(draft, "model.converters", "grouped_mm.float8") && (mesh.pipeline > 1 || mesh.context > 1);
}

bool compiles_mx_on_tensor_ranks(const Draft& draft) {
  return is_of_toml(draft) && says(draft, "model.converters", "linear.mx") && has_tensor_ranks(draft) && compiles_blocks(draft);
}

struct OwnRefusal {
  std::string_view where, problem, remedy;
  bool (*stops)(const Draft&);
};
constexpr OwnRefusal kOwnRefusals[] = {
    {"parallelism.data_parallel_replicate_degree",
     "keeps whole weights (shard degree 1) beside tensor or pipeline ranks, at which torchtitan stops",
     "write data_parallel_shard_degree = -1 and no replicas, or leave the other ranks out", replicates_beside_others},
    {"compile.enable_async_tensor_parallel", "asks for exchanges along products of blocks that are not compiled, at which torchtitan stops",
     "compile \"model\", or leave it out", overlaps_uncompiled},
    {"float8.enable_fsdp_float8_all_gather", "stands beside float8.recipe_name, at which torchtitan stops", "leave one of them out",
     gathers_beside_a_recipe},
    {"model.converters", "scales products of experts beside pipeline or context ranks, at which torchtitan stops",
     "leave quantize.grouped_mm.float8 out, or those ranks", scales_experts_in_parts},
    {"model.converters", "scales by mx in compiled blocks on tensor ranks, at which torchtitan stops",
     "leave tensor ranks or the compiler out", compiles_mx_on_tensor_ranks},
};

}  // namespace

bool shards_over_data(const Draft& draft) {
  const DeviceMesh& mesh = draft.plan.mesh;
  const std::int64_t others = std::int64_t{mesh.pipeline} * mesh.tensor * mesh.context * draft.replicate.value_or(1);
  const std::int64_t rest = draft.plan.cluster.devices / std::max<std::int64_t>(1, others);
  const std::int64_t shard = draft.shard.value_or(-1);
  return (shard < 0 ? rest : shard) > 1;
}

void refuse_what_torchtitan_stops_at(Draft& draft) {
  for (const OwnRefusal& one : kOwnRefusals)
    if (one.stops(draft)) draft.wrong.push_back({std::string(one.where), std::string(one.problem), std::string(one.remedy)});
}

}  // namespace sim
