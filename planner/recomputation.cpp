#include "planner/recomputation.h"

#include <algorithm>
#include <array>

#include "planner/sayable.h"

namespace planner {
namespace {

using sim::Module;
using sim::Modules;

// Norms and activations are read and written once; the latent projections of attention and the shared experts are small products; feed-forwards are most
// of a block.
constexpr std::array kLevels = {Module::LayerNorm | Module::MoeActivation, Modules(Module::MlaUpProjection), Modules(Module::SharedExperts),
                                Module::Mlp | Module::Moe};

Modules parts_of(const sim::ModelGraph& model) {
  Modules parts;
  for (const sim::LayerIndex first : model.firsts)
    for (const sim::SegmentGraph& segment : model.layer(first).segments) {
      parts = parts | segment.modules;
      for (const sim::Operator& op : segment.operators) parts = parts | op.modules;
    }
  return parts;
}

bool is_sayable(const SearchRequest& request, Module module) {
  return !why_not_sayable(request, {.recompute = sim::Recompute::Selective, .scope = {.modules = module}});
}

}  // namespace

std::vector<Modules> module_levels(const SearchRequest& request, const sim::ModelGraph& model) {
  if (model.config.convolution) return {};
  const Modules parts = parts_of(model);
  const bool is_latent = request.model.attention.kind == sim::AttentionKind::Latent;
  const auto has = [&](Module module) {
    return parts.has(module) && (is_latent || module != Module::MlaUpProjection) && is_sayable(request, module);
  };
  std::vector<Modules> levels;
  Modules all = request.model.attention_dropout > 0 && has(Module::CoreAttention) ? Modules(Module::CoreAttention) : Modules();
  for (const Modules level : kLevels) {
    const Modules before = all;
    for (std::size_t at = 0; at < sim::kNumModules; ++at)
      if (const auto module = static_cast<Module>(at); level.has(module) && has(module)) all = all | module;
    if (all != before) levels.push_back(all);
  }
  if (request.why_not && has(Module::Op)) levels.emplace_back(Module::Op);  // a choice of its own, of one program
  return levels;
}

std::int64_t scope_number(const sim::RecomputeScope& scope) {
  std::int64_t number = scope.but_last ? 1 : 0;
  number = number << 20 | (scope.every - 1);
  number = number << 20 | scope.first;
  for (std::size_t at = 0; at < sim::kNumModules; ++at) number = number << 1 | (scope.modules.has(static_cast<Module>(at)) ? 1 : 0);
  return number;
}

}  // namespace planner
