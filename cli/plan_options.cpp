#include "cli/declared_options.h"

#include <algorithm>

#include "planner/axis_words.h"
#include "planner/plan_candidate.h"
#include "sim/plan/parallel_plan.h"
#include "sim/recipe/recipe.h"

namespace cli {
namespace {

void declare_plan_request(CLI::App* command, PlanOptions& plan) {
  command->add_option("--model", plan.model, "Hugging Face config.json, its folder, or a name in profiles/models")->required();
  command->add_option("--cluster", plan.cluster, "Cluster file, or hardware profile (file, or name in profiles/hardware)")->required();
  command
      ->add_option("--devices,--gpus", plan.devices,
                   "Number of devices, with a hardware profile; \"up to 64\": fewer compete, too (--fewer)")
      ->transform([&plan](std::string text) {
        constexpr std::string_view kUpTo = "up to ";
        if (!text.starts_with(kUpTo)) return text;
        plan.fewer = true;
        return text.substr(kUpTo.size());
      })
      ->check(between({1, kAny}));
  command->add_option("--global-batch", plan.global_batch, "Samples a step")->required()->check(up_to(sim::kMostSamples));
  command->add_option("--sequence", plan.sequence, "Tokens a sample")->required()->check(up_to(sim::kMostTokens));
  command->add_option("--samples", plan.samples, "Documents in them: \"packed lognormal mean 800 spread 1.2\"; default: one fills each");
  command->add_option("--expert-loads", plan.expert_loads,
                      "How tokens meet experts: even, untrained (a router's first steps), \"spread 0.6\" (standard deviation over mean) or "
                      "\"list 310 120*2 275\" (tokens of each)");
  command->add_option("--memory-limit", plan.memory_limit, "Memory a device may use, with its unit: \"80 GiB\"");
  command->add_option("--software", plan.software,
                      "What runs on the GPUs: a profile in profiles/software, or a file; default: meshwright, our own worker");
  command->add_option(
      "--precision", plan.precision,
      "fp64, fp32, tf32, bf16 or fp16, and what is kept otherwise: \"bf16 gradients=fp32 wire=bf16 moments=bf16\" "
      "(wire=int8, int4, fp8 or powersgd:4, gathers=int8: encoded; embedding=fp32 head=fp32 blocks:0-1,30=fp32: in full "
      "precision; \"fp8:tensorwise blocks:0,31=bf16 products:attention=bf16\": without scales); default: bf16 on GPUs, fp32 on CPUs");
  command->add_flag("--fp32-gradients", plan.fp32_gradients, "Short for gradients=fp32 behind the precision");
  command->add_option("--optimizer", plan.optimizer, "adamw, sgd, lamb, lars, rmsprop, muon, adamw_8bit or adafactor")
      ->capture_default_str();
  command->add_option("--frozen", plan.frozen, "Modules of the network that are not trained: \"embedding,norms\", \"first 8\"");
  command->add_option("--adapters", plan.adapters, "Low-rank pairs are trained beside frozen weights: \"rank 16 on q,k,v,o base nf4\"");
  command->add_option("--mtp-layers", plan.mtp_layers, "Blocks in front of the head that predict further tokens")
      ->check(between({0, 16}))
      ->capture_default_str();
  command->add_flag("--mtp-apart", plan.mtp_apart,
                    "They are a layer of their own in the pipeline's cut, which may stand on another stage than the head");
  command->add_option("--source-tokens", plan.source_tokens, "Of a sample: an encoder's; 0: half")->check(between({0, sim::kMostTokens}));
  command->add_option("--vocabulary-multiple", plan.vocabulary_multiple, "The vocabulary is padded up to a multiple of this")
      ->check(up_to(sim::kMostVocabularyMultiple))
      ->capture_default_str();
}

void declare_training(CLI::App* command, PlanOptions& plan) {
  command->add_option("--learning-rate", plan.learning_rate, "Stands in the plan's training block")
      ->check(number({0, 1e6}))
      ->capture_default_str();
  command->add_option("--checkpoint-interval", plan.checkpoint_interval, "Steps between checkpoints; 0: at the end only")
      ->check(between({0, sim::kMostSteps}))
      ->capture_default_str();
  command->add_option("--seed", plan.seed, "Of initial weights, sample order and dropout")
      ->check(between({0, sim::kLargestSeed}))
      ->capture_default_str();
}

void declare_objective(CLI::App* command, ObjectiveOptions& options) {
  command
      ->add_option("--objective", options.objective,
                   "What plans are ranked by: step (or time), cost in device time, energy of a step of all devices, time-to-train with "
                   "failures, restarts and checkpoints")
      ->check(one_of({"step", "time", "cost", "energy", "time-to-train"}))
      ->capture_default_str();
  CLI::Option* steps = command->add_option("--steps", options.steps, "Of the whole training, for time-to-train");
  steps->check(up_to(sim::kMostSteps));
  command->add_option("--tokens", options.tokens, "Of the whole training, as 15e12, in place of --steps")
      ->check(number({1, 1e18}))
      ->excludes(steps);
  command->add_option("--write-bandwidth", options.write_bandwidth,
                      "Of the storage that all devices save to, as \"40 GB/s\": a checkpoint takes what the training's state does");
  declare_failures(command, options.failures);
}

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const sim::Program* program : sim::all_programs()) names.emplace_back(program->name);
  return names;
}

std::string table_of_programs() {
  std::string text = "Programs:";
  for (const sim::Program* program : sim::all_programs())
    text += "\n  " + std::string(program->name) + ": " + std::string(program->title) + " " + std::string(program->version) + ", " +
            std::string(program->file);
  return text;
}

// What a configuration may not hold. Returns the cluster.
CLI::Option* declare_beside(CLI::App* command, ImportOptions& import) {
  command->add_option("--model", import.model,
                      "Hugging Face config.json of the network (or its folder, or a name in profiles/models), where the file does not say "
                      "it; compared where it does");
  CLI::Option* cluster =
      command->add_option("--cluster", import.cluster, "Cluster file, or hardware profile (file, or name in profiles/hardware)");
  command->add_option("--devices,--gpus", import.devices, "Number of devices, with a hardware profile")->check(between({1, kAny}));
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

void declare_fixed(CLI::App* command, Values& values, const std::string& what) {
  command->add_option("--fix", values.fixed, what)->expected(1)->take_all();
}

}  // namespace

void declare_plan(CLI::App& app, Values& values) {
  CLI::App* command =
      add_command(app, values, "plan", "Find the fastest plan that fits, and say why the others lost",
                  "meshwright plan --model config.json --cluster h100-80gb-sxm --devices 64 --global-batch 512 --sequence 2048 "
                  "--fix tensor=4 -o plan.json");
  declare_plan_request(command, values.plan);
  declare_fixed(command, values, "axis=value or what people say (tp=8, dp_shard=16, 1F1B, zero3), repeated: " + planner::axis_names());
  command->add_option("--risk", values.plan.risk, "Chance to run out of memory up to which a plan competes")->capture_default_str();
  command->add_option("--top", values.plan.top, "How many plans to show")->check(between({1, kAny}))->capture_default_str();
  command->add_option("--gap", values.plan.gap, "The search ends when its plans are proven to be within it of what there is; 0 %: exact")
      ->capture_default_str();
  command->add_option(
      "--budget", values.plan.budget,
      "Ends the search after that time, as Ctrl-C does, with what is found and its gap; while nothing is, up to a minute later");
  command->add_option("--threads", values.plan.threads, "That search, to the same result; default: all cores")->check(between({1, kAny}));
  command->add_flag("--robust", values.plan.robust, "Rank by the time that nine of ten steps stay below, not by the step predicted");
  command->add_flag("--fewer", values.plan.fewer,
                    "Fewer devices compete, too: 3/4, 1/2, 3/8 ... of them, in whole nodes; as --devices \"up to N\"");
  command->add_option("--elastic", values.plan.elastic,
                      "A plan for each number of nodes, 16..8, of one training, into the folder -o: for run --fallback");
  declare_objective(command, values.plan);
  CLI::Option* price = command->add_option("--price", values.plan.price, "Of a device for an hour: shows what a billion tokens cost");
  price->check(number({0, 1e6}));
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

void declare_import(CLI::App& app, Values& values) {
  CLI::App* command =
      add_command(app, values, "import",
                  "A recipe of Megatron-LM, Megatron-Bridge, NeMo 2, DeepSpeed, Accelerate, torchtitan, nanotron, fairseq, "
                  "Lightning, GPT-NeoX, LitGPT, OLMo, the Trainer of Transformers (TRL, LLaMA-Factory, Axolotl, ms-swift, Oumi) -> a plan",
                  "meshwright import pretrain.sh --model config.json --cluster h100-80gb-sxm --devices 64 -o plan.json");
  command
      ->add_option("recipe", values.imported.recipe,
                   "Launch script or arguments, JSON, YAML, Python recipe or TOML; or a folder that holds one")
      ->required();
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
  declare_objective(command, check);
  declare_fixed(command, values, "Changes keep to it: axis=value, or what people say, as of plan; repeated");
  command
      ->add_option("--budget", check.budget, "Ends the search for the best plan after that time, with its gap; as Ctrl-C, and as of plan")
      ->capture_default_str();
  command->add_flag("--prices", check.prices,
                    "Also what more memory, network, devices or batch would give: each question is searched anew, --budget each");
  command
      ->add_option("--why", check.why,
                   "memory: what the fullest rank holds at its peak, to the tensor; changes: all of two settings that were found")
      ->check(one_of({"memory", "changes"}));
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
  try {
    values.plan.fixed = values.check.fixed = planner::fixed_as_said(values.fixed);
  } catch (const sim::InputError& error) {
    const sim::Violation& first = error.violations().front();
    throw CLI::ValidationError("--fix", first.problem + "; " + first.remedy);
  }
}

}  // namespace cli
