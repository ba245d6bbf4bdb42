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
// "gpu:8,nvme:1"
Count resources(const std::string& text) {
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
    if (part.starts_with("gpu:")) return behind_colon(part);
  return std::nullopt;
}

struct JobOption {
  std::string_view names;  // by a space
  Count JobHead::*holds;
  Count (*read)(const std::string&);
};
constexpr JobOption kJobOptions[] = {
    {"--nodes -N", &JobHead::nodes, whole_number},
    {"--gres", &JobHead::resources_of_node, resources},
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
    const Count read = row->read(is_short ? words[at].substr(2) : equals == std::string::npos ? next : words[at].substr(equals + 1));
    if (read) head.*row->holds = read;  // one that is no number leaves what is known
    if (row->holds == &JobHead::nodes) head.are_nodes_open = !read;
  }
}

// PBS: `-l select=2:ncpus=64:ngpus=4`, a chunk a node; Torque: `-l nodes=2:ppn=8:gpus=4`; `-l ngpus=8`: of the whole job.
void take_pbs(const std::string& value, JobHead& head) {
  if (value.find('+') != std::string::npos) return;  // several kinds of nodes
  std::string parts = value;
  std::ranges::replace_if(
      parts, [](char c) { return c == ':' || c == ','; }, ' ');
  const std::vector<std::string> words = words_of(parts);
  const auto is_of_nodes = [](const std::string& one) { return one.starts_with("select=") || one.starts_with("nodes="); };
  const bool are_of_node = std::ranges::any_of(words, is_of_nodes);
  for (const std::string& one : words) {
    const std::string name = one.substr(0, one.find('='));
    const Count number = whole_number(one.substr(one.find('=') + 1));
    if (is_of_nodes(one)) head.nodes = number;
    if (name == "ngpus" || name == "gpus") (are_of_node ? head.devices_of_node : head.devices) = number;
  }
}
// LSF: `-nnodes 4`, `-gpu "num=4:mode=exclusive_process"`, of each host where it does not say of each task.
void take_lsf(const std::string& option, const std::string& value, JobHead& head) {
  if (option == "-nnodes") head.nodes = whole_number(value);
  const std::size_t num = value.find("num=");
  if (option != "-gpu" || num == std::string::npos) return;
  const std::size_t end = std::min(value.find_first_not_of("0123456789", num + 4), value.size());
  (value.substr(end).starts_with("/task") ? head.devices_of_task : head.devices_of_node) =
      whole_number(value.substr(num + 4, end - num - 4));
}
void take_head_of_others(const std::string& line, JobHead& head) {
  head.mark = line.substr(0, line.find(' '));
  const std::vector<std::string> words = plain_words(line.substr(0, line.find(" #")));
  for (std::size_t at = 1; at + 1 < words.size(); ++at) {
    if (head.mark == "#PBS" && words[at] == "-l") take_pbs(words[at + 1], head);
    if (head.mark == "#BSUB") take_lsf(words[at], words[at + 1], head);
  }
}

Count product(Count a, Count b) { return a && b ? Count(*a * *b) : std::nullopt; }
Count tasks_of_job(const JobHead& job) { return job.tasks ? job.tasks : product(job.nodes, job.tasks_of_node); }

// Not said, it is one, except where Slurm spreads the tasks.
Count nodes_of_job(const JobHead& job) {
  const bool is_one = !job.nodes && !job.are_nodes_open && !job.tasks;
  return is_one ? Count(1) : job.nodes;
}

// Options of srun and mpirun that have no value behind a space.
constexpr std::string_view kFlags =
    "-l --label -u --unbuffered -K --kill-on-bad-exit -k --no-kill -Q --quiet -v --verbose -O --overcommit -s --oversubscribe --overlap "
    "--exact --exclusive --pty -E --preserve-env -X --disable-status --multi-prog --spread-job --use-min-nodes --contiguous --propagate "
    "-I --immediate -Z --no-allocate --test-only --whole --container-mount-home --no-container-mount-home --container-writable "
    "--container-readonly --container-remap-root --no-container-remap-root --container-entrypoint --no-container-entrypoint "
    "--allow-run-as-root --oversubscribe --tag-output --report-bindings --display-map";

// Of one of these starters: its own options, up to the first word that is neither one nor the value of one.
std::vector<std::string> options_of(std::string_view starters, const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  const auto begin = std::ranges::find_if(words, [&](const std::string& word) { return has_name(starters, word); });
  auto at = begin == words.end() ? begin : begin + 1;
  while (at != words.end() && at->starts_with("-")) {
    const bool is_whole = at->find('=') != std::string::npos || has_name(kFlags, *at);
    const bool has_value_in_it = is_whole || ((*at)[1] != '-' && at->size() > 2 && starters == "srun");
    ++at;
    if (!has_value_in_it && at != words.end()) ++at;
  }
  return {begin, at};
}

// Whether a command starts one of these: a whole word up to the program's file or module, whose arguments are its own.
bool starts(const std::string& command, std::string_view names) {
  const std::vector<std::string> words = words_of(command);
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (has_name(names, words[at].substr(words[at].rfind('/') + 1))) return true;
    if (words[at].ends_with(".py") || (at > 0 && words[at - 1] == "-m")) return false;
  }
  return false;
}

bool starts_by_launcher(const std::string& command) {
  return starts(command, "torchrun deepspeed accelerate torch.distributed.run torch.distributed.launch accelerate.commands.launch");
}

// `mpirun -np 16 python train.py`
Count tasks_of_mpirun(const std::string& command) {
  const std::vector<std::string> options = options_of("mpirun mpiexec", command);
  const auto found = std::ranges::find_if(options, [](const std::string& word) { return has_name("-np -n --np", word); });
  return found == options.end() || found + 1 == options.end() ? std::nullopt : whole_number(*(found + 1));
}

// A file of hosts is deepspeed's, in the command that is followed: a script may have it for other runs.
bool names_hosts(const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  const bool by_deepspeed = starts(command, "deepspeed");
  return std::ranges::any_of(words, [&](const std::string& word) {
    return word == "--hostfile" || word.starts_with("--hostfile=") || (by_deepspeed && word == "-H");
  });
}

// srun and mpirun start the same words on each of their nodes: how many these are stands in neither line.
bool leaves_nodes_open(const std::string& text, const std::string& command) {
  if (names_hosts(command)) return true;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t first = line.find_first_not_of(" \t"); first == std::string::npos || line[first] == '#') continue;
    std::ranges::replace_if(
        line, [](char c) { return std::string_view("\"'()[]{},;=/").find(c) != std::string_view::npos; }, ' ');
    const std::vector<std::string> words = words_of(line.substr(0, line.find(" #")));
    if (std::ranges::any_of(words, [](const std::string& word) { return has_name("srun mpirun mpiexec", word); })) return true;
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
Said processes_of_node(const Draft& draft) { return said_count(draft, {"nproc-per-node", "nproc_per_node"}); }

std::string environment_of(const Launch& launch, const std::string& name) {
  const auto found = launch.environment.find(name);
  return found == launch.environment.end() ? "" : found->second;
}

// Launchers that take the line's counts from the environment: ms-swift's two and LLaMA-Factory's.
Said or_of_environment(const Said& said, const Launch& launch, const std::string& name) {
  const bool takes = starts(launch.command, "swift megatron llamafactory-cli");
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
std::optional<Processes> processes_of_tasks(const Launch& launch) {
  if (starts_by_launcher(launch.command)) return std::nullopt;
  if (const Count of_line = tasks_of_mpirun(launch.command)) return Processes{*of_line, true};
  const Count of_job = starts(launch.command, "srun mpirun mpiexec") ? tasks_of_job(launch.job) : std::nullopt;
  return of_job ? std::optional(Processes{*of_job}) : std::nullopt;
}

// torchrun starts one process of a node by itself. What stands open in front of its program may say another number.
std::optional<Processes> processes_by_itself(const Launch& launch, Count nodes) {
  const bool is_torchrun = starts(launch.command, "torchrun torch.distributed.run torch.distributed.launch");
  const std::string front = launch.command.substr(0, launch.command.find(".py"));
  const bool is_open = !unknowns_in(front).empty() || launch.environment.contains("PET_NPROC_PER_NODE") || !nodes;
  return is_torchrun && !is_open ? std::optional(Processes{*nodes}) : std::nullopt;
}

// Each device that the command sees, where its launcher starts one process for each.
std::optional<Processes> processes_of_devices(const Launch& launch) {
  const bool starts_all = starts(launch.command, "llamafactory-cli deepspeed accelerate accelerate.commands.launch fairseq-train");
  const Count visible = visible_devices(launch);
  return visible && starts_all ? std::optional(Processes{*visible}) : std::nullopt;
}

// A variable of the head that a script uses: what it comes to is the head's, not the line's own.
std::string filled_in_from(const JobHead& head, const std::string& script, const Texts& given) {
  for (const auto& [name, value] : variables_of_job(head))
    if (!given.contains(name) && (script.find("$" + name) != std::string::npos || script.find("${" + name) != std::string::npos))
      return name;
  return "";
}

}  // namespace

std::optional<std::int64_t> devices_of_job(const JobHead& job) {
  if (const Count of_nodes = product(nodes_of_job(job), job.devices_of_node ? job.devices_of_node : job.resources_of_node)) return of_nodes;
  return job.devices ? job.devices : product(tasks_of_job(job), job.devices_of_task);
}

std::optional<std::int64_t> devices_of_node(const JobHead& job) {
  if (job.devices_of_node) return job.devices_of_node;
  if (job.resources_of_node) return job.resources_of_node;
  const Count nodes = nodes_of_job(job), all = devices_of_job(job);
  if (nodes && all) return *all % *nodes == 0 ? Count(*all / *nodes) : std::nullopt;
  return product(job.devices_of_task, job.tasks_of_node ? job.tasks_of_node : Count(1));
}

std::string lines_of_head(const std::string& script) {
  std::istringstream lines(script);
  std::string head;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string::npos && line[first] != '#') break;
    if (line.starts_with("#SBATCH ") || line.starts_with("#PBS ") || line.starts_with("#BSUB ")) head += line + "\n";
  }
  return head;
}

JobHead job_head(const std::string& script) {
  JobHead head;
  std::istringstream lines(lines_of_head(script));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#SBATCH"))
      take_options(words_of(line.substr(7, line.find(" #", 7) - 7)), head);
    else
      take_head_of_others(line, head);
  return head;
}

Texts variables_of_job(const JobHead& job) {
  if (job.mark != "#SBATCH") return {};
  Texts variables;
  const auto set = [&](std::initializer_list<const char*> names, Count count) {
    for (const char* const name : names)
      if (count) variables[name] = std::to_string(*count);
  };
  set({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, job.nodes);
  set({"SLURM_GPUS_ON_NODE"}, devices_of_node(job));
  set({"SLURM_GPUS_PER_NODE"}, job.devices_of_node);
  set({"SLURM_NTASKS_PER_NODE"}, job.tasks_of_node);
  set({"SLURM_NTASKS", "SLURM_NPROCS"}, tasks_of_job(job));
  return variables;
}

Launch launch_of(const std::string& script, const RecipeReading& reading, const Texts& given) {
  const JobHead head = job_head(reading.head.empty() ? script : reading.head);
  Launch launch{head, reading.environment, reading.command, leaves_nodes_open(script, reading.command),
                filled_in_from(head, script, given)};
  take_options(options_of("srun", reading.command), launch.job);
  return launch;
}

std::string started_by_srun(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  const auto begin = static_cast<std::size_t>(std::ranges::find(words, "srun") - words.begin());
  const std::size_t end = begin + options_of("srun", line).size();
  return begin < words.size() && end < words.size() ? words[end] : "";
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
  const Said each = or_of_environment(processes_of_node(draft), launch, "NPROC_PER_NODE");
  const Said nodes = or_of_environment(said_count(draft, {"nnodes"}), launch, "NNODES");
  const bool is_one_node = !nodes.stands && !launch.leaves_nodes_open;
  if (each.count && (nodes.count || is_one_node)) return Processes{*each.count * nodes.count.value_or(1), true};
  const Count of_nodes = nodes.count ? nodes.count : is_one_node ? Count(1) : launch.job.nodes;
  if (!each.stands && nodes.count && starts(launch.command, "swift megatron")) return Processes{*nodes.count};  // by torchrun, one a node
  if (!each.stands && !nodes.stands)
    if (const std::optional<Processes> tasks = processes_of_tasks(launch)) return tasks;
  const Count of_node = each.count ? each.count : devices_of_node(launch.job);
  if (of_nodes && of_node) return Processes{*of_nodes * *of_node};
  if (!each.stands && launch.job.mark == "#SBATCH")
    if (const std::optional<Processes> own = processes_by_itself(launch, of_nodes)) return own;
  return each.stands || nodes.stands ? std::nullopt : processes_of_devices(launch);
}

void take_processes(Draft& draft) {
  if (draft.processes) return;
  const std::optional<Processes> started = processes_of_launch(draft);
  if (!started) return;
  draft.processes = started->count;
  draft.are_processes_certain = started->is_certain;
}

bool starts_one_process(const Draft& draft) {
  const Launch& launch = draft.launch;
  if (starts_by_launcher(launch.command) || starts(launch.command, "srun mpirun mpiexec")) return false;
  if (starts(launch.command, "swift"))
    return !or_of_environment(processes_of_node(draft), launch, "NPROC_PER_NODE").stands &&
           !or_of_environment(said_count(draft, {"nnodes"}), launch, "NNODES").stands;
  return starts(launch.command, "python python3");
}

bool starts_strangers(const Draft& draft) {
  const Launch& launch = draft.launch;
  const bool by_container = launch.command.find("--container-image") != std::string::npos;  // whose hook sets ranks
  return starts(launch.command, "srun") && starts(launch.command, "python python3") && !starts_by_launcher(launch.command) &&
         !by_container && !launch.environment.contains("LOCAL_RANK");
}

void tell_of_one_rank(Draft& draft) {
  const bool is_open = !unknowns_in(draft.launch.command).empty() || draft.launch.environment.contains("RANK");
  if (draft.plan.cluster.devices == 1 || is_open || !(starts_one_process(draft) || starts_strangers(draft))) return;
  draft.lost.push_back({"",
                        fmt::format("nothing in the text starts more than one process, which has one device; the plan has {}",
                                    counted(draft.plan.cluster.devices, "device")),
                        "start it by torchrun, or import it with --devices 1"});
}

// Of a starter that is not known here, how many processes it makes is not, either: a node has the devices that it shows.
void tell_of_fewer_devices(Draft& draft) {
  const Count visible = visible_devices(draft.launch);
  if (!visible || *visible >= draft.plan.cluster.devices_per_host() || starts_one_process(draft)) return;
  draft.lost.push_back(
      {"CUDA_VISIBLE_DEVICES",
       fmt::format("shows {} of a node; the plan has {} there", counted(*visible, "device"), draft.plan.cluster.devices_per_host()),
       fmt::format("import it with --devices {}, where it is one node", *visible)});
}

void note_other_counts(Draft& draft) {
  if (!draft.processes) return tell_of_fewer_devices(draft);
  const std::int64_t taken = *draft.processes;
  const Count of_job = devices_of_job(draft.launch.job);
  if (of_job && *of_job != taken)
    draft.notes.push_back({draft.launch.job.mark,
                           fmt::format("asks for {}, and the line starts {}", counted(*of_job, "device"), counted(taken, "process")),
                           "correct one of them"});
  const Count visible = visible_devices(draft.launch);
  const Said each = processes_of_node(draft), all = said_count(draft, {"num_processes", "launch.num_processes"});
  const std::int64_t machines = said_count(draft, {"num_machines", "launch.num_machines"}).count.value_or(1);
  const Count of_node = each.count ? each.count : all.count ? Count(*all.count / std::max<std::int64_t>(1, machines)) : std::nullopt;
  if (visible && of_node && *visible < *of_node)
    draft.notes.push_back({"CUDA_VISIBLE_DEVICES",
                           fmt::format("has {}, and the line starts {} a node", counted(*visible, "device"), counted(*of_node, "process")),
                           "correct one of them"});
  const Count started_of_node = of_node ? of_node : devices_of_node(draft.launch.job);
  const std::int64_t of_host = draft.plan.cluster.devices_per_host();
  if (started_of_node && *started_of_node > 0 && *started_of_node < std::min(of_host, taken))
    draft.notes.push_back({"--cluster",
                           fmt::format("has {} a node, and the recipe starts {}: its ranks stand further apart than the plan's",
                                       counted(of_host, "device"), counted(*started_of_node, "process")),
                           "give a cluster with as many a node"});
}

}  // namespace sim
