#include "planner/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/units/unit_text.h"

namespace planner {
namespace {

void must_divide_devices(const SearchRequest& request, std::int32_t degree, std::vector<Reason>& reasons) {
  if (request.cluster.devices % degree != 0)
    reasons.push_back({"divisibility.devices", {{"devices", std::to_string(request.cluster.devices)}, {"value", std::to_string(degree)}}});
}

double ratio(std::int32_t a, std::int32_t b) { return static_cast<double>(std::max(a, b)) / std::min(a, b); }

}  // namespace

std::vector<Reason> why_not_tensor(const SearchRequest& request, std::int32_t tensor) {
  std::vector<Reason> reasons;
  must_divide_devices(request, tensor, reasons);
  if (tensor > request.cluster.devices_per_node() && request.fixed.count("tensor") == 0)
    reasons.push_back(
        {"node_size", {{"tensor", std::to_string(tensor)}, {"devices_per_node", std::to_string(request.cluster.devices_per_node())}}});
  const auto must_divide = [&](const char* name, std::int64_t size) {
    if (size % tensor != 0)
      reasons.push_back({std::string("divisibility.") + name, {{name, std::to_string(size)}, {"tensor", std::to_string(tensor)}}});
  };
  for (const sim::BlockSizes& sizes : different_sizes(request.model)) {
    must_divide("heads", sizes.heads);
    const std::int64_t keys = sizes.kv_heads;
    const bool may_share =
        keys > 0 && tensor % keys == 0 && request.fixed.count("tensor") != 0;  // it costs two exchanges of all heads a block
    if (keys != sizes.heads && !may_share) must_divide("kv_heads", keys);
    must_divide("ffn", sizes.ffn);
  }
  if (request.model.linear) must_divide("groups", request.model.linear->groups);
  if (tensor > 1 && request.model.linear && request.model.linear->rule == sim::LinearRule::Selective)
    reasons.push_back({"shape.tensor_scan", {}});
  if (tensor > 1 && request.model.inner_norms) reasons.push_back({"shape.tensor_norms", {}});
  if (request.model.experts && (request.model.experts->expert_ffn % tensor != 0 || request.model.experts->shared_ffn % tensor != 0))
    reasons.push_back(
        {"divisibility.ffn", {{"ffn", std::to_string(request.model.experts->expert_ffn)}, {"tensor", std::to_string(tensor)}}});
  if (request.vocabulary_multiple % tensor != 0)
    reasons.push_back(
        {"divisibility.vocabulary", {{"multiple", std::to_string(request.vocabulary_multiple)}, {"tensor", std::to_string(tensor)}}});
  return reasons;
}

std::vector<Reason> why_not_pipeline(const SearchRequest& request, std::int32_t pipeline) {
  std::vector<Reason> reasons;
  must_divide_devices(request, pipeline, reasons);
  if (pipeline > 1 && (request.model.shared_kv_layers > 0 || request.model.layer_inputs > 0))
    reasons.push_back({"shape.pipeline_inputs", {}});
  if (pipeline > request.model.inner_layers())
    reasons.push_back({"shape.blocks",
                       {{"stages", std::to_string(pipeline)},
                        {"chunks", "1"},
                        {"parts", std::to_string(pipeline)},
                        {"blocks", std::to_string(request.model.inner_layers())}}});
  return reasons;
}

std::vector<Reason> why_not_expert(const SearchRequest& request, std::int32_t expert) {
  if (expert == 1) return {};
  if (!request.model.experts) return {{"shape.no_experts", {}}};
  std::vector<Reason> reasons;
  must_divide_devices(request, expert, reasons);
  if (request.model.experts->experts % expert != 0)
    reasons.push_back(
        {"divisibility.experts", {{"experts", std::to_string(request.model.experts->experts)}, {"expert", std::to_string(expert)}}});
  return reasons;
}

std::vector<Reason> why_not_context(const SearchRequest& request, std::int32_t context) {
  std::vector<Reason> reasons;
  must_divide_devices(request, context, reasons);
  if (context > 1 && request.model.linear && request.model.linear->is_of_channels()) reasons.push_back({"shape.context_channels", {}});
  if (request.model.linear && request.model.linear->heads % context != 0)
    reasons.push_back(
        {"divisibility.context_heads", {{"heads", std::to_string(request.model.linear->heads)}, {"context", std::to_string(context)}}});
  if (context > 1 && request.model.attention.is_sparse()) reasons.push_back({"shape.context_sparse", {}});
  if (context > 1 && request.model.attention_dropout > 0) reasons.push_back({"shape.context_dropout", {}});
  if (request.workload.sequence % context != 0)
    reasons.push_back(
        {"divisibility.context", {{"sequence", std::to_string(request.workload.sequence)}, {"context", std::to_string(context)}}});
  return reasons;
}

std::vector<Reason> why_not_data(const SearchRequest& request, std::int32_t data) {
  std::vector<Reason> reasons;
  must_divide_devices(request, data, reasons);
  if (request.workload.global_batch % data != 0)
    reasons.push_back({"divisibility.batch", {{"batch", std::to_string(request.workload.global_batch)}, {"data", std::to_string(data)}}});
  return reasons;
}

std::vector<std::int32_t> divisors(std::int64_t number) {
  std::vector<std::int32_t> small, large;
  for (std::int64_t divisor = 1; divisor * divisor <= number; ++divisor) {
    if (number % divisor != 0) continue;
    small.push_back(static_cast<std::int32_t>(divisor));
    if (divisor * divisor != number) large.push_back(static_cast<std::int32_t>(number / divisor));
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

std::string nearest_degree(const SearchRequest& request, DegreeRule rule, const RefusedDegree& refused) {
  std::string fix;
  double nearest = std::numeric_limits<double>::infinity();
  for (const std::int32_t degree : divisors(request.cluster.devices)) {
    if (ratio(degree, refused.degree) >= nearest || !rule(request, degree).empty()) continue;
    nearest = ratio(degree, refused.degree);
    fix = fmt::format("{}={}", refused.axis, degree);
  }
  return fix;
}

std::string nearest_mesh(const SearchRequest& request, const sim::DeviceMesh& refused) {
  std::string fix;
  double nearest = std::numeric_limits<double>::infinity();
  for (const std::int32_t tensor : divisors(request.cluster.devices)) {
    if (!why_not_tensor(request, tensor).empty()) continue;
    for (const std::int32_t pipeline : divisors(request.cluster.devices / tensor)) {
      const std::int32_t data = request.cluster.devices / tensor / pipeline / refused.context;
      if (data * refused.context * tensor * pipeline != request.cluster.devices) continue;
      if (!why_not_pipeline(request, pipeline).empty() || !why_not_data(request, data).empty()) continue;
      const double distance = ratio(data, refused.data) * ratio(tensor, refused.tensor) * ratio(pipeline, refused.pipeline);
      if (distance >= nearest) continue;
      nearest = distance;
      fix = fmt::format("data={} tensor={} pipeline={}", data, tensor, pipeline);
    }
  }
  return fix;
}

double accepted_risk(double asked) {
  constexpr double kNone = 4.9e-4;
  return std::max(kNone, asked);
}

std::optional<sim::Bytes> memory_limit_of(const WrittenLimit& written, std::vector<sim::Violation>& violations) {
  if (written.value.empty()) return std::nullopt;
  const std::optional<sim::Bytes> limit = sim::parse_bytes(written.value);
  if (!limit || *limit <= sim::Bytes(0))
    violations.push_back({written.where, "'" + written.value + "' is no amount of memory with a unit", "write it like \"80 GiB\""});
  return limit;
}

std::vector<sim::Violation> workload_violations(const SearchRequest& request) {
  sim::ParallelPlan solo;
  solo.model = request.model;
  solo.cluster = request.cluster;
  solo.cluster.devices = 1;
  solo.workload = request.workload;
  solo.vocabulary_multiple = request.vocabulary_multiple;
  solo.cut = sim::even_cut(solo.model.inner_layers(), solo.pipeline_shape());
  std::vector<sim::Violation> found = sim::violations(solo);
  std::erase_if(found, [](const sim::Violation& violation) { return !violation.where.starts_with("/workload"); });
  return found;
}

}  // namespace planner
