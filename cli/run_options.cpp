#include "cli/declared_options.h"

#include "sim/plan/parallel_plan.h"

namespace cli {

std::vector<CLI::Option*> declare_failures(CLI::App* command, FailureOptions& failures) {
  return {
      command->add_option(
          "--mtbf", failures.mean_time_between_failures,
          "Mean time between failures of one device, as \"5.8 y\" (Llama 3: 419 in 54 days on 16,384 GPUs); default: none fails"),
      command->add_option("--restart-time", failures.restart_time, "From a failure to the first step after it")->capture_default_str(),
      command->add_option("--checkpoint-time", failures.checkpoint_time, "How long a checkpoint holds the step up")->capture_default_str(),
      command->add_option("--repair-time", failures.repair_time,
                          "How long a failed node is away, on average; default: it is back for the restart"),
      command
          ->add_option("--spares", failures.spares,
                       "Nodes held back that take the place of failed ones; of plan: at most, how many is found")
          ->check(between({0, 1 << 20}))
          ->capture_default_str()};
}

namespace {

// Beyond a step: how long a training takes on machines that fail. Its rates mean nothing without --steps.
void declare_training_run(CLI::App* command, TrainingOptions& training) {
  CLI::Option* steps =
      command
          ->add_option("--steps", training.steps,
                       "Draw whole trainings of that many steps from the rates below: time to train, goodput, with interval")
          ->check(up_to(sim::kMostSteps));
  for (CLI::Option* option : declare_failures(command, training)) option->needs(steps);
  for (CLI::Option* option :
       {command
            ->add_option("--checkpoint-every", training.checkpoint_interval,
                         "Steps between checkpoints; default: the interval that loses least")
            ->check(up_to(sim::kMostSteps)),
        command->add_option("--stragglers", training.stragglers_per_day, "How often a day a device becomes slow")
            ->check(number())
            ->capture_default_str(),
        command->add_option("--straggler-time", training.straggler_time, "How long it stays so, on average")->capture_default_str(),
        command->add_option("--straggler-factor", training.straggler_factor, "How many times as long it computes")
            ->check(number())
            ->capture_default_str(),
        command->add_option("--draws", training.draws, "How many trainings are drawn")->check(between({1, 100000}))->capture_default_str(),
        command->add_option("--seed", training.seed, "Of the draws")->check(between({0, sim::kLargestSeed}))->capture_default_str()})
    option->needs(steps);
}

}  // namespace

void declare_measure(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "measure", "Measure this machine: kernels, memory, collectives -> a hardware profile",
                                  "meshwright measure -o this_machine.json --ranks 1,2,4");
  add_output(command, values.measure.output, "Hardware profile to write");
  command->add_option("--device", values.measure.device, "auto (the CPU), cuda, cuda:0; a GPU with --ranks 1")->capture_default_str();
  command->add_option("--ranks", values.measure.ranks, "How many ranks measure at once, one run each")
      ->delimiter(',')
      ->check(between({1, 256}));
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
  command->add_option("--columns", values.simulate.columns, "Width of the drawing")->check(between({20, 1000}))->capture_default_str();
  command->add_flag("--check", values.simulate.check, "Let the independent checkers judge the graph and the timeline");
  command->add_option("--order", values.simulate.order,
                      "Take the pipeline's order from this CSV (one row a rank, cells like 0F0, 1I2, 1W2); searched: one that is made for "
                      "how long each pass takes");
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
  command->add_option("--steps", values.run.steps, "Train up to this step")->required()->check(between({1, kAny}));
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
      ->check(between({0, kAny}));
  command->add_option("--weights", values.run.weights, "Hugging Face safetensors (file or folder) to start from")->excludes(resume);
  CLI::Option* restarts = command
                              ->add_option("--max-restarts", values.run.max_restarts,
                                           "After a rank failed, start again from the last checkpoint, so many times")
                              ->check(between({0, kAny}))
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
  CLI::App* command = add_command(app, values, "compare", "Simulated against measured: step, task kinds, stages, memory",
                                  "meshwright compare run/\n"
                                  "meshwright compare plan.json rank0.json.gz rank1.json.gz");
  command->add_option("run", values.compare.run, "Run folder; with traces the plan that they are of")->required();
  CLI::Option* const traces =
      command->add_option("traces", values.compare.traces, "Traces of torch.profiler, one a rank, of any program; or their folder");
  command->add_option("--cluster", values.compare.cluster, "Simulate with this profile (a calibrated one) in place of the plan's");
  command->add_flag("--text", values.compare.text, "Draw both timelines")->excludes(traces);
  command
      ->add_option("--timeline", values.compare.timeline,
                   "Trace to write with both, rank by rank, the measured step the median one: .perfetto-trace, else Chrome JSON")
      ->excludes(traces);
  command->add_option("--chakra", values.compare.chakra, "Chakra execution traces of the measured step: NAME.0.et, ..., NAME.groups.json")
      ->excludes(traces);
  command->add_option("--columns", values.compare.columns, "Width of the drawings")->check(between({20, 1000}))->capture_default_str();
  command->add_option("--warm-up", values.compare.warm_up, "First steps that are left out")
      ->check(between({0, kAny}))
      ->capture_default_str();
}

void declare_calibrate(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "calibrate", "Measured runs, of whatever program -> a profile that predicts them",
                                  "meshwright calibrate --measured plan.json=7.42s,61.2GiB -o mine.json\n"
                                  "  meshwright calibrate --log train.log --plan plan.json -o mine.json\n"
                                  "  meshwright calibrate --trace plan.json=traces/ -o mine.json\n"
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
  command
      ->add_option(
          "--trace", calibrate.traces,
          "Traces of torch.profiler of a plan, one a rank, of any program, repeated: plan.json=rank0.json.gz,rank1.json.gz or their folder")
      ->excludes(runs);
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
      ->check(between({1, 100}))
      ->excludes(fit, plans);
}

}  // namespace cli
