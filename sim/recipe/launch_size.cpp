// Facts: sbatch(1), srun(1): options and output environment variables; torchrun and deepspeed count processes by node.
#include "sim/recipe/launch_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include "sim/recipe/accounting.h"
#include "sim/recipe/draft.h"
#include "sim/units/counted.h"

namespace sim {
namespace {

constexpr std::int64_t kMostStarted = 1'000'000;
using Count = std::optional<std::int64_t>;

Count whole_number(const std::string& text) {
  const bool is_number =
      !text.empty() && text.size() < 8 && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!is_number) return std::nullopt;
  const std::int64_t number = std::stol(text);
  return number >= 1 && number <= kMostStarted ? Count(number) : std::nullopt;
}

// "gpu:a100:8", "gpu:8", "h100:4", "8".
Count behind_colon(const std::string& text) { return whole_number(text.substr(text.rfind(':') + 1)); }  // npos + 1 is 0
Count resources(const std::string& text) { return text.starts_with("gpu") && text != "gpu" ? behind_colon(text) : std::nullopt; }

struct JobOption {
  std::string_view names;  // by a space
  Count JobHead::*holds;
  Count (*read)(const std::string&);
};
constexpr JobOption kJobOptions[] = {
    {"--nodes -N", &JobHead::nodes, whole_number},
    {"--gres", &JobHead::devices_of_node, resources},
    {"--gpus-per-node", &JobHead::devices_of_node, behind_colon},
    {"--gpus-per-task", &JobHead::devices_of_task, behind_colon},
    {"--gpus -G", &JobHead::devices, behind_colon},
    {"--ntasks-per-node --tasks-per-node", &JobHead::tasks_of_node, whole_number},
    {"--ntasks -n", &JobHead::tasks, whole_number},
};

// `--nodes=4`, `--nodes 4`, `-N 4`, `-N4`.
void take_options(const std::vector<std::string>& words, JobHead& head) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::size_t equals = words[at].find('=');
    const bool is_short = words[at].size() > 2 && words[at][0] == '-' && words[at][1] != '-';
    const std::string name = is_short ? words[at].substr(0, 2) : words[at].substr(0, equals);
    const auto row = std::ranges::find_if(kJobOptions, [&](const JobOption& one) { return has_name(one.names, name); });
    if (row == std::end(kJobOptions)) continue;
    const std::string next = at + 1 < words.size() ? words[at + 1] : "";
    head.*row->holds = row->read(is_short ? words[at].substr(2) : equals == std::string::npos ? next : words[at].substr(equals + 1));
  }
}

// All devices of the job, or those of a task, by node.
void settle_devices(JobHead& head) {
  const std::int64_t nodes = head.nodes.value_or(1);
  if (!head.devices_of_node && head.devices && *head.devices % nodes == 0) head.devices_of_node = *head.devices / nodes;
  if (!head.devices_of_node && head.devices_of_task) head.devices_of_node = *head.devices_of_task * head.tasks_of_node.value_or(1);
}

bool is_launcher(const std::string& word) {
  const std::string name = word.substr(word.rfind('/') + 1);
  return has_name("torchrun deepspeed accelerate swift megatron llamafactory-cli axolotl litgpt bash sh", name) ||
         name.starts_with("python");
}

// srun's options, up to what it starts.
std::vector<std::string> options_of_srun(const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  const auto begin = std::ranges::find(words, "srun");
  return {begin, std::find_if(begin, words.end(), is_launcher)};
}

bool starts_by_launcher(const std::string& command) {
  return std::ranges::any_of(words_of(command), [](const std::string& word) {
    return has_name("torchrun deepspeed accelerate torch.distributed.run torch.distributed.launch", word.substr(word.rfind('/') + 1));
  });
}

// srun starts the same words on each of its nodes, and a file of hosts is deepspeed's: how many these are stands in neither line.
bool leaves_nodes_open(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t first = line.find_first_not_of(" \t"); first == std::string::npos || line[first] == '#') continue;
    std::ranges::replace_if(
        line, [](char c) { return std::string_view("\"'()[]{},;=/").find(c) != std::string_view::npos; }, ' ');
    const std::vector<std::string> words = words_of(line.substr(0, line.find(" #")));
    const bool by_deepspeed = std::ranges::find(words, "deepspeed") != words.end();
    for (const std::string& word : words)
      if (word == "srun" || word == "--hostfile" || (by_deepspeed && word == "-H")) return true;
  }
  return false;
}

// Of an option of the line: none where it stands there and is no number.
struct Said {
  bool stands = false;
  Count count;
};
Said said_count(const Draft& draft, std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (draft.said.contains(name)) {
      const double number = number_of(draft, name, -1);
      const bool is_whole = number == std::floor(number) && number >= 0 && number <= kMostStarted;
      return {true, is_whole ? Count(static_cast<std::int64_t>(number)) : std::nullopt};
    }
  return {};
}

std::string environment_of(const Launch& launch, const std::string& name) {
  const auto found = launch.environment.find(name);
  return found == launch.environment.end() ? "" : found->second;
}

// Two launchers take the line's counts from the environment: ms-swift's and LLaMA-Factory's.
Said or_of_environment(const Said& said, const Launch& launch, const std::string& name) {
  const bool takes = launch.command.find("swift ") != std::string::npos || launch.command.find("llamafactory-cli ") != std::string::npos;
  const Count count = takes ? whole_number(environment_of(launch, name)) : std::nullopt;
  return said.stands || !count ? said : Said{true, count};
}

// deepspeed's --include: "localhost:0,1,2", "one:0,1@two:0,1". None: a host without its devices has all of them.
Count devices_of_list(const std::string& text) {
  if (text.empty() || !unknowns_in(text).empty()) return std::nullopt;
  std::int64_t all = 0;
  std::istringstream hosts(text);
  for (std::string host; std::getline(hosts, host, '@');) {
    if (host.find(':') == std::string::npos) return std::nullopt;
    all += std::ranges::count(host, ',') + 1;
  }
  return all;
}

// srun starts each task of the job; torchrun and its likes are one task of a node.
std::optional<Processes> processes_of_tasks(const Launch& launch, std::int64_t nodes) {
  const bool by_tasks = !starts_by_launcher(launch.command) && launch.command.find("srun ") != std::string::npos;
  if (!by_tasks) return std::nullopt;
  if (launch.job.tasks) return Processes{*launch.job.tasks};
  return launch.job.tasks_of_node ? std::optional(Processes{nodes * *launch.job.tasks_of_node}) : std::nullopt;
}

// Each device that the command sees, where its launcher starts one process for each.
std::optional<Processes> processes_of_devices(const Launch& launch) {
  constexpr std::string_view kStartAll[] = {"llamafactory-cli ", "deepspeed ", "accelerate launch ", "fairseq-train "};
  const bool starts_all =
      std::ranges::any_of(kStartAll, [&](std::string_view name) { return launch.command.find(name) != std::string::npos; });
  const Count visible = visible_devices(launch);
  return visible && starts_all ? std::optional(Processes{*visible}) : std::nullopt;
}

}  // namespace

JobHead job_head(const std::string& script) {
  JobHead head;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#SBATCH ")) take_options(words_of(line.substr(7, line.find(" #", 7) - 7)), head);
  settle_devices(head);
  return head;
}

Texts variables_of_job(const JobHead& job) {
  Texts variables;
  const auto set = [&](std::initializer_list<const char*> names, Count count) {
    for (const char* const name : names)
      if (count) variables[name] = std::to_string(*count);
  };
  set({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, job.nodes);
  set({"SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"}, job.devices_of_node);
  set({"SLURM_NTASKS_PER_NODE"}, job.tasks_of_node);
  const Count of_nodes = job.nodes && job.tasks_of_node ? Count(*job.nodes * *job.tasks_of_node) : std::nullopt;
  set({"SLURM_NTASKS", "SLURM_NPROCS"}, job.tasks ? job.tasks : of_nodes);
  return variables;
}

Launch launch_of(const std::string& script, const RecipeReading& reading) {
  Launch launch{job_head(script), reading.environment, reading.command, leaves_nodes_open(script)};
  take_options(options_of_srun(reading.command), launch.job);
  settle_devices(launch.job);
  return launch;
}

std::optional<std::int64_t> visible_devices(const Launch& launch) {
  std::string list = environment_of(launch, "CUDA_VISIBLE_DEVICES");
  std::ranges::replace(list, ',', ' ');
  const std::vector<std::string> devices = words_of(list);
  const bool are_numbers = std::ranges::all_of(list, [](unsigned char c) { return std::isdigit(c) != 0 || c == ' '; });
  return devices.empty() || !are_numbers ? std::nullopt : Count(std::ssize(devices));
}

std::optional<Processes> processes_of_launch(const Draft& draft) {
  const Launch& launch = draft.launch;
  if (const Count listed = devices_of_list(text_of(draft, "include", ""))) return Processes{*listed, true};
  const Said each = or_of_environment(said_count(draft, {"nproc-per-node", "nproc_per_node"}), launch, "NPROC_PER_NODE");
  const Said nodes = or_of_environment(said_count(draft, {"nnodes"}), launch, "NNODES");
  const bool is_one_node = !nodes.stands && !launch.leaves_nodes_open;
  if (each.count && (nodes.count || is_one_node)) return Processes{*each.count * nodes.count.value_or(1), true};
  const Count of_nodes = nodes.count ? nodes.count : is_one_node ? Count(1) : launch.job.nodes;
  if (of_nodes && !each.stands)
    if (const std::optional<Processes> tasks = processes_of_tasks(launch, *of_nodes)) return tasks;
  const Count of_node = each.count ? each.count : launch.job.devices_of_node;
  if (of_nodes && of_node) return Processes{*of_nodes * *of_node};
  return each.stands || nodes.stands ? std::nullopt : processes_of_devices(launch);
}

void take_processes(Draft& draft) {
  if (draft.processes) return;
  const std::optional<Processes> started = processes_of_launch(draft);
  if (!started) return;
  draft.processes = started->count;
  draft.are_processes_certain = started->is_certain;
}

void note_other_counts(Draft& draft) {
  if (!draft.processes) return;
  const JobHead& job = draft.launch.job;
  const std::int64_t taken = *draft.processes;
  const Count of_job = job.devices_of_node ? Count(job.nodes.value_or(1) * *job.devices_of_node) : std::nullopt;
  if (of_job && *of_job != taken)
    draft.notes.push_back({"#SBATCH",
                           fmt::format("asks for {}, and the line starts {}", counted(*of_job, "device"), counted(taken, "process")),
                           "correct one of them"});
  const Count visible = visible_devices(draft.launch);
  const Said each = said_count(draft, {"nproc-per-node", "nproc_per_node"});
  if (visible && each.count && *visible < *each.count)
    draft.notes.push_back(
        {"CUDA_VISIBLE_DEVICES",
         fmt::format("has {}, and the line starts {} a node", counted(*visible, "device"), counted(*each.count, "process")),
         "correct one of them"});
}

}  // namespace sim
