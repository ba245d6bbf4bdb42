// Facts: accelerate/commands/launch.py (_validate_launch_command), utils/launch.py and DeepSpeedPlugin of utils/dataclasses.py, release 1.15.0.
#include "sim/recipe/accelerate_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/recipe/accounting.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/started.h"

namespace sim {
namespace {

struct LaunchedKind {
  std::string_view option, name, section;
};
constexpr LaunchedKind kLaunchedKinds[] = {{"use_deepspeed", "DEEPSPEED", "launch.deepspeed_config."},
                                           {"use_fsdp", "FSDP", "launch.fsdp_config."},
                                           {"multi_gpu", "MULTI_GPU", ""}};
constexpr std::string_view kKindOfFile = "launch.distributed_type";
constexpr std::string_view kOptionsOfDeepSpeed =
    "zero_stage offload_optimizer_device offload_param_device zero3_init_flag zero3_save_16bit_model deepspeed_config_file";

using Options = std::set<std::string>;

// What stands in front of the script: `--zero_stage 2` behind it is an argument of its own.
Options options_of_launcher(const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  const auto starts = std::ranges::find_if(words, [](const std::string& word) {
    return word == "accelerate" || word.ends_with("/accelerate") || word == "accelerate.commands.launch";
  });
  const std::string started = started_program(command);
  Options options;
  for (auto word = starts; word != words.end() && *word != started; ++word) {
    if (!word->starts_with("--")) continue;
    std::string name = word->substr(2, word->find('=') - std::min<std::size_t>(2, word->find('=')));
    std::ranges::replace(name, '-', '_');
    options.insert(std::move(name));
  }
  return options;
}

bool erase_settings(RecipeReading& reading, const auto& is_meant) { return std::erase_if(reading.settings, is_meant) > 0; }

bool erase_section(RecipeReading& reading, std::string_view section) {
  return erase_settings(reading, [&](const RecipeSetting& one) { return one.key.starts_with(section); });
}

const LaunchedKind* kind_of_line(const Options& options) {
  const auto found =
      std::ranges::find_if(kLaunchedKinds, [&](const LaunchedKind& one) { return options.contains(std::string(one.option)); });
  return found == std::end(kLaunchedKinds) ? nullptr : &*found;
}

// The line's kind counts, and with it the file's section of that name alone.
void take_kind_of_line(const LaunchedKind& kind, RecipeReading& reading) {
  const RecipeSetting* const of_file = first_named(kKindOfFile, reading.settings);
  const std::string before = of_file == nullptr ? "" : of_file->value;
  if (before == kind.name || before.empty()) return;
  for (const LaunchedKind& other : kLaunchedKinds)
    if (other.name != kind.name && !other.section.empty()) erase_section(reading, other.section);
  if (kind.name != "DEEPSPEED") erase_section(reading, "launch.file.");
  erase_section(reading, kKindOfFile);
  reading.settings.push_back({std::string(kKindOfFile), std::string(kind.name)});
  reading.unknown.push_back({"distributed_type",
                             fmt::format("is {} in Accelerate's file, and --{} stands on the line, which counts", before, kind.option),
                             fmt::format("leave --{} out, if the file's is meant", kind.option)});
}

// Of one setting the line's value counts: `--fsdp_sharding_strategy` beside the file's section.
void put_line_above_section(const Options& options, std::string_view kind, RecipeReading& reading) {
  RecipeSettings moved;
  for (const std::string& option : options) {
    if (kind == "DEEPSPEED" && has_name(kOptionsOfDeepSpeed, option)) erase_section(reading, "launch.deepspeed_config." + option);
    if (kind != "FSDP" || !option.starts_with("fsdp_")) continue;
    const std::string key = "fsdp." + option.substr(5);
    erase_section(reading, "launch.fsdp_config." + option);
    for (RecipeSetting& one : reading.settings)
      if (one.key == key) moved.push_back({"launch.fsdp_config." + option, one.value, option});
    erase_settings(reading, [&](const RecipeSetting& one) { return one.key == key; });
  }
  reading.settings.insert(reading.settings.end(), moved.begin(), moved.end());
}

// What its file has under the same name as the line; a value that the line leaves open is not the file's, either.
void put_line_above_file(const Options& options, RecipeReading& reading) {
  for (const std::string_view shared : {"num_processes", "num_machines", "mixed_precision", "gpu_ids"})
    if (options.contains(std::string(shared)))
      erase_settings(reading, [&](const RecipeSetting& one) { return one.key == "launch." + std::string(shared); });
}

// `--zero_stage 3` without --use_deepspeed: its launcher hands it to nobody.
void leave_unasked(const Options& options, std::string_view kind, RecipeReading& reading) {
  for (const std::string& option : options) {
    const bool is_fsdps = option.starts_with("fsdp_"), is_deepspeeds = has_name(kOptionsOfDeepSpeed, option);
    if ((!is_fsdps || kind == "FSDP") && (!is_deepspeeds || kind == "DEEPSPEED")) continue;
    const std::string key = is_fsdps ? "fsdp." + option.substr(5) : option;
    const bool had_file = option == "deepspeed_config_file" && erase_section(reading, "file.");
    if (!erase_settings(reading, [&](const RecipeSetting& one) { return one.key == key; }) && !had_file) continue;
    const std::string_view asks = is_fsdps ? "use_fsdp" : "use_deepspeed";
    reading.unknown.push_back({option, fmt::format("stands without --{}, and Accelerate's file does not ask for it: it is not read", asks),
                               fmt::format("write --{}, if that is meant", asks)});
  }
}

constexpr std::string_view kDegrees = "parallelism_config_", kDegreesOfFile = "launch.parallelism_config.";

// FSDP 2 beside tensor and context ranks. A kind on the line leaves the file's degrees out, too, and a degree that nobody says is 1.
void settle_degrees(const Options& options, bool has_kind, RecipeReading& reading) {
  const bool asks = options.contains("use_parallelism_config");
  if (has_kind && !asks) erase_section(reading, kDegreesOfFile);
  const auto is_of_file = [](const RecipeSetting& one) { return one.key.starts_with(kDegreesOfFile); };
  const bool counts = asks || std::ranges::any_of(reading.settings, is_of_file);
  RecipeSettings moved;
  for (const RecipeSetting& one : reading.settings) {
    if (!one.key.starts_with(kDegrees) || !options.contains(one.key)) continue;
    if (counts)
      moved.push_back({std::string(kDegreesOfFile) + one.key, one.value, one.key});
    else
      reading.unknown.push_back({one.key, "stands without --use_parallelism_config: it is not read", "write that, if it is meant"});
  }
  erase_settings(reading, [&](const RecipeSetting& one) {
    const bool is_degree = one.key.starts_with(kDegrees) && options.contains(one.key);
    return is_degree || one.key == "use_parallelism_config" ||
           std::ranges::any_of(moved, [&](const RecipeSetting& other) { return other.key == one.key; });
  });
  reading.settings.insert(reading.settings.end(), moved.begin(), moved.end());
  const std::string shard = std::string(kDegreesOfFile) + "parallelism_config_dp_shard_size";
  if (asks && first_named(shard, reading.settings) == nullptr) reading.settings.push_back({.key = shard, .value = "1", .is_default = true});
  const RecipeSetting* const version = first_named("launch.fsdp_config.fsdp_version", reading.settings);
  if (asks && (!options.contains("use_fsdp") || version == nullptr || version->value != "2"))
    reading.unknown.push_back({"use_parallelism_config", "is refused by Accelerate without --use_fsdp and --fsdp_version 2 on the line",
                               "write both, or have the degrees in its file"});
}

}  // namespace

void read_file_of_accelerate(const RecipeSource& source, const RecipeSetting& named, RecipeReading& reading) {
  const std::string text = text_beside(source, reading, named);
  for (const RecipeSetting& one : kAccelerate.settings({text, source.path, source.given, kAccelerate, reading.documents}).settings)
    reading.settings.push_back({"launch." + one.key, one.value});
}

void settle_line_of_accelerate(RecipeReading& reading) {
  const Options options = options_of_launcher(reading.command);
  if (options.empty()) return;
  put_line_above_file(options, reading);
  const LaunchedKind* const of_line = kind_of_line(options);
  if (of_line != nullptr) take_kind_of_line(*of_line, reading);
  const RecipeSetting* const of_file = first_named(kKindOfFile, reading.settings);
  const std::string kind = of_line != nullptr ? std::string(of_line->name) : of_file != nullptr ? of_file->value : "";
  if (of_file == nullptr && kind == "FSDP") reading.settings.push_back({std::string(kKindOfFile), kind});
  if (of_file != nullptr || kind == "FSDP") put_line_above_section(options, kind, reading);
  leave_unasked(options, kind, reading);
  settle_degrees(options, of_line != nullptr, reading);
}

RecipeSettings filled_by_accelerate(RecipeSettings of_deepspeed, const Draft& draft) {
  constexpr std::array<std::array<std::string_view, 3>, 3> kFilled = {{
      {"zero_optimization.stage", "zero_stage", "2"},
      {"zero_optimization.offload_optimizer.device", "offload_optimizer_device", "none"},
      {"zero_optimization.offload_param.device", "offload_param_device", "none"},
  }};
  for (RecipeSetting& one : of_deepspeed)
    for (const auto& [key, option, usual] : kFilled)
      if (one.key == key && one.value == "auto") {
        const std::string name(option);
        one.value = text_of(draft, name, text_of(draft, "deepspeed_config." + name, std::string(usual)));
      }
  return of_deepspeed;
}

}  // namespace sim
