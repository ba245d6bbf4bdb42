#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "sim/recipe/accounting.h"
#include "sim/recipe/environment.h"
#include "sim/recipe/foreign.h"
#include "sim/recipe/job_form.h"
#include "sim/recipe/launch_size.h"
#include "sim/recipe/network.h"
#include "sim/recipe/python_dictionary.h"
#include "sim/recipe/recipe.h"
#include "sim/recipe/started.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

constexpr std::int64_t kMostProcesses = 1 << 20;

// As they are asked: the files of some hold names of others'.
constexpr const Program* kAsked[] = {&kNeox,     &kOlmo,      &kLitgpt,     &kFairseq,    &kNemo,      &kMegatronBridge, &kNanotron,
                                     &kMegatron, &kDeepSpeed, &kAccelerate, &kTorchtitan, &kLightning, &kTrainer};

std::string names_of_programs() {
  std::vector<std::string_view> titles;
  for (const Program* program : all_programs())
    if (!program->marks.empty()) titles.push_back(program->title);
  for (const Program* program : {&kNeox, &kLitgpt, &kOlmo, &kTrainer}) titles.push_back(program->title);
  return fmt::format("{}", fmt::join(titles, ", "));
}

// A merge that nobody finished: which of two texts is meant, none says.
void refuse_conflict(const std::string& path, const std::string& text) {
  if (text.find("\n<<<<<<< ") != std::string::npos && text.find("\n>>>>>>> ") != std::string::npos)
    throw InputError(path, {{"", "holds both sides of a merge, between <<<<<<< and >>>>>>>", "leave the side that is meant"}});
}

// Of a document in Markdown what stands in its fences.
std::string fenced_text(const std::string& path, const std::string& text) {
  if (!path.ends_with(".md") || text.find("\n```") == std::string::npos) return text;
  std::istringstream lines(text);
  std::string inside;
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("```"))
      is_inside = !is_inside;
    else if (is_inside)
      inside += line + "\n";
  return inside;
}

std::string recipe_text(const std::string& path) {
  std::string text = fenced_text(path, load_edited_text_file(path));
  refuse_conflict(path, text);
  if (std::ssize(text) > kLargestRecipe.value())
    throw InputError(path, {{"", fmt::format("has {} bytes, and no configuration is longer than {}", text.size(), kLargestRecipe.value()),
                             "give the configuration alone"}});
  return text;
}

// The order stands in a file beside the recipe, and nowhere else: a recipe opens no other path.
void take_order_file(const std::string& path, Draft& draft) {
  if (draft.order_file.empty() || !draft.wrong.empty()) return;
  const std::string name = std::filesystem::path(draft.order_file).filename().string();
  std::istringstream lines(load_edited_text_file((std::filesystem::path(path).parent_path() / name).string()));
  std::vector<std::string> rows;
  for (std::string row; std::getline(lines, row);)
    if (!row.empty()) rows.push_back(row);
  OrderTable order = parse_order(rows, draft.wrong);
  if (!draft.wrong.empty()) return;
  draft.plan.schedule = kOrderFromCsv;
  draft.plan.chunks = order.chunks;
  draft.plan.written_order = std::move(order);
}

// A mark a+b: both words; a+!b: the first without the other.
bool has_all(std::string_view text, std::string mark) {
  std::ranges::replace(mark, '+', ' ');
  return std::ranges::all_of(words_of(mark), [&](const std::string& one) {
    return one.starts_with("!") ? text.find(one.substr(1)) == std::string_view::npos : text.find(one) != std::string_view::npos;
  });
}

// ${NAME} in YAML and its like, for whoever fills it in before the program reads it; a script's are filled in already.
void fill_variables(RecipeSettings& settings, const Texts& given) {
  for (RecipeSetting& setting : settings)
    for (std::size_t at = setting.value.find("${"); at != std::string::npos; at = setting.value.find("${", at + 1)) {
      const std::size_t end = setting.value.find('}', at);
      if (end == std::string::npos) break;
      const std::string name = setting.value.substr(at + 2, end - at - 2);
      const auto is_of_a_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
      const bool is_name = !name.empty() && std::ranges::all_of(name, is_of_a_name);
      const auto value = given.find(name);
      if (is_name) setting.value.replace(at, end - at + 1, value == given.end() ? unknown_value(name) : value->second);
    }
}

bool has_a_mark(std::string_view text, const Program& program) {
  return std::ranges::any_of(words_of(program.marks), [&](const std::string& mark) { return has_all(text, mark); });
}

// A script may start several programs: it is of the one whose names stand in the command that is followed.
RecipeReading reading_of(const Program*& program, const std::string& text, const std::string& path, const Texts& given) {
  RecipeReading reading = program->settings({text, path, given, *program});
  if (reading.command.empty() || has_a_mark(reading.command, *program)) return reading;
  const Program* const started = program_of(reading.command);
  if (started == nullptr) return reading;
  program = started;
  return program->settings({text, path, given, *program});
}

// Lines without their comments; one that ends with a backslash goes on.
std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> whole = {""};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool goes_on = line.ends_with("\\");
    whole.back() += line.substr(0, std::min(line.find('#'), line.size() - (goes_on ? 1 : 0)));
    whole.push_back("");
    if (goes_on) whole.pop_back();
  }
  return whole;
}

// `bash other.sh`, `source other.sh`: what a script starts that is not beside it in one file. What it sources sets variables; where it starts
// another, that is the one.
struct StartedScript {
  std::string name;  // "": none
  bool is_sourced = false;
};
StartedScript started_script(const std::string& text) {
  constexpr std::string_view kStarts = "bash sh source . exec sbatch zsh";
  StartedScript sourced;
  for (const std::string& line : whole_lines(text)) {
    std::string before;
    const std::string by_slurm = started_by_srun(line);
    for (std::string word : words_of(line)) {
      std::erase_if(word, [](char c) { return c == '"' || c == '\'' || c == ';'; });
      if (word == "$(dirname") continue;  // $(dirname $0)/other.sh
      if (const std::size_t folder = word.find(")/"); word.starts_with("$") && folder != std::string::npos) word.erase(0, folder + 2);
      const bool is_first = before.empty() && word.find('=') == std::string::npos;
      const bool is_started = is_first || word == by_slurm || word.starts_with("./") || has_name(kStarts, before);
      const bool is_sourced = before == "source" || before == ".";
      before = word;
      if (!word.ends_with(".sh") || !is_started || word.starts_with("-")) continue;
      if (!is_sourced) return {word};
      if (sourced.name.empty()) sourced = {word, true};
    }
  }
  return sourced;
}

// A script that only starts others: the command that they come to. None: the text itself.
std::string started_elsewhere(const std::string& text, const std::string& path, const Texts& given) {
  if (started_script(text).name.empty()) return text;
  for (std::string& line : command_lines(text, path, given))
    if (program_of(line) != nullptr) return std::move(line) + "\n";
  return text;
}

// `doubts`: what the reading met, which may be why nothing was found, or why a value is wrong or missing.
std::vector<Violation> with_doubts(std::vector<Violation> wrong, const std::vector<Violation>& doubts) {
  wrong.insert(wrong.end(), doubts.begin(), doubts.end());
  return wrong;
}

// Of a fork: what a network's size may be called there, beside what is wrong without it.
bool may_be_a_size(const Violation& one) {
  constexpr std::string_view kSizes[] = {"experts", "num-layers", "num_layers", "hidden-size", "hidden_size", "heads"};
  return std::ranges::any_of(kSizes, [&](std::string_view size) { return one.where.find(size) != std::string::npos; });
}

[[noreturn]] void refuse(const std::string& path, const std::string& text, std::vector<Violation> wrong) {
  const auto& [other, is_sourced] = started_script(text);
  if (is_sourced)
    wrong.push_back(
        {"", fmt::format("takes variables from {}, which is another file", other), fmt::format("have {} beside this one", other)});
  else if (!other.empty())
    wrong.push_back({"", fmt::format("starts {}, which is another file", other),
                     fmt::format("give {}; what this script passes on as --set NAME=value, or 1=value for its first argument", other)});
  throw InputError(path, std::move(wrong));
}

// `torchrun scripts/train.py`, `python -m mine.train`: a program that is none of those known here. "": the text starts none.
std::string own_program(const std::string& text, const std::string& path, const Texts& given) {
  if (begins_as_yaml(text) || text.starts_with("import ") || text.find("\nimport ") != std::string::npos) return "";
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (!has(".py") && !has(" -m ") && !has("\n-m ") && !has(" --module ")) return "";
  std::string found;
  for (const std::string& line : command_lines(text, path, given))
    if (const std::string started = started_program(line); !started.empty()) found = started;
  return found;
}

void refuse_foreign_lines(const std::string& path, const std::string& text, const Texts& given) {
  if (begins_as_yaml(text) || begins_as_json(text) || text.find("import ") != std::string::npos) return;
  for (const std::string& line : command_lines(text, path, given, true)) refuse_foreign_command(path, line);
}

constexpr std::string_view kSettingsOfDeepSpeed =
    "--deepspeed --deepspeed_config --deepspeed-config --ds_config --ds-config --ds_config_path --deepspeed_config_path --ds_file";

std::string file_of_hydra(const std::string& name) { return name.ends_with(".yaml") ? name : name + ".yaml"; }

// `train.py --config run.yaml`: which arguments these are, the file says.
void name_configuration(const std::string& text, const std::string& path, const Texts& given, std::vector<Violation>& wrong) {
  const bool has_keys = text.find("\":") != std::string::npos;  // a script may begin with a bracket, too
  if (begins_as_yaml(text) || (begins_as_json(text) && has_keys) || begins_as_python(text)) return;
  for (const std::string& line : command_lines(text, path, given)) {
    std::string before;
    for (const std::string& word : plain_words(line)) {
      const bool is_json = word.ends_with(".json"),
                 is_of_arguments = is_json && !before.starts_with("-");  // behind an option it may be anything
      const bool is_named = has_name("--config --config_file --config-file --cfg --yaml-cfg", before) && word.starts_with("$");
      if (before == "--config-name" || word.starts_with("--config-name="))  // Hydra's, without its ending
        return wrong.push_back(
            {"", fmt::format("names {} of Hydra, which holds its arguments", file_of_hydra(shown(word.substr(word.rfind('=') + 1)))),
             "import that file, where they are those of a program that is read"});
      if (is_json && has_name(kSettingsOfDeepSpeed, before))
        return wrong.push_back(
            {"", fmt::format("names {}, which is DeepSpeed's", word), "import that file, with --model, --sequence and --global-batch"});
      if (word.ends_with(".yaml") || word.ends_with(".yml") || is_of_arguments || is_named)
        return wrong.push_back({"", fmt::format("names {}, which may hold its arguments", word.substr(word.rfind('=') + 1)),
                                "import that file, where they are those of a program that is read"});
      before = word;
    }
  }
}

void name_python(const std::string& text, std::vector<Violation>& wrong) {
  if (begins_as_python(text))
    wrong.push_back({"", "is Python, and what it gives its program stands in its code",
                     "import the configuration that it writes, or that its program reads"});
}

// The Trainer's `run_clm.py --do_eval`.
void name_evaluations(const std::string& text, std::vector<Violation>& wrong) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if ((has("--do_eval") || has("--do_predict")) && !has("do_train"))
    wrong.push_back({"", "evaluates, and trains nothing: --do_train is not given", "give the command of a training"});
}

[[noreturn]] void refuse_unknown_program(const std::string& path, const std::string& text, const Texts& given) {
  refuse_foreign_lines(path, text, given);
  std::vector<Violation> wrong = {
      {"", fmt::format("is no configuration of {}", names_of_programs()), "give a launch script, JSON, YAML or recipe of one of them"}};
  if (const std::string own = own_program(text, path, given); !own.empty())
    wrong.push_back(
        {"", fmt::format("starts {}, whose arguments are its own", own),
         "where that is built on DeepSpeed or Accelerate, import its file of that, with --model, --sequence and --global-batch"});
  name_configuration(text, path, given, wrong);
  name_evaluations(text, wrong);
  name_python(text, wrong);
  if (!begins_as_json(text) && text.find("\"zero_optimization\"") != std::string::npos)
    wrong.push_back({"", "holds settings of DeepSpeed as Python, with values that its code computes",
                     "write that dictionary as JSON, by json.dump, and import it"});
  refuse(path, text, std::move(wrong));
}

// PyTorch/XLA says it in front of the line, or by who starts it; others among the settings.
void refuse_other_machines(const std::string& path, const RecipeReading& reading) {
  const auto refuse = [&](const std::string& where, const std::string& problem) {
    throw InputError(path, {{where, problem, "give a recipe for GPUs"}});
  };
  const auto device = reading.environment.find("PJRT_DEVICE");
  if (const std::vector<std::string> open = device == reading.environment.end() ? std::vector<std::string>{} : unknowns_in(device->second);
      !open.empty())  // under a condition
    throw InputError(path, {{"PJRT_DEVICE", fmt::format("follows from ${}, which the file alone does not say", open.front()),
                             fmt::format("give --set {}=value", open.front())}});
  if (device != reading.environment.end() && device->second != "CUDA" && device->second != "GPU")
    refuse("PJRT_DEVICE", fmt::format("is {}: XLA on another machine", shown(device->second)));
  for (const auto& [name, value] : reading.environment)
    if (name.starts_with("NEURON_")) refuse(name, "is of Neuron's XLA on another machine");
  for (const std::string& word : words_of(reading.command))
    if (word.ends_with("xla_spawn.py") || word.ends_with("gaudi_spawn.py")) refuse("", fmt::format("starts {}: another machine", word));
  if (const std::string script = other_machine_of(reading.command); !script.empty())
    refuse("", fmt::format("starts {}: JAX or XLA, whose steps are not read", script));
  constexpr std::string_view kWithoutGpus =
      "cpu tpu use_cpu use-cpu no_cuda no-cuda use_tpu use_hpu use-hpu use_habana use-habana use_ipex use_xpu";
  constexpr std::string_view kOtherKinds = "cpu tpu hpu mps xpu";
  for (const RecipeSetting& one : reading.settings) {
    const bool is_flag = has_name(kWithoutGpus, one.key) && (one.value == "true" || one.value == "True" || one.value == "1");
    if (is_flag || (one.key.ends_with("trainer.accelerator") && has_name(kOtherKinds, one.value)))
      refuse(one.key, fmt::format("is {}: a training without GPUs", one.value));
  }
}

Draft draft_for(const Program& program, const RecipeContext& context) {
  Draft draft;
  if (context.model) draft.plan.model = *context.model;
  draft.plan.cluster = context.cluster;
  if (!context.own_software) take_software(program, draft.plan.cluster);
  draft.plan.recompute = context.recompute;
  draft.microbatch_beside = context.microbatch;
  draft.plan.training = program.training;
  draft.plan.workload.precision = usual_precision(context.cluster.hardware.kind);
  return draft;
}

void settle(const Program& program, const RecipeContext& context, const std::string& path, Draft& draft) {
  settle_network(draft, program.network == nullptr ? std::nullopt : program.network(draft, context), context);
  if (draft.plan.model.layers == 0) return;  // told
  program.settle(draft);
  take_order_file(path, draft);
  complete_draft(draft, context);
}

struct Reading {
  const Program* program = nullptr;
  Draft draft;  // what is wrong with it stands there
  Accounts accounts;
  std::vector<Violation> doubts;
  SettingsInFile in_file;
};

[[noreturn]] void refuse_without_sizes(const std::string& path, const std::string& text, const Texts& given, const Program& program,
                                       const RecipeReading& reading, const Texts& documents) {
  refuse_foreign_lines(path, text, given);
  std::vector<Violation> wrong = {
      {"", fmt::format("holds no size and no degree that {} knows, in {} settings", program.title, reading.settings.size()),
       "give the file that starts the training; variables of a script by --set NAME=value"}};
  for (const auto& [name, document] : begins_as_python(text) ? Texts{} : documents)
    wrong.push_back({"", fmt::format("writes {}, and starts nothing that reads it", name), fmt::format("import {}", name)});
  name_configuration(text, path, given, wrong);
  name_python(text, wrong);
  refuse(path, text, with_doubts(std::move(wrong), reading.unknown));
}

// Above what the head of a job sets: what is given.
Texts variables_for(const std::string& script, const RecipeContext& context) {
  Texts variables = context.given;
  variables.merge(variables_of_job(job_head(script)));
  return variables;
}

Reading read_recipe(const std::string& path, const RecipeContext& context) {
  const std::string file = recipe_text(path), whole = script_of_job(file, path).value_or(file);
  refuse_foreign_file(path, whole);
  const Texts given = variables_for(whole, context);
  std::string text = program_of(whole) == nullptr ? started_elsewhere(whole, path, given) : whole;
  const Program* program = program_of(text);
  const std::optional<std::string> dictionary = program == nullptr ? deepspeed_dictionary(whole) : std::nullopt;
  if (dictionary) text = *dictionary, program = &kDeepSpeed;
  if (program == nullptr) refuse_unknown_program(path, text, given);
  RecipeReading reading = reading_of(program, text, path, given);
  refuse_foreign_command(path, reading.command);
  if (reading.command.empty() && text.find(".py ") != std::string::npos)
    refuse_foreign_lines(path, text, given);  // overrides alone were read
  refuse_other_scripts(path, reading.command, *program, context.model.has_value());
  refuse_other_machines(path, reading);
  Draft draft = draft_for(*program, context);
  fill_variables(reading.settings, given);
  draft.documents = std::move(reading.documents);
  draft.unknown = reading.unknown;
  if (dictionary)
    draft.notes.push_back({"", "is a dictionary in Python: what the code around it changes is not seen", "see that it changes nothing"});
  draft.launch = launch_of(whole + "\n" + text, reading, context.given);
  Accounts accounts = read_settings(*program, reading.settings, draft);
  if (accounts.sizes == 0 && draft.wrong.empty()) refuse_without_sizes(path, text, given, *program, reading, draft.documents);
  tell_own_defaults(*program, reading.command, draft);
  tell_environment(draft);
  settle(*program, context, path, draft);
  return {program, std::move(draft), std::move(accounts), std::move(reading.unknown), settings_in_file(*program, reading.settings)};
}

}  // namespace

const Program* program_of(std::string_view text) {
  const bool is_json = begins_as_json(text);
  const auto found = std::ranges::find_if(kAsked, [&](const Program* program) {
    return has_a_mark(text, *program) && (program != &kDeepSpeed || is_json);  // a script may write such a file for another program
  });
  return found == std::end(kAsked) ? nullptr : *found;
}

std::vector<Violation> told(const ImportedPlan& imported) {
  std::vector<Violation> all = imported.unknown;
  all.insert(all.end(), imported.lost.begin(), imported.lost.end());
  all.insert(all.end(), imported.notes.begin(), imported.notes.end());
  return all;
}

ImportedPlan import_recipe(const std::string& path, const RecipeContext& context) {
  Reading read = read_recipe(path, context);
  if (!read.draft.wrong.empty()) {
    std::ranges::copy_if(read.draft.unknown, std::back_inserter(read.doubts), may_be_a_size);
    throw InputError(path, with_doubts(std::move(read.draft.wrong), read.doubts));
  }
  return {std::move(read.draft.plan),
          read.program,
          std::move(read.draft.notes),
          std::move(read.draft.unknown),
          std::move(read.draft.lost),
          std::move(read.accounts.read),
          std::move(read.accounts.without_effect),
          std::move(read.in_file)};
}

// What is wrong on devices of another number is told when they are known; so is a network that has no size yet, of which no program has settled anything.
std::int32_t processes_of(const std::string& path, const RecipeContext& context) {
  Draft draft = read_recipe(path, context).draft;
  take_processes(draft);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(draft.processes.value_or(0), 0, kMostProcesses));
}

}  // namespace sim
