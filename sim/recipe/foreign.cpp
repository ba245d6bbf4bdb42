#include "sim/recipe/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "sim/recipe/accounting.h"

namespace sim {
namespace {

// By a space. Of a file a+b: both words stand there, each where a key or a value begins; of a command: b behind a.
struct Foreign {
  std::string_view title, in_files, in_commands;
  bool changes_a_file = false;  // starts another program, whose file it overrides
};
constexpr Foreign kForeign[] = {
    {"PaddleNLP",
     "sharding_parallel_degree \"tensor_parallel_degree\"+\"sharding\" \"tensor_parallel_degree\"+\"sequence_parallel_config\"",
     "paddle.distributed.launch"},
    {"torchtune", "_component_:+torchtune.", "tune+run"},
    {"LLM Foundry (Composer)",
     "device_train_microbatch_size:+fsdp_config: global_train_batch_size:+max_seq_len: mpt_causal_lm hf_causal_lm+train_loader:",
     "composer+train/train.py composer+train.py composer+scripts/train/train.py llmfoundry"},
    {"NeMo Automodel", "nemo_automodel", "automodel+finetune automodel+pretrain nemo_automodel"},
    {"NeMo 1's fine-tuning", "", "megatron_gpt_finetuning.py megatron_gpt_sft.py megatron_gpt_peft_tuning.py"},
    {"NeMo RL", "policy:+dtensor_cfg: policy:+megatron_cfg:", "run_grpo_math.py"},
    {"verl", "actor_rollout_ref:", "verl.trainer actor_rollout_ref."},
    {"OpenRLHF", "", "openrlhf.cli --micro_train_batch_size"},
    {"slime", "", "--rollout-num-gpus --rollout-batch-size"},  // and its forks: reinforcement learning on Megatron
    {"ColossalAI", "from+colossalai.", "colossalai+run"},
    {"OpenLM", "", "open_lm.main open_lm/main.py"},
    {"XTuner", "from+xtuner.", "xtuner+train"},
    {"InternEvo", "hybrid_zero_optimizer", "internevo"},
    {"Determined AI", "slots_per_trial:+entrypoint:+hyperparameters:", "determined.launch", true},
    {"MindFormers", "runner_config:+parallel_config: micro_batch_interleave_num:", "run_mindformer.py"},
    {"MaxText", "base_emb_dim: ici_fsdp_parallelism", "MaxText.train MaxText/train.py ici_fsdp_parallelism="},
    {"EasyLM", "", "EasyLM.models"},
    {"Levanter", "per_device_parallelism: model_axes:", "levanter.main"},
    {"fairseq2", "", "fairseq2+lm"},
    {"Lingua", "fsdp_type:+dp_shard:", "apps.main.train lingua.stool"},
    {"ATorch", "", "atorch.distributed.run"},
    {"AutoTrain", "task:+project_name:+params:", "autotrain+llm"},
};

bool holds(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

bool begins_in(std::string_view text, std::string_view word) {
  const auto goes_on = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if (at == 0 || !goes_on(static_cast<unsigned char>(text[at - 1]))) return true;
  return false;
}

bool stands_in_file(const std::string& text, std::string mark) {
  std::ranges::replace(mark, '+', ' ');
  return std::ranges::all_of(words_of(mark), [&](const std::string& word) { return begins_in(text, word); });
}

// A whole word, the name of a file in a folder, or a module's first names; a mark that ends in . or = begins its word.
bool is_marked(const std::string& word, const std::string& mark, bool is_module) {
  const bool is_open = mark.ends_with('.') || mark.ends_with('=');
  if (word == mark || (is_open && word.starts_with(mark)) || (is_module && word.starts_with(mark + "."))) return true;
  return word.starts_with(mark + "=") || (mark.ends_with(".py") && word.ends_with("/" + mark));
}

bool stands_in_command(const std::string& command, std::string mark) {
  if (holds(mark, "+")) {
    std::ranges::replace(mark, '+', ' ');
    return holds(" " + command + " ", " " + mark + " ");
  }
  bool are_modules = false;  // a launcher's own options may stand behind its -m
  std::string before;
  return std::ranges::any_of(words_of(command), [&](const std::string& word) {
    const bool names_module = before == "-m" || before == "--module";
    const bool is_value = !names_module && !mark.ends_with(".py") && before.starts_with("--") && !holds(before, "=");
    are_modules = are_modules || word == "-m" || word == "--module";
    before = word;
    return !is_value && is_marked(word, mark, are_modules);
  });
}

using Stands = bool (*)(const std::string& text, std::string mark);
void refuse_by(const std::string& path, const std::string& text, std::string_view Foreign::*marks, Stands stands) {
  for (const Foreign& one : kForeign)
    for (const std::string& mark : words_of(one.*marks))
      if (stands(text, mark))
        throw InputError(
            path, {{"", fmt::format("is of {}, a program whose settings are not read", one.title),
                    one.changes_a_file
                        ? "import the file of the program that it starts, with the values of hyperparameters written into it"
                        : "import what of it is a file of DeepSpeed or Accelerate; else meshwright plan with its degrees by --fix"}});
}

}  // namespace

void refuse_foreign_file(const std::string& path, const std::string& text) {
  if (begins_as_json(text) || begins_as_yaml(text) || holds(text, "import ") || path.ends_with(".py"))
    refuse_by(path, text, &Foreign::in_files, stands_in_file);
}

void refuse_foreign_command(const std::string& path, const std::string& command) {
  refuse_by(path, command, &Foreign::in_commands, stands_in_command);
}

}  // namespace sim
