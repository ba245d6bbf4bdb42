#include "planner/shape_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "planner/constraints.h"
#include "sim/schedule/schedule.h"
#include "sim/units/at.h"

namespace planner {
namespace {

constexpr std::string_view kPlainSchedule = "1f1b";  // where there is no order to choose

std::int32_t nearest_divisor(std::int64_t number, std::int32_t refused) {
  const std::vector<std::int32_t> all = divisors(number);
  const auto above = std::lower_bound(all.begin(), all.end(), refused);  // all.front() == 1 <= refused
  if (above == all.end()) return all.back();
  return std::int64_t{*above} * *std::prev(above) < std::int64_t{refused} * refused ? *above : *std::prev(above);
}

// A row of the table that runs the shape with its own number of chunks; with one chunk where it can.
std::string nearest_schedule(sim::PipelineShape shape) {
  for (shape.chunks = 1; shape.chunks <= 2; ++shape.chunks)
    for (const sim::Schedule& schedule : sim::all_schedules())
      if (!schedule.why_unsupported(shape)) return fmt::format("schedule={} chunks={}", schedule.name, shape.chunks);
  return "";
}

}  // namespace

ShapeSpace::ShapeSpace(const SearchRequest& request, const FixedAxes& fixed, std::vector<Exclusion>& excluded, UnsayableFamilies& unsayable)
    : request_(request), fixed_(fixed), excluded_(excluded), unsayable_(unsayable) {}

void ShapeSpace::visit(const sim::DeviceMesh& mesh, std::vector<Reason>& refusals, const Visit& visit) {
  const std::vector<std::int32_t> sizes = microbatches(mesh);
  const std::vector<sim::ContextAlgorithm> algorithms = context_algorithms(mesh);
  for (const std::int32_t microbatch : sizes)
    for (const sim::ContextAlgorithm algorithm : algorithms)
      add_schedules({.mesh = mesh, .context_algorithm = algorithm, .microbatch = microbatch, .slices = fixed_.at.slices},
                    {refusals, visit});
}

void ShapeSpace::exclude_mesh(const sim::DeviceMesh& mesh, const Reason& why) {
  const std::int64_t samples = request_.workload.global_batch / mesh.data;
  const auto first = static_cast<std::int32_t>(fixed_.has("microbatch") ? samples / fixed_.at.microbatch : samples);
  excluded_.push_back(
      exclude(fmt::format("data={} tensor={} pipeline={}", mesh.data, mesh.tensor, mesh.pipeline), why,
              fixed_.at.slices > 1 ? "slices=1" : nearest_schedule({.stages = mesh.pipeline, .microbatches = first, .chunks = 1})));
}

// Those whose rules the mesh keeps; what is fixed and breaks one is told.
std::vector<sim::ContextAlgorithm> ShapeSpace::context_algorithms(const sim::DeviceMesh& mesh) {
  using sim::ContextAlgorithm;
  if (mesh.context == 1) return {ContextAlgorithm::Ring};
  std::vector<ContextAlgorithm> allowed;
  std::vector<sim::Violation> broken;
  std::vector<ContextAlgorithm> wanted = {ContextAlgorithm::Ring, ContextAlgorithm::AllGather, ContextAlgorithm::AllToAll};
  if (mesh.context_inner > 1) wanted = {ContextAlgorithm::Hierarchical};
  if (fixed_.has("context_algorithm")) wanted = {fixed_.at.context_algorithm};
  for (const ContextAlgorithm algorithm : wanted) {
    sim::ParallelPlan plan = make_plan(request_, {.mesh = mesh, .context_algorithm = algorithm});
    broken = sim::violations(plan);
    std::erase_if(broken, [](const sim::Violation& violation) { return violation.where.find("context") == std::string::npos; });
    if (broken.empty()) allowed.push_back(algorithm);
  }
  if (allowed.empty() && !broken.empty())
    excluded_.push_back(exclude(fmt::format("context={} tensor={}", mesh.context, mesh.tensor),
                                {"shape.rule", {{"where", broken.front().where}, {"problem", broken.front().problem}}}, "context=1"));
  return allowed;
}

std::vector<std::int32_t> ShapeSpace::microbatches(const sim::DeviceMesh& mesh) {
  const std::int64_t samples = request_.workload.global_batch / mesh.data;
  if (!fixed_.has("microbatch")) return divisors(samples);
  const std::int32_t asked = fixed_.at.microbatch;
  if (samples % asked == 0) return {asked};
  excluded_.push_back(exclude(fmt::format("data={} microbatch={}", mesh.data, asked),
                              {"divisibility.microbatch", {{"samples", std::to_string(samples)}, {"microbatch", std::to_string(asked)}}},
                              fmt::format("microbatch={}", nearest_divisor(samples, asked))));
  return {};
}

void ShapeSpace::add_schedules(const PlanCandidate& shape, const Found& found) {
  const auto microbatches = static_cast<std::int32_t>(request_.workload.global_batch / shape.mesh.data / shape.microbatch);
  const auto rows = sim::all_schedules();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!is_choice(rows[row].name, shape.mesh, microbatches) || !is_performed(row, shape.mesh)) continue;
    PlanCandidate scheduled = shape;
    scheduled.schedule = static_cast<std::int32_t>(row);
    add_chunks(scheduled, microbatches, found);
  }
}

// An order that the program does not have is told once.
bool ShapeSpace::is_performed(std::size_t schedule, const sim::DeviceMesh& mesh) {
  if (mesh.pipeline == 1 || fixed_.has("schedule")) return true;
  const auto [known, is_new] = performed_.try_emplace(schedule, true);
  if (!is_new) return known->second;
  const std::optional<sim::Violation> refused = why_not_performed(request_, static_cast<std::int32_t>(schedule));
  if (!refused) return true;
  unsayable_.tell(fmt::format("schedule={}", sim::all_schedules()[schedule].name), *refused);
  return known->second = false;
}

void ShapeSpace::add_chunks(const PlanCandidate& shape, std::int32_t microbatches, const Found& found) {
  const auto most = static_cast<std::int32_t>(request_.model.inner_layers() / shape.mesh.pipeline);
  const std::int32_t last = fixed_.has("chunks") ? fixed_.at.chunks : most;
  PlanCandidate complete = shape;
  for (complete.chunks = fixed_.at.chunks; complete.chunks <= last; ++complete.chunks) {
    std::optional<Reason> why = why_not_chunks(complete, microbatches);
    if (why)
      found.refusals.push_back(*std::move(why));
    else
      found.visit(complete);
  }
}

std::optional<Reason> ShapeSpace::why_not_chunks(const PlanCandidate& shape, std::int32_t microbatches) const {
  const Argument stages{"stages", std::to_string(shape.mesh.pipeline)}, chunks{"chunks", std::to_string(shape.chunks)};
  const std::int64_t parts = std::int64_t{shape.mesh.pipeline} * shape.chunks;
  const std::int64_t layers = request_.model.inner_layers();
  if (parts > layers) return Reason{"shape.blocks", {stages, chunks, {"parts", std::to_string(parts)}, {"blocks", std::to_string(layers)}}};
  const sim::Schedule& schedule = sim::at(sim::all_schedules(), shape.schedule);
  const auto why = schedule.why_unsupported(
      {.stages = shape.mesh.pipeline, .microbatches = microbatches, .chunks = shape.chunks, .slices = fixed_.at.slices});
  if (!why) return std::nullopt;
  return Reason{"shape.schedule",
                {{"schedule", std::string(schedule.name)}, stages, {"microbatches", std::to_string(microbatches)}, chunks, {"why", *why}}};
}

// Whether the row is another order than the plain one (see the header); a fixed schedule is taken at its word.
bool ShapeSpace::is_choice(std::string_view schedule, const sim::DeviceMesh& mesh, std::int32_t microbatches) const {
  if (fixed_.has("schedule")) return schedule == sim::at(sim::all_schedules(), fixed_.at.schedule).name;
  const bool has_order = mesh.pipeline > 1 && microbatches * fixed_.at.slices > 1;
  const bool takes_chunks = !sim::find_schedule(schedule)->why_unsupported({.stages = 2, .microbatches = 2, .chunks = 2});
  return has_order || schedule == kPlainSchedule || (takes_chunks && mesh.pipeline > 1);
}

}  // namespace planner
