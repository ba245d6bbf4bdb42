// The command line as plain values: one struct a subcommand. Filled by options.cpp, by what declared_options.h tells CLI11.
// Holds what was typed; units, files and names are judged by the rooms that own them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cli {

struct MeasureOptions {
  std::string output;
  std::vector<std::int32_t> ranks;
  std::string device = "auto";
};

struct FailureOptions {  // of devices; texts with their units, empty: not given
  std::string mean_time_between_failures, restart_time = "10 min", checkpoint_time = "30 s", repair_time;
  std::int32_t spares = 0;  // nodes held back; of plan: at most
  bool operator==(const FailureOptions&) const = default;
};

struct ObjectiveOptions {          // what plans are ranked by; what follows is of time-to-train
  std::string objective = "step";  // as planner::find_objective() takes it
  FailureOptions failures;
  double tokens = 0;                     // of the whole training; 0: steps says how long it is
  std::int64_t steps = 0;                // likewise; 0: not given
  std::string write_bandwidth{};         // of the storage that all devices save to; empty: failures.checkpoint_time is how long
  std::int64_t checkpoint_interval = 0;  // steps; 0: of each plan its best one
};

struct PlanOptions : ObjectiveOptions {
  std::string model, cluster, output;
  std::int32_t devices = 0;  // 0: as the cluster file says
  std::int64_t global_batch = 0, sequence = 0;
  std::string adapters;  // empty: everything is trained
  std::string frozen;    // likewise
  std::string samples, expert_loads;
  std::int64_t mtp_layers = 0, source_tokens = 0;
  bool mtp_apart = false;
  std::string memory_limit, risk = "5 %", gap = "1 %", budget, software, precision, optimizer = "adamw";  // budget: a duration; empty: none
  bool fp32_gradients = false;
  std::map<std::string, std::string> fixed;  // axis -> value
  std::int32_t top = 5, threads = 0;         // threads 0: all cores
  std::int64_t vocabulary_multiple = 128;
  bool runnable = false, offload = false, robust = false, fewer = false;
  std::string elastic{};          // "16..8" nodes: output is a folder of plans, one for each; empty: one plan
  double price = 0;               // of a device for an hour, in whatever currency; 0: not given
  bool why = false, all = false;  // more than one screen: what is left out; the Pareto front and every column
  std::string program;            // that shall perform the plan: a name of sim::all_programs(); empty: any
  double learning_rate = 3e-4;
  std::uint64_t seed = 1;
};

struct TrainingOptions : FailureOptions {  // of simulate --steps
  std::int64_t steps = 0;
  std::string straggler_time = "10 min";
  std::int64_t checkpoint_interval = 0;  // 0: the one that loses least
  double stragglers_per_day = 0, straggler_factor = 1.5;
  std::int32_t draws = 200;
  std::uint64_t seed = 1;
};

struct SimulateOptions {
  std::string plan, timeline, memory_snapshot, chakra;  // the last three: files to make, chakra: what their names begin with; empty: none
  bool text = false, check = false;
  std::int32_t columns = 100;
  std::string order, write_order, write_plan, ledger;  // order: CSV to take; the others: files to make; empty: none
  TrainingOptions training;
  bool every_rank = false;                                      // one device a rank instead of one a pipeline stage
  std::vector<std::string> slow_ranks, slow_links, lost_links;  // "3=1.5", "uplink 0=0.5", "uplink 0"
};

struct TokenizeOptions {
  std::vector<std::string> texts;
  std::string output, tokenizer{};  // tokenizer: empty: a token a byte
};

struct RunOptions {
  std::string plan, data, output;
  std::string weights;   // of Hugging Face, to start from; empty: initial values
  std::string fallback;  // plan for the ranks that are left after a failure; empty: the same plan
  std::int64_t steps = 0;
  std::int64_t max_restarts = 0;
  std::string device = "auto";  // what ranks compute on: auto, cpu, cuda, cuda:0
  bool deterministic = false;   // on a GPU the same bits from run to run
  bool cuda_graphs = false;     // a step's computing is captured once and replayed; the worker refuses where it cannot
  std::string launcher = "mpirun";
  bool resume = false;
  std::vector<std::string> changes;          // "learning_rate=1e-4": from the checkpoint on
  std::string token_type = "auto";           // of a token file that does not say it itself
  std::optional<std::int64_t> hang_limit{};  // seconds without any progress; 0: no limit; nothing: from the steps' own times
  bool dry_run = false;                      // shows how the ranks would be started
};

struct ExportOptions {
  std::string source, output;  // a run folder; with `to` also a plan file
  std::string to;              // the program that the plan leaves for; empty: the weights of the run
};

struct ImportOptions {
  std::string recipe, model, cluster, output, software;
  std::string recompute;                                                        // where the program's code decides; empty: none
  std::int32_t devices = 0;                                                     // 0: as the cluster file says
  std::int64_t global_batch = 0, sequence = 0, microbatch = 0, vocabulary = 0;  // 0: as the recipe says
  std::vector<std::string> given;                                               // NAME=value, of a script's variables
};

struct CheckOptions : ObjectiveOptions {
  ImportOptions subject;                                                 // its recipe: what is checked; the rest is given beside it
  std::string memory_limit, risk = "5 %", budget = "20s", why, against;  // why: memory, changes; against: an earlier one
  std::map<std::string, std::string> fixed{};                            // axis -> value: of the changes that are offered
  std::string log{};                                                     // of the job that runs it: corrects the prices first
  bool markdown = false, prices = false;
};

struct DiffOptions {
  ImportOptions given;  // beside both
  std::string before, now;
  bool markdown = false;
};

struct CompareOptions {
  std::string run, cluster;  // run: with traces a plan. cluster: priced by it instead of the plan's own; empty: the plan's
  std::string timeline;      // both steps in one file; empty: none
  std::string chakra{};      // of the measured step, a file a rank: what their names begin with; empty: none
  std::int64_t warm_up = 1;
  bool text = false;
  std::int32_t columns = 100;
  std::vector<std::string> traces{};  // of another program, of the plan's ranks
};

struct CalibrateOptions {
  std::vector<std::string> runs;
  std::string cluster, output;             // cluster: with runs, the profile to start from
  std::vector<std::string> measured = {};  // "plan.json=7.42s,61.2GiB", tables, rows
  std::vector<std::string> logs = {};      // of training programs; plans: of each, the plan that ran
  std::vector<std::string> plans = {};
  std::vector<std::string> traces = {};  // "plan.json=rank0.json.gz,rank1.json.gz"
  bool anonymous = false;                // no names in what is written
};

struct ValidateOptions {
  std::string rows, output;     // output: predictions; empty: none are written
  std::string plans{};          // folder for the plans that the rows say, a file each; empty: none are written
  std::string fit;              // folder for profiles fitted to the rows; empty: no fit
  bool leave_out_each = false;  // each source predicted with constants fitted without it
  std::int64_t given = 0;       // rows of each source that are learned from; 0: none
};

struct ClusterOptions {
  std::vector<std::string> from;  // files of the machine's tools
  std::string hardware, output;   // output: empty: none is written
  std::int32_t nodes = 1;
};

struct Invocation {
  std::variant<MeasureOptions, PlanOptions, SimulateOptions, TokenizeOptions, RunOptions, CompareOptions, CalibrateOptions, ValidateOptions,
               ExportOptions, ImportOptions, CheckOptions, DiffOptions, ClusterOptions>
      options;
  bool json = false;  // one document on stdout, everything else on stderr
};

struct ParseResult {
  bool ended = false;  // help, version or a usage error was printed: leave with exit_code
  int exit_code = 0;
  Invocation invocation;
};
ParseResult parse_command_line(int argc, const char* const* argv);

}  // namespace cli
