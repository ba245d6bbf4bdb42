#include "planner/mesh_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/constraints.h"
#include "planner/expert_space.h"

namespace planner {
namespace {

class MeshEnumerator {
 public:
  MeshEnumerator(const SearchRequest& request, const FixedAxes& fixed) : request_(request), fixed_(fixed) {}
  MeshSpace run() &&;

 private:
  std::vector<std::int32_t> degrees(std::string_view axis, std::int32_t fixed, DegreeRule rule);
  std::vector<std::int32_t> contexts();
  std::vector<std::int32_t> experts();
  std::vector<std::int32_t> expert_options(const sim::DeviceMesh& mesh);
  std::vector<std::int32_t> replica_options(const sim::DeviceMesh& mesh);
  void add_products();
  void add_replicated(sim::DeviceMesh mesh);
  void add_experts(sim::DeviceMesh mesh);
  void add_impossible();
  void exclude_product(const sim::DeviceMesh& mesh);

  const SearchRequest& request_;
  const FixedAxes& fixed_;
  ExpertSpace expert_space_{request_, fixed_};
  MeshSpace space_;  // before the degrees: they say here what they refuse
  std::vector<std::int32_t> tensors_ = degrees("tensor", fixed_.at.mesh.tensor, why_not_tensor);
  std::vector<std::int32_t> pipelines_ = degrees("pipeline", fixed_.at.mesh.pipeline, why_not_pipeline);
  std::vector<std::int32_t> datas_ = degrees("data", fixed_.at.mesh.data, why_not_data);
  std::vector<std::int32_t> contexts_ = contexts();
  std::vector<std::int32_t> experts_ = experts();  // degrees that the model has experts for
};

std::vector<std::int32_t> MeshEnumerator::degrees(std::string_view axis, std::int32_t fixed, DegreeRule rule) {
  std::vector<std::int32_t> allowed;
  for (const std::int32_t degree : fixed_.has(axis) ? std::vector{fixed} : divisors(request_.cluster.devices)) {
    const std::vector<Reason> reasons = rule(request_, degree);
    if (reasons.empty()) allowed.push_back(degree);
    const std::string fix = reasons.empty() ? "" : nearest_degree(request_, rule, {.axis = axis, .degree = degree});
    for (const Reason& reason : reasons) space_.excluded.push_back(exclude(fmt::format("{}={}", axis, degree), reason, fix));
  }
  return allowed;
}

// Short contexts stay whole, unless a degree is asked for.
std::vector<std::int32_t> MeshEnumerator::contexts() {
  if (fixed_.has("context")) return degrees("context", fixed_.at.mesh.context, why_not_context);
  std::vector<std::int32_t> allowed;
  for (const std::int32_t degree : divisors(request_.cluster.devices))
    if (degree == 1 || (request_.workload.sequence / degree >= kLeastContextTokens && why_not_context(request_, degree).empty()))
      allowed.push_back(degree);
  return allowed;
}

// Of a dense model one, without a word unless another is asked for.
std::vector<std::int32_t> MeshEnumerator::experts() {
  if (fixed_.has("expert")) return degrees("expert", fixed_.at.mesh.expert, why_not_expert);
  std::vector<std::int32_t> allowed = divisors(request_.cluster.devices);
  std::erase_if(allowed, [&](std::int32_t degree) { return !why_not_expert(request_, degree).empty(); });
  return allowed;
}

// Those that the mesh can hold, of those that the model has.
std::vector<std::int32_t> MeshEnumerator::expert_options(const sim::DeviceMesh& mesh) {
  std::vector<std::int32_t> options = experts_;
  std::erase_if(options, [&](std::int32_t degree) {
    return std::int64_t{mesh.copies()} * mesh.tensor % (std::int64_t{mesh.expert_cut()} * degree) != 0;
  });
  if (options.empty() && fixed_.has("expert") && !experts_.empty())
    space_.excluded.push_back(exclude(
        fmt::format("data={} expert={}", mesh.data, fixed_.at.mesh.expert),
        {"divisibility.expert_ranks", {{"copies", std::to_string(mesh.copies())}, {"expert", std::to_string(fixed_.at.mesh.expert)}}},
        "expert=1"));
  return options;
}

// Shards over all data ranks, or as many as share a node with a tensor group: what crosses nodes is then the sum of one shard.
std::vector<std::int32_t> MeshEnumerator::replica_options(const sim::DeviceMesh& mesh) {
  const std::int32_t shards = request_.cluster.devices_per_node() / mesh.tensor;
  const bool leaves_nodes = shards > 1 && shards < mesh.copies() && mesh.copies() % shards == 0;
  if (!fixed_.has("replicas")) return leaves_nodes ? std::vector{1, mesh.copies() / shards} : std::vector{1};
  const bool cuts =
      fixed_.at.mesh.replicas == 1 || (fixed_.at.mesh.replicas < mesh.copies() && mesh.copies() % fixed_.at.mesh.replicas == 0);
  if (cuts) return {fixed_.at.mesh.replicas};
  space_.excluded.push_back(
      exclude(fmt::format("data={} replicas={}", mesh.copies(), fixed_.at.mesh.replicas),
              {"divisibility.replicas", {{"data", std::to_string(mesh.copies())}, {"replicas", std::to_string(fixed_.at.mesh.replicas)}}},
              "replicas=1"));
  return {};
}

void MeshEnumerator::add_experts(sim::DeviceMesh mesh) {
  for (const std::int32_t degree : expert_space_.expert_tensors(mesh)) {
    mesh.expert_tensor = degree;
    add_replicated(mesh);
  }
}

void MeshEnumerator::add_replicated(sim::DeviceMesh mesh) {
  const std::vector<std::int32_t> experts = expert_options(mesh),
                                  replicas = experts.empty() ? std::vector<std::int32_t>{} : replica_options(mesh);
  for (mesh.expert = 1; mesh.expert <= mesh.copies() * mesh.tensor / mesh.expert_cut(); ++mesh.expert)
    for (const std::int32_t each : replicas) {
      if (std::count(experts.begin(), experts.end(), mesh.expert) == 0) continue;
      mesh.replicas = each;
      if (std::int64_t{mesh.shards()} * mesh.tensor % (std::int64_t{mesh.expert_cut()} * mesh.expert) != 0) continue;
      space_.meshes.push_back(mesh);
    }
}

// Every product of degrees that fills the cluster.
void MeshEnumerator::add_products() {
  for (const std::int32_t tensor : tensors_)
    for (const std::int32_t pipeline : pipelines_)
      for (const std::int32_t context : contexts_)
        for (const std::int32_t data : datas_) {
          if (std::int64_t{tensor} * pipeline * context * data != request_.cluster.devices) continue;
          space_.possible = true;
          const std::int32_t inner = fixed_.at.mesh.context_inner;  // of its own accord none
          if (inner == 1 || context > 1)
            add_experts({.data = data, .pipeline = pipeline, .tensor = tensor, .context = context, .context_inner = inner});
        }
}

// The mesh that was asked for, with the reason that no axis has given already.
void MeshEnumerator::add_impossible() {
  const bool axes_said_why = tensors_.empty() || pipelines_.empty() || datas_.empty() || contexts_.empty();
  const bool all_fixed = fixed_.has("data") && fixed_.has("pipeline") && fixed_.has("tensor");
  const sim::DeviceMesh asked{
      .data = fixed_.at.mesh.data, .pipeline = fixed_.at.mesh.pipeline, .tensor = fixed_.at.mesh.tensor, .context = fixed_.at.mesh.context};
  if (!axes_said_why || all_fixed) exclude_product(asked);
  space_.meshes = {asked};
}

void MeshEnumerator::exclude_product(const sim::DeviceMesh& mesh) {
  const std::int64_t product = std::int64_t{mesh.copies()} * mesh.tensor * mesh.pipeline;
  if (product == request_.cluster.devices) return;
  const Reason reason{mesh.context > 1 ? "shape.product_context" : "shape.product",
                      {{"data", std::to_string(mesh.data)},
                       {"context", std::to_string(mesh.context)},
                       {"tensor", std::to_string(mesh.tensor)},
                       {"pipeline", std::to_string(mesh.pipeline)},
                       {"product", std::to_string(product)},
                       {"devices", std::to_string(request_.cluster.devices)}}};
  space_.excluded.push_back(
      exclude(fmt::format("data={} tensor={} pipeline={}", mesh.data, mesh.tensor, mesh.pipeline), reason, nearest_mesh(request_, mesh)));
}

MeshSpace MeshEnumerator::run() && {
  add_products();
  if (!space_.possible) add_impossible();
  return std::move(space_);
}

}  // namespace

MeshSpace enumerate_meshes(const SearchRequest& request, const FixedAxes& fixed) { return MeshEnumerator(request, fixed).run(); }

}  // namespace planner
