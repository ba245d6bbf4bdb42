#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

RecipeContext llama_over(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}

// Its values are the shell's, and nobody trains with it here.
TEST(Torchtitan, AScriptThatWritesItsFileAndStartsNothing) {
  const std::string text =
      "#!/bin/bash\nwhile getopts \"w:\" opt; do\n  case ${opt} in\n    w ) WORLD=$OPTARG ;;\n  esac\ndone\n"
      "cat <<EOL > run.toml\n[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nbatch_size = $WORLD\nseq_len = 32\n"
      "[experimental]\npipeline_parallel_degree = $WORLD\n[activation_checkpoint]\nmode = 'none'\nEOL\n";
  EXPECT_THAT(testing::refusal_of(text, llama_over(8)), HasSubstr("writes run.toml, and starts nothing that reads it"));
}

TEST(Torchtitan, SaysModulesOfEachPart) {
  ParallelPlan plan = testing::gpu_plan({.data = 2, .pipeline = 2});
  plan.model = testing::tiny_llama();
  plan.cut.first = {LayerIndex(0), LayerIndex(4)};
  const std::string text = testing::main_text(kTorchtitan, plan);
  EXPECT_THAT(text,
              AllOf(HasSubstr("[[\"tok_embeddings\", \"layers.0\", \"layers.1\", \"layers.2\"], [\"layers.3\", \"norm\", \"lm_head\"]]"),
                    HasSubstr("pipeline_parallel_schedule = \"1F1B\""), HasSubstr("local_batch_size = 16"),
                    HasSubstr("data_parallel_replicate_degree = 2"), HasSubstr("activation_checkpoint = None"),
                    HasSubstr("SIZES = dict(n_layers=4, dim=64, n_heads=4, n_kv_heads=2, head_dim=16, hidden_dim=160, vocab_size=250"),
                    HasSubstr("disable_cuda_graphs = True")));
}

TEST(Torchtitan, AnOrderWithoutANameGoesAsCsv) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2});
  plan.model = testing::tiny_llama();
  plan.schedule = "zb-1p";
  const Recipe recipe = make_recipe(kTorchtitan, plan);
  ASSERT_EQ(recipe.files.size(), 2u);
  EXPECT_EQ(recipe.files[1].text, order_csv(plan));
  EXPECT_THAT(recipe.files[0].text, AllOf(HasSubstr("\"PipelineScheduleSingle\""), HasSubstr("schedule_csv = \"pipeline_order.csv\"")));
  plan = testing::gpu_plan({.data = 1, .pipeline = 2});
  plan.schedule = "v-half", plan.chunks = 2, plan.cut = even_cut(4, plan.pipeline_shape());
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("v-half places chunks like a V"));
}

TEST(Torchtitan, OldTomlAndCommandLinesBecomePlans) {
  const ImportedPlan toml = testing::imported(
      "[training]\nlocal_batch_size = 2\nseq_len = 32\n[parallelism]\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 2\n",
      llama_over(8));
  EXPECT_EQ(toml.plan.mesh, (DeviceMesh{.data = 4, .pipeline = 1, .tensor = 2}));
  EXPECT_EQ(toml.plan.zero_stage, 3);
  EXPECT_TRUE(toml.plan.sequence_parallel);
  const ImportedPlan command = testing::imported(
      "torchrun train.py --parallelism.pipeline_parallel_degree 2 --parallelism.pipeline_parallel_schedule Interleaved1F1B "
      "--training.local_batch_size=8 --training.seq_len 32 --parallelism.pipeline_parallel_first_stage_less_layers 0 "
      "--parallelism.pipeline_parallel_last_stage_less_layers 0",
      llama_over(4));
  EXPECT_EQ(command.plan.chunks, 2);
  EXPECT_THAT(blocks_of(command.plan), ElementsAre(1, 1, 1, 1));
}

// One type for weights and states is no fp32 copy of them; a fork sums gradients in 16 bit, too.
TEST(Torchtitan, AllInBf16GoesBothWays) {
  const std::string text =
      "[training]\nlocal_batch_size = 2\nseq_len = 32\ndtype = \"bfloat16\"\n[parallelism]\ndata_parallel_shard_degree = 8\n"
      "[activation_checkpoint]\nmode = \"none\"\n";
  const ImportedPlan read = testing::imported(text, llama_over(8));
  EXPECT_EQ(to_text(read.plan.workload.precision), "bf16 gradients=fp32 masters=bf16");
  EXPECT_THAT(read.lost, ::testing::IsEmpty());
  EXPECT_EQ(testing::refused_by(kTorchtitan, read.plan), "");
  EXPECT_THAT(testing::main_text(kTorchtitan, read.plan), HasSubstr("dtype = \"bfloat16\""));
  const std::string fork = "mixed_precision_reduce = \"bfloat16\"\n[parallelism]\n";
  EXPECT_EQ(to_text(testing::imported("[training]\nlocal_batch_size = 2\nseq_len = 32\n" + fork + "data_parallel_shard_degree = 8\n",
                                      llama_over(8))
                        .plan.workload.precision),
            "bf16");
}

TEST(Torchtitan, TheEndsOfThePipelineWeighAsALayerEach) {
  const auto blocks = [](const std::string& more) {
    return blocks_of(testing::imported("torchrun train.py --model.name llama3 --model.flavor 8B --parallelism.pipeline_parallel_degree 4 "
                                       "--parallelism.pipeline_parallel_schedule 1F1B --training.local_batch_size=8 " +
                                           more,
                                       {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})})
                         .plan);
  };
  EXPECT_THAT(blocks(""), ElementsAre(8, 9, 8, 7));
  EXPECT_THAT(blocks("--parallelism.pipeline_parallel_last_stage_less_layers 3"), ElementsAre(8, 9, 9, 6));
}

TEST(Torchtitan, SectionsOfToml) {
  const ImportedPlan plan = testing::imported(
      "[job]\ndump_folder = \"out\"\n[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"float8\"]\n[optimizer]\nname = "
      "\"Muon\"\nlr = 3e-4\n"
      "[training]\nbatch_size = 2\nseq_len = 4096\ndata_parallel_degree = -1\ntensor_parallel_degree = "
      "2\n[experimental]\npipeline_parallel_degree = 1\n"
      "[activation_checkpoint]\nmode = \"full\"\n[compile]\nenable = true\n",
      {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_EQ(plan.plan.recompute, Recompute::Full);
  EXPECT_EQ(plan.plan.model.layers, 32);
  EXPECT_EQ(plan.plan.mesh, (DeviceMesh{.data = 4, .pipeline = 1, .tensor = 2}));
  EXPECT_EQ(plan.plan.microbatch_size, 2);
  EXPECT_THAT(testing::text_of(plan.lost), AllOf(HasSubstr("is Muon"), HasSubstr("compile.enable")));
  EXPECT_EQ(to_text(plan.plan.workload.precision), "fp8:tensorwise gradients=fp32 head=fp8");
  EXPECT_THAT(plan.unknown, ::testing::IsEmpty());
}

TEST(Torchtitan, TheRegistrysFunctionSetsWhatTheFileDoesNot) {
  const ImportedPlan plan =
      testing::imported("torchrun -m torchtitan.train --module llama3 --config llama3_70b --parallelism.data_parallel_shard_degree 2",
                        {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{16})});
  EXPECT_EQ(plan.plan.mesh, (DeviceMesh{.data = 2, .pipeline = 1, .tensor = 8}));
  EXPECT_EQ(plan.plan.model.layers, 80);
  EXPECT_EQ(plan.plan.workload.sequence, 8192);
  EXPECT_EQ(plan.plan.recompute, Recompute::Full);
  EXPECT_THAT(
      testing::refusal_of("torchrun -m torchtitan.train --module llama3 --config llama3_70b --parallelism.data_parallel_shard_degree 2",
                          llama_over(16)),
      HasSubstr("another network"));
}

TEST(Torchtitan, OtherNetworksAreRefused) {
  EXPECT_THAT(testing::refused_by(kTorchtitan, testing::gpu_plan({.data = 8})), HasSubstr("/model: gpt2"));
}

TEST(Torchtitan, RefusesWithTheNumbersOfItsMesh) {
  ParallelPlan plan = testing::gpu_plan({.data = 4, .pipeline = 1, .tensor = 2, .expert = 4});
  plan.model = testing::tiny_llama();
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 160};
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan),
              AllOf(HasSubstr("dp_shard x cp x tp = 2 is not efsdp x ep for ep 4"), HasSubstr("expert 4 with 2 ranks that share each")));
  plan.zero_stage = 1;
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("/zero_stage"));
}

// A launch line names its file; what it says itself stands above it.
TEST(Torchtitan, ALineWithAFileBesideIt) {
  const std::string line =
      "srun -N 2 torchrun --nproc_per_node 4 train.py --job.config_file ./train_configs/mine.toml --training.local_batch_size 4\n";
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  std::remove((testing::recipe_folder() + "/mine.toml").c_str());
  EXPECT_THAT(testing::refusal_of(line, context), ::testing::HasSubstr("copy it there as mine.toml"));
  std::ofstream(testing::recipe_folder() + "/mine.toml")
      << "[training]\nlocal_batch_size = 2\nseq_len = 32\n[parallelism]\ntensor_parallel_degree = 2\n[activation_checkpoint]\nmode = "
         "\"full\"\n";
  const ParallelPlan plan = testing::imported(line, context).plan;
  EXPECT_EQ(plan.mesh.tensor, 2);
  EXPECT_EQ(plan.microbatch_size, 4);
  EXPECT_EQ(plan.recompute, Recompute::Full);
}

TEST(Torchtitan, ProcessesOfTheLineAreTheDevices) {
  const std::string line = "torchrun --nproc_per_node=4 --nnodes 2 -m torchtitan.train --training.local_batch_size 1 --training.seq_len 32";
  EXPECT_EQ(testing::imported(line + "\n", llama_over(8)).plan.mesh.data, 8);
  EXPECT_THAT(testing::refusal_of(line + "\n", llama_over(16)), HasSubstr("starts 8 processes"));
}

TEST(Torchtitan, NodesThatTheLineLeavesOpenAreTheClusters) {
  const std::string more = " -m torchtitan.train --training.local_batch_size 1 --training.seq_len 32\n";
  for (const std::string launcher : {"torchrun --nproc_per_node=4 --nnodes=$NODES", "torchrun --nproc_per_node=4 --nnodes=1:4",
                                     "srun torchrun --nproc_per_node=4", "torchrun --nproc_per_node=gpu"}) {
    const ImportedPlan read = testing::imported(launcher + more, llama_over(16));
    EXPECT_EQ(read.plan.mesh.data, 16) << launcher;
    EXPECT_EQ(std::ranges::count(read.read, "nnodes"), launcher.find("--nnodes") == std::string::npos ? 0 : 1) << launcher;
  }
  EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node=4" + more, llama_over(16)), HasSubstr("starts 4 processes"));
}

TEST(Torchtitan, HelpersAreNoConfigurations) {
  const std::string body =
      "() -> Trainer.Config:\n    config.training.local_batch_size = 2\n    config.training.seq_len = 32\n    "
      "config.parallelism.data_parallel_shard_degree = 8\n    return config\n";
  const std::string text = "# def old() -> Trainer.Config:\ndef _base" + body + "\n\ndef mine" + body;
  EXPECT_EQ(testing::imported(text, llama_over(8)).plan.microbatch_size, 2);
  EXPECT_THAT(testing::refusal_of(text + "\n\ndef other(\n" + body.substr(1), llama_over(8)), HasSubstr("makes 2 configurations"));
}

TEST(Torchtitan, SeveralFunctionsAreSeveralConfigurations) {
  std::string text;
  for (const std::string name : {"one", "two"})
    text += "def " + name + "() -> Trainer.Config:\n    config.parallelism.data_parallel_shard_degree = 8\n    return config\n";
  EXPECT_THAT(testing::refusal_of(text, llama_over(8)), HasSubstr("makes 2 configurations"));
  for (std::size_t at = text.find("Trainer"); at != std::string::npos; at = text.find("Trainer", at + 10)) text.insert(at, "Own");
  EXPECT_THAT(testing::refusal_of(text, llama_over(8)), HasSubstr("makes 2 configurations"));  // of a trainer built on it
}

TEST(Torchtitan, DegreesOfPaddleAreNotItsOwn) {
  EXPECT_THAT(testing::refusal_of("tensor_parallel_degree = 1\nsharding_parallel_degree = 8\nseq_len = 32\n", llama_over(8)),
              HasSubstr("is no configuration of"));
}

TEST(Torchtitan, BalanceThatIsForcedIsEven) {
  const auto loads = [](const char* model, const char* forced) {
    return testing::imported(fmt::format("[model]\nname = \"qwen3\"\nflavor = \"{}\"\n[training]\nlocal_batch_size = 1\nseq_len = 4096\n"
                                         "[parallelism]\ndata_parallel_shard_degree = -1\n[debug]\nmoe_force_load_balance = {}\n",
                                         model, forced),
                             {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})})
        .plan.workload.expert_loads.kind;
  };
  EXPECT_EQ(loads("30B-A3B", "true"), LoadKind::Even);
  EXPECT_EQ(loads("30B-A3B", "false"), LoadKind::AsRecorded);
  EXPECT_EQ(loads("8B", "true"), LoadKind::AsRecorded) << "it has no experts";
}

TEST(Torchtitan, ANormBelowNothingIsNoClipping) {
  EXPECT_EQ(testing::imported("[training]\nseq_len = 32\nmax_norm = -1\n[parallelism]\ntensor_parallel_degree = 1\n",
                              {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{1})})
                .plan.training.gradient_clip,
            0);
}

// torchtitan's own script takes its file from the environment, and has one of its own.
TEST(Torchtitan, AFileOfTheEnvironment) {
  std::ofstream(testing::recipe_folder() + "/long.toml") << "[training]\nlocal_batch_size = 4\nseq_len = 32\n";
  for (const std::string name : {"CONFIG_FILE=\"conf/long.toml\" ", "CONFIG_FILE=${CONFIG_FILE:-conf/long.toml}\n",
                                 "HERE=$(pwd)\nNAME=long\nCONFIG_FILE=\"${HERE}/conf/${NAME}.toml\" \n"}) {
    const ParallelPlan plan = testing::imported(name + "./run_train.sh --parallelism.tensor_parallel_degree 2\n", llama_over(8)).plan;
    EXPECT_EQ(plan.microbatch_size, 4);
    EXPECT_EQ(plan.mesh.tensor, 2);
  }
  EXPECT_THAT(testing::refusal_of("./run_train.sh --parallelism.tensor_parallel_degree 2\n", llama_over(8)),
              HasSubstr("names debug_model.toml"));
  const std::string starts = "CONFIG_FILE=long.toml ./run_train.sh --parallelism.tensor_parallel_degree 2\n";
  EXPECT_THAT(testing::text_of(testing::imported("NGPU=4 " + starts, llama_over(8)).notes), HasSubstr("4 processes"));
  EXPECT_THAT(testing::text_of(testing::imported(starts, llama_over(4)).notes), HasSubstr("8 processes")) << "its own number";
  EXPECT_THAT(testing::text_of(testing::imported("NGPU=4 " + starts, llama_over(4)).notes), Not(HasSubstr("processes")));
}

TEST(Torchtitan, YamlOfPrimus) {
  const ImportedPlan read = testing::imported(
      "exp_name: mine\nmodules:\n  pre_trainer:\n    framework: torchtitan\n    config: pre_trainer.yaml\n    model: llama3.1_8B.yaml\n"
      "    overrides:\n      training:\n        local_batch_size: 2\n        seq_len: 4096\n      activation_checkpoint:\n        mode: "
      "full\n",
      {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_EQ(read.program, &kTorchtitan);
  EXPECT_EQ(read.plan.model.layers, 32);
  EXPECT_EQ(read.plan.model.kv_heads, 8);
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("pre_trainer.yaml: is Primus' own file"));
}

// Of releases before 0.3: what clips nothing, whatever else stands there.
TEST(Torchtitan, StepsEarlyInTheBackward) {
  const std::string toml =
      "[training]\nlocal_batch_size = 4\nseq_len = 32\nmax_norm = 1.0\n[parallelism]\ndata_parallel_shard_degree = -1\n";
  const ParallelPlan plan = testing::imported(toml + "[optimizer]\nearly_step_in_backward = true\n", llama_over(8)).plan;
  EXPECT_TRUE(plan.optimizer_in_backward);
  EXPECT_EQ(plan.training.gradient_clip, 0);
  EXPECT_FALSE(testing::imported(toml + "[optimizer]\nearly_step_in_backward = false\n", llama_over(8)).plan.optimizer_in_backward);
}

// Of its releases that read TOML: selective by itself, and every second block.
TEST(Torchtitan, WhatATomlFileLeavesOut) {
  const std::string file = "[training]\nlocal_batch_size = 1\nseq_len = 32\n[parallelism]\ntensor_parallel_degree = 2\n";
  for (const std::string more : {"", "[activation_checkpoint]\nmode = \"selective\"\n"}) {
    const ImportedPlan read = testing::imported(file + more, llama_over(8));
    EXPECT_EQ(read.plan.recompute, Recompute::Full) << more;
    EXPECT_EQ(read.plan.recompute_scope.every, 2) << more;
    EXPECT_THAT(testing::text_of(read.notes), HasSubstr("every second block")) << more;
  }
  EXPECT_EQ(testing::imported(file + "[activation_checkpoint]\nmode = \"none\"\n", llama_over(8)).plan.recompute, Recompute::None);
  EXPECT_EQ(testing::imported(file + "[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"op\"\n", llama_over(8))
                .plan.recompute,
            Recompute::Selective);
}

// torchtitan itself has the global batch; forks have steps.
TEST(Torchtitan, StepsOfAForkAreObeyed) {
  const ParallelPlan plan = testing::imported(
                                "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\nseq_len = 64\n"
                                "gradient_accumulation_steps = 4\n[parallelism]\ndata_parallel_shard_degree = -1\n",
                                {.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})})
                                .plan;
  EXPECT_EQ(plan.num_microbatches(), 4);
  EXPECT_EQ(plan.workload.global_batch, 64);
}

// Such a release mixes types where it shards, or on data ranks alone.
TEST(Torchtitan, TomlWithoutShardsComputesInItsType) {
  const auto precision_of = [](const std::string& type, const std::string& degrees, std::int32_t devices) {
    const ImportedPlan read = testing::imported(
        "[training]\nlocal_batch_size = 2\nseq_len = 32\n" + type + "\n[parallelism]\n" + degrees + "\n", llama_over(devices));
    return std::pair(read.plan.workload.precision, testing::text_of(read.notes));
  };
  const std::string kAlone = "data_parallel_shard_degree = 1\ntensor_parallel_degree = 2";
  const auto [fp32, note] = precision_of("", kAlone, 2);
  EXPECT_EQ(fp32.compute(), Precision::Fp32);
  EXPECT_THAT(note, HasSubstr("mixed_precision_param: is without effect"));
  const auto [bf16, silence] = precision_of("dtype = \"bfloat16\"", kAlone, 2);
  EXPECT_EQ(bf16.compute(), Precision::Bf16);
  EXPECT_EQ(bf16.of(Numbers::Gradients), Precision::Bf16);
  EXPECT_THAT(silence, Not(HasSubstr("mixed_precision_param")));
  EXPECT_EQ(precision_of("", "tensor_parallel_degree = 2", 4).first.compute(), Precision::Bf16) << "sharded by the rest";
  EXPECT_EQ(precision_of("", "data_parallel_shard_degree = 1\ndata_parallel_replicate_degree = 2", 2).first.compute(), Precision::Bf16);
  EXPECT_EQ(precision_of("", "data_parallel_shard_degree = 1\ncontext_parallel_degree = 2", 2).first.compute(), Precision::Bf16);
}

ImportedPlan in_two_stages(const std::string& batch, const std::string& pipeline) {
  return testing::imported("[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 64\n" + batch + "\n" + pipeline +
                               "\npipeline_parallel_degree = 2\npipeline_parallel_schedule = \"1F1B\"\n",
                           {.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
}

// 4 data ranks: every step of accumulation drains the pipeline, and reduces gradients.
TEST(Torchtitan, StepsOfAPipelineArePassesOfItsOwn) {
  const char* const kNow = "[parallelism]\npipeline_parallel_microbatch_size = 2";
  for (const std::string batch : {"local_batch_size = 4\nglobal_batch_size = 48", "local_batch_size = 4\ngradient_accumulation_steps = 3",
                                  "local_batch_size = 4\nglobal_batch_size = 48\ngradient_accumulation_steps = 3"}) {
    const ImportedPlan read = in_two_stages(batch, kNow);
    EXPECT_EQ(read.plan.microbatch_size, 2) << batch;
    EXPECT_EQ(read.plan.num_microbatches(), 6) << batch;
    EXPECT_EQ(read.plan.passes, 3) << batch;
    EXPECT_THAT(testing::text_of(read.lost), HasSubstr("3 passes, each of which reduces gradients")) << batch;
    ParallelPlan plan = read.plan;
    plan.recompute = Recompute::Full;
    plan.recompute_scope = {};
    const std::string again = testing::main_text(kTorchtitan, plan);
    EXPECT_THAT(again, HasSubstr("local_batch_size = 4")) << batch;
    EXPECT_EQ(testing::imported(again, {.model = plan.model, .cluster = plan.cluster}).plan.passes, 3) << batch;
    EXPECT_FALSE(why_not_for(kMegatron, read.plan).empty()) << "one pass there";
  }
  EXPECT_THAT(testing::text_of(in_two_stages("local_batch_size = 4", kNow).lost), Not(HasSubstr("passes")));
  EXPECT_THROW(in_two_stages("local_batch_size = 3", kNow), InputError) << "unequal microbatches";
}

TEST(Torchtitan, ExchangesGoAlongProductsWhereItIsAsked) {
  const auto with = [](const std::string& more, const std::string& tensor) {
    return testing::imported(
               "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 64\nlocal_batch_size = 1\n[activation_checkpoint]\nmode "
               "= \"full\"\n" +
                   more + "[parallelism]\n" + tensor,
               {.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})})
        .plan;
  };
  const std::string now = "[compile]\nenable = true\nenable_async_tensor_parallel = true\n", ranks = "tensor_parallel_degree = 2\n";
  EXPECT_EQ(with("", ranks).tensor_overlap, TensorOverlap::AsTheProgram);
  EXPECT_EQ(with(now, ranks).tensor_overlap, TensorOverlap::AlongProducts);
  const std::string compiled = "[compile]\nenable = true\n";
  EXPECT_EQ(with(compiled, ranks + "enable_async_tensor_parallel = true\n").tensor_overlap, TensorOverlap::AlongProducts);
  EXPECT_EQ(with(now, "tensor_parallel_degree = 1\n").tensor_overlap, TensorOverlap::AsTheProgram) << "nobody to exchange with";
  const std::string again = testing::main_text(kTorchtitan, with(now, ranks));
  EXPECT_THAT(again, HasSubstr("config.compile.enable_async_tensor_parallel = True"));
  EXPECT_THAT(again, HasSubstr("config.compile.enable = True"));
  EXPECT_THAT(testing::main_text(kTorchtitan, with("", ranks)), Not(HasSubstr("compile")));
  ParallelPlan beside = with("", ranks);
  beside.tensor_overlap = TensorOverlap::BesideWeights;
  EXPECT_FALSE(why_not_for(kTorchtitan, beside).empty()) << "input gradients are summed in front";
}

// Releases with [experimental] counted microbatches: one for each stage, where the file says none.
TEST(Torchtitan, OlderReleasesCountMicrobatches) {
  const ImportedPlan silent = in_two_stages("batch_size = 8", "[experimental]");
  EXPECT_EQ(silent.plan.num_microbatches(), 2);
  EXPECT_EQ(silent.plan.microbatch_size, 4);
  EXPECT_THAT(testing::text_of(silent.notes), HasSubstr("one for each stage"));
  const ImportedPlan said = in_two_stages("batch_size = 8", "[experimental]\npipeline_parallel_microbatches = 4");
  EXPECT_EQ(said.plan.num_microbatches(), 4);
  EXPECT_EQ(said.plan.microbatch_size, 2);
  EXPECT_THAT(testing::text_of(said.unknown), Not(HasSubstr("microbatches")));
}

// The network for tries had other sizes then.
TEST(Torchtitan, TheDebugNetworkOfOlderReleases) {
  const auto told = [](const std::string& section) {
    return testing::text_of(
        testing::imported("[model]\nname = \"llama3\"\nflavor = \"debugmodel\"\n[training]\nbatch_size = 8\nseq_len = 2048\n" + section,
                          {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})})
            .unknown);
  };
  EXPECT_THAT(told("[experimental]\npipeline_parallel_degree = 1\n"), HasSubstr("whose debugmodel had 8 blocks"));
  EXPECT_THAT(told("[parallelism]\npipeline_parallel_degree = 1\n"), Not(HasSubstr("debugmodel")));
}

}  // namespace
}  // namespace sim
