// Facts: SkyPilot's YAML specification (run, envs, num_nodes, resources.accelerators; SKYPILOT_NUM_*), dstack's task (commands, env, nodes, resources.gpu;
// DSTACK_*), Kubernetes' container (command, args, env; $(NAME) is a variable), Docker Compose's service, Determined's and Azure ML's jobs.
#include "sim/recipe/job_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "sim/recipe/yaml_form.h"

namespace sim {
namespace {

using Words = std::vector<std::string>;

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_-./=:,+@%").find(c) < 10; }

// As a word of a shell that still fills variables in; $(NAME) outside of one is Kubernetes' own way to name them.
std::string shell_word(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text;
  for (std::size_t at = 0; at < word.size(); ++at) {
    const std::size_t end = word.compare(at, 2, "$(") == 0 ? word.find(')', at) : std::string::npos;
    if (end != std::string::npos) {
      text += "${" + word.substr(at + 2, end - at - 2) + "}";
      at = end;
      continue;
    }
    if (word[at] == '"' || word[at] == '\\' || word[at] == '`') text += '\\';
    text += word[at];
  }
  return "\"" + text + "\"";
}

std::string assignment(const std::string& name, const std::string& value) { return "export " + name + "=" + shell_word(value) + "\n"; }

// {A: 1}, [A=1], [{name: A, value: 1}]; one without a value is whoever starts it to say.
std::string assignments_of(const YamlTree& variables) {
  std::string text;
  for (const auto& [name, value] : variables.entries) {
    if (!value.text.empty()) text += assignment(name, value.text);
    if (name == "environment_variables") text += assignments_of(value);
  }
  for (const YamlTree& item : variables.items) {
    const YamlTree *const name = item.find("name"), *const value = item.find("value");
    const std::size_t equals = item.text.find('=');
    if (name != nullptr && value != nullptr && !value->text.empty()) text += assignment(name->text, value->text);
    if (equals != std::string::npos) text += assignment(item.text.substr(0, equals), item.text.substr(equals + 1));
  }
  return text;
}

std::string variables_of(const YamlTree& job) {
  std::string text;
  for (const std::string_view name : {"envs", "env", "envVars", "environment", "environment_variables"})
    if (const YamlTree* const variables = job.find(name)) text += assignments_of(*variables);
  return text;
}

// "H100:8", "80GB:8", {A100: 4}, {count: 2}; 0: the file leaves it open.
long count_of_devices(const YamlTree& devices) {
  const auto whole = [](const std::string& text) {
    const bool is_number =
        !text.empty() && text.size() < 6 && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    return is_number ? std::stol(text) : 0;
  };
  if (const YamlTree* const count = devices.find("count")) return whole(count->text);
  if (devices.entries.size() == 1) return whole(devices.entries.front().value.text);
  const std::size_t colon = devices.text.rfind(':');
  return colon == std::string::npos ? (devices.text.empty() ? 0 : 1) : whole(devices.text.substr(colon + 1));
}

// What two of them tell a task about its size.
std::string sizes_of(const YamlTree& job) {
  const YamlTree* const resources = job.find("resources");
  const YamlTree* const sky = resources == nullptr ? nullptr : resources->find("accelerators");
  const YamlTree* const dstack = resources == nullptr ? nullptr : resources->find("gpu");
  const YamlTree* const named = job.find(sky != nullptr ? "num_nodes" : "nodes");
  const std::string nodes = named == nullptr || named->text.empty() ? "1" : named->text;
  const long each = sky != nullptr ? count_of_devices(*sky) : dstack != nullptr ? count_of_devices(*dstack) : 0;
  if (sky != nullptr)
    return assignment("SKYPILOT_NUM_NODES", nodes) + (each > 0 ? assignment("SKYPILOT_NUM_GPUS_PER_NODE", std::to_string(each)) : "");
  if (dstack == nullptr) return "";
  std::string text = assignment("DSTACK_NODES_NUM", nodes);
  if (each > 0) text += fmt::format("export DSTACK_GPUS_PER_NODE={0} DSTACK_GPUS_NUM=$(({0} * {1}))\n", each, shell_word(nodes));
  return text;
}

// bash -c "...": the script in it.
const std::string* script_in(const Words& words) {
  const std::string shell = words.empty() ? "" : words[0].substr(words[0].rfind('/') + 1);
  if (shell != "bash" && shell != "sh" && shell != "zsh") return nullptr;
  for (std::size_t at = 1; at + 1 < words.size() && words[at].starts_with("-"); ++at)
    if (!words[at].starts_with("--") && words[at].ends_with("c")) return &words[at + 1];
  return nullptr;
}

// `run: |`, `commands:` line by line, `command:` and `args:` word by word.
std::string command_of(const YamlTree& job) {
  Words words;
  std::string text;
  for (const std::string_view name : {"run", "entrypoint", "command", "args", "arguments"}) {
    const YamlTree* const found = job.find(name);
    if (found == nullptr) continue;
    for (const YamlTree& item : found->items) words.push_back(item.text);
    text += (text.empty() || found->text.empty() ? "" : " ") + found->text;
  }
  if (const YamlTree* const lines = job.find("commands"))
    for (const YamlTree& line : lines->items) text += line.text + "\n";
  if (const std::string* const script = script_in(words)) return text + *script;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

bool starts_a_program(const std::string& command) {
  constexpr std::string_view kStarting[] = {".py",   ".sh",     "torchrun", "accelerate", "deepspeed",    "python",
                                            "-cli ", "axolotl", "litgpt",   "swift",      "fairseq-train"};
  return std::ranges::any_of(kStarting, [&](std::string_view word) { return command.find(word) != std::string::npos; });
}

// Anywhere in the file; null: nowhere.
const YamlTree* found_below(const YamlTree& tree, std::string_view name) {
  if (const YamlTree* const here = tree.find(name)) return here;
  for (const auto& [key, below] : tree.entries)
    if (const YamlTree* const there = found_below(below, name)) return there;
  return nullptr;
}

// What Kubeflow's operators pass to torchrun as PET_NNODES and PET_NPROC_PER_NODE, each of which counts where the command does not say it: a PyTorchJob's
// replicas and nprocPerNode, a TrainJob's numNodes and numProcPerNode. "": not said, or no number.
struct OperatorSize {
  std::string nodes, each;
};
std::string number_below(const YamlTree& job, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const YamlTree* const found = found_below(job, name);
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (found != nullptr && !found->text.empty() && std::ranges::all_of(found->text, is_digit)) return found->text;
  }
  return "";
}
OperatorSize size_by_operator(const YamlTree& job) {
  OperatorSize size{number_below(job, {"numNodes"}), number_below(job, {"nprocPerNode", "nProcPerNode", "numProcPerNode"})};
  const YamlTree* const replicas = found_below(job, "pytorchReplicaSpecs");
  if (!size.nodes.empty() || replicas == nullptr) return size;
  long all = 0;
  for (const auto& [kind, spec] : replicas->entries) {
    const YamlTree* const count = spec.find("replicas");
    all += count == nullptr ? 1 : std::atol(count->text.c_str());
  }
  size.nodes = std::to_string(std::max(1L, all));
  return size;
}
std::string with_size(std::string command, const OperatorSize& size) {
  for (const std::string_view launcher : {"torch.distributed.run", "torchrun"}) {
    const std::size_t at = command.find(launcher);
    if (at == std::string::npos) continue;
    const auto option = [&](std::string_view word, std::string_view name, const std::string& number) {
      return number.empty() || command.find(word) != std::string::npos ? "" : fmt::format(" --{} {}", name, number);
    };
    return command.insert(at + launcher.size(), option("nnodes", "nnodes", size.nodes) + option("nproc", "nproc_per_node", size.each));
  }
  return command;
}

// At the top a task of SkyPilot and its like; below it what runs in an image.
void gather(const YamlTree& job, bool is_top, const OperatorSize& size, std::string& script) {
  const bool is_container = is_top || job.find("image") != nullptr || job.find("build") != nullptr;
  const std::string command = is_container ? command_of(job) : "";
  std::string passed;
  for (const auto& [name, number] : {std::pair("PET_NNODES", size.nodes), std::pair("PET_NPROC_PER_NODE", size.each)})
    if (!number.empty()) passed += assignment(name, number);
  if (starts_a_program(command)) script += variables_of(job) + sizes_of(job) + passed + with_size(command, size) + "\n";
  for (const auto& [name, below] : job.entries) gather(below, false, size, script);
  for (const YamlTree& below : job.items) gather(below, false, size, script);
}

// One of the names at the beginning of a line, in a list or further in.
bool has_a_line_of(const std::string& text, std::initializer_list<std::string_view> names) {
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    const std::string_view line = std::string_view(text).substr(std::min(text.find_first_not_of(" -", at), text.size()));
    if (std::ranges::any_of(names, [&](std::string_view name) { return line.starts_with(name); })) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> script_of_job(const std::string& text, const std::string& file) {
  if (!begins_as_yaml(text) || !has_a_line_of(text, {"run:", "commands:", "command:", "args:", "arguments:", "entrypoint:"}))
    return std::nullopt;
  std::string script;
  for (const YamlTree& document : yaml_trees(text, file)) gather(document, true, size_by_operator(document), script);
  if (script.empty()) return std::nullopt;
  return "true\n" + script;
}

}  // namespace sim
