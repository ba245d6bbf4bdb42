// How many processes a recipe starts, by whoever says so: the line, what stands in front of it, or the head of the job that Slurm is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/recipe/settings.h"

namespace sim {

struct Draft;

// What the head of a job asks for: `#SBATCH` lines and srun's own options in a command, `#PBS` or `#BSUB` lines. None: not said, or not as a number.
struct JobHead {
  std::optional<std::int64_t> nodes, resources_of_node, devices_of_node, devices_of_task, devices, tasks_of_node, tasks;
  bool are_nodes_open = false;  // --nodes=2-4
  std::string mark = "#SBATCH";
};
std::optional<std::int64_t> devices_of_node(const JobHead& job);  // whoever says them: of a node, of a task, or all
std::optional<std::int64_t> devices_of_job(const JobHead& job);

struct Launch {
  JobHead job;
  Texts environment;  // of the command: which devices it sees, what its launcher takes from there
  std::string command;
  bool leaves_nodes_open = false;  // srun, mpirun or a file of hosts has them, where no option says a number
  std::string filled_in;           // a variable of the script that the job's head sets; "": none
};

std::string lines_of_head(const std::string& script);  // before the first command
JobHead job_head(const std::string& script);
Texts variables_of_job(const JobHead& job);  // as Slurm sets them: SLURM_NNODES and its likes
Launch launch_of(const std::string& script, const RecipeReading& reading, const Texts& given);

// Behind srun's own options: what it starts. "": the line is none of srun.
std::string started_by_srun(const std::string& line);

// Of a list "0,1,2": how many. None: no list of numbers.
std::optional<std::int64_t> visible_devices(const Launch& launch);

// What a line starts. `is_certain`: the line itself says both, processes of a node and nodes; otherwise the job's head says one of them, or the
// devices that the command sees do.
struct Processes {
  std::int64_t count = 0;
  bool is_certain = false;
};
std::optional<Processes> processes_of_launch(const Draft& draft);
void take_processes(Draft& draft);            // where the draft has none
bool starts_strangers(const Draft& draft);    // `srun python train.py`: nothing in the text gives each its rank
void tell_of_one_rank(Draft& draft);          // of a program that has one device a process
bool starts_one_process(const Draft& draft);  // `python train.py`, `swift sft` without a number of processes

// Another number than the one that is taken: the job's head, or the devices that the command sees.
void note_other_counts(Draft& draft);

}  // namespace sim
