#include "sim/recipe/started.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "sim/recipe/accounting.h"

namespace sim {
namespace {

bool is_module_name(const std::string& word) {
  constexpr std::string_view kLaunchers = "torch.distributed.* accelerate.* deepspeed.* debugpy";
  const auto is_of_a_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  return !has_name(kLaunchers, word) && std::isdigit(static_cast<unsigned char>(word[0])) == 0 && std::ranges::all_of(word, is_of_a_name);
}
// Options of launchers that have no value behind them; those of others may be named like a program.
bool is_value_of_launcher(const std::string& before) {
  constexpr std::string_view kFlagsOfLaunchers =
      "--standalone --no-python --no_python --run-path --module --multi_gpu --use_fsdp --use_deepspeed --cpu --tpu --quiet --debug "
      "--no_local_rank "
      "--enable_each_rank_log --force_multi --label --exclusive --unbuffered --kill-on-bad-exit --overlap --allow-run-as-root";
  return before.starts_with("--") && before.find('=') == std::string::npos && !has_name(kFlagsOfLaunchers, before);
}

// The script without its folder, or the module without its package: "dpo_train.py", "finetune".
std::string name_of_started(const std::string& command) {
  const std::string started = started_program(command);
  return started.ends_with(".py") ? std::filesystem::path(started).filename().string() : leaf_of(started);
}

// `torchrun inference.py --num-layers 40`: a network's sizes and degrees, and no training.
void refuse_what_trains_nothing(const std::string& path, const std::string& command) {
  const std::string name = in_lower_case(name_of_started(command));
  const auto holds = [&](std::string_view stem) { return name.find(stem) != std::string::npos; };
  constexpr std::string_view kOfOthers[] = {"inference", "text_generation", "run_generation", "evaluation", "evaluate",
                                            "convert",   "checkpoint_util", "preprocess",     "hf2",        "2hf",
                                            "hf_to_",    "_to_hf"};
  constexpr std::string_view kBegins[] = {"generate", "eval.", "merge_", "validate_", "verify_"};
  const bool is_other = std::ranges::any_of(kOfOthers, holds) || started_program(command).ends_with("tasks/main.py") ||
                        std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); });
  constexpr std::string_view kOfTrainings[] = {"train", "tune", "sft", "dpo", "learn"};
  if (is_other && std::ranges::none_of(kOfTrainings, holds))
    throw InputError(path, {{"", fmt::format("starts {}, which trains nothing", name), "give the script of a training"}});
}

// Of a script with its folder, of a module with its package: "step3_rlhf/main.py" is step3, rlhf, main, py.
std::vector<std::string> words_of_name(const std::string& started) {
  const std::size_t name = started.rfind('/'), folder = name == std::string::npos || name == 0 ? name : started.rfind('/', name - 1);
  std::string spaced = in_lower_case(started.substr(folder == std::string::npos ? 0 : folder + 1));
  std::ranges::replace_if(
      spaced, [](unsigned char c) { return std::isalnum(c) == 0; }, ' ');
  return words_of(spaced);
}

// `torchrun mine/dpo_train.py`: the Trainer's or Megatron-LM's arguments, and a step that reads pairs, a second network, or what it writes itself.
void refuse_steps_by_name(const std::string& path, const std::string& command) {
  const std::vector<std::string> words = words_of_name(started_program(command));
  const auto names = [&](std::string_view list) {
    return std::ranges::any_of(words, [&](const std::string& word) { return has_name(list, word); });
  };
  const bool ends_so = std::ranges::any_of(words, [](const std::string& word) { return word.ends_with("dpo") || word.ends_with("grpo"); });
  constexpr std::string_view kOfOtherSteps = "dpo ppo grpo kto rloo orpo simpo cpo bco reinforce* reward* rm distil* gkd";
  const bool is_of_rlhf = names("rlhf") && name_of_started(command) != "finetune";  // `safe_rlhf.finetune` is its first step
  if ((names(kOfOtherSteps) || ends_so || is_of_rlhf) && !names("sft"))
    throw InputError(path,
                     {{"", fmt::format("starts {}: a step with other passes than one forward and one backward", started_program(command)),
                       "give the script of a fine-tuning or a pretraining"}});
}

// Megatron-LM's other scripts take GPT's sizes for networks of another form. BERT may be the one of --model.
void refuse_other_networks(const std::string& path, const std::string& command, bool is_given) {
  struct Script {
    std::string_view begins, network;
  };
  constexpr Script kScripts[] = {{"pretrain_t5", "an encoder with a decoder"},
                                 {"pretrain_ict", "two encoders"},
                                 {"pretrain_realm", "two encoders"},
                                 {"pretrain_retro", "a network with retrieved texts"},
                                 {"pretrain_vi", "a network of images"},
                                 {"pretrain_i2v", "a network of images"},
                                 {"pretrain_t2", "a network of images"},
                                 {"pretrain_ti2", "a network of images"},
                                 {"pretrain_sora", "a network of images"},
                                 {"pretrain_dit", "a network of images"},
                                 {"pretrain_diffusion", "a network of images"},
                                 {"pretrain_vlm", "a network of images"},
                                 {"pretrain_mimo", "a network of images"},
                                 {"pretrain_bert", "an encoder"}};
  const std::string name = name_of_started(command);
  if (started_program(command).find("multimodal/") != std::string::npos)
    throw InputError(path,
                     {{"", fmt::format("starts {} of a network of images", name), "give the script of a network of blocks of one kind"}});
  const auto found = std::ranges::find_if(kScripts, [&](const Script& one) { return name.starts_with(one.begins); });
  if (found == std::end(kScripts)) return;
  const bool is_bert = found->begins == "pretrain_bert";
  if (!is_bert || !is_given)
    throw InputError(path, {{"", fmt::format("starts {}, which trains {}; its arguments are read as GPT's", name, found->network),
                             is_bert ? "give its config.json by --model" : "give the script of a network of blocks of one kind"}});
}

// One of the program's own: its name, or its place in the program's folders.
bool is_own(std::string_view scripts, const std::string& started) {
  return std::ranges::any_of(words_of(scripts), [&](const std::string& own) {
    return started == own || started.ends_with("/" + own) || (own.ends_with(".") && started.starts_with(own));
  });
}

// `mine-train --stage sft`: a command that somebody has installed. "": one that is known, or that starts another.
std::string own_starter(const std::string& command) {
  constexpr std::string_view kKnown =
      "torchrun deepspeed accelerate swift megatron llamafactory-cli axolotl litgpt fairseq-train fairseq-hydra-train trl oumi lightning "
      "fabric "
      "srun mpirun mpiexec sbatch bash sh zsh env nohup time exec sudo docker singularity apptainer numactl nsys ncu uv poetry pipenv "
      "conda ray "
      "sky modal echo eval source cd taskset msrun xtuner tune composer";
  const std::vector<std::string> words = plain_words(command);
  const std::string first = words.empty() ? "" : words.front(), name = first.substr(first.rfind('/') + 1);
  const bool is_word = std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
  const bool is_own = words.size() > 1 && words[1].starts_with("-") && is_word && !name.starts_with("-") && !name.starts_with("python");
  return is_own && !has_name(kKnown, name) ? name : "";
}

constexpr std::string_view kTypeOfWeights = "the type";

bool is_said(const Draft& draft, const Decided& one) {
  return std::ranges::any_of(words_of(one.keys), [&](const std::string& key) {
    const auto found = draft.said.find(key);
    const bool is_off = one.what == kTypeOfWeights && found != draft.said.end() && !is_on(found->second);  // fp32, or what the code loads
    return found != draft.said.end() && found->second != "auto" && !is_off;
  });
}

}  // namespace

namespace {

// `torch.distributed.launch --use_env train.py`: a script behind an option is what is started, unless the option takes files.
bool takes_a_script(const std::string& before) {
  constexpr std::string_view kStems[] = {"config", "plugin", "file", "path", "register", "name", "output", "comment"};
  return is_value_of_launcher(before) &&
         std::ranges::any_of(kStems, [&](std::string_view stem) { return before.find(stem) != std::string::npos; });
}

}  // namespace

std::string started_program(const std::string& command) {
  constexpr std::string_view kFiles = "yaml yml json toml txt";
  const std::vector<std::string> words = plain_words(command);
  bool are_modules = false;  // `torchrun -m --nnodes 1 mine.train`
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    const bool is_script = word.ends_with(".py");
    if (at > 0 && (is_script ? takes_a_script(words[at - 1]) : is_value_of_launcher(words[at - 1]))) continue;
    const bool is_next = at > 0 && (words[at - 1] == "-m" || words[at - 1] == "--module"), is_dotted = word.find('.') != std::string::npos;
    are_modules = are_modules || (is_next && word.starts_with("-"));
    const bool is_module = is_next || (are_modules && is_dotted && !has_name(kFiles, leaf_of(word)));
    if (is_script || (is_module && is_module_name(word))) return word;
  }
  return "";
}

void refuse_other_scripts(const std::string& path, const std::string& command, const Program& program, bool is_network_given) {
  refuse_what_trains_nothing(path, command);
  if (program.scripts.empty()) return;
  refuse_steps_by_name(path, command);
  if (&program == &kMegatron) refuse_other_networks(path, command, is_network_given);
}

std::string other_machine_of(const std::string& command) {
  for (const std::string& word : words_of_name(started_program(command)))
    if (has_name("flax jax tpu xla", word)) return started_program(command);
  return "";
}

namespace {

// By names that no other program has: LLaMA-Factory, Axolotl, ms-swift, Oumi. `model_name_or_path` is of everybody.
bool names_its_program(const Draft& draft) {
  constexpr std::string_view kTheirs[] = {"finetuning_type", "cutoff_len", "dist_config.name", "sequence_len", "train_type",
                                          "tuner_type",      "swift",      "model.model_name"};
  return std::ranges::any_of(kTheirs, [&](std::string_view key) { return draft.said.contains(std::string(key)); });
}

}  // namespace

void tell_own_defaults(const Program& program, const std::string& command, Draft& draft) {
  const std::string script = started_program(command), started = script.empty() ? own_starter(command) : script;
  const bool is_nobodys = started.empty() && &program == &kTrainer && command.empty() && !names_its_program(draft);
  if (!is_nobodys && (started.empty() || program.scripts.empty() || is_own(program.scripts, started))) return;
  std::vector<std::string_view> open;
  for (const Decided& one : program.decided)
    if (!is_said(draft, one)) open.push_back(one.what);
  const std::string name = script.empty() ? started : name_of_started(command);
  const std::string whose = is_nobodys ? fmt::format("has {}'s names without a program's", program.title)
                                       : fmt::format("starts {}, which is none of {}'s own scripts", name, program.title);
  if (open.empty())
    return draft.notes.push_back(
        {"", whose + ": network, adapters and kernels are taken as the text has them, and its code may change them", "see its code"});
  draft.unknown.push_back({"",
                           fmt::format("{}: where it does not say {}, its code may; here {} has what the program has by itself", whose,
                                       fmt::join(open, ", "), open.size() > 1 ? "each" : "it"),
                           is_nobodys ? "see that code, and write them in the file" : "see its code, and write them on the line"});
}

}  // namespace sim
