#include "planner/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "planner/constraints.h"
#include "planner/fixed_axes.h"
#include "sim/schedule/schedule.h"

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

class Enumerator {
 public:
  explicit Enumerator(const SearchRequest& request) : request_(request), fixed_(read_fixed_axes(request.fixed)) {}
  SearchSpace run() &&;

 private:
  struct Shape {  // of a mesh: what is left to choose are the memory options
    sim::DeviceMesh mesh;
    sim::ContextAlgorithm algorithm = sim::ContextAlgorithm::Ring;
    std::int32_t microbatch = 1, schedule = 0, chunks = 1;
  };
  std::vector<std::int32_t> degrees(std::string_view axis, const std::optional<std::int32_t>& fixed, DegreeRule rule);
  void add_meshes();
  void add_replicated(sim::DeviceMesh mesh);
  std::vector<std::int32_t> replica_options(const sim::DeviceMesh& mesh);
  void add_mesh(const sim::DeviceMesh& mesh);
  std::vector<std::int32_t> expert_options(const sim::DeviceMesh& mesh);
  std::vector<std::int32_t> experts();
  std::vector<std::int32_t> contexts();
  std::vector<sim::ContextAlgorithm> context_algorithms(const sim::DeviceMesh& mesh);
  void add_schedules(const Shape& shape, std::vector<Reason>& refusals);
  void add_chunks(const Shape& shape, std::int32_t microbatches, std::vector<Reason>& refusals);
  bool is_choice(std::string_view schedule, const sim::DeviceMesh& mesh, std::int32_t microbatches) const;
  void add_options(const Shape& shape);
  std::vector<bool> sequence_parallel_options(const sim::DeviceMesh& mesh) const;
  void exclude(std::string family, const Reason& reason, std::string fix);
  void exclude_impossible_mesh(const sim::DeviceMesh& mesh);
  void exclude_sequence_parallel();

  const SearchRequest& request_;
  FixedAxes fixed_;
  SearchSpace space_;
  std::vector<std::int32_t> experts_;  // degrees that the model has experts for
};

void Enumerator::exclude(std::string family, const Reason& reason, std::string fix) {
  space_.excluded.push_back({.family = std::move(family),
                             .code = std::string(family_of(reason)),
                             .reason = to_sentence(reason),
                             .arguments = reason.arguments,
                             .rule = reason.code,
                             .nearest_fix = std::move(fix)});
}

std::vector<std::int32_t> Enumerator::degrees(std::string_view axis, const std::optional<std::int32_t>& fixed, DegreeRule rule) {
  std::vector<std::int32_t> allowed;
  for (const std::int32_t degree : fixed ? std::vector{*fixed} : divisors(request_.cluster.devices)) {
    const std::vector<Reason> reasons = rule(request_, degree);
    if (reasons.empty()) allowed.push_back(degree);
    const std::string fix = reasons.empty() ? "" : nearest_degree(request_, rule, {.axis = axis, .degree = degree});
    for (const Reason& reason : reasons) exclude(fmt::format("{}={}", axis, degree), reason, fix);
  }
  return allowed;
}

void Enumerator::add_meshes() {
  const auto tensors = degrees("tensor", fixed_.tensor, why_not_tensor);
  const auto pipelines = degrees("pipeline", fixed_.pipeline, why_not_pipeline);
  const auto datas = degrees("data", fixed_.data, why_not_data);
  const auto contexts = this->contexts();
  experts_ = experts();
  bool any = false;
  for (const std::int32_t tensor : tensors)
    for (const std::int32_t pipeline : pipelines)
      for (const std::int32_t context : contexts)
        for (const std::int32_t data : datas) {
          if (std::int64_t{tensor} * pipeline * context * data != request_.cluster.devices) continue;
          any = true;
          add_replicated({.data = data, .pipeline = pipeline, .tensor = tensor, .context = context});
        }
  const bool axes_said_why = tensors.empty() || pipelines.empty() || datas.empty() || contexts.empty();
  const bool all_fixed = fixed_.data && fixed_.pipeline && fixed_.tensor;
  if (any) return;
  const sim::DeviceMesh asked{
      .data = fixed_.data.value_or(1), .pipeline = fixed_.pipeline.value_or(1), .tensor = fixed_.tensor.value_or(1), .context = fixed_.context.value_or(1)};
  if (!axes_said_why || all_fixed) exclude_impossible_mesh(asked);
  add_mesh(asked);  // what else is fixed may be impossible too: all of it is told at once
  space_.candidates.clear();
}

// Of a dense model one, without a word unless another is asked for.
std::vector<std::int32_t> Enumerator::experts() {
  if (fixed_.expert) return degrees("expert", fixed_.expert, why_not_expert);
  std::vector<std::int32_t> allowed = divisors(request_.cluster.devices);
  std::erase_if(allowed, [&](std::int32_t degree) { return !why_not_expert(request_, degree).empty(); });
  return allowed;
}

// Those that the mesh can hold, of those that the model has.
std::vector<std::int32_t> Enumerator::expert_options(const sim::DeviceMesh& mesh) {
  std::vector<std::int32_t> options = experts_;
  std::erase_if(options, [&](std::int32_t degree) { return mesh.copies() % degree != 0; });
  if (options.empty() && fixed_.expert && !experts_.empty())
    exclude(fmt::format("data={} expert={}", mesh.data, *fixed_.expert),
            {"divisibility.expert_ranks", {{"copies", std::to_string(mesh.copies())}, {"expert", std::to_string(*fixed_.expert)}}}, "expert=1");
  return options;
}

// Short contexts stay whole, unless a degree is asked for.
std::vector<std::int32_t> Enumerator::contexts() {
  if (fixed_.context) return degrees("context", fixed_.context, why_not_context);
  std::vector<std::int32_t> allowed;
  for (const std::int32_t degree : divisors(request_.cluster.devices))
    if (degree == 1 || (request_.workload.sequence / degree >= kLeastContextTokens && why_not_context(request_, degree).empty())) allowed.push_back(degree);
  return allowed;
}

// Those whose rules the mesh keeps; what is fixed and breaks one is told.
std::vector<sim::ContextAlgorithm> Enumerator::context_algorithms(const sim::DeviceMesh& mesh) {
  using sim::ContextAlgorithm;
  if (mesh.context == 1) return {ContextAlgorithm::Ring};
  std::vector<ContextAlgorithm> allowed;
  std::vector<sim::Violation> broken;
  for (const ContextAlgorithm algorithm : {ContextAlgorithm::Ring, ContextAlgorithm::AllGather, ContextAlgorithm::AllToAll}) {
    if (fixed_.context_algorithm && algorithm != *fixed_.context_algorithm) continue;
    sim::ParallelPlan plan = make_plan(request_, {.mesh = mesh, .context_algorithm = algorithm});
    broken = sim::violations(plan);
    std::erase_if(broken, [](const sim::Violation& violation) { return violation.where.find("context") == std::string::npos; });
    if (broken.empty()) allowed.push_back(algorithm);
  }
  if (allowed.empty() && !broken.empty())
    exclude(fmt::format("context={} tensor={}", mesh.context, mesh.tensor), {"shape.rule", {{"where", broken.front().where}, {"problem", broken.front().problem}}}, "context=1");
  return allowed;
}

// Shards over all data ranks, or as many as share a node with a tensor group: what crosses nodes is then the sum of one shard.
std::vector<std::int32_t> Enumerator::replica_options(const sim::DeviceMesh& mesh) {
  const std::int32_t shards = request_.cluster.devices_per_node() / mesh.tensor;
  const bool leaves_nodes = shards > 1 && shards < mesh.copies() && mesh.copies() % shards == 0;
  if (!fixed_.replicas) return leaves_nodes ? std::vector{1, mesh.copies() / shards} : std::vector{1};
  const bool cuts = *fixed_.replicas == 1 || (*fixed_.replicas < mesh.copies() && mesh.copies() % *fixed_.replicas == 0);
  if (cuts) return {*fixed_.replicas};
  exclude(fmt::format("data={} replicas={}", mesh.copies(), *fixed_.replicas),
          {"divisibility.replicas", {{"data", std::to_string(mesh.copies())}, {"replicas", std::to_string(*fixed_.replicas)}}}, "replicas=1");
  return {};
}

void Enumerator::add_replicated(sim::DeviceMesh mesh) {
  const std::vector<std::int32_t> experts = expert_options(mesh), replicas = experts.empty() ? std::vector<std::int32_t>{} : replica_options(mesh);
  for (mesh.expert = 1; mesh.expert <= mesh.copies(); ++mesh.expert)
    for (const std::int32_t each : replicas) {
      if (std::count(experts.begin(), experts.end(), mesh.expert) == 0 || (mesh.expert > 1 && each > 1 && !fixed_.expert)) continue;
      mesh.replicas = each;
      add_mesh(mesh);
    }
}

void Enumerator::exclude_impossible_mesh(const sim::DeviceMesh& mesh) {
  const std::int64_t product = std::int64_t{mesh.copies()} * mesh.tensor * mesh.pipeline;
  if (product == request_.cluster.devices) return;
  const Reason reason{mesh.context > 1 ? "shape.product_context" : "shape.product",
                      {{"data", std::to_string(mesh.data)},
                       {"context", std::to_string(mesh.context)},
                       {"tensor", std::to_string(mesh.tensor)},
                       {"pipeline", std::to_string(mesh.pipeline)},
                       {"product", std::to_string(product)},
                       {"devices", std::to_string(request_.cluster.devices)}}};
  exclude(fmt::format("data={} tensor={} pipeline={}", mesh.data, mesh.tensor, mesh.pipeline), reason, nearest_mesh(request_, mesh));
}

void Enumerator::add_mesh(const sim::DeviceMesh& mesh) {
  const std::int64_t samples = request_.workload.global_batch / mesh.data;
  std::vector<std::int32_t> microbatches = divisors(samples);
  if (fixed_.microbatch) microbatches = {*fixed_.microbatch};
  std::vector<Reason> refusals;
  const std::size_t before = space_.candidates.size();
  for (const std::int32_t microbatch : microbatches) {
    if (samples % microbatch != 0)
      exclude(fmt::format("data={} microbatch={}", mesh.data, microbatch),
              {"divisibility.microbatch", {{"samples", std::to_string(samples)}, {"microbatch", std::to_string(microbatch)}}},
              fmt::format("microbatch={}", nearest_divisor(samples, microbatch)));
    else
      for (const sim::ContextAlgorithm algorithm : context_algorithms(mesh))
        add_schedules({.mesh = mesh, .algorithm = algorithm, .microbatch = microbatch}, refusals);
  }
  if (space_.candidates.size() != before || refusals.empty()) return;
  exclude(
      fmt::format("data={} tensor={} pipeline={}", mesh.data, mesh.tensor, mesh.pipeline), refusals.front(),
      nearest_schedule({.stages = mesh.pipeline, .microbatches = static_cast<std::int32_t>(samples / microbatches.front()), .chunks = 1}));
}

void Enumerator::add_schedules(const Shape& shape, std::vector<Reason>& refusals) {
  const std::int32_t microbatches = static_cast<std::int32_t>(request_.workload.global_batch / shape.mesh.data / shape.microbatch);
  const auto rows = sim::all_schedules();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!is_choice(rows[row].name, shape.mesh, microbatches)) continue;
    Shape scheduled = shape;
    scheduled.schedule = static_cast<std::int32_t>(row);
    add_chunks(scheduled, microbatches, refusals);
  }
}

// Whether the row is another order than the plain one (see the header); a fixed schedule is taken at its word.
bool Enumerator::is_choice(std::string_view schedule, const sim::DeviceMesh& mesh, std::int32_t microbatches) const {
  if (fixed_.schedule) return schedule == *fixed_.schedule;
  const bool has_order = mesh.pipeline > 1 && microbatches > 1;
  const bool takes_chunks = !sim::find_schedule(schedule)->why_unsupported({.stages = 2, .microbatches = 2, .chunks = 2});
  return has_order || schedule == kPlainSchedule || (takes_chunks && mesh.pipeline > 1);
}

void Enumerator::add_chunks(const Shape& shape, std::int32_t microbatches, std::vector<Reason>& refusals) {
  const sim::Schedule& schedule = sim::all_schedules()[static_cast<std::size_t>(shape.schedule)];
  const auto most = static_cast<std::int32_t>(request_.model.layers / shape.mesh.pipeline);
  const std::int32_t first = fixed_.chunks.value_or(1), last = fixed_.chunks.value_or(most);
  for (std::int32_t chunks = first; chunks <= last; ++chunks) {
    const auto why = schedule.why_unsupported({.stages = shape.mesh.pipeline, .microbatches = microbatches, .chunks = chunks});
    if (chunks > most) {
      refusals.push_back({"shape.blocks",
                          {{"stages", std::to_string(shape.mesh.pipeline)},
                           {"chunks", std::to_string(chunks)},
                           {"parts", std::to_string(std::int64_t{shape.mesh.pipeline} * chunks)},
                           {"blocks", std::to_string(request_.model.layers)}}});
    } else if (why) {
      refusals.push_back({"shape.schedule",
                          {{"schedule", std::string(schedule.name)},
                           {"stages", std::to_string(shape.mesh.pipeline)},
                           {"microbatches", std::to_string(microbatches)},
                           {"chunks", std::to_string(chunks)},
                           {"why", *why}}});
    } else {
      Shape complete = shape;
      complete.chunks = chunks;
      add_options(complete);
    }
  }
}

std::vector<bool> Enumerator::sequence_parallel_options(const sim::DeviceMesh& mesh) const {
  const bool possible = mesh.tensor > 1 && request_.workload.sequence / mesh.context % mesh.tensor == 0;
  if (fixed_.sequence_parallel)
    return *fixed_.sequence_parallel && !possible ? std::vector<bool>{} : std::vector{*fixed_.sequence_parallel};
  return possible ? std::vector{false, true} : std::vector{false};
}

void Enumerator::add_options(const Shape& shape) {
  std::vector<std::int32_t> stages = shape.mesh.replicas > 1 ? std::vector{1, 2, 3} : shape.mesh.copies() > 1 ? std::vector{0, 1, 2, 3} : std::vector{0};
  if (fixed_.zero) stages = {*fixed_.zero};
  std::vector<sim::Recompute> recomputes{sim::Recompute::None, sim::Recompute::Full};
  if (request_.model.attention_dropout > 0) recomputes.insert(recomputes.begin() + 1, sim::Recompute::Selective);
  if (fixed_.recompute) recomputes = {*fixed_.recompute};
  for (const std::int32_t stage : stages)
    for (const bool reshard : stage < 3 ? std::vector{true} : fixed_.reshard ? std::vector{*fixed_.reshard} : std::vector{true, false})
      for (const bool sequence_parallel : sequence_parallel_options(shape.mesh))
        for (const sim::Recompute recompute : recomputes)
          space_.candidates.push_back({.mesh = shape.mesh,
                                       .context_algorithm = shape.algorithm,
                                       .schedule = shape.schedule,
                                       .chunks = shape.chunks,
                                       .microbatch = shape.microbatch,
                                       .zero_stage = stage,
                                       .reshard = reshard,
                                       .sequence_parallel = sequence_parallel,
                                       .recompute = recompute});
}

// Asked for, but possible on no mesh.
void Enumerator::exclude_sequence_parallel() {
  if (!fixed_.sequence_parallel.value_or(false) || !space_.candidates.empty()) return;
  const std::int32_t tensor = fixed_.tensor.value_or(1);
  if (tensor == 1)
    exclude("sequence_parallel=true", {"shape.sequence_parallel", {}}, "sequence_parallel=false");
  else if (request_.workload.sequence % tensor != 0)
    exclude("sequence_parallel=true", {"divisibility.sequence", {{"sequence", std::to_string(request_.workload.sequence)}, {"tensor", std::to_string(tensor)}}},
            "sequence_parallel=false");
}

SearchSpace Enumerator::run() && {
  add_meshes();
  exclude_sequence_parallel();
  return std::move(space_);
}

}  // namespace

SearchSpace enumerate(const SearchRequest& request) { return Enumerator(request).run(); }

sim::ParallelPlan make_plan(const SearchRequest& request, const PlanCandidate& candidate) {
  sim::ParallelPlan plan;
  plan.model = request.model;
  plan.cluster = request.cluster;
  plan.workload = request.workload;
  plan.vocabulary_multiple = request.vocabulary_multiple;
  plan.training = request.training;
  plan.mesh = candidate.mesh;
  plan.context_algorithm = candidate.context_algorithm;
  plan.schedule = sim::all_schedules()[static_cast<std::size_t>(candidate.schedule)].name;
  plan.chunks = candidate.chunks;
  plan.microbatch_size = candidate.microbatch;
  plan.zero_stage = candidate.zero_stage;
  plan.reshard_after_forward = candidate.reshard;
  plan.sequence_parallel = candidate.sequence_parallel;
  plan.recompute = candidate.recompute;
  plan.cut = sim::even_cut(request.model.layers, plan.pipeline_shape());
  return plan;
}

std::vector<Argument> axes_of(const PlanCandidate& candidate) {
  return {{"data", std::to_string(candidate.mesh.data)},
          {"tensor", std::to_string(candidate.mesh.tensor)},
          {"pipeline", std::to_string(candidate.mesh.pipeline)},
          {"context", std::to_string(candidate.mesh.context)},
          {"context_algorithm", std::string(sim::kContextAlgorithmNames[static_cast<std::size_t>(candidate.context_algorithm)])},
          {"expert", std::to_string(candidate.mesh.expert)},
          {"replicas", std::to_string(candidate.mesh.replicas)},
          {"microbatch", std::to_string(candidate.microbatch)},
          {"schedule", std::string(sim::all_schedules()[static_cast<std::size_t>(candidate.schedule)].name)},
          {"chunks", std::to_string(candidate.chunks)},
          {"zero", std::to_string(candidate.zero_stage)},
          {"reshard", candidate.reshard ? "true" : "false"},
          {"sequence_parallel", candidate.sequence_parallel ? "true" : "false"},
          {"recompute", std::string(sim::kRecomputeNames[static_cast<std::size_t>(candidate.recompute)])}};
}

std::string to_text(const PlanCandidate& candidate) {
  std::string joined;
  for (const Argument& axis : axes_of(candidate)) joined += (joined.empty() ? "" : " ") + axis.name + "=" + axis.value;
  return joined;
}

}  // namespace planner
