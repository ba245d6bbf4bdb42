#include "sim/plan/field_words.h"
#include "sim/recipe/megatron_network.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

RecipeContext llama_on(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}

TEST(Megatron, SaysTheLayoutInItsWords) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2, .tensor = 2});
  plan.cut.first = {LayerIndex(0), LayerIndex(4)};
  plan.sequence_parallel = true;
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text, AllOf(HasSubstr("--tensor-model-parallel-size 2"), HasSubstr("--pipeline-model-parallel-layout 'Et*3|t*1L'"),
                          HasSubstr("--sequence-parallel \\\n"), HasSubstr("CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun")));
}

TEST(Megatron, AScriptOfAnyonesBecomesAPlan) {
  const ImportedPlan plan = testing::imported(
      "#!/bin/bash\nTP=2\nMODEL=(\n  --num-layers 4\n  --hidden-size 64\n)\ntorchrun --nproc-per-node $GPUS pretrain_gpt.py ${MODEL[@]} "
      "--tensor-model-parallel-size $TP --pipeline-model-parallel-size 2 "
      "--num-virtual-stages-per-pipeline-rank 2 --microbatch-group-size-per-virtual-pipeline-stage 4 --use-distributed-optimizer "
      "--micro-batch-size 2 --global-batch-size 16 --seq-length 32 "
      "--bf16 --recompute-activations --save out --make-vocab-size-divisible-by 64",
      llama_on(8));
  EXPECT_EQ(plan.plan.mesh, (DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}));
  EXPECT_EQ(plan.plan.schedule, "interleaved");
  EXPECT_EQ(plan.plan.chunks, 2);
  EXPECT_EQ(plan.plan.microbatch_group, 4);
  EXPECT_THAT(testing::main_text(kMegatron, plan.plan), HasSubstr("--microbatch-group-size-per-virtual-pipeline-stage 4"));
  EXPECT_EQ(plan.plan.zero_stage, 1);
  EXPECT_EQ(plan.plan.recompute, Recompute::Selective);
  EXPECT_EQ(plan.plan.vocabulary_multiple, 128);
  EXPECT_EQ(to_text(plan.plan.workload.precision), "bf16 gradients=fp32");
  EXPECT_THAT(plan.without_effect, ::testing::ElementsAre("save"));
  EXPECT_THAT(plan.unknown, ::testing::IsEmpty());
}

TEST(Megatron, GraphsAreOfBlocksOrOfTheIteration) {
  const auto read = [](const std::string& arguments) {
    return testing::imported("--tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 --bf16 " + arguments, llama_on(8));
  };
  EXPECT_EQ(read("").plan.cuda_graphs, CudaGraphs::None);
  EXPECT_EQ(read("--cuda-graph-impl none --cuda-graph-scope attn").plan.cuda_graphs, CudaGraphs::None);
  EXPECT_EQ(read("--cuda-graph-impl transformer_engine").plan.cuda_graphs, CudaGraphs::PerLayer);
  EXPECT_EQ(read("--cuda-graph-scope full_iteration --cuda-graph-impl local").plan.cuda_graphs, CudaGraphs::FullIteration);
  EXPECT_EQ(read("--cuda-graph-impl local --cuda-graph-scope full_iteration").plan.cuda_graphs, CudaGraphs::FullIteration);
  EXPECT_EQ(read("--cuda-graph-impl full_iteration").plan.cuda_graphs, CudaGraphs::FullIteration);
  EXPECT_EQ(read("--external-cuda-graph").plan.cuda_graphs, CudaGraphs::PerLayer);
  EXPECT_TRUE(read("--cuda-graph-impl local").lost.empty());
  const ImportedPlan parts = read("--cuda-graph-impl local --cuda-graph-scope attn moe_router");
  EXPECT_EQ(parts.plan.cuda_graphs, CudaGraphs::PerLayer);
  EXPECT_EQ(to_text(parts.plan.graph_scope), "attn,moe_router");
  EXPECT_TRUE(parts.lost.empty());
  EXPECT_THAT(testing::text_of(read("--cuda-graph-impl local --cuda-graph-scope moe").lost), HasSubstr("graphs of experts"));
  EXPECT_TRUE(read("--cuda-graph-scope attn").plan.graph_scope.is_all()) << "of no graphs";
}

TEST(Megatron, GraphsComeBack) {
  ParallelPlan plan = testing::gpu_plan({.data = 2});
  for (const CudaGraphs graphs : {CudaGraphs::None, CudaGraphs::PerLayer, CudaGraphs::FullIteration}) {
    plan.cuda_graphs = graphs;
    const std::string text = testing::main_text(kMegatron, plan);
    EXPECT_EQ(testing::imported(text, {.model = plan.model, .cluster = plan.cluster}).plan.cuda_graphs, graphs);
    EXPECT_EQ(text.find("--cuda-graph-scope full_iteration") != std::string::npos, graphs == CudaGraphs::FullIteration);
  }
  plan.cuda_graphs = CudaGraphs::PerLayer;
  plan.graph_scope = GraphScope().with(GraphPart::Mlp);
  const std::string scoped = testing::main_text(kMegatron, plan);
  EXPECT_EQ(testing::imported(scoped, {.model = plan.model, .cluster = plan.cluster}).plan.graph_scope, plan.graph_scope);
  plan.graph_scope = {};
  plan.recompute = Recompute::Full;
  EXPECT_FALSE(why_not_for(kMegatron, plan).empty());
}

constexpr const char* kSmall = " --micro-batch-size 1 --global-batch-size 8 --seq-length 32 ";

TEST(Megatron, ItsDefaultsAreItsOwn) {
  const ImportedPlan plan =
      testing::imported(std::string("--tensor-model-parallel-size 1 --sequence-parallel --bf16") + kSmall, llama_on(8));
  EXPECT_FALSE(plan.plan.sequence_parallel);     // one tensor rank has none
  EXPECT_EQ(plan.plan.bucket_size, kOneBucket);  // no --overlap-grad-reduce
  EXPECT_EQ(to_text(plan.plan.workload.precision), "bf16 gradients=fp32");
  EXPECT_EQ(plan.plan.training.beta2, 0.999);
  EXPECT_EQ(plan.plan.training.weight_decay, 0.01);
  const ImportedPlan overlapped =
      testing::imported(std::string("--tensor-model-parallel-size 1 --overlap-grad-reduce --bf16") + kSmall, llama_on(8));
  EXPECT_EQ(overlapped.plan.bucket_size, Bytes(160'000'000));  // 40 million gradients in fp32
  EXPECT_EQ(testing::imported(std::string("--tensor-model-parallel-size 1 --micro-batch-size 2 --seq-length 32"), llama_on(8))
                .plan.workload.global_batch,
            16);
}

TEST(Megatron, WhatCannotBeIsRefused) {
  for (const char* const size : {"0", "-4", "2*2", "two"})
    EXPECT_THAT(
        testing::refusal_of(std::string("--micro-batch-size ") + size + " --tensor-model-parallel-size 1 --seq-length 32", llama_on(8)),
        HasSubstr("micro-batch-size"));
  EXPECT_THAT(testing::refusal_of(std::string("--tensor-model-parallel-size 1 --bf16 --fp16") + kSmall, llama_on(8)),
              HasSubstr("give one precision"));
  EXPECT_THAT(testing::refusal_of(std::string("--tensor-model-parallel-size $TP") + kSmall, llama_on(8)),
              AllOf(HasSubstr("is '$TP', which the file alone does not say"), HasSubstr("--set TP=")));
  EXPECT_THAT(testing::refusal_of("pretrain_gpt.py --save x", llama_on(8)), HasSubstr("holds no size and no degree"));
}

TEST(Megatron, WhatAPlanHasNoWordForComesFirst) {
  const ImportedPlan plan = testing::imported(
      std::string(
          "--tensor-model-parallel-size 1 --bf16 --fp8-format hybrid --mtp-num-layers 1 --optimizer lion --recompute-granularity selective "
          "--recompute-modules moe_act layernorm --shiny-new-fp8-kernel") +
          kSmall,
      llama_on(8));
  EXPECT_THAT(testing::text_of(plan.lost), HasSubstr("is lion"));
  EXPECT_EQ(to_text(plan.plan.recompute_scope), "modules moe_act,layernorm");
  EXPECT_THAT(testing::text_of(plan.unknown), HasSubstr("shiny-new-fp8-kernel: 'true' is not known; it might change the precision"));
}

TEST(Megatron, ProductsIn8BitAreThePlans) {
  const auto precision_of = [](const std::string& arguments) {
    return to_text(testing::imported("--tensor-model-parallel-size 1 --bf16 " + arguments + kSmall, llama_on(8)).plan.workload.precision);
  };
  EXPECT_EQ(precision_of("--fp8-format hybrid"), "fp8:delayed gradients=fp32");
  EXPECT_EQ(precision_of("--fp8-format e4m3 --fp8-recipe blockwise --fp8-param-gather"), "fp8:blockwise gathers=fp8 gradients=fp32");
  EXPECT_EQ(precision_of("--fp8-recipe tensorwise"), "bf16 gradients=fp32") << "a recipe without a format is not used";
  EXPECT_THAT(testing::refusal_of("--tensor-model-parallel-size 1 --bf16 --fp8-format hybrid --fp8-recipe mxfp8" + std::string(kSmall),
                                  llama_on(8)),
              HasSubstr("takes mx scales"));
  EXPECT_THAT(testing::refusal_of("--tensor-model-parallel-size 1 --fp16 --fp8-format hybrid" + std::string(kSmall), llama_on(8)),
              HasSubstr("is of runs in bf16"));
}

TEST(Megatron, Fp8GoesThereAndBack) {
  ParallelPlan plan = testing::gpu_plan({.data = 2});
  for (const ScaleRecipe recipe : {ScaleRecipe::Delayed, ScaleRecipe::Tensorwise, ScaleRecipe::Blockwise}) {
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, true).with(Numbers::Gradients, Precision::Fp32);
    EXPECT_THAT(testing::refused_by(kMegatron, plan), ::testing::Not(HasSubstr("precision")));
  }
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Rowwise, false);
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("scales of rows"));
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan), HasSubstr("/workload/precision"));
  plan.workload.optimizer = OptimizerKind::Lamb;
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("lamb is not written"));
}

TEST(Megatron, TestsOfItsOwnHaveArgumentsInYaml) {
  const ImportedPlan plan = testing::imported(
      "ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\nMODEL_ARGS:\n  --tensor-model-parallel-size: 2\n  --micro-batch-size: 4\n  "
      "--seq-length: 32\n  --bf16: true\n",
      llama_on(4));
  EXPECT_EQ(plan.plan.mesh.tensor, 2);
  EXPECT_EQ(plan.plan.microbatch_size, 4);
  EXPECT_THAT(plan.unknown, ::testing::IsEmpty());
}

TEST(Megatron, ARecipeCarriesItsNetworkOrIsRefused) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.model = testing::tiny_llama();
  plan.model.initializer_range = 0.01;
  plan.model.experts = ExpertForm{.experts = 4,
                                  .topk = 2,
                                  .expert_ffn = 160,
                                  .capacity_factor = 1.5,
                                  .dispatch = ExpertDispatch::Padded,
                                  .forced_balance = true,
                                  .score = RouterScore::Sigmoid,
                                  .renormalised = true,
                                  .scaling = 2.5,
                                  .balance_loss = 0.01};
  EXPECT_THAT(testing::main_text(kMegatron, plan),
              AllOf(HasSubstr("--moe-router-score-function sigmoid"), HasSubstr("--moe-router-topk-scaling-factor 2.5"),
                    HasSubstr("--moe-aux-loss-coeff 0.01"), HasSubstr("--moe-expert-capacity-factor 1.5"),
                    HasSubstr("--moe-pad-expert-input-to-capacity"), HasSubstr("--init-method-std 0.01"),
                    HasSubstr("--moe-router-force-load-balancing")));
  plan.model = testing::tiny_gpt2();
  plan.model.activation = Activation::Relu;
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("/model/hidden_act"));
}

TEST(Megatron, YamlHasTheSameNames) {
  const ImportedPlan plan = testing::imported(
      "model_parallel:\n  tensor_model_parallel_size: 2\n  sequence_parallel: True\nmicro_batch_size: 1\nglobal_batch_size: 8\nseq_length: "
      "32\nbf16: true\n",
      llama_on(4));
  EXPECT_EQ(plan.plan.mesh.tensor, 2);
  EXPECT_TRUE(plan.plan.sequence_parallel);
}

TEST(Megatron, UnevenStagesByFirstAndLast) {
  const ImportedPlan plan = testing::imported(
      "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 2 --decoder-first-pipeline-num-layers 3 --micro-batch-size 1 "
      "--global-batch-size 8 --seq-length 32 --bf16",
      llama_on(2));
  EXPECT_THAT(blocks_of(plan.plan), ::testing::ElementsAre(3, 1));
}

TEST(Megatron, RefusesAnotherNetworkAndOtherLayers) {
  EXPECT_THAT(testing::refusal_of(
                  "--num-layers 24 --tensor-model-parallel-size x --micro-batch-size 1 --global-batch-size 8 --seq-length 32", llama_on(4)),
              AllOf(HasSubstr("num_hidden_layers is 24, 4 in the model"), HasSubstr("tensor-model-parallel-size: is 'x'")));
  EXPECT_THAT(testing::refusal_of("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*3|t*1xL' --micro-batch-size 1 "
                                  "--global-batch-size 8 --seq-length 32",
                                  llama_on(2)),
              HasSubstr("has a 'x'"));
  EXPECT_THAT(testing::refusal_of("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'E(t|)*9,L' --micro-batch-size 1 "
                                  "--global-batch-size 8 --seq-length 32",
                                  llama_on(2)),
              HasSubstr("2 stages x 5 chunks are more than the model's 4 blocks"));
}

// Of a script that is not Megatron-LM's own, what no option names may stand in its code.
TEST(Megatron, TheNetworkOfAnotherScriptIsDoubted) {
  const auto told_by = [](const std::string& script, const std::string& more) {
    const ImportedPlan read =
        testing::imported("torchrun --nproc_per_node 2 " + script +
                              " --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 "
                              "--max-position-embeddings 32 --micro-batch-size 1 --global-batch-size 4 --fp16 " +
                              more + "\n",
                          {.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2}), .vocabulary = 1024});
    return testing::text_of(read.unknown);
  };
  EXPECT_THAT(told_by("examples/pretrain_mine.py", ""), AllOf(HasSubstr("pretrain_mine.py"), HasSubstr("taken as GPT-2's")));
  EXPECT_THAT(told_by("examples/gpt3/pretrain_mine.py", "--swiglu"), HasSubstr("names its norm or positions: taken"));
  EXPECT_THAT(told_by("-m mine.train", ""), HasSubstr("mine.train"));
  const std::string all = "--swiglu --normalization RMSNorm --use-rotary-position-embeddings";
  EXPECT_THAT(told_by("examples/pretrain_mine.py", all), Not(HasSubstr("pretrain_mine.py")));
  EXPECT_THAT(told_by("tools/launch.py pretrain_gpt.py", ""), Not(HasSubstr("taken as GPT-2's")));
  EXPECT_THAT(told_by("pretrain_gpt.py", ""), Not(HasSubstr("taken as GPT-2's")));
}

// Sizes are compared with those of --model; what stands in the code is the model's.
TEST(Megatron, TheNetworkOfAnotherScriptIsTheModels) {
  const std::string text =
      "torchrun --nproc_per_node 2 pretrain_mine.py --num-layers 4 --num-attention-heads 4 --seq-length 32 --max-position-embeddings 64 "
      "--micro-batch-size 1 --global-batch-size 4 --bf16 --ffn-hidden-size 160 --hidden-size ";
  ModelConfig model = testing::tiny_llama();
  model.kv_heads = model.heads;
  const RecipeContext context{.model = model, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2})};
  const ImportedPlan read = testing::imported(text + std::to_string(model.hidden) + "\n", context);
  EXPECT_EQ(read.plan.model.norm, model.norm);
  EXPECT_THAT(read.unknown, ::testing::IsEmpty()) << testing::text_of(read.unknown);
  EXPECT_THAT(testing::refusal_of(text + "96\n", context), HasSubstr("trains another network: hidden_size is 96"));
}

TEST(Megatron, CannotSayOtherSchedules) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2});
  plan.schedule = "zb-1p";
  EXPECT_THAT(testing::refused_by(kMegatron, plan), AllOf(HasSubstr("/schedule"), HasSubstr("zb-1p"), HasSubstr("--fix schedule")));
  plan.schedule = "1f1b";
  EXPECT_EQ(testing::refused_by(kMegatron, plan), "");
}

TEST(Megatron, ExpertsAndShards) {
  ParallelPlan plan = testing::gpu_plan({.data = 4, .pipeline = 1, .tensor = 2, .expert = 2});
  plan.model = testing::tiny_llama();
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 160, .first_dense_layers = 1};
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("/sequence_parallel"));
  plan.sequence_parallel = true;
  EXPECT_THAT(testing::main_text(kMegatron, plan), HasSubstr("--expert-tensor-parallel-size 2"));
  plan.mesh.expert_tensor = 1;
  EXPECT_THAT(testing::main_text(kMegatron, plan), HasSubstr("--expert-tensor-parallel-size 1"));
  plan.zero_stage = 3;
  EXPECT_THAT(testing::main_text(kMegatron, plan), AllOf(HasSubstr("--moe-layer-freq '([0]*1+[1]*3)'"), HasSubstr("optim_grads_params"),
                                                         Not(HasSubstr("CUDA_DEVICE_MAX_CONNECTIONS"))));
}

// What the profile's program does anyway is no word of the plan; without the argument tokens are gathered there.
TEST(Megatron, TokensAreExchangedAsItsArgumentsSay) {
  ParallelPlan plan = testing::gpu_plan({.data = 4, .pipeline = 1, .tensor = 1, .expert = 4});
  plan.model = testing::tiny_llama();
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 160};
  plan.cluster.software = load_software("megatron-core-2025");
  EXPECT_THAT(testing::main_text(kMegatron, plan),
              AllOf(HasSubstr("--moe-token-dispatcher-type flex"), HasSubstr("--moe-flex-dispatcher-backend deepep")));
  plan.token_dispatcher = TokenDispatcher::AllToAll;
  plan.expert_overlap = true;
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text, AllOf(HasSubstr("--moe-token-dispatcher-type alltoall"), HasSubstr("--overlap-moe-expert-parallel-comm"),
                          Not(HasSubstr("flex"))));
  const ImportedPlan back = testing::imported(text, {.model = {}, .cluster = plan.cluster});
  EXPECT_EQ(back.plan.token_dispatcher, TokenDispatcher::AllToAll);
  EXPECT_TRUE(back.plan.expert_overlap);
  EXPECT_FALSE(back.plan.delay_wgrad);
  EXPECT_THAT(testing::refusal_of(text.substr(0, text.rfind(" \"$@\"")) + " --moe-shared-expert-overlap \"$@\"\n",
                                  {.model = {}, .cluster = plan.cluster}),
              HasSubstr("goes without moe-shared-expert-overlap"));
  EXPECT_THAT(testing::refusal_of(text.substr(0, text.rfind(" \"$@\"")) + " --pipeline-model-parallel-size 2 \"$@\"\n",
                                  {.model = {}, .cluster = plan.cluster}),
              HasSubstr("wants virtual stages"));
  ParallelPlan to_all = plan;
  to_all.token_dispatcher = TokenDispatcher::AllGather;
  to_all.expert_overlap = false;
  std::string gathering = testing::main_text(kMegatron, to_all);
  for (const char* words : {" --moe-token-dispatcher-type allgather", ""}) {  // the last: not said
    EXPECT_EQ(testing::imported(gathering, {.model = {}, .cluster = plan.cluster}).plan.token_dispatcher, TokenDispatcher::AllGather)
        << words;
    if (const std::size_t at = gathering.find(words); *words != 0 && at != std::string::npos)
      gathering.erase(at, std::string_view(words).size());
  }
  EXPECT_THAT(gathering, Not(HasSubstr("allgather")));
  plan.delay_wgrad = true;
  const ImportedPlan delayed = testing::imported(testing::main_text(kMegatron, plan), {.model = {}, .cluster = plan.cluster});
  EXPECT_TRUE(delayed.plan.delay_wgrad);
  EXPECT_THAT(testing::text_of(delayed.lost), Not(HasSubstr("wgrad")));
}

// With the distributed optimizer weights are gathered as the plan says; the program wants gradients reduced beside backward for that.
TEST(Megatron, NewWeightsMayComeBesideTheNextForward) {
  ParallelPlan plan = testing::gpu_plan({.data = 8, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 1;
  EXPECT_THAT(testing::main_text(kMegatron, plan), Not(HasSubstr("--overlap-param-gather")));
  plan.overlap_weight_gather = true;
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text, AllOf(HasSubstr("--overlap-param-gather"), HasSubstr("--overlap-grad-reduce")));
  const ImportedPlan back = testing::imported(text, {.model = {}, .cluster = plan.cluster});
  EXPECT_TRUE(back.plan.overlap_weight_gather);
  EXPECT_THAT(testing::text_of(back.lost), Not(HasSubstr("overlap-param-gather")));
  plan.bucket_size = kOneBucket;
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("/overlap_weight_gather"));
  plan.bucket_size = Bytes(40 << 20);
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan), HasSubstr("gathers new weights before the next forward"));
}

TEST(Megatron, ContextRanksInTwoLevels) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .context = 8, .context_inner = 2});
  plan.context_algorithm = ContextAlgorithm::Hierarchical;
  plan.model = testing::tiny_llama();
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text, AllOf(HasSubstr("--cp-comm-type a2a+p2p"), HasSubstr("--hierarchical-context-parallel-sizes 2 4")));
  const RecipeContext context{.model = {}, .cluster = plan.cluster};
  const auto with = [&](std::string_view sizes) {
    std::string other = text;
    const std::string_view said = "parallel-sizes 2 4";
    return other.replace(other.find(said), said.size(), fmt::format("parallel-sizes {}", sizes));
  };
  const ParallelPlan back = testing::imported(text, context).plan;
  EXPECT_EQ(back.context_algorithm, ContextAlgorithm::Hierarchical);
  EXPECT_EQ(back.mesh.context_inner, 2);
  EXPECT_EQ(testing::imported(with("1 8"), context).plan.context_algorithm, ContextAlgorithm::Ring);
  EXPECT_THAT(testing::refusal_of(with("2 2"), context), HasSubstr("is '2 2', whose product is not context 8"));
  EXPECT_THAT(testing::refusal_of(with("1.5 4"), context), HasSubstr("is '1.5 4'"));
}

// Its parser takes them as words, asks for grouped products to recompute their activation, and cuts no experts with biases.
TEST(Megatron, ExpertsAreGroupedAndModulesAreWords) {
  ParallelPlan plan = testing::gpu_plan({.data = 4, .pipeline = 1, .tensor = 2, .expert = 4});
  plan.model = testing::tiny_llama();
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 160};
  plan.sequence_parallel = true;
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Modules(Module::MoeActivation) | Module::LayerNorm;
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text, AllOf(HasSubstr("--recompute-modules moe_act layernorm \\\n"), HasSubstr("--moe-grouped-gemm \\\n")));
  std::string single = text;
  single.erase(single.find("--moe-grouped-gemm"), std::string("--moe-grouped-gemm").size());
  const RecipeContext context{.model = {}, .cluster = plan.cluster};
  EXPECT_THAT(testing::text_of(testing::imported(single, context).lost), HasSubstr("experts are computed one after another"));
  EXPECT_EQ(testing::imported(single, context).plan.cluster.software.expert_workspaces, 0) << "of streams that nothing runs on";
  EXPECT_THAT(testing::text_of(testing::imported(text, context).lost), Not(HasSubstr("one after another")));
  plan.model.experts->biases = true;
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("experts with biases are not cut over 2 tensor ranks"));
  plan.mesh.expert_tensor = 1;
  EXPECT_THAT(testing::refused_by(kMegatron, plan), Not(HasSubstr("experts with biases")));
}

// Ranks that share a head are Megatron-Core's alone.
TEST(Megatron, TensorRanksMayShareKeyHeads) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 1, .tensor = 4});
  plan.model = testing::tiny_llama();
  ASSERT_EQ(plan.model.kv_heads, 2);
  EXPECT_THAT(testing::main_text(kMegatron, plan), HasSubstr("--num-query-groups 2"));
  EXPECT_THAT(testing::refused_by(kMegatron, plan), Not(HasSubstr("key/value heads")));
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan),
              HasSubstr("torchtitan gives each tensor rank key/value heads of its own, and there are 2"));
}

TEST(Megatron, MuonIsRead) {
  const auto read = [](const std::string& optimizer) {
    return testing::imported("--tensor-model-parallel-size 1 --bf16 --optimizer " + optimizer + kSmall, llama_on(8));
  };
  EXPECT_EQ(read("muon").plan.workload.optimizer, OptimizerKind::Muon);
  const ImportedPlan dealt = read("dist_muon");
  EXPECT_EQ(dealt.plan.zero_stage, 1);
  EXPECT_EQ(dealt.plan.gradient_sync, GradientSync::AllReduce);
}

TEST(Megatron, MomentsInTheTypeThatIsNamed) {
  const auto read = [](const std::string& more) {
    return testing::imported(
        "--tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 --bf16 --use-precision-aware-optimizer " + more, llama_on(8));
  };
  EXPECT_EQ(read("--exp-avg-dtype bf16 --exp-avg-sq-dtype bf16").plan.workload.precision.of(Numbers::Moments), Precision::Bf16);
  EXPECT_EQ(read("--exp-avg-dtype torch.float16 --exp-avg-sq-dtype fp16").plan.workload.precision.of(Numbers::Moments), Precision::Fp16);
  const ImportedPlan two = read("--exp-avg-dtype bf16");
  EXPECT_EQ(two.plan.workload.precision.of(Numbers::Moments), Precision::Fp32);
  EXPECT_THAT(testing::text_of(two.lost), HasSubstr("exp-avg-sq-dtype fp32"));
  EXPECT_EQ(to_text(read("--main-params-dtype fp16").plan.workload.precision), "bf16 gradients=fp32 masters=fp16 moments=fp32");
  EXPECT_EQ(to_text(read("--main-params-dtype fp32").plan.workload.precision), "bf16 gradients=fp32");
  EXPECT_EQ(to_text(read("--main-params-dtype fp16 --exp-avg-dtype fp16 --exp-avg-sq-dtype fp16").plan.workload.precision),
            "bf16 gradients=fp32 masters=fp16");
}

// The network is of the file, and is known only behind its other arguments.
TEST(Megatron, SomeBlocksOfANetworkThatTheFileNames) {
  const auto scope_of = [](const std::string& blocks) {
    return testing::imported(
               "--tensor-model-parallel-size 1 --recompute-granularity full --recompute-method block --recompute-num-layers " + blocks +
                   " --micro-batch-size 1 --seq-length 32 --max-position-embeddings 32 --num-layers 6 --hidden-size 64 "
                   "--num-attention-heads 4 --bf16",
               {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024})
        .plan.recompute_scope.first;
  };
  EXPECT_EQ(scope_of("2"), 2);
  EXPECT_EQ(scope_of("60"), 6);
}

TEST(Megatron, AnOptionWithoutItsValue) {
  EXPECT_THAT(
      testing::refusal_of("TP=\npython pretrain_gpt.py --tensor-model-parallel-size $TP --micro-batch-size 1 --seq-length 32 --bf16\n",
                          llama_on(8)),
      AllOf(HasSubstr("stands without a value"), HasSubstr("--set NAME=value")));
}

// What ms-swift's Megatron has by itself, where a line of Megatron-LM has none of it.
TEST(Megatron, DefaultsOfMsSwift) {
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string more = "--load a-mcore --tensor_model_parallel_size 2 --max_length 32\n";
  const ImportedPlan read = testing::imported("NPROC_PER_NODE=8 megatron sft " + more, context);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(read.plan.zero_stage, 1);
  EXPECT_EQ(read.plan.recompute, Recompute::Selective);
  EXPECT_EQ(read.plan.attention, AttentionWord::Flash2);  // its attention_backend is flash, where Megatron-LM has auto
  EXPECT_EQ(read.plan.workload.global_batch, 16);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("torch_dtype: is not given"));
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("packing: is off"));
  EXPECT_EQ(
      testing::imported("megatron sft --model a/b --model_type llama --system 'You are' --merge_lora true " + more, context).unknown.size(),
      1U);
  const ImportedPlan other =
      testing::imported("megatron pt --use_distributed_optimizer false --recompute_granularity full " + more, context);
  EXPECT_EQ(other.plan.zero_stage, 0);
  EXPECT_EQ(other.plan.recompute, Recompute::Full);
}

// Eight groups of experts over four data and two tensor ranks: none of them is cut, where Megatron-LM would cut each over both.
TEST(Megatron, ExpertsOfMsSwiftAreNotCut) {
  RecipeContext context{.model = load_model_config("qwen3-30b-a3b"), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string line =
      "NPROC_PER_NODE=8 megatron sft --model a/b --dataset c --tensor_model_parallel_size 2 --sequence_parallel true "
      "--expert_model_parallel_size 8 --max_length 32 --torch_dtype bfloat16 ";
  const ImportedPlan read = testing::imported(line + "\n", context);
  EXPECT_EQ(read.plan.mesh.expert_cut(), 1);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(testing::text_of(read.unknown), "");
  EXPECT_THAT(testing::refusal_of(line + "--expert_tensor_parallel_size 2\n", context), HasSubstr("are not divisible by expert degree 8"));
}

// Megatron-LM and MindSpeed gather where nothing is said, and with a tensor degree of experts alone; Megatron-DeepSpeed's layer and ms-swift exchange.
TEST(Megatron, WhatIsDoneWithTokensWhereNothingIsSaid) {
  Cluster cluster = load_cluster("h100-80gb-sxm", DeviceCount{8});
  cluster.software = load_software("megatron-core-2025");
  const std::string network =
      " --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 --vocab-size 250 --bf16 "
      "--micro-batch-size 1 --global-batch-size 8 --num-experts 8 --moe-router-topk 2 ";
  const std::string gathering = "python pretrain_gpt.py" + network + "--expert-model-parallel-size 8 ";
  const auto dispatcher = [&](const std::string& line) {
    return testing::imported(line + "\n", {.model = {}, .cluster = cluster}).plan.token_dispatcher;
  };
  EXPECT_EQ(dispatcher(gathering), TokenDispatcher::AllGather);
  EXPECT_EQ(dispatcher("python pretrain_gpt.py" + network +
                       "--tensor-model-parallel-size 4 --sequence-parallel --expert-tensor-parallel-size 2 "),
            TokenDispatcher::AllGather);
  EXPECT_EQ(dispatcher("python pretrain_gpt.py" + network), TokenDispatcher::AsTheProgram);
  EXPECT_EQ(dispatcher("deepspeed pretrain_gpt.py" + network + "--moe-expert-parallel-size 8 --deepspeed "), TokenDispatcher::AllToAll);
  EXPECT_EQ(dispatcher("NPROC_PER_NODE=8 megatron pt" + network + "--expert-model-parallel-size 8 "), TokenDispatcher::AllToAll);
  for (const char* more : {"--moe-expert-capacity-factor 1 --moe-pad-expert-input-to-capacity ", "--overlap-moe-expert-parallel-comm "})
    EXPECT_THAT(testing::refusal_of(gathering + more + "\n", {.model = {}, .cluster = cluster}),
                HasSubstr("add --moe-token-dispatcher-type alltoall, or flex"));
  EXPECT_THAT(testing::refusal_of(gathering + "--moe-enable-deepep\n", {.model = {}, .cluster = cluster}),
              HasSubstr("add --moe-token-dispatcher-type flex"));
  EXPECT_THAT(testing::text_of(testing::imported(gathering + "--moe-router-dtype fp32\n", {.model = {}, .cluster = cluster}).lost),
              HasSubstr("moe-router-dtype: is fp32"));
}

// The checkpoint's sizes go before the line's.
TEST(Megatron, SizesOfACheckpointAreTold) {
  const ImportedPlan read =
      testing::imported("python pretrain_gpt.py --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16 --use-checkpoint-args\n",
                        {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_THAT(testing::text_of(read.lost), HasSubstr("use-checkpoint-args: true: sizes and degrees of the checkpoint"));
}

}  // namespace
}  // namespace sim
