#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <span>

#include "cli/describe.h"
#include "cli/exit_code.h"
#include "cli/report.h"
#include "cli/version.h"
#include "planner/axis_words.h"
#include "planner/plan_candidate.h"
#include "sim/plan/parallel_plan.h"
#include "sim/recipe/recipe.h"
#include "sim/units/near_name.h"

namespace cli {
namespace {

constexpr const char *kRelease = "meshwright " MESHWRIGHT_VERSION, *kParts = MESHWRIGHT_PARTS, *kCompiler = MESHWRIGHT_COMPILER;

constexpr std::int64_t kAny = INT32_MAX;

// A whole number; CLI11 judges by doubles, and tells them all.
CLI::Validator between(std::int64_t least, std::int64_t most) {
  const bool has_end = most < kAny;
  const std::string range = has_end ? "from " + grouped(least) + " to " + grouped(most) : "of at least " + grouped(least);
  const auto judge = [=](std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc{} && end == text.data() + text.size();
    if (is_whole && number >= least && number <= most) return "";
    return is_whole && number > most ? "'" + text + "' is above " + grouped(most) : "'" + text + "' is no whole number " + range;
  };
  return CLI::Validator(judge, "", "").description(has_end ? grouped(least) + " to " + grouped(most) : "");
}
CLI::Validator up_to(std::int64_t most) { return between(1, most); }  // what is written can be read again

CLI::Validator one_of(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  const auto judge = [=](std::string& text) -> std::string {
    if (std::find(names.begin(), names.end(), text) != names.end()) return "";
    const std::string near = sim::near_name_remedy(text, names, "");
    return "'" + text + "' is none of " + all + (near.empty() ? "" : "; " + near);
  };
  return CLI::Validator(judge, "", "").description("{" + all + "}");
}

// CLI11 leaves a subcommand's values where its options point: one place for all of them, of which one is used.
struct Values {
  MeasureOptions measure{.output = {}, .ranks = {1, 2, 4}};
  PlanOptions plan;
  SimulateOptions simulate;
  TokenizeOptions tokenize;
  RunOptions run;
  CompareOptions compare;
  CalibrateOptions calibrate;
  ValidateOptions validate;
  ExportOptions exported;
  ImportOptions imported;
  CheckOptions check;
  DiffOptions diff;
  ClusterOptions cluster;
  std::vector<std::string> fixed;
  bool json = false;
};

CLI::App* add_command(CLI::App& app, Values& values, const std::string& name, const std::string& what, const std::string& example) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("Example:\n  " + example);
  command->add_flag("--json", values.json, "One JSON document on stdout; everything else goes to stderr");
  return command;
}

CLI::Option* add_output(CLI::App* command, std::string& output, const std::string& what) {
  return command->add_option("-o,--output", output, what)->required();
}

void declare_measure(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "measure", "Measure this machine: kernels, memory, collectives -> a hardware profile",
                                  "meshwright measure -o this_machine.json --ranks 1,2,4");
  add_output(command, values.measure.output, "Hardware profile to write");
  command->add_option("--device", values.measure.device, "auto (the CPU), cuda, cuda:0; a GPU with --ranks 1")->capture_default_str();
  command->add_option("--ranks", values.measure.ranks, "How many ranks measure at once, one run each")
      ->delimiter(',')
      ->check(between(1, 256));
}

void declare_plan_request(CLI::App* command, PlanOptions& plan) {
  command->add_option("--model", plan.model, "Hugging Face config.json, its folder, or a name in profiles/models")->required();
  command->add_option("--cluster", plan.cluster, "Cluster file, or hardware profile (file, or name in profiles/hardware)")->required();
  command->add_option("--devices,--gpus", plan.devices, "Number of devices, with a hardware profile")->check(between(1, kAny));
  command->add_option("--global-batch", plan.global_batch, "Samples a step")->required()->check(up_to(sim::kMostSamples));
  command->add_option("--sequence", plan.sequence, "Tokens a sample")->required()->check(up_to(sim::kMostTokens));
  command->add_option("--samples", plan.samples, "Documents in them: \"packed lognormal mean 800 spread 1.2\"; default: one fills each");
  command->add_option("--memory-limit", plan.memory_limit, "Memory a device may use, with its unit: \"80 GiB\"");
  command->add_option("--software", plan.software,
                      "What runs on the GPUs: a profile in profiles/software, or a file; default: meshwright, our own worker");
  command->add_option("--precision", plan.precision,
                      "fp64, fp32, tf32, bf16 or fp16, and what is kept otherwise: \"bf16 gradients=fp32 wire=bf16 moments=bf16\" "
                      "(wire=int8, int4, fp8 or powersgd:4, gathers=int8: encoded); default: bf16 on GPUs, fp32 on CPUs");
  command->add_flag("--fp32-gradients", plan.fp32_gradients, "Short for gradients=fp32 behind the precision");
  command->add_option("--optimizer", plan.optimizer, "adamw, sgd, lamb, lars, rmsprop, muon, adamw_8bit or adafactor")
      ->capture_default_str();
  command->add_option("--adapters", plan.adapters, "Low-rank pairs are trained beside frozen weights: \"rank 16 on q,k,v,o base nf4\"");
  command->add_option("--mtp-layers", plan.mtp_layers, "Blocks in front of the head that predict further tokens")
      ->check(between(0, 16))
      ->capture_default_str();
  command->add_option("--source-tokens", plan.source_tokens, "Of a sample: an encoder's; 0: half")->check(between(0, sim::kMostTokens));
  command->add_option("--vocabulary-multiple", plan.vocabulary_multiple, "The vocabulary is padded up to a multiple of this")
      ->check(up_to(sim::kMostVocabularyMultiple))
      ->capture_default_str();
}

void declare_training(CLI::App* command, PlanOptions& plan) {
  command->add_option("--learning-rate", plan.learning_rate, "Stands in the plan's training block")->capture_default_str();
  command->add_option("--checkpoint-interval", plan.checkpoint_interval, "Steps between checkpoints; 0: at the end only")
      ->check(between(0, sim::kMostSteps))
      ->capture_default_str();
  command->add_option("--seed", plan.seed, "Of initial weights, sample order and dropout")
      ->check(between(0, sim::kLargestSeed))
      ->capture_default_str();
}

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const sim::Program* program : sim::all_programs()) names.emplace_back(program->name);
  return names;
}

void declare_plan(CLI::App& app, Values& values) {
  CLI::App* command =
      add_command(app, values, "plan", "Find the fastest plan that fits, and say why the others lost",
                  "meshwright plan --model config.json --cluster h100-80gb-sxm --devices 64 --global-batch 512 --sequence 2048 "
                  "--fix tensor=4 -o plan.json");
  declare_plan_request(command, values.plan);
  command
      ->add_option("--fix", values.fixed,
                   "axis=value or what people say (tp=8, dp_shard=16, 1F1B, zero3), repeated: " + planner::axis_names())
      ->expected(1)
      ->take_all();
  command->add_option("--risk", values.plan.risk, "Chance to run out of memory up to which a plan competes")->capture_default_str();
  command->add_option("--top", values.plan.top, "How many plans to show")->check(between(1, kAny))->capture_default_str();
  command->add_option("--gap", values.plan.gap, "The search ends when its plans are proven to be within it of what there is; 0 %: exact")
      ->capture_default_str();
  command->add_option("--budget", values.plan.budget, "Ends the search after that time, as Ctrl-C does: with what is found and its gap");
  command->add_option("--threads", values.plan.threads, "That search, to the same result; default: all cores")->check(between(1, kAny));
  command->add_flag("--robust", values.plan.robust, "Rank by the time that nine of ten steps stay below, not by the step predicted");
  command->add_flag("--fewer", values.plan.fewer, "Fewer devices compete, too: 3/4, 1/2, 3/8 ... of them, in whole nodes");
  command->add_option("--elastic", values.plan.elastic,
                      "A plan for each number of nodes, 16..8, of one training, into the folder -o: for run --fallback");
  CLI::Option* by = command->add_option("--objective", values.plan.objective, "Rank by the time of a step, or by its cost in device time");
  by->check(one_of({std::begin(planner::kObjectiveNames), std::end(planner::kObjectiveNames)}))->capture_default_str();
  CLI::Option* price = command->add_option("--price", values.plan.price, "Of a device for an hour: shows what a billion tokens cost");
  price->check(CLI::NonNegativeNumber);
  command->add_flag("--runnable", values.plan.runnable, "Only plans that meshwright-worker performs today");
  command->add_option("--for", values.plan.program, "Only plans that this program can perform: as export --to")
      ->check(one_of(program_names()));
  command->add_flag("--offload", values.plan.offload,
                    "Plans with states or inputs of blocks on the host compete; else where no other fits");
  declare_training(command, values.plan);
  command->add_flag("--why", values.plan.why, "Also what was left out, with the reason and what would help");
  command->add_flag("--all", values.plan.all, "Also the Pareto front, proven as the best plans are, every column, and the proof");
  command->add_option("-o,--output", values.plan.output, "Plan file to write: the best one");
}

// Beyond a step: how long a training takes on machines that fail. Its rates mean nothing without --steps.
void declare_training_run(CLI::App* command, TrainingOptions& training) {
  CLI::Option* steps =
      command
          ->add_option("--steps", training.steps,
                       "Draw whole trainings of that many steps from the rates below: time to train, goodput, with interval")
          ->check(up_to(sim::kMostSteps));
  for (CLI::Option* option :
       {command->add_option(
            "--mtbf", training.mean_time_between_failures,
            "Mean time between failures of one device, as \"5.8 y\" (Llama 3: 419 in 54 days on 16,384 GPUs); default: none fails"),
        command->add_option("--restart-time", training.restart_time, "From a failure to the first step after it")->capture_default_str(),
        command->add_option("--checkpoint-time", training.checkpoint_time, "How long a checkpoint holds the step up")
            ->capture_default_str(),
        command
            ->add_option("--checkpoint-every", training.checkpoint_interval,
                         "Steps between checkpoints; default: the interval that loses least")
            ->check(up_to(sim::kMostSteps)),
        command->add_option("--stragglers", training.stragglers_per_day, "How often a day a device becomes slow")->capture_default_str(),
        command->add_option("--straggler-time", training.straggler_time, "How long it stays so, on average")->capture_default_str(),
        command->add_option("--straggler-factor", training.straggler_factor, "How many times as long it computes")->capture_default_str(),
        command->add_option("--draws", training.draws, "How many trainings are drawn")->check(between(1, 100000))->capture_default_str(),
        command->add_option("--seed", training.seed, "Of the draws")->capture_default_str()})
    option->needs(steps);
}

void declare_simulate(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "simulate", "Simulate one step of a plan: time, utilization, bubble, memory",
                                  "meshwright simulate plan.json --text --timeline timeline.json");
  command->add_option("plan", values.simulate.plan, "Plan file")->required();
  command->add_option("--timeline", values.simulate.timeline,
                      "Trace to write, with flows and counters, for ui.perfetto.dev: .perfetto-trace (any size), else Chrome JSON");
  command->add_option("--chakra", values.simulate.chakra, "Chakra execution traces, a file a rank: NAME.0.et, ..., with NAME.groups.json");
  command->add_option("--memory-snapshot", values.simulate.memory_snapshot,
                      "The planned memory as a PyTorch memory snapshot (.pickle) to write; opens in pytorch.org/memory_viz");
  command->add_flag("--text", values.simulate.text, "Draw the timeline");
  command->add_option("--columns", values.simulate.columns, "Width of the drawing")->check(between(20, 1000))->capture_default_str();
  command->add_flag("--check", values.simulate.check, "Let the independent checkers judge the graph and the timeline");
  command->add_option("--order", values.simulate.order,
                      "Take the pipeline's order from this CSV (one row a rank, cells like 0F0, 1I2, 1W2)");
  command->add_option("--write-order", values.simulate.write_order,
                      "CSV to write: the pipeline's order, as torch.distributed.pipelining reads it");
  command->add_option("--ledger", values.simulate.ledger,
                      "CSV to write: every collective and transfer of each stage's first rank, in issue order, with its ranks and bytes");
  command->add_option("--write-plan", values.simulate.write_plan, "Plan file to write, with the order and predictions of this simulation");
  command->add_flag("--every-rank", values.simulate.every_rank,
                    "Simulate each rank by itself; ranks that do the same are folded otherwise, with the same result");
  command->add_option("--slow-rank", values.simulate.slow_ranks, "rank=factor, repeated: that rank computes factor times as long");
  command->add_option("--slow-link", values.simulate.slow_links,
                      "link=share, repeated: \"port 3=0.5\" of a device, \"uplink 0=0.5\" of a node; what is left of it");
  command->add_option("--lost-link", values.simulate.lost_links, "link, repeated: one lane of \"port 3\" or \"uplink 0\" is gone");
  declare_training_run(command, values.simulate.training);
}

void declare_tokenize(CLI::App& app, Values& values) {
  CLI::App* command = add_command(
      app, values, "tokenize", "Text files -> tokens, by a tokenizer.json or a byte each",
      "meshwright tokenize README.md LICENSE -o tokens.bin\n  meshwright tokenize text.txt --tokenizer model/tokenizer.json -o tokens.bin");
  command->add_option("text", values.tokenize.texts, "Text files, joined in this order")->required();
  command->add_option("--tokenizer", values.tokenize.tokenizer,
                      "tokenizer.json of Hugging Face (byte-pair or unigram); default: a token a byte. Special tokens are not added");
  add_output(command, values.tokenize.output,
             "Token file to write: uint16 without a header, or uint32 behind one where 16 bits are too few");
}

void declare_run(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "run", "Train by a plan on this machine: one process a rank",
                                  "meshwright run plan.json --data tokens.bin --steps 20 -o run/");
  command->add_option("plan", values.run.plan, "Plan file")->required();
  command->add_option("--data", values.run.data, "Token file (see tokenize)")->required();
  command->add_option("--steps", values.run.steps, "Train up to this step")->required()->check(between(1, kAny));
  CLI::Option* resume = command->add_flag("--resume", values.run.resume,
                                          "Go on from the last checkpoint of the run folder, also under a plan of another layout");
  command
      ->add_option("--change", values.run.changes,
                   "With --resume: a setting of the training that is another from the checkpoint on, as learning_rate=1e-4; also "
                   "minimum_learning_rate, warmup_steps, decay_steps, weight_decay, gradient_clip, global_batch")
      ->needs(resume);
  command->add_option("--token-type", values.run.token_type, "What the token file holds, where it does not say so itself: uint16, uint32")
      ->check(one_of({"auto", "uint16", "uint32"}))
      ->capture_default_str();
  command
      ->add_option(
          "--hang-limit", values.run.hang_limit,
          "Seconds without any progress of any rank after which the run is ended; 0: never; default: 60, or 20 steps if that is more")
      ->check(between(0, kAny));
  command->add_option("--weights", values.run.weights, "Hugging Face safetensors (file or folder) to start from")->excludes(resume);
  CLI::Option* restarts = command
                              ->add_option("--max-restarts", values.run.max_restarts,
                                           "After a rank failed, start again from the last checkpoint, so many times")
                              ->check(between(0, kAny))
                              ->capture_default_str();
  command->add_option("--fallback", values.run.fallback, "Plan of the same training for the ranks that are left, used by a restart")
      ->needs(restarts);
  command->add_option("--device", values.run.device, "What ranks compute on: auto (as the plan says), cpu, cuda, cuda:0")
      ->capture_default_str();
  command->add_flag("--cuda-graphs", values.run.cuda_graphs,
                    "On a GPU capture a step's computing once and replay it; its tasks are traced in the first steps only");
  command->add_flag("--deterministic", values.run.deterministic,
                    "On a GPU the same bits from run to run, by slower operators; a CPU has them anyway");
  command->add_option("--launcher", values.run.launcher, "What starts the ranks: mpirun; srun and torchrun with --dry-run")
      ->capture_default_str();
  command->add_flag("--dry-run", values.run.dry_run, "Show the command or script that starts the ranks, and start nothing");
  add_output(command, values.run.output, "Run folder: plan, versions, traces, metrics, checkpoints");
}

void declare_compare(CLI::App& app, Values& values) {
  CLI::App* command =
      add_command(app, values, "compare", "Simulated against measured: step, task kinds, stages, memory", "meshwright compare run/");
  command->add_option("run", values.compare.run, "Run folder")->required();
  command->add_option("--cluster", values.compare.cluster, "Simulate with this profile (a calibrated one) in place of the plan's");
  command->add_flag("--text", values.compare.text, "Draw both timelines");
  command->add_option("--timeline", values.compare.timeline,
                      "Trace to write with both, rank by rank, the measured step the median one: .perfetto-trace, else Chrome JSON");
  command->add_option("--chakra", values.compare.chakra, "Chakra execution traces of the measured step: NAME.0.et, ..., NAME.groups.json");
  command->add_option("--columns", values.compare.columns, "Width of the drawings")->check(between(20, 1000))->capture_default_str();
  command->add_option("--warm-up", values.compare.warm_up, "First steps that are left out")->check(between(0, kAny))->capture_default_str();
}

void declare_calibrate(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "calibrate", "Measured runs, of whatever program -> a profile that predicts them",
                                  "meshwright calibrate --measured plan.json=7.42s,61.2GiB -o mine.json\n"
                                  "  meshwright calibrate --log train.log --plan plan.json -o mine.json\n"
                                  "  meshwright calibrate run/ --cluster this_machine.json -o calibrated.json");
  CalibrateOptions& calibrate = values.calibrate;
  CLI::Option* runs = command->add_option("runs", calibrate.runs, "Run folders of our own worker");
  CLI::Option* cluster =
      command->add_option("--cluster", calibrate.cluster, "With run folders: hardware profile or cluster file to start from");
  runs->needs(cluster);
  cluster->needs(runs);
  command
      ->add_option("--measured", calibrate.measured,
                   "What a plan took, repeated: plan.json=7.42s,61.2GiB or plan.json=41000 tokens/s; or a table (.csv), or rows (.json)")
      ->excludes(runs);
  CLI::Option* log =
      command->add_option("--log", calibrate.logs, "Log of Megatron-LM, NeMo, DeepSpeed, nanotron, torchtitan or Accelerate, repeated")
          ->excludes(runs);
  log->needs(command->add_option("--plan", calibrate.plans, "The plan that a --log is of, in the same order"));
  command->add_flag("--anonymous", calibrate.anonymous, "Leave no names of machines, files or programs in the profile")->excludes(runs);
  add_output(command, calibrate.output, "Profile to write: of the hardware from run folders, else a cluster file for plan --cluster");
}

void declare_validate(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "validate", "Published measured runs: predict each of them and score the predictions",
                                  "meshwright validate rows.json --out predictions.json");
  command->add_option("rows", values.validate.rows, "Rows of published runs")->required();
  command->add_option("-o,--out", values.validate.output, "Predictions to write");
  CLI::Option* plans = command->add_option("--plans", values.validate.plans,
                                           "Folder to write the plan of each row to whose network a plan file has words for");
  CLI::Option* fit = command->add_option("--fit", values.validate.fit, "Fit constants to the rows; write the profiles into this folder");
  command->add_flag("--leave-out-each", values.validate.leave_out_each, "Score each source with constants fitted without it")
      ->excludes(fit, plans);
  command
      ->add_option("--given", values.validate.given,
                   "Learn from so many rows of each source, drawn with a seed, and score the predictions of its others")
      ->check(between(1, 100))
      ->excludes(fit, plans);
}

std::string table_of_programs() {
  std::string text = "Programs:";
  for (const sim::Program* program : sim::all_programs())
    text += "\n  " + std::string(program->name) + ": " + std::string(program->title) + " " + std::string(program->version) + ", " +
            std::string(program->file);
  return text;
}

void declare_export(CLI::App& app, Values& values) {
  CLI::App* command = add_command(
      app, values, "export",
      "A plan -> the configuration of another program (--to); or a run's newest checkpoint -> Hugging Face's safetensors and config.json",
      "meshwright export plan.json --to megatron -o recipe/\n  meshwright export run/ -o model/\n" + table_of_programs());
  command->add_option("source", values.exported.source, "Plan file with --to, or run folder")->required();
  command
      ->add_option("--to", values.exported.to, "Program that the plan is for; what it cannot say is an error, what is left to it is told")
      ->check(one_of(program_names()));
  add_output(command, values.exported.output, "Folder to write");
}

// What a configuration may not hold. Returns the cluster.
CLI::Option* declare_beside(CLI::App* command, ImportOptions& import) {
  command->add_option("--model", import.model,
                      "Hugging Face config.json of the network (or its folder, or a name in profiles/models), where the file does not say "
                      "it; compared where it does");
  CLI::Option* cluster =
      command->add_option("--cluster", import.cluster, "Cluster file, or hardware profile (file, or name in profiles/hardware)");
  command->add_option("--devices,--gpus", import.devices, "Number of devices, with a hardware profile")->check(between(1, kAny));
  command->add_option("--software", import.software,
                      "What runs on the GPUs: a profile in profiles/software, or a file; default: the cluster's, else the program's own");
  command->add_option("--recompute", import.recompute, "What the program's code recomputes, where the file does not say")
      ->check(one_of(std::vector<std::string>(std::begin(sim::kRecomputeNames), std::end(sim::kRecomputeNames))));
  command->add_option("--global-batch", import.global_batch, "Samples a step, where the file does not say")
      ->check(up_to(sim::kMostSamples));
  command->add_option("--sequence", import.sequence, "Tokens a sample, where the file does not say")->check(up_to(sim::kMostTokens));
  command->add_option("--vocabulary", import.vocabulary, "Tokens of the tokenizer, where neither the file nor --model says it")
      ->check(up_to(sim::kMostTokens));
  command
      ->add_option("--set", import.given,
                   "NAME=value: a variable of the script that its text leaves open, or another value of it; 1=value: its first argument")
      ->type_name("NAME=VALUE");
  command->add_option("--microbatch", import.microbatch, "Samples a microbatch, where the file does not say")
      ->check(up_to(sim::kMostSamples));
  return cluster;
}

void declare_import(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "import",
                                  "A recipe of Megatron-LM, Megatron-Bridge, NeMo 2, DeepSpeed, Accelerate, torchtitan, nanotron, fairseq, "
                                  "Lightning, GPT-NeoX, the Trainer of Transformers (TRL, LLaMA-Factory, Axolotl) -> a plan",
                                  "meshwright import pretrain.sh --model config.json --cluster h100-80gb-sxm --devices 64 -o plan.json");
  command->add_option("recipe", values.imported.recipe, "Launch script or arguments, JSON, YAML, Python recipe or TOML")->required();
  declare_beside(command, values.imported)->required();
  add_output(command, values.imported.output, "Plan file to write");
}

void declare_check(CLI::App& app, Values& values) {
  CLI::App* command = add_command(
      app, values, "check",
      "One screen about a plan or a program's configuration: does it fit, what it costs, what holds it back, which lines to change. Exit "
      "code "
      "0, or 10 when it does not fit",
      "meshwright check pretrain.sh --cluster h100-80gb-sxm --devices 64\n  meshwright check plan.json --markdown --against before.json");
  CheckOptions& check = values.check;
  command->add_option("subject", check.subject.recipe, "Plan file, run folder, or file or folder that import reads")->required();
  declare_beside(command, check.subject);
  command->add_option("--memory-limit", check.memory_limit, "Memory a device may use, with its unit: \"80 GiB\"");
  command->add_option("--risk", check.risk, "Chance to run out of memory up to which a change is offered")->capture_default_str();
  command->add_option("--budget", check.budget, "Ends the search for the best plan after that time, with its gap; as Ctrl-C")
      ->capture_default_str();
  command->add_flag("--prices", check.prices,
                    "Also what more memory, network, devices or batch would give: each question is searched anew, --budget each");
  command->add_option("--why", check.why, "memory: what the fullest rank holds at its peak, to the tensor")->check(one_of({"memory"}));
  command->add_option("--log", check.log,
                      "Log of the job that runs it, of a program that calibrate --log reads: corrects the prices first");
  command->add_option("--against", check.against, "An earlier one (anything that check reads, or its --json): what changed since");
  command->add_flag("--markdown", check.markdown, "As Markdown, to post");
}

void declare_diff(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "diff", "Two plans or configurations: settings that differ, time and memory by cause",
                                  "meshwright diff before.json after.json");
  command->add_option("before", values.diff.before, "Plan file, run folder, or file or folder that import reads")->required();
  command->add_option("now", values.diff.now, "Likewise")->required();
  declare_beside(command, values.diff.given);
  command->add_flag("--markdown", values.diff.markdown, "As Markdown, to post");
}

void declare_cluster(CLI::App& app, Values& values) {
  ClusterOptions& cluster = values.cluster;
  CLI::App* command = add_command(app, values, "cluster", "What a machine's tools print -> a cluster file",
                                  "meshwright cluster --from topo.txt --from nccl.xml --hardware h100-80gb-sxm --nodes 16 -o cluster.json");
  command
      ->add_option("--from", cluster.from,
                   "What nvidia-smi topo -m, NCCL_TOPO_DUMP_FILE, nccl-tests, ibstat or lspci wrote; several add up")
      ->required();
  command->add_option("--hardware", cluster.hardware, "Hardware profile of the device, a file or a name")->required();
  command->add_option("--nodes", cluster.nodes, "Equal nodes")->check(up_to(1 << 20));
  command->add_option("-o,--out", cluster.output, "The cluster file");
}

void split_fixed(Values& values) {
  std::vector<planner::Argument> axes;
  for (const std::string& text : values.fixed) {
    const std::vector<planner::Argument> said = planner::axes_said(text);
    if (said.empty())
      throw CLI::ValidationError("--fix",
                                 "'" + text + "' is not axis=value, for example tensor=4 (or tp=4), and no word like 1F1B or zero3");
    for (const planner::Argument& one : said)
      if (std::find(axes.begin(), axes.end(), one) == axes.end()) axes.push_back(one);
  }
  planner::settle_shards(axes);
  for (const planner::Argument& one : axes)
    if (!values.plan.fixed.emplace(one.name, one.value).second) throw CLI::ValidationError("--fix", one.name + " is fixed twice; keep one");
}

Invocation choose(const CLI::App& app, Values& values) {
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "measure") return {values.measure, values.json};
  if (name == "plan") return {values.plan, values.json};
  if (name == "simulate") return {values.simulate, values.json};
  if (name == "tokenize") return {values.tokenize, values.json};
  if (name == "run") return {values.run, values.json};
  if (name == "compare") return {values.compare, values.json};
  if (name == "validate") return {values.validate, values.json};
  if (name == "export") return {values.exported, values.json};
  if (name == "import") return {values.imported, values.json};
  if (name == "check") return {values.check, values.json};
  if (name == "diff") return {values.diff, values.json};
  if (name == "cluster") return {values.cluster, values.json};
  return {values.calibrate, values.json};
}

}  // namespace

ParseResult parse_command_line(int argc, const char* const* argv) {
  if (argc > 1 && std::string_view(argv[1]) == "estimate") {
    std::cerr << call_instead_of_estimate(std::span(argv + 2, argv + argc)) << "\n";
    return {.ended = true, .exit_code = kUsage, .invocation = {}};
  }
  CLI::App app("Meshwright plans, simulates and runs distributed training.", "meshwright");
  app.footer(
      "Example:\n  examples/quickstart.sh    does all of it on this machine\n"
      "Exit codes: 0 success, 2 usage, 10 no feasible plan, 20 limit reached, 30 input error, 40 internal, 50 a rank failed, 130 "
      "interrupted");
  app.set_version_flag("--version",
                       fmt::format("{}{}{} ({}; {})", kRelease, *kCommit == '\0' ? "" : ", commit ", kCommit, kParts, kCompiler));
  app.require_subcommand(1);
  Values values;
  for (const auto declare :
       {declare_measure, declare_plan, declare_simulate, declare_tokenize, declare_run, declare_compare, declare_calibrate,
        declare_validate, declare_export, declare_import, declare_check, declare_diff, declare_cluster})
    declare(app, values);
  if (argc == 3 && std::string_view(argv[1]) == "--describe")
    if (const std::optional<std::string> text = described(app, argv[2])) {
      std::cout << *text;
      return {.ended = true, .exit_code = kSuccess, .invocation = {}};
    }
  try {
    app.parse(argc, argv);
    split_fixed(values);
  } catch (const CLI::ParseError& error) {
    if (const std::string words = error.get_exit_code() == 0 ? "" : meant(app, argc, argv); !words.empty()) std::cerr << words << "\n";
    const bool is_help = app.exit(error) == 0;
    return {.ended = true, .exit_code = is_help ? kSuccess : kUsage, .invocation = {}};
  }
  return {.ended = false, .exit_code = kSuccess, .invocation = choose(app, values)};
}

}  // namespace cli
