#include "cli/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "cli/plan_text.h"
#include "cli/samples_text.h"
#include "cli/simulation_text.h"
#include "planner/plan_candidate.h"
#include "planner/unsearched.h"
#include "planner/what_if.h"
#include "sim/cluster/whose_speed.h"
#include "sim/cost/memory_interval.h"
#include "sim/cost/prediction_interval.h"
#include "sim/model/model_text.h"
#include "sim/plan/field_uses.h"
#include "sim/plan/field_words.h"
#include "sim/recipe/network.h"
#include "sim/units/counted.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::string_view kOfWorkload = "/workload";
constexpr std::string_view kFollows[] = {"data", "microbatches", "sequence_parallel", "accumulation"};  // from degrees, batch and stage
constexpr std::size_t kShownTensors = 16, kShownTold = 3, kShownKinds = 2, kShownLines = 6, kShownPairs = 1;
constexpr std::size_t kLongest = 30;  // characters of a value
constexpr std::string_view kCut = "...";
constexpr double kWorthALine = 0.002;  // of the step
constexpr double kNoShare = 0.0005;    // what rounds to 0.0 %

sim::Seconds step_of(const sim::SimulationResult& result) { return sim::to_seconds(result.step_time); }
std::string change_percent(double share) { return std::abs(share) < kNoShare ? "0.0 %" : fmt::format("{:+.1f} %", 100 * share); }
std::string change_of(sim::Seconds before, sim::Seconds now) { return change_percent(now / before - 1); }

std::string time_text(sim::Seconds time) { return time.count() == 0 ? "-" : sim::to_text(time); }
std::string chance_text(double chance) { return chance > 0.99 ? "> 99 %" : fmt::format("{:.0f} %", 100 * chance); }
// Values as long as the pipeline: --json has them whole.
std::string elided(const std::string& text) {
  return text.size() <= kLongest ? text : text.substr(0, kLongest - kCut.size()) + std::string(kCut);
}

std::string quantity_of(const CheckResult& check) {
  const planner::Objective objective = check.request.objective;
  return objective == planner::Objective::Step ? "step" : std::string(planner::words_of(objective).quantity);
}

std::string interval_text(const sim::ParallelPlan& plan, sim::Seconds step) {
  const sim::PredictionInterval interval = sim::prediction_interval(plan);
  return fmt::format("{}   four of five between {} and {}: {}", sim::to_text(step), sim::to_text(interval.low(step)),
                     sim::to_text(interval.high(step)), interval.basis);
}

std::string title_of(const Subject& subject) {
  const sim::ParallelPlan& plan = subject.plan;
  return fmt::format("{}: {} on {} x {}, {}", subject.path, sim::family_and_size(plan.model), plan.cluster.devices,
                     plan.cluster.hardware.name, workload_summary(plan));
}

std::string verdict_of(const CheckResult& check) {
  const sim::SimulationResult& result = check.now.result;
  const char* const verdict = !check.fits ? (result.host_fits ? "DOES NOT FIT" : "DOES NOT FIT the host") : "fits";
  return fmt::format("{} of {} on stage {}: {}; chance to run out of memory {}", sim::to_text(result.peak_memory),
                     sim::to_text(check.now.limit), sim::fullest_device(result)->stage.value(), verdict,
                     sim::percent(check.now.out_of_memory_chance));
}

Section figures(const CheckResult& check) {
  const sim::ParallelPlan& plan = check.now.subject.plan;
  const sim::SimulationResult& result = check.now.result;
  Section section{.heading = "",
                  .rows = {{"plan", plan_summary(plan)},
                           {"speed of", sim::to_text(sim::whose_speed(plan.cluster)) + (check.learned ? ", corrected by its log" : "")},
                           {"memory", verdict_of(check)},
                           {"made of", composition_text(sim::fullest_device(result)->at_peak)},
                           {"step", interval_text(plan, step_of(result))},
                           {"tokens/s", fmt::format("{}   {} a device, MFU {}", grouped(std::llround(result.tokens_per_second)),
                                                    grouped(std::llround(result.tokens_per_second / plan.cluster.devices)),
                                                    sim::percent(result.mfu))}}};
  if (check.request.objective != planner::Objective::Step)
    section.rows.push_back({quantity_of(check), planner::measure_text(check.request.objective, check.measure)});
  std::ranges::move(samples_rows(plan), std::back_inserter(section.rows));
  return section;
}

// One log states one total: it moves the pace, the interval and what is held beside tensors.
Section running_job(const sim::Learned& learned) {
  const sim::LearnedStep& step = learned.steps.front();
  const auto off = [&](sim::Seconds predicted) { return change_of(step.measured, predicted); };
  Section section{.heading = "The running job",
                  .rows = {{"", "step", "off", "four of five within"},
                           {step.name, sim::to_text(step.measured), "", ""},
                           {"predicted before", sim::to_text(step.before), off(step.before), sim::percent(learned.interval_before)},
                           {"predicted now", sim::to_text(step.after), off(step.after), sim::percent(learned.interval)}}};
  for (const sim::LearnedConstant& one : learned.constants)
    if (one.unit == "GiB")
      section.lines.push_back(fmt::format("{}: {:.1f} GiB before, {:.1f} GiB now, by the log's peak", one.family, one.before, one.after));
  return section;
}

// The longest kinds of what nothing hides, for which a device waits by that cause.
std::string longest_kinds(const Checked& checked, const std::string& cause) {
  const bool is_of_host = cause == kWaitingForHost;
  std::string text;
  std::size_t shown = 0;
  if (is_of_host || cause == kExposedCommunication)
    for (const StepCause& kind : checked.communication)
      if (kind.of_host == is_of_host && shown++ < kShownKinds)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind.name, sim::percent(kind.time / step_of(checked.result)));
  return text;
}

Section causes(const Checked& checked) {
  const sim::Seconds step = step_of(checked.result);
  Section section{.heading = "Where the step goes", .rows = {{"", "share", "time", "mostly"}}};
  for (const StepCause& cause : checked.causes)
    if (cause.time >= kWorthALine * step)
      section.rows.push_back({cause.name, sim::percent(cause.time / step), sim::to_text(cause.time), longest_kinds(checked, cause.name)});
  return section;
}

// "-8.2 %" of what plans are ranked by, its chance, and the first line; the others below it.
void add_change(Rows& rows, const CheckResult& check, const planner::Improvement& one) {
  const Subject& subject = check.now.subject;
  std::vector<std::string> row{change_percent(one.measure / check.measure - 1), chance_text(chance_better(check, one.plan, one.measure)),
                               planner::measure_text(check.request.objective, one.measure), sim::to_text(one.result.peak_memory)};
  for (const std::string& line : changed_lines(subject, one.plan)) {
    row.push_back(line);
    rows.push_back(std::exchange(row, {"", "", "", ""}));
  }
}

struct ShownChanges {
  std::vector<planner::Improvement> one, two;
  std::size_t hidden = 0;
};

// The least of them; false: the best change of one setting stays.
bool hides_one(ShownChanges& shown) {
  if (shown.two.empty() && shown.one.size() < 2) return false;
  (shown.two.empty() ? shown.one : shown.two).pop_back();
  return ++shown.hidden > 0;
}

// Of two settings the best alone: each single change is one that a reader may take by itself.
ShownChanges shown_changes(const CheckResult& check) {
  ShownChanges shown{check.improvements.one, check.improvements.two};
  const std::size_t all = shown.two.size();
  if (!check.all_changes && all > kShownPairs) shown.two.erase(shown.two.begin() + kShownPairs, shown.two.end());
  shown.hidden = all - shown.two.size();
  return shown;
}

Section changes(const CheckResult& check, const ShownChanges& shown) {
  const planner::Improvements& found = check.improvements;
  Section section{.heading = check.fits ? "The best changes: what each would gain, and the lines to change"
                                        : "The least changes that make it fit, and the lines to change"};
  if (found.one.empty() && found.two.empty()) {
    section.lines = {fmt::format("None: of {} plans within two settings none is faster and safe; {} of them were simulated.",
                                 grouped(found.neighbors), found.simulated)};
    return section;
  }
  section.rows = {{quantity_of(check), "chance", "then", "memory", "change"}};
  for (const planner::Improvement& one : shown.one) add_change(section.rows, check, one);
  if (!shown.one.empty() && !shown.two.empty()) section.rows.push_back({"", "", "", "", "and with two settings:"});
  for (const planner::Improvement& one : shown.two) add_change(section.rows, check, one);
  if (shown.hidden > 0)
    section.lines.push_back(fmt::format("{} more: --why changes", sim::counted(static_cast<std::int64_t>(shown.hidden), "change")));
  if (std::ranges::any_of(section.rows, [](const auto& row) { return row.back().ends_with(kCut); }))
    section.lines.emplace_back("... ends what is too long for a screen: --json has all of it");
  return section;
}

// "Of the step: exposed communication -10.2 %, computing +1.1 %": the largest first.
std::string gains_by_cause(const Checked& now, const Checked& better) {
  std::vector<std::pair<double, std::string>> changes;
  for (std::size_t at = 0; at < now.causes.size(); ++at)
    changes.emplace_back((better.causes[at].time - now.causes[at].time) / step_of(now.result), now.causes[at].name);
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::string text;
  for (const auto& [change, name] : changes)
    if (std::abs(change) >= kWorthALine) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, change_percent(change));
  return "of the step: " + (text.empty() ? "nothing changes by more than 0.2 %" : text);
}

std::string risks(const Checked& now, const Checked& better) {
  return fmt::format("chance to run out of memory: {}, this one {}", sim::percent(better.out_of_memory_chance),
                     sim::percent(now.out_of_memory_chance));
}

// A change of a setting that no search chooses may be better than the best that is found; so may others by less than the gap.
void add_unsearched(std::vector<std::string>& lines, const CheckResult& check) {
  const auto& one = check.improvements.one;
  if (one.empty() || one.front().measure >= check.search.ranked.front().measure) return;
  const std::string& changed = one.front().changed.front();
  lines.push_back(planner::is_searched(changed) ? "the first change above gains as much, within what is proven"
                                                : fmt::format("the first change above gains more: the search does not choose {}", changed));
}

// Not again where a change that is shown has the same.
std::string lines_of_best(const CheckResult& check, const ShownChanges& shown, const sim::ParallelPlan& plan) {
  const auto lines_to = [&](const sim::ParallelPlan& after) { return changed_lines(check.now.subject, after); };
  const std::vector<std::string> all = lines_to(plan);
  for (const auto* changes : {&shown.one, &shown.two})
    if (std::ranges::any_of(*changes, [&](const planner::Improvement& one) { return lines_to(one.plan) == all; }))
      return "  the lines to change stand above";
  std::string text;
  for (const std::string& line : all) text += (text.empty() ? "  " : "; ") + line;
  return text;
}

Section best(const CheckResult& check, const ShownChanges& shown) {
  const Subject& subject = check.now.subject;
  Section section{.heading = fmt::format("The best plan for {}", subject.program == nullptr ? "it" : std::string(subject.program->title))};
  if (check.search.ranked.empty()) {
    section.lines = {"none was found: " + check.search.proof};
    return section;
  }
  const planner::RankedPlan& first = check.search.ranked.front();
  const planner::Objective objective = check.request.objective;
  const std::string then = planner::measure_text(objective, first.measure);
  const std::string proof = check.search.gap ? nothing_better(objective, *check.search.gap) : "not proven: more time by --budget";
  if (!check.better) {
    section.lines = {fmt::format("this one: the best that was found takes {} ({})", then, proof)};
    add_unsearched(section.lines, check);
    return section;
  }
  const double chance = chance_better(check, first.plan, first.measure);
  section.lines = {fmt::format("{} ({}, chance {}{}), {}; {} plans, {}", then, change_percent(first.measure / check.measure - 1),
                               chance_text(chance), chance < planner::kSureOrder ? ": a tie" : "", sim::to_text(first.result.peak_memory),
                               grouped(check.search.candidates), proof),
                   plan_summary(first.plan)};
  if (first.order_gain > 0)
    section.lines.push_back(
        fmt::format("in an order made for its passes, which saves {}; the proof is of schedules' orders", sim::percent(first.order_gain)));
  add_unsearched(section.lines, check);
  section.lines.push_back(gains_by_cause(check.now, *check.better));
  section.lines.push_back(risks(check.now, *check.better));
  section.lines.push_back(lines_of_best(check, shown, first.plan));
  return section;
}

// Each beside the best as it is: the plan checked may be behind that already.
Section prices(const CheckResult& check) {
  Section section{.heading = "What more would give, beside the best plan", .rows = {{"with", "time a token", "best plan then"}}};
  const sim::Seconds now = planner::time_per_token(check.search.ranked.front());
  for (const CheckResult::Price& price : check.prices)
    section.rows.push_back({price.words, price.per_token ? change_of(now, *price.per_token) : "-",
                            price.plan ? plan_summary(*price.plan) : "no plan is feasible"});
  return section;
}

Section tensors(const Checked& checked) {
  Section section{.heading = "What the fullest rank holds at its peak", .rows = {{"bytes", "blocks", "what"}}};
  for (std::size_t at = 0; at < std::min(checked.tensors.size(), kShownTensors); ++at)
    section.rows.push_back({sim::to_text(checked.tensors[at].bytes), std::to_string(checked.tensors[at].count), checked.tensors[at].what});
  if (checked.tensors.size() > kShownTensors)
    section.lines = {fmt::format("and {} more: --json lists all", checked.tensors.size() - kShownTensors)};
  return section;
}

// The gravest first, as an import tells them.
Section told(const Subject& subject, const std::string& by) {
  Section section{.heading = "Not said by " + by};
  for (std::size_t at = 0; at < std::min(subject.told.size(), kShownTold); ++at) section.lines.push_back(sim::located(subject.told[at]));
  if (subject.told.size() > kShownTold)
    section.lines.push_back(fmt::format("and {} more: meshwright import tells all", subject.told.size() - kShownTold));
  return section;
}

// One sentence each. A recipe has said itself what is trained in it.
Section unsayable(const Subject& subject) {
  Section section{.heading = fmt::format("What it needs and {} cannot say", subject.program == nullptr ? "" : subject.program->title)};
  for (const sim::Violation& one : subject.unsayable)
    if (!subject.is_recipe || !one.where.starts_with(kOfWorkload))
      section.lines.push_back(fmt::format("{}: {}", sim::located(one), one.remedy));
  if (!section.lines.empty()) section.lines.emplace_back("time and memory are of the plan as it stands here");
  return section;
}

bool is_used(const sim::PlanField& field, const sim::ParallelPlan& a, const sim::ParallelPlan& b) {
  return sim::has_use(field, a) || sim::has_use(field, b);
}

// What is trained of it are settings of their own. Of networks of one family and size the fields that differ.
void add_networks(Rows& rows, sim::ModelConfig before, sim::ModelConfig now) {
  for (sim::ModelConfig* one : {&before, &now}) one->adapters.reset(), one->frozen = {};
  if (before == now) return;
  const std::string was = sim::family_and_size(before), is = sim::family_and_size(now);
  if (was != is) return rows.push_back({"model", was, is});
  for (const sim::NetworkChange& change : sim::network_changes(before, now))
    rows.push_back({change.field + " of the model", elided(change.before), elided(change.now)});
}

Rows differing_settings(const Subject& before, const Subject& now) {
  Rows rows{{"setting", "before", "now"}};
  add_networks(rows, before.plan.model, now.plan.model);
  for (const sim::PlanField& field : sim::plan_fields()) {
    const std::string was = sim::said_of(field, before.plan), is = sim::said_of(field, now.plan);
    const bool is_long = field.name == "order" || field.name == "fp32_gradients";
    if (was != is && !is_long && is_used(field, before.plan, now.plan) && field.role != sim::FieldRole::Training &&
        field.role != sim::FieldRole::Saving)
      rows.push_back({std::string(field.words), elided(was), elided(is)});
  }
  const auto place = [](const Subject& of) {
    return fmt::format("{} x {}", of.plan.cluster.devices, sim::to_text(sim::whose_speed(of.plan.cluster)));
  };
  if (place(before) != place(now)) rows.push_back({"devices and speed", place(before), place(now)});
  return rows;
}

Section settings(const Checked& before, const Checked& now) {
  Section section{.heading = "Settings that differ", .rows = differing_settings(before.subject, now.subject)};
  if (section.rows.size() == 1) section = {.heading = section.heading, .rows = {}, .lines = {"none that time or memory depend on"}};
  return section;
}

std::string memory_change(sim::Bytes before, sim::Bytes now) {
  if (now == before) return "-";
  return now < before ? "-" + sim::to_text(before - now) : "+" + sim::to_text(now - before);
}

std::int64_t tokens_of(const Checked& one) { return one.subject.plan.workload.global_batch * one.subject.plan.workload.sequence; }

std::string speeds_text(const Checked& before, const Checked& now) {
  const auto change = [](double was, double is) {
    return fmt::format("{} before, {} now ({})", grouped(std::llround(was)), grouped(std::llround(is)), change_percent(is / was - 1));
  };
  const double was = before.result.tokens_per_second, is = now.result.tokens_per_second;
  const std::int32_t devices = before.subject.plan.cluster.devices, devices_now = now.subject.plan.cluster.devices;
  return "tokens/s: " + change(was, is) + (devices == devices_now ? "" : "; a device: " + change(was / devices, is / devices_now));
}

// Steps of other sizes are compared token by token.
std::string faster_text(const Checked& before, const Checked& now) {
  const std::string chance = chance_text(chance_faster(now, before));
  if (tokens_of(before) == tokens_of(now)) return fmt::format("The second is faster with a chance of {}.", chance);
  return fmt::format("A step has {} tokens before and {} now: the second is faster a token with a chance of {}.",
                     grouped(tokens_of(before)), grouped(tokens_of(now)), chance);
}

Section time_by_cause(const Checked& before, const Checked& now) {
  Section section{.heading = "Time by cause, mean over the ranks", .rows = {{"", "before", "now", "change", "of the step"}}};
  const sim::Seconds step = step_of(before.result);
  const auto add = [&](const std::string& name, sim::Seconds was, sim::Seconds is) {
    const std::string change = is == was ? "-" : is < was ? "-" + sim::to_text(was - is) : "+" + sim::to_text(is - was);
    section.rows.push_back({name, time_text(was), time_text(is), change, change_percent((is - was) / step)});
  };
  for (std::size_t at = 0; at < now.causes.size(); ++at)
    if (before.causes[at].time + now.causes[at].time > sim::Seconds(0))
      add(now.causes[at].name, before.causes[at].time, now.causes[at].time);
  add("step", step, step_of(now.result));
  const std::string was = sim::to_text(sim::whose_speed(before.subject.plan.cluster)),
                    is = sim::to_text(sim::whose_speed(now.subject.plan.cluster));
  section.lines = {speeds_text(before, now), faster_text(before, now),
                   was == is ? fmt::format("Both with the speed of {}.", is) : fmt::format("With the speed of {}, and of {}.", was, is)};
  return section;
}

Section memory_by_cause(const Checked& before, const Checked& now) {
  Section section{.heading = "Memory of the fullest rank", .rows = {{"", "before", "now", "change"}}};
  const sim::MemoryBreakdown &was = sim::fullest_device(before.result)->at_peak, &is = sim::fullest_device(now.result)->at_peak;
  for (std::size_t at = 0; at < is.size(); ++at)
    if (was[at] + is[at] > sim::Bytes(0))
      section.rows.push_back(
          {std::string(sim::kMemoryCategoryNames[at]), sim::to_text(was[at]), sim::to_text(is[at]), memory_change(was[at], is[at])});
  section.rows.push_back({"peak", sim::to_text(before.result.peak_memory), sim::to_text(now.result.peak_memory),
                          memory_change(before.result.peak_memory, now.result.peak_memory)});
  section.rows.push_back({"chance to run out", sim::percent(before.out_of_memory_chance), sim::percent(now.out_of_memory_chance), ""});
  return section;
}

std::string_view named(const std::string& value) { return value.empty() ? "nothing" : std::string_view(value); }

// In the words of a plan.
template <class Which>
std::vector<std::string> changed_fields(const sim::ParallelPlan& before, const sim::ParallelPlan& after, const Which& which) {
  std::vector<std::string> lines;
  for (const sim::PlanField& field : sim::plan_fields()) {
    if (field.role != sim::FieldRole::Layout || field.name == "order" || field.name == "cut" || field.name == "microbatches") continue;
    const std::string was = sim::said_of(field, before), is = sim::said_of(field, after);
    if (was != is && is_used(field, before, after) && which(field))
      lines.push_back(fmt::format("{} {} -> {}", field.name, named(was), named(is)));
  }
  return lines;
}

// Takes over a field of another plan; a schedule, the chunks that it needs and their cut come together.
void take_over(sim::ParallelPlan& plan, const sim::PlanField& field, const sim::ParallelPlan& from) {
  field.access.set(plan, field.access.get(from));
  if (field.name != "schedule" && field.name != "chunks") return;
  plan.schedule = from.schedule;
  plan.chunks = from.chunks;
  plan.cut = from.cut;
}

// No line of the program's file says it, neither alone nor with the other changes; and beside those it might be left as it was.
bool is_left_out(const sim::PlanField& field, const Subject& subject, const sim::ParallelPlan& after) {
  if (std::ranges::find(kFollows, field.name) != std::end(kFollows)) return false;
  if (!planner::is_searched(field.name) && field.name != "attention") return false;  // a habit, or it follows
  sim::ParallelPlan alone = subject.plan, without = after;
  take_over(alone, field, after);
  take_over(without, field, subject.plan);
  const auto lines = [&](const sim::ParallelPlan& plan) {
    return sim::changed_settings(*subject.program, subject.plan, plan, subject.said);
  };
  const auto reasons = [&](const sim::ParallelPlan& plan) { return sim::why_not_for(*subject.program, plan).size(); };
  return lines(alone).empty() && lines(without) == lines(after) && reasons(without) <= reasons(after);
}

// DeepSpeed's own file stands beside, and has a word for it that it does not leave to the program.
bool is_of_file_beside(const sim::PlanField& field, const Subject& subject, const sim::ParallelPlan& after) {
  if (std::ranges::none_of(subject.said, [](const auto& one) { return one.first.starts_with(sim::kOfFileBeside); })) return false;
  sim::ParallelPlan alone = subject.plan;
  field.access.set(alone, field.access.get(after));
  return std::ranges::any_of(sim::kDeepSpeed.fields, [&](const sim::Field& one) {
    const auto found = subject.said.find(std::string(sim::kOfFileBeside) + std::string(one.key));
    const bool is_left_open = found != subject.said.end() && found->second.value == "auto";
    return !is_left_open && sim::text_in_file(one, subject.plan) != sim::text_in_file(one, alone);
  });
}

std::vector<std::string> lines_left_out(const Subject& subject, const sim::ParallelPlan& after) {
  std::vector<std::string> lines;
  for (const bool of_file : {true, false}) {
    const auto is_of = [&](const sim::PlanField& field) {
      return is_left_out(field, subject, after) && is_of_file_beside(field, subject, after) == of_file;
    };
    for (const std::string& line : changed_fields(subject.plan, after, is_of))
      lines.push_back(line + (of_file ? ", in the DeepSpeed file beside it" : ", in the program's code"));
  }
  return lines;
}

// In the words of the program's file; and what that leaves to the code beside it.
std::vector<std::string> changed_words(const Subject& subject, const sim::ParallelPlan& after, AllLines all) {
  std::vector<std::string> lines;
  for (const sim::ChangedSetting& change : sim::changed_settings(*subject.program, subject.plan, after, subject.said)) {
    const bool whole = all == AllLines::Yes;
    lines.push_back(sim::to_text(whole ? change : sim::ChangedSetting{change.key, elided(change.before), elided(change.after)}));
  }
  for (std::string& line : lines_left_out(subject, after)) lines.push_back(std::move(line));
  return lines;
}

// What is not asked for by a flag.
Report screen_of(const CheckResult& check, const ShownChanges& shown) {
  Report report{.title = title_of(check.now.subject),
                .sections = {figures(check), causes(check.now), changes(check, shown), best(check, shown)}};
  if (Section section = unsayable(check.now.subject); !section.lines.empty()) report.sections.push_back(std::move(section));
  if (!check.now.subject.told.empty()) report.sections.push_back(told(check.now.subject, "the plan"));
  return report;
}

}  // namespace

std::vector<std::string> changed_lines(const Subject& subject, const sim::ParallelPlan& after, AllLines all) {
  std::vector<std::string> lines;
  if (subject.program != nullptr && subject.is_recipe) lines = changed_words(subject, after, all);
  if (lines.empty()) lines = changed_fields(subject.plan, after, [](const sim::PlanField&) { return true; });
  if (lines.empty()) lines.emplace_back("the stage cut");
  if (all == AllLines::No && lines.size() > kShownLines) lines.resize(kShownLines), lines.back() = kCut;
  return lines;
}

double chance_better(const CheckResult& check, const sim::ParallelPlan& plan, double measure) {
  return sim::chance_faster({plan, sim::Seconds(measure)}, {check.now.subject.plan, sim::Seconds(check.measure)});
}

Report check_report(const CheckResult& check) {
  ShownChanges shown = shown_changes(check);
  Report report = screen_of(check, shown);
  while (!check.all_changes && num_lines(report) > kScreenLines && hides_one(shown)) report = screen_of(check, shown);
  if (check.learned) report.sections.insert(report.sections.begin() + 1, running_job(*check.learned));
  if (!check.prices.empty()) report.sections.push_back(prices(check));
  if (check.to_the_tensor) report.sections.push_back(tensors(check.now));
  if (check.before) {
    for (const auto part : {settings, time_by_cause, memory_by_cause}) report.sections.push_back(part(*check.before, check.now));
    if (!check.before->subject.told.empty()) report.sections.push_back(told(check.before->subject, check.before->subject.path));
  }
  return report;
}

Report difference_report(const Checked& before, const Checked& now) {
  Report report{.title = fmt::format("{} -> {}", before.subject.path, now.subject.path),
                .sections = {settings(before, now), time_by_cause(before, now), memory_by_cause(before, now)}};
  for (const Checked* one : {&before, &now})
    if (!one->subject.told.empty()) report.sections.push_back(told(one->subject, one->subject.path));
  return report;
}

}  // namespace cli
