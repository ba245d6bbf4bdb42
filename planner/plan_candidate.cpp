#include "planner/plan_candidate.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "planner/nearest.h"
#include "planner/recomputation.h"
#include "sim/plan/field_access.h"
#include "sim/plan/field_uses.h"
#include "sim/schedule/schedule.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using Candidate = PlanCandidate;
using Plan = sim::ParallelPlan;
using Mesh = sim::DeviceMesh;

// Where an axis lies, in a candidate or in a plan.
template <auto... Members>
struct At {
  static constexpr auto& in(auto& object) { return sim::member<Members...>(object); }
};

template <class InCandidate, class InPlan>
Axis axis(std::string_view name, bool is_degree = false, bool of_shape = false) {
  return {.field = &sim::plan_field(name),
          .number = [](const Candidate& candidate) { return static_cast<double>(InCandidate::in(candidate)); },
          .is_degree = is_degree,
          .of_shape = of_shape,
          .put = [](const Candidate& candidate, Plan& plan) { InPlan::in(plan) = InCandidate::in(candidate); },
          .take =
              [](const Plan& plan, Candidate& candidate) {
                auto& at = InCandidate::in(candidate);
                at = static_cast<std::remove_reference_t<decltype(at)>>(InPlan::in(plan));
              }};
}

Axis told_where_asked(Axis axis) {
  axis.is_told_where_asked = true;
  return axis;
}

template <auto Degree>
Axis degree(std::string_view name) {
  return axis<At<&Candidate::mesh, Degree>, At<&Plan::mesh, Degree>>(name, true, true);
}

std::span<const sim::Schedule> schedules() { return sim::all_schedules(); }

Axis schedule() {
  return {.field = &sim::plan_field("schedule"),
          .number = [](const Candidate& candidate) { return static_cast<double>(candidate.schedule); },
          .is_degree = true,
          .of_shape = true,
          .put = [](const Candidate& candidate, Plan& plan) { plan.schedule = sim::at(schedules(), candidate.schedule).name; },
          .take =
              [](const Plan& plan, Candidate& candidate) {
                const auto row =
                    std::find_if(schedules().begin(), schedules().end(), [&](const auto& known) { return known.name == plan.schedule; });
                candidate.schedule = static_cast<std::int32_t>(row - schedules().begin());
              }};
}

Axis recompute_scope() {
  return {.field = &sim::plan_field("recompute_scope"),
          .number = [](const Candidate& candidate) { return static_cast<double>(scope_number(candidate.scope)); },
          .put = [](const Candidate& candidate, Plan& plan) { plan.recompute_scope = candidate.scope; },
          .take = [](const Plan& plan, Candidate& candidate) { candidate.scope = plan.recompute_scope; }};
}

// In the order of to_text().
const std::array kAxes = std::to_array<Axis>({
    degree<&Mesh::data>("data"),
    degree<&Mesh::tensor>("tensor"),
    degree<&Mesh::pipeline>("pipeline"),
    degree<&Mesh::context>("context"),
    axis<At<&Candidate::context_algorithm>, At<&Plan::context_algorithm>>("context_algorithm", false, true),
    told_where_asked(degree<&Mesh::context_inner>("context_inner")),
    degree<&Mesh::expert>("expert"),
    degree<&Mesh::expert_tensor>("expert_tensor"),
    degree<&Mesh::replicas>("replicas"),
    axis<At<&Candidate::microbatch>, At<&Plan::microbatch_size>>("microbatch", true, true),
    told_where_asked(axis<At<&Candidate::slices>, At<&Plan::slices>>("slices", true)),
    schedule(),
    axis<At<&Candidate::chunks>, At<&Plan::chunks>>("chunks", true, true),
    axis<At<&Candidate::zero_stage>, At<&Plan::zero_stage>>("zero", true),
    axis<At<&Candidate::accumulation>, At<&Plan::accumulation>>("accumulation"),
    axis<At<&Candidate::reshard>, At<&Plan::reshard_after_forward>>("reshard"),
    axis<At<&Candidate::layers_per_unit>, At<&Plan::layers_per_unit>>("layers_per_unit", true),
    axis<At<&Candidate::reshard_ranks>, At<&Plan::mesh, &Mesh::reshard>>("reshard_ranks", true),
    axis<At<&Candidate::sequence_parallel>, At<&Plan::sequence_parallel>>("sequence_parallel"),
    axis<At<&Candidate::token_dispatcher>, At<&Plan::token_dispatcher>>("token_dispatcher"),
    axis<At<&Candidate::expert_overlap>, At<&Plan::expert_overlap>>("expert_overlap", false, true),
    axis<At<&Candidate::recompute>, At<&Plan::recompute>>("recompute"),
    recompute_scope(),
    axis<At<&Candidate::offload_optimizer>, At<&Plan::offload_optimizer>>("offload_optimizer"),
    told_where_asked(axis<At<&Candidate::offload_parameters>, At<&Plan::offload_parameters>>("offload_parameters")),
    axis<At<&Candidate::offload_activations>, At<&Plan::offload_activations>>("offload_activations"),
    told_where_asked(axis<At<&Candidate::cuda_graphs>, At<&Plan::cuda_graphs>>("cuda_graphs")),
    told_where_asked(axis<At<&Candidate::attention>, At<&Plan::attention>>("attention")),
});

}  // namespace

std::span<const Axis> all_axes() { return kAxes; }

std::string axis_names() {
  std::string names;
  for (const Axis& axis : kAxes) names += (names.empty() ? "" : ", ") + std::string(axis.field->name);
  return names;
}

PlanCandidate candidate_of(const sim::ParallelPlan& plan) {
  const sim::ParallelPlan usual;
  PlanCandidate candidate;
  for (const Axis& axis : kAxes) axis.take(plan, candidate);
  for (const Axis& axis : kAxes)
    if (!sim::has_use(*axis.field, plan)) axis.take(usual, candidate);
  return candidate;
}

void put_into(const PlanCandidate& candidate, sim::ParallelPlan& plan) {
  for (const Axis& axis : kAxes) axis.put(candidate, plan);
}

sim::ParallelPlan make_plan(const SearchRequest& request, const PlanCandidate& candidate) {
  sim::ParallelPlan plan;
  plan.model = request.model;
  plan.cluster = request.cluster;
  plan.cluster.groups.clear();  // plans are searched for equal parts of a batch, on the least of the devices
  plan.workload = request.workload;
  plan.vocabulary_multiple = request.vocabulary_multiple;
  plan.training = request.training;
  put_into(candidate, plan);
  plan.cut = sim::even_cut(request.model.inner_layers(), plan.pipeline_shape());
  if (request.habits) request.habits(plan);
  return plan;
}

std::vector<Argument> axes_of(const PlanCandidate& candidate) {
  sim::ParallelPlan plan;
  put_into(candidate, plan);
  std::vector<Argument> axes;
  axes.reserve(kAxes.size());
  for (const Axis& axis : kAxes) axes.push_back({std::string(axis.field->name), sim::text_of(*axis.field, plan)});
  return axes;
}

std::string to_text(const PlanCandidate& candidate) {
  static const std::vector<Argument> usual = axes_of({});
  std::vector<Argument> all = axes_of(candidate), axes;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const bool is_told = !kAxes[at].is_told_where_asked || all[at] != usual[at];
    if (is_told && !all[at].value.empty()) axes.push_back(std::move(all[at]));
  }
  return to_text(axes);
}

}  // namespace planner
