#include "tests/bad_input/readers.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "cli/application.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/run_folder.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/machine_facts.h"
#include "sim/cluster/software_stack.h"
#include "sim/model/model_config.h"
#include "sim/plan/parallel_plan.h"
#include "sim/recipe/recipe.h"
#include "sim/schedule/order_table.h"
#include "sim/task_graph/heartbeat_file.h"
#include "sim/timeline/trace.h"
#include "sim/tokenizer/tokenizer.h"
#include "sim/units/text_file.h"
#include "sim/units/token_layout.h"
#include "sim/validation/evidence.h"
#include "sim/validation/predict_rows.h"

namespace bad_input {
namespace {

sim::ParallelPlan example_plan() {
  sim::ParallelPlan plan;
  plan.model = sim::load_model_config("profiles/models/tiny-gpt2.json");
  plan.cluster = sim::load_cluster("a100-80gb-sxm", sim::DeviceCount{1});
  plan.workload = {.sequence = 64, .global_batch = 8, .precision = sim::Precision::Bf16, .optimizer = sim::OptimizerKind::AdamW};
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}
std::string plan_example() {
  return written([](const std::string& path) { sim::save_plan(example_plan(), path); });
}
std::string rank_trace_example() {
  return written([](const std::string& path) {
    sim::Span span;
    span.end = sim::SimTime(5000);
    sim::RankTrace trace{
        .rank = sim::Rank(0), .plan_hash = "0123456789abcdef", .steps = {{.step = 1, .spans = {span}, .ledger = {{}}}}, .mesh = {}};
    sim::write_rank_trace(trace, path);
  });
}
std::string recipe_example(const char* program) {
  if (program == std::string("torchtitan"))  // whose recipe builds no GPT-2: an older file of its
    return "[training]\nseq_len = 64\nlocal_batch_size = 8\n[parallelism]\ndata_parallel_shard_degree = -1\n[activation_checkpoint]\nmode "
           "= \"full\"\n";
  sim::ParallelPlan plan = example_plan();
  const std::string name = program;
  if (name == "nanotron" || name == "nemo" || name == "megatron-bridge")
    plan.model = sim::load_model_config("profiles/models/tiny-llama.json");
  if (name == "nanotron") plan.workload.precision = sim::Precision::Fp32;
  if (name == "fairseq") plan.workload.precision = sim::Precision::Fp16;
  plan.zero_stage = name == "accelerate" ? 3 : 0;
  return sim::make_recipe(*sim::find_program(program), plan).files.front().text;
}
std::string script_example() {
  return "#!/bin/bash\nTP=${TP:-1}\nSIZE=small\nARGS=\"--num-layers 2 --hidden-size $((64 * 2)) --num-attention-heads "
         "4\"\nMORE=(--seq-length 64 "
         "--max-position-embeddings 64)\ncase $SIZE in big) TP=2 ;; *) TP=1 ;; esac\n"
         "torchrun --nproc_per_node 1 pretrain_gpt.py $ARGS ${MORE[@]} --micro-batch-size 1 --global-batch-size 8 --vocab-size 256 "
         "--tensor-model-parallel-size $TP --bf16\n";
}
// YAML as Axolotl has it, with words of LLaMA-Factory: both are the Trainer's.
std::string trainer_example() {
  return "base_model: some/tiny\nadapter: qlora\nlora_r: 8\nlora_target_modules: [q_proj, v_proj]\nload_in_4bit: true\nsequence_len: 64\n"
         "sample_packing: true\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\noptimizer: adamw_bnb_8bit\nbf16: auto\n"
         "gradient_checkpointing: true\nstage: sft\nfinetuning_type: lora\nfsdp_config:\n  reshard_after_forward: true\n";
}
std::string trainer_line_example() {
  return "deepspeed --num_gpus 1 train.py --model_name_or_path some/tiny --per_device_train_batch_size 2 --gradient_accumulation_steps 4 "
         "--model_max_length 64 --bf16 True --fsdp \"full_shard auto_wrap\" --gradient_checkpointing --learning_rate 2e-5 --use_peft "
         "--lora_rank 8 --optim adamw_torch\n";
}
std::string neox_example() {
  return "{\"pipe_parallel_size\": 1, \"model_parallel_size\": 1, \"padded_vocab_size\": 256, \"num_layers\": 2, \"hidden_size\": 64, "
         "\"num_attention_heads\": 4, "
         "\"seq_length\": 64, \"max_position_embeddings\": 64, \"norm\": \"layernorm\", \"pos_emb\": \"rotary\", \"rotary_pct\": 0.25, "
         "\"gpt_j_residual\": true, \"no_weight_tying\": true, # a comment\n \"optimizer\": {\"type\": \"Adam\", \"params\": {\"lr\": "
         "0.0002, "
         "\"betas\": [0.9, 0.95]}}, \"zero_optimization\": {\"stage\": 1}, \"train_micro_batch_size_per_gpu\": 8, \"fp16\": {\"enabled\": "
         "true}}\n";
}
// A file of NeMo 1, as Hydra composes it.
std::string nemo_hydra_example() {
  return "trainer:\n  devices: 1\n  num_nodes: 1\n  precision: bf16\n  gradient_clip_val: 1.0\nexp_manager:\n  name: gpt\nmodel:\n"
         "  mcore_gpt: true\n  micro_batch_size: 2\n  global_batch_size: 8\n  tensor_model_parallel_size: 1\n  encoder_seq_length: 64\n"
         "  max_position_embeddings: ${.encoder_seq_length}\n  num_layers: 2\n  hidden_size: 64\n  ffn_hidden_size: ${multiply:4, "
         "${.hidden_size}}\n  num_attention_heads: 4\n  normalization: rmsnorm\n  bias: false\n  activation: fast-swiglu\n"
         "  activations_checkpoint_granularity: full\n  vocab_size: 256\n  optim:\n"
         "    name: distributed_fused_adam\n    lr: 2e-4\n    betas: [0.9, 0.95]\n";
}
std::string litgpt_example() {
  return "checkpoint_dir: some/tiny\nout_dir: out\nprecision: bf16-true\ndevices: 1\nlora_r: 4\nlora_alpha: 8\nlora_query: true\nquantize: "
         "bnb.nf4\ntrain:\n"
         "  global_batch_size: 8\n  micro_batch_size: 2\n  lr_warmup_steps: 5\n  max_seq_length: 64\n  max_norm: 0.5\noptimizer:\n  "
         "class_path: "
         "torch.optim.AdamW\n"
         "  init_args:\n    lr: 0.0003\n    betas:\n      - 0.9\n      - 0.95\n";
}
std::string olmo_example() {
  return "global_train_batch_size: 8\ndevice_train_microbatch_size: 2\nprecision: amp_bf16\nactivation_checkpointing: whole_layer\nmodel:\n"
         "  d_model: 64\n  n_heads: 4\n  n_layers: 2\n  mlp_ratio: 8\n  weight_tying: false\n  rope: true\n  include_bias: false\n"
         "  max_sequence_length: 64\n  vocab_size: 250\n  embedding_size: 256\nfsdp:\n  wrapping_strategy: by_block\n  precision: mixed\n"
         "optimizer:\n  name: adamw\n  learning_rate: 0.0004\n";
}
std::string accelerate_megatron_example() {
  return "distributed_type: MEGATRON_LM\nmegatron_lm_config:\n  megatron_lm_gradient_clipping: 0.7\n  megatron_lm_num_micro_batches: 8\n"
         "  megatron_lm_pp_degree: 1\n  megatron_lm_recompute_activations: true\n  megatron_lm_sequence_parallelism: true\n"
         "  megatron_lm_tp_degree: 1\n  megatron_lm_use_distributed_optimizer: true\nmixed_precision: bf16\nnum_processes: 1\n";
}
std::string log_example() {
  std::string log;
  for (int step = 0; step < 3; ++step)
    log += " iteration 10/ 1000 | elapsed time per iteration (ms): 2010.0 | global batch size: 8 | lm loss: 7.4E+00 |\n";
  return log;
}
std::string rows_example() {
  std::string rows = bytes_of("profiles/published/rows.json");
  return rows.substr(0, rows.find("},\n") + 1) + "]";
}
std::string index_example() {
  std::string index("MMIDIDX\0\0", 9);
  for (const char byte : {1, 0, 0, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0}) index += byte;
  return index;
}

void read_recipe(const std::string& path) {
  static const sim::ParallelPlan plan = example_plan();
  sim::import_recipe(path, {.model = plan.model, .cluster = plan.cluster, .sequence = 64, .global_batch = 8, .microbatch = 1});
}
void read_script(const std::string& path) {  // which says its network itself, as these do: nanotron, NeMo 2, Megatron-Bridge
  static const sim::ParallelPlan plan = example_plan();
  sim::import_recipe(path, {.model = std::nullopt, .cluster = plan.cluster});
}
void read_order(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream text(sim::load_text_file(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::vector<sim::Violation> found;
  sim::OrderTable order = sim::parse_order(lines, found);
  sim::ParallelPlan plan = example_plan();
  plan.take_order(std::move(order));
  sim::violations(plan);
}
// Its first line names the plan, which lies in the same folder.
void read_measured(const std::string& path) {
  static const std::string folder = [] {
    sim::save_plan(example_plan(), scratch() + "/measured.json");
    return scratch() + "/";
  }();
  sim::save_text_file(folder + sim::load_text_file(path), folder + "runs.csv");
  sim::read_evidence(folder + "runs.csv");
}
void read_log(const std::string& path) {
  static const sim::ParallelPlan plan = example_plan();
  sim::evidence_of_log(path, plan);
}
void read_tokens(const std::string& path) {
  for (const sim::TokenType type : {sim::TokenType::Unstated, sim::TokenType::Uint32}) sim::token_layout(path, type);
}
// A name that is one of the folder's, beside which other files lie.
std::string placed(const std::string& path, const std::string& name) {
  const std::string folder = scratch() + "/folder";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder + "/" + name);
  std::filesystem::create_hard_link(path, folder + "/" + name);  // a copy of a hole would fill it
  return folder;
}
void read_token_index(const std::string& path) {
  const std::string folder = placed(path, "data.idx");
  if (!std::filesystem::exists(folder + "/data.bin")) std::ofstream(folder + "/data.bin", std::ios::binary) << "abcd";
  sim::token_layout(folder + "/data.bin", sim::TokenType::Unstated);
}

// Says nothing while it lives: a program speaks to its person.
class Muted {
 public:
  Muted() { ::dup2(nowhere_, 1), ::dup2(nowhere_, 2); }
  ~Muted() {
    std::fflush(stdout);
    ::dup2(out_, 1), ::dup2(err_, 2);
    for (const int file : {out_, err_, nowhere_}) ::close(file);
  }
  Muted(const Muted&) = delete;
  Muted& operator=(const Muted&) = delete;

 private:
  int out_ = ::dup(1), err_ = ::dup(2), nowhere_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
};

std::vector<const char*> arguments_of(const std::vector<std::string>& words) {
  std::vector<const char*> arguments = {"meshwright"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return arguments;
}

std::string tokenizer_example() {
  return R"({"added_tokens": [{"id": 4, "content": "<s>", "lstrip": true}], "normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "Sequence", )"
         R"("pretokenizers": [{"type": "Split", "pattern": {"Regex": "\\s+"}, "behavior": "Isolated"}, {"type": "ByteLevel"}]}, )"
         R"("model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "\u0120": 3}, "merges": ["a b"]}})";
}
void read_tokenizer(const std::string& path) { sim::load_tokenizer(path).encode("ab <s> \u00e9\n  b"); }

// The whole program: a defect of ours leaves it as exit code 40, which libFuzzer must see.
void run_program(const std::vector<std::string>& words) {
  const std::vector<const char*> arguments = arguments_of(words);
  const Muted muted;
  if (cli::run_application(static_cast<int>(arguments.size()), arguments.data()) == cli::kInternal)
    throw std::logic_error("exit code 40: run the command on this input to see why");
}
// A line a word. Nothing is run: what it would write is not ours to fuzz.
void read_arguments(const std::string& path) {
  std::vector<std::string> words;
  std::istringstream text(sim::load_text_file(path));
  for (std::string line; std::getline(text, line);) words.push_back(line);
  const std::vector<const char*> arguments = arguments_of(words);
  const Muted muted;
  cli::parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}
void plan_model(const std::string& path) {
  run_program({"plan",       "--model", path,       "--cluster",  "a100-80gb-sxm", "--devices", "2",     "--global-batch", "4",
               "--sequence", "8",       "--fix",    "pipeline=1", "--fix",         "zero=0",    "--fix", "recompute=none", "--threads",
               "1",          "-o",      "/dev/null"});
}

constexpr Reader kReaders[] = {
    {"megatron", [] { return recipe_example("megatron"); }, read_recipe},
    {"deepspeed", [] { return recipe_example("deepspeed"); }, read_recipe},
    {"accelerate", [] { return recipe_example("accelerate"); }, read_recipe},
    {"torchtitan", [] { return recipe_example("torchtitan"); }, read_recipe},
    {"megatron_bridge", [] { return recipe_example("megatron-bridge"); }, read_script},
    {"nemo", [] { return recipe_example("nemo"); }, read_script},
    {"nemo_hydra", nemo_hydra_example, read_script},
    {"nanotron", [] { return recipe_example("nanotron"); }, read_script},
    {"fairseq", [] { return recipe_example("fairseq"); }, read_recipe},
    {"lightning", [] { return recipe_example("lightning"); }, read_recipe},
    {"trainer", trainer_example, read_recipe},
    {"trainer_line", trainer_line_example, read_recipe},
    {"neox", neox_example, read_script},
    {"litgpt", litgpt_example, read_recipe},
    {"olmo", olmo_example, read_script},
    {"accelerate_megatron", accelerate_megatron_example, read_recipe},
    {"script", script_example, read_script},
    {"plan", plan_example, [](const std::string& path) { sim::load_plan(path); }},
    {"order", [] { return sim::order_csv(example_plan()); }, read_order},
    {"rank_trace", rank_trace_example, [](const std::string& path) { sim::read_rank_trace(path); }},
    {"run_folder", [] { return std::string("{\"step\": 1, \"loss\": 2.5, \"tokens_per_second\": 10}\n"); },
     [](const std::string& path) { cli::read_metrics(placed(path, "metrics.ndjson")); }},
    {"heartbeat", [] { return std::string(sizeof(sim::HeartbeatFile), '\1'); },
     [](const std::string& path) { sim::read_heartbeat(placed(path, "heartbeat.0"), sim::Rank(0)); }},
    {"model", [] { return bytes_of("profiles/models/tiny-gpt2.json"); }, [](const std::string& path) { sim::load_model_config(path); }},
    {"cluster", [] { return bytes_of("profiles/clusters/dgx-a100-64.json"); },
     [](const std::string& path) { sim::load_cluster(path, sim::DeviceCount{0}); }},
    {"hardware", [] { return bytes_of("profiles/hardware/a100-80gb-sxm.json"); },
     [](const std::string& path) { sim::load_cluster(path, sim::DeviceCount{2}); }},
    {"software", [] { return bytes_of("profiles/software/megatron-core.json"); },
     [](const std::string& path) { sim::load_software(path); }},
    {"machine", [] { return bytes_of("tests/sim/cluster/machines/lspci.txt"); },
     [](const std::string& path) { sim::read_machine_facts(path); }},
    {"measured", [] { return std::string("measured.json,7.42 s,61.2 GiB\n"); }, read_measured},
    {"training_log", log_example, read_log},
    {"tokens", [] { return sim::token_header(sim::Bytes(4)) + std::string("\1\0\0\0", 4); }, read_tokens},
    {"token_index", index_example, read_token_index},
    {"tokenizer", tokenizer_example, read_tokenizer},
    {"rows", rows_example, [](const std::string& path) { sim::predict_file(path); }},
    {"arguments", [] { return std::string("plan\n--model\nx\n--cluster\nh100\n--global-batch\n4\n--sequence\n8\n--fix\ntensor=2\n-o\ny"); },
     read_arguments},
    {"simulate", plan_example,
     [](const std::string& path) {
       run_program({"simulate", path, "--check"});
     }},
    {"plan_model", [] { return bytes_of("profiles/models/tiny-llama.json"); }, plan_model},
};

}  // namespace

std::span<const Reader> all_readers() { return kReaders; }

}  // namespace bad_input
