#include "cli/documents_json.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/elastic.h"
#include "planner/outlook.h"
#include "sim/allocator/reserved_memory.h"
#include "sim/cluster/whose_speed.h"
#include "sim/cost/memory_beside.h"
#include "sim/cost/memory_interval.h"
#include "sim/cost/prediction_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/plan/field_json.h"
#include "sim/units/json_reader.h"

namespace cli {
namespace {

using sim::Json;

// Names of files may hold any bytes: what is no UTF-8 is shown as U+FFFD.
std::string printed(const Json& document) { return document.dump(2, ' ', false, Json::error_handler_t::replace); }
// Every document says which it is; a reader refuses what it does not know.
std::string printed(std::string_view kind, const Json& content) {
  Json document = {{"format", fmt::format("meshwright.{}/1", kind)}};
  document.update(content);
  return printed(document);
}
double seconds(sim::SimTime time) { return sim::to_seconds(time).count(); }

Json memory_json(const sim::MemoryBreakdown& memory) {
  Json json = Json::object();
  for (std::size_t category = 0; category < memory.size(); ++category)
    json[std::string(sim::kMemoryCategoryNames[category])] = memory[category].value();
  return json;
}

Json result_json(const sim::ParallelPlan& plan, const sim::SimulationResult& result) {
  const sim::PredictionInterval interval = sim::prediction_interval(plan);
  const sim::Seconds step = sim::to_seconds(result.step_time);
  Json devices = Json::array();
  sim::AllocatorReplay allocator(plan);
  std::map<sim::StageIndex, sim::Bytes> by_stage;
  for (const sim::DeviceResult& device : result.devices) {
    const sim::MemoryBeside beside = sim::memory_beside(plan, device.at_peak);
    const auto [held, is_new] = by_stage.try_emplace(device.stage);  // ranks of a stage reserve the same
    if (is_new) held->second = allocator.held(device.stage, device.at_peak);
    const sim::MemoryInterval memory = sim::memory_interval(plan, device.at_peak);
    devices.push_back({{"stage", device.stage.value()},
                       {"first_rank", device.representative.value()},
                       {"ranks", device.multiplicity},
                       {"busy_seconds", seconds(device.busy)},
                       {"idle_seconds", seconds(device.idle)},
                       {"communication_seconds", seconds(device.communication)},
                       {"exposed_communication_seconds", seconds(device.exposed_communication)},
                       {"peak_memory_bytes", device.peak_memory.value()},
                       {"peak_memory_low_bytes", memory.low(device.peak_memory).value()},
                       {"peak_memory_high_bytes", memory.high(device.peak_memory).value()},
                       {"out_of_memory_chance_ratio", memory.chance_above(device.peak_memory, sim::usable_memory(plan.cluster))},
                       {"memory_at_peak_bytes", memory_json(device.at_peak)},
                       {"pool_estimated_bytes", held->second.value()},
                       {"nccl_estimated_bytes", beside.nccl.value()}});
  }
  return {{"step_time_seconds", seconds(result.step_time)},
          {"step_time_low_seconds", interval.low(step).count()},
          {"step_time_high_seconds", interval.high(step).count()},
          {"tokens_per_second", result.tokens_per_second},
          {"mfu_ratio", result.mfu},
          {"bubble_ratio", result.bubble},
          {"exposed_communication_ratio", result.exposed_communication},
          {"peak_memory_bytes", result.peak_memory.value()},
          {"out_of_memory_chance_ratio", sim::out_of_memory_chance(plan, result)},
          {"host_memory_bytes", result.host_memory.value()},
          {"fits", result.fits},
          {"tasks", result.num_tasks},
          {"disturbed_by", result.disturbed_by},
          {"undisturbed_step_time_seconds", seconds(result.undisturbed_step_time)},
          {"devices", devices}};
}

Json speed_json(const sim::Cluster& cluster) {
  const sim::WhoseSpeed speed = sim::whose_speed(cluster);
  return {{"program", speed.program}, {"part", speed.part}};
}

// Numbers, switches and names; not what is as long as the pipeline.
Json shape_json(const sim::ParallelPlan& plan) {
  Json json = Json::object();
  for (const sim::PlanField& field : sim::plan_fields()) {
    const bool is_list = field.access.kind == sim::FieldKind::Integers || field.access.kind == sim::FieldKind::Lines;
    if (field.role == sim::FieldRole::Layout && !is_list) json[sim::place_of(field).key] = sim::to_json(field.access.get(plan));
  }
  json["plan_hash"] = sim::plan_hash(plan);
  json["speed_of"] = speed_json(plan.cluster);
  return json;
}

// Of what the objective measures; a step's is in its result.
constexpr std::string_view kMeasureKeys[] = {"", "device_seconds", "energy_joules", "time_to_train_seconds"};

Json training_json(const planner::Outlook& training) {
  return {{"time_seconds", training.time.count()},
          {"low_seconds", training.low.count()},
          {"high_seconds", training.high.count()},
          {"goodput_ratio", training.goodput},
          {"failures", training.failures},
          {"checkpoint_interval_steps", training.checkpoint_interval},
          {"checkpoint_seconds", training.save.count()},
          {"spare_nodes", training.spares},
          {"waiting_ratio", training.waiting}};
}

void add_measure(Json& plan, planner::Objective objective, double measure) {
  if (objective != planner::Objective::Step) plan[std::string(sim::at(kMeasureKeys, objective))] = measure;
}

void add_measure(Json& plan, const planner::SearchRequest& request, const planner::RankedPlan& ranked) {
  add_measure(plan, request.objective, ranked.measure);
  if (request.objective == planner::Objective::TimeToTrain) plan["training"] = training_json(planner::outlook_of(request, ranked));
}

using Results = std::map<std::string, Json>;  // by the hash of the plan: one list names plans of another

// request: null where no objective was asked for.
Json ranked_json(const std::vector<planner::RankedPlan>& plans, const planner::SearchRequest* request, Results& known) {
  Json list = Json::array();
  for (const planner::RankedPlan& plan : plans) {
    const Json shape = shape_json(plan.plan);
    const auto [result, is_new] = known.try_emplace(shape["plan_hash"].get<std::string>());
    if (is_new) result->second = result_json(plan.plan, plan.result);
    list.push_back({{"plan", shape},
                    {"result", result->second},
                    {"out_of_memory_chance_ratio", plan.out_of_memory_chance},  // of the limit that was asked for
                    {"slower_chance_ratio", plan.slower_chance},                // than the best
                    {"why_not_best", plan.why_not_best}});
    if (plan.order_gain > 0) list.back()["order_gain_ratio"] = plan.order_gain;
    if (request != nullptr) add_measure(list.back(), *request, plan);
  }
  return list;
}
Json ranked_json(const std::vector<planner::RankedPlan>& plans, const planner::SearchRequest* request = nullptr) {
  Results known;
  return ranked_json(plans, request, known);
}

Json spread_json(const sim::Spread& spread) { return {{"mean", spread.mean}, {"low", spread.low}, {"high", spread.high}}; }

Json goodput_json(const sim::Goodput& goodput) {
  return {{"time_to_train_seconds", spread_json(goodput.seconds)},
          {"goodput_ratio", spread_json(goodput.share)},
          {"failures", spread_json(goodput.failures)},
          {"useful_seconds", goodput.useful},
          {"slowed_seconds", goodput.slowed},
          {"saving_seconds", goodput.saving},
          {"lost_seconds", goodput.lost},
          {"restarting_seconds", goodput.restarting},
          {"waiting_seconds", goodput.waiting},
          {"best_checkpoint_interval_steps", goodput.best_interval},
          {"unfinished_draws", goodput.unfinished}};
}

Json row_json(const sim::ErrorRow& row, double noise) {
  return {{"name", row.name},
          {"samples", row.samples},
          {"simulated_seconds", row.simulated.count()},
          {"measured_seconds", row.measured.count()},
          {"error_ratio", row.error()},
          {"noise_ratio", noise}};
}

Json rows_json(const std::vector<sim::ErrorRow>& rows, double noise) {
  Json list = Json::array();
  for (const sim::ErrorRow& row : rows) list.push_back(row_json(row, noise));
  return list;
}

Json violations_json(const std::vector<sim::Violation>& violations) {
  Json list = Json::array();
  for (const sim::Violation& violation : violations)
    list.push_back({{"where", violation.where}, {"problem", violation.problem}, {"remedy", violation.remedy}});
  return list;
}

Json causes_json(const std::vector<StepCause>& causes) {
  Json list = Json::array();
  for (const StepCause& cause : causes) list.push_back({{"name", cause.name}, {"seconds", cause.time.count()}});
  return list;
}

Json checked_json(const Checked& checked) {
  Json tensors = Json::array();
  for (const HeldTensors& held : checked.tensors)
    tensors.push_back({{"what", held.what}, {"blocks", held.count}, {"bytes", held.bytes.value()}});
  return {{"subject", checked.subject.path},
          {"program", checked.subject.program == nullptr ? Json(nullptr) : Json(checked.subject.program->name)},
          {"plan", shape_json(checked.subject.plan)},
          {"plan_file", sim::to_json(checked.subject.plan)},
          {"result", result_json(checked.subject.plan, checked.result)},
          {"out_of_memory_chance_ratio", checked.out_of_memory_chance},
          {"memory_limit_bytes", checked.limit.value()},
          {"causes", causes_json(checked.causes)},
          {"exposed_communication", causes_json(checked.communication)},
          {"tensors_at_peak", tensors},
          {"not_said", violations_json(checked.subject.told)},
          {"not_sayable", violations_json(checked.subject.unsayable)}};
}

Json lines_json(const Subject& subject, const sim::ParallelPlan& after) {
  Json lines = Json::array();
  for (const std::string& line : changed_lines(subject, after, AllLines::Yes)) lines.push_back(line);
  return lines;
}

Json improvements_json(const CheckResult& check, const std::vector<planner::Improvement>& improvements) {
  Json list = Json::array();
  for (const planner::Improvement& one : improvements) {
    list.push_back({{"changed", one.changed},
                    {"lines", lines_json(check.now.subject, one.plan)},
                    {"faster_chance_ratio", chance_better(check, one.plan, one.measure)},
                    {"out_of_memory_chance_ratio", one.out_of_memory_chance},
                    {"plan", shape_json(one.plan)},
                    {"result", result_json(one.plan, one.result)}});
    add_measure(list.back(), check.request.objective, one.measure);
  }
  return list;
}

// The best plan beside the one that is checked: what to change, and what that gains by which cause.
Json best_json(const CheckResult& check) {
  Json best = ranked_json(check.search.ranked, &check.request);
  if (best.empty()) return best;
  const planner::RankedPlan& first = check.search.ranked.front();
  best[0]["lines"] = lines_json(check.now.subject, first.plan);
  best[0]["faster_chance_ratio"] = chance_better(check, first.plan, first.measure);
  if (check.better) best[0]["causes"] = causes_json(check.better->causes);
  return best;
}

// What a calibration learned, without its profile.
Json learned_json(const sim::Learned& learned) {
  Json steps = Json::array(), constants = Json::array();
  for (const sim::LearnedStep& step : learned.steps)
    steps.push_back({{"name", step.name},
                     {"measured_seconds", step.measured.count()},
                     {"predicted_before_seconds", step.before.count()},
                     {"predicted_seconds", step.after.count()}});
  for (const sim::LearnedConstant& one : learned.constants)
    constants.push_back({{"name", one.name},
                         {"stands_for", one.family},
                         {"before", one.before},
                         {"after", one.after},
                         {"settled_ratio", one.known},
                         {"verdict", sim::known_text(one.known)}});
  return {{"steps", steps},
          {"constants", constants},
          {"interval_before_ratio", learned.interval_before},
          {"interval_ratio", learned.interval},
          {"forms", learned.cluster.software.learned_forms}};
}

}  // namespace

std::string check_document(const CheckResult& check) {
  Json document = checked_json(check.now);
  document["fits"] = check.fits;
  document["objective"] = sim::at(planner::kObjectiveNames, check.request.objective);
  add_measure(document, check.request.objective, check.measure);
  document["one_change"] = improvements_json(check, check.improvements.one);
  document["two_changes"] = improvements_json(check, check.improvements.two);
  document["best"] = best_json(check);
  document["gap"] = check.search.gap ? Json(*check.search.gap) : Json(nullptr);
  document["proof"] = check.search.proof;
  for (const CheckResult::Price& price : check.prices)
    document["prices"].push_back({{"what_if", price.words},
                                  {"seconds_per_token", price.per_token ? Json(price.per_token->count()) : Json(nullptr)},
                                  {"plan", price.plan ? shape_json(*price.plan) : Json(nullptr)}});
  if (check.before) document["before"] = checked_json(*check.before);
  if (check.learned) document["learned"] = learned_json(*check.learned);
  return printed("check", document);
}

sim::ParallelPlan plan_of_check(const std::string& file) {
  const Json document = sim::load_json_file(file);
  if (!document.contains("plan_file") || !document["plan_file"].is_object())
    throw sim::InputError(file, {{"/plan_file", "is missing", "give what meshwright check --json printed"}});
  return sim::plan_from_json(document["plan_file"], file);
}

std::string difference_document(const Checked& before, const Checked& now) {
  return printed("difference", {{"before", checked_json(before)},
                                {"now", checked_json(now)},
                                {"lines", lines_json(before.subject, now.subject.plan)},
                                {"faster_chance_ratio", chance_faster(now, before)}});
}

std::string error_document(const std::string& file, const std::vector<sim::Violation>& violations, int exit_code) {
  return printed("error", {{"error", {{"exit_code", exit_code}, {"file", file}, {"violations", violations_json(violations)}}}});
}

std::string search_document(const PlanOptions& options, const planner::SearchRequest& request, const planner::SearchResult& result,
                            const std::vector<sim::Violation>& notes) {
  Json excluded = Json::array();
  for (const planner::Exclusion& exclusion : result.excluded)
    excluded.push_back({{"family", exclusion.family},
                        {"code", exclusion.code},
                        {"reason", exclusion.reason},
                        {"nearest_fix", exclusion.nearest_fix},
                        {"candidates", exclusion.candidates}});
  Results known;
  return printed("search", {{"plan_file", result.ranked.empty() || options.output.empty() ? Json(nullptr) : Json(options.output)},
                            {"objective", sim::at(planner::kObjectiveNames, request.objective)},
                            {"ranked", ranked_json(result.ranked, &request, known)},
                            {"pareto", ranked_json(result.pareto, &request, known)},
                            {"risky", ranked_json(result.risky, &request, known)},
                            {"excluded", excluded},
                            {"candidates", result.candidates},
                            {"infeasible", result.infeasible},
                            {"pruned_memory", result.pruned_memory},
                            {"pruned_risk", result.pruned_risk},
                            {"pruned_bound", result.pruned_bound},
                            {"simulated", result.simulated},
                            {"notes", violations_json(notes)},
                            {"open", result.open},
                            {"gap", result.gap ? Json(*result.gap) : Json(nullptr)},
                            {"proof", result.proof}});
}

std::string elastic_document(const std::string& folder, const std::vector<planner::ElasticPlan>& plans) {
  Json list = Json::array();
  for (const planner::ElasticPlan& plan : plans) {
    const auto best = plan.best ? ranked_json({*plan.best}) : Json::array();
    list.push_back({{"nodes", plan.nodes},
                    {"plan_file", plan.best ? Json(elastic_file(folder, plan.nodes)) : Json(nullptr)},
                    {"best", plan.best ? best.front() : Json(nullptr)},
                    {"faster_on_nodes", plan.rather ? Json(*plan.rather) : Json(nullptr)},
                    {"gap", plan.gap ? Json(*plan.gap) : Json(nullptr)},
                    {"proof", plan.proof}});
  }
  return printed("elastic", {{"plans", list}});
}

std::string simulation_document(const sim::ParallelPlan& plan, const sim::SimulationResult& result,
                                const std::optional<sim::Goodput>& goodput) {
  Json document = {{"plan", shape_json(plan)}, {"result", result_json(plan, result)}, {"notes", violations_json(sim::notes(plan))}};
  if (goodput) document["training"] = goodput_json(*goodput);
  return printed("simulation", document);
}

std::string trace_comparison_document(const TraceComparison& comparison, const sim::Cluster& priced_by) {
  const auto both = [](const sim::ErrorRow& row) {
    return Json{{"name", row.name}, {"simulated_seconds", row.simulated.count()}, {"traced_seconds", row.measured.count()}};
  };
  const auto all = [&](const std::vector<sim::ErrorRow>& rows) {
    Json list = Json::array();
    for (const sim::ErrorRow& row : rows) list.push_back(both(row));
    return list;
  };
  Json unjoined = Json::array();
  for (const UnjoinedWork& one : comparison.unjoined)
    unjoined.push_back({{"kernel", one.kernel}, {"kernels", one.kernels}, {"seconds", one.time.count()}});
  return printed("trace_comparison", {{"speed_of", speed_json(priced_by)},
                                      {"ranks", comparison.ranks},
                                      {"step", both(comparison.step)},
                                      {"shares", all(comparison.shares)},
                                      {"kinds", all(comparison.kinds)},
                                      {"joined_ratio", comparison.joined},
                                      {"unjoined", unjoined},
                                      {"why_not", comparison.why_not},
                                      {"notes", comparison.notes}});
}

std::string comparison_document(const sim::Comparison& comparison, const sim::Cluster& priced_by) {
  const Json expert_spread = comparison.expert_spread ? Json(*comparison.expert_spread) : Json();
  return printed("comparison", {{"speed_of", speed_json(priced_by)},
                                {"step", row_json(comparison.step, comparison.noise)},
                                {"stages", rows_json(comparison.stages, comparison.noise)},
                                {"kinds", rows_json(comparison.kinds, comparison.noise)},
                                {"only_simulated", comparison.only_simulated},
                                {"only_measured", comparison.only_measured},
                                {"ledger_equal", comparison.ledger_equal},
                                {"ledger_difference", comparison.ledger_difference},
                                {"bubble_simulated_ratio", comparison.bubble_simulated},
                                {"bubble_measured_ratio", comparison.bubble_measured},
                                {"overlap_simulated_ratio", comparison.overlap_simulated},
                                {"overlap_measured_ratio", comparison.overlap_measured},
                                {"memory_simulated_bytes", comparison.memory_simulated.value()},
                                {"memory_measured_bytes", comparison.memory_measured.value()},
                                {"memory_composition_bytes", memory_json(comparison.memory_composition)},
                                {"expert_spread_ratio", expert_spread},
                                {"noise_ratio", comparison.noise}});
}

std::string tokenize_document(const TokenizeOptions& options, const TokenizedText& text) {
  return printed("tokens", {{"output", options.output},
                            {"texts", options.texts},
                            {"tokens", text.tokens},
                            {"vocabulary", text.vocabulary},
                            {"type", text.is_wide ? "uint32" : "uint16"}});
}

std::string run_document(const RunOptions& options, const std::vector<StepMetrics>& metrics) {
  Json steps = Json::array();
  for (const StepMetrics& step : metrics)
    steps.push_back({{"step", step.step}, {"loss", step.loss}, {"tokens_per_second", step.tokens_per_second}});
  return printed("run", {{"run", options.output}, {"tokens_per_second", median_tokens_per_second(metrics)}, {"steps", steps}});
}

std::string recipe_document(const sim::Program& program, const sim::Recipe& recipe, const std::string& folder) {
  Json files = Json::array();
  for (const sim::RecipeFile& file : recipe.files) files.push_back(folder + "/" + file.name);
  return printed("recipe", {{"program", std::string(program.name)},
                            {"version", std::string(program.version)},
                            {"files", files},
                            {"notes", violations_json(recipe.notes)}});
}

std::string import_document(const sim::ImportedPlan& imported, const std::string& output) {
  return printed("import", {{"plan_file", output},
                            {"program", std::string(imported.program->name)},
                            {"plan", shape_json(imported.plan)},
                            {"unknown", violations_json(imported.unknown)},
                            {"lost", violations_json(imported.lost)},
                            {"notes", violations_json(imported.notes)},
                            {"read", imported.read},
                            {"without_effect", imported.without_effect}});
}

std::string export_document(const ExportedFiles& files) {
  return printed("export", {{"weights", files.weights}, {"config", files.config}});
}

std::string script_document(const std::string& script) { return printed("script", {{"script", script}}); }

std::string cluster_document(const sim::Cluster& cluster) { return printed(sim::to_json(cluster)); }

std::string profile_document(const sim::HardwareProfile& profile) { return printed(sim::to_json(profile)); }

std::string learned_document(const sim::Learned& learned) {
  Json document = learned_json(learned);
  document["cluster"] = sim::to_json(learned.cluster);
  return printed("learned", document);
}

}  // namespace cli
