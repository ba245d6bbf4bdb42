#include "sim/cost/task_kernels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "sim/task_graph/layer_tasks.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::vector<std::string> names(const ParallelPlan& plan, LayerTask task) {
  std::vector<std::string> texts;
  for (const KernelCall& call : kernels_of(make_model_graph(plan), plan, task).calls)
    texts.emplace_back(kKernelNames[static_cast<std::size_t>(call.kernel)]);
  return texts;
}

TEST(TaskKernels, AloneABlockIsTwoTasksOfAllItsOperators) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Full;
  plan.model.residual_dropout = 0.1;
  const LayerIndex block(2);
  EXPECT_THAT(names(plan, {block, Phase::Forward, Operation::Attention}),
              ElementsAre("norm_forward", "linear_forward", "attention_forward", "linear_forward", "dropout_forward", "residual_forward"));
  EXPECT_THAT(names(plan, {block, Phase::Recompute, Operation::Mlp}),
              ElementsAre("norm_forward", "linear_forward", "activation_forward", "linear_forward", "dropout_forward", "residual_forward"));
  EXPECT_THAT(names(plan, {block, Phase::Backward, Operation::Mlp}),
              ElementsAre("residual_backward", "dropout_backward", "linear_input_gradient", "linear_weight_gradient", "copy",
                          "activation_backward", "linear_input_gradient", "linear_weight_gradient", "copy", "norm_backward"));
}

// Saving the inputs of the last product is the last that is done again; what dropout behind it keeps is made again, though, and so is the product.
TEST(TaskKernels, EarlyStopLeavesTheLastProductOut) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Full;
  plan.cluster.software.early_stop = plan.cluster.software.own_memory = true;
  const LayerTask attention{LayerIndex(2), Phase::Recompute, Operation::Attention}, mlp{LayerIndex(2), Phase::Recompute, Operation::Mlp};
  EXPECT_THAT(names(plan, mlp), ElementsAre("norm_forward", "linear_forward", "activation_forward"));
  EXPECT_THAT(names(plan, attention),
              ElementsAre("norm_forward", "linear_forward", "attention_forward", "linear_forward", "residual_forward"));
  plan.model.residual_dropout = 0.1;
  EXPECT_THAT(names(plan, mlp), Contains("dropout_forward"));
  EXPECT_THAT(names(plan, mlp), Contains("linear_forward").Times(2));
}

TEST(TaskKernels, EarlyStopHoldsForEachModuleByItself) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::Mlp;
  const LayerTask mlp{LayerIndex(2), Phase::Recompute, Operation::Mlp};
  EXPECT_THAT(names(plan, mlp), ElementsAre("linear_forward", "activation_forward", "linear_forward"));
  plan.cluster.software.early_stop = plan.cluster.software.own_memory = true;
  EXPECT_THAT(names(plan, mlp), ElementsAre("linear_forward", "activation_forward"));
}

// One place of a backward for each norm, and one for the projections of latent attention, whose rotary positions are in another task.
TEST(TaskKernels, ModulesThatAreRecomputedByNameAreToldOnce) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.position = Position::Rotary;
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 16, .kv_lora = 16, .qk_nope = 8, .qk_rope = 8, .v_dim = 8};
  const auto again = [&](Modules modules) {
    plan.recompute = Recompute::Selective;
    plan.recompute_scope.modules = modules;
    std::int64_t count = 0;
    for (const Operation operation : {Operation::Attention, Operation::Mlp})
      count += std::ranges::count_if(kernels_of(make_model_graph(plan), plan, {LayerIndex(2), Phase::Backward, operation}).calls,
                                     &KernelCall::reruns_module);
    return count;
  };
  EXPECT_EQ(again({}), 0);
  EXPECT_EQ(again(Module::LayerNorm), 2);
  EXPECT_EQ(again(Module::MlaUpProjection), 1);
  EXPECT_EQ(again(Module::CoreAttention), 0) << "its kernel says that it is a module";
}

// All slices together compute the pairs of a whole sample, the later ones more of them; none in particular: the mean.
SoftwareStack program(const std::string& attention, bool drops, bool keeps_masks) {
  SoftwareStack stack;
  stack.attention = attention;
  stack.dropout = drops;
  stack.keeps_masks = keeps_masks;
  stack.own_memory = true;
  return stack;
}

TEST(TaskKernels, ScoresAreDroppedByAPassWhereTheyAreWritten) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.attention_dropout = 0.1;
  const auto passes = [&](SoftwareStack stack) {
    plan.cluster.software = std::move(stack);
    const auto count = [&](Phase phase, const char* name) {
      return std::ranges::count(names(plan, {LayerIndex(2), phase, Operation::Attention}), name);
    };
    return std::pair(count(Phase::Forward, "dropout_forward"), count(Phase::Backward, "dropout_backward"));
  };
  EXPECT_EQ(passes(program("flash2", false, true)), std::pair(0L, 0L)) << "inside";
  EXPECT_EQ(passes(program("unfused", false, true)), std::pair(1L, 1L));
  EXPECT_EQ(passes(program("unfused", true, true)), std::pair(0L, 0L)) << "the price of the scores has it";
  EXPECT_EQ(passes(program("flash2", false, false)), std::pair(1L, 1L)) << "the worker's";
  EXPECT_EQ(passes(load_software("meshwright")), std::pair(1L, 1L)) << "its profile";
}

// Of an encoder's block, a decoder's attention to itself and one to the source: 96 tokens of the source, 32 of the target.
TEST(TaskKernels, AKernelThatSkipsNothingMeetsEveryPairOnce) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.encoder = EncoderForm{.layers = 1, .decoder_layers = 1};
  plan.model.layers = plan.model.encoder->blocks();
  plan.model.halves = {BlockHalf::Both, BlockHalf::Mixer, BlockHalf::Both};
  plan.workload.sequence = 128;
  plan.model.source_tokens = 96;
  plan.cluster.software = program("unfused", false, true);
  const auto pairs = [&](std::int32_t block) {
    for (const KernelCall& call : kernels_of(make_model_graph(plan), plan, {LayerIndex(block), Phase::Forward, Operation::Attention}).calls)
      if (call.kernel == Kernel::AttentionForward) return call.share * static_cast<double>(call.shape[2] * call.shape[2]);
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(pairs(1), 96 * 96);
  EXPECT_DOUBLE_EQ(pairs(2), 32 * 32);
  EXPECT_DOUBLE_EQ(pairs(3), 32 * 96);
}

TEST(TaskKernels, SlicesComputeThePairsOfTheSample) {
  ParallelPlan plan = testing::tiny_plan();
  for (const std::int32_t slices : {2, 4, 8}) {
    plan.slices = slices;
    const std::int64_t length = plan.workload.sequence / slices;
    const auto share = [&](Phase phase, SliceIndex slice) {
      const auto calls = kernels_of(make_model_graph(plan), plan, {LayerIndex(1), phase, Operation::AttentionScores, {}, slice}).calls;
      EXPECT_EQ(calls.front().shape[2], length);
      return calls.front().share;
    };
    for (const Phase phase : {Phase::Forward, Phase::Backward}) {
      double all = 0, before = 0;
      for (SliceIndex slice(0); slice.value() < slices; ++slice) {
        EXPECT_GT(share(phase, slice), before);
        before = share(phase, slice);
        all += before;
      }
      EXPECT_DOUBLE_EQ(all * static_cast<double>(length * (length + 1)),
                       static_cast<double>(plan.workload.sequence * (plan.workload.sequence + 1)));
      EXPECT_DOUBLE_EQ(share(phase, SliceIndex::none()) * slices, all);
    }
  }
}

TEST(TaskKernels, TensorParallelCutsBehindTheSum) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  plan.model = testing::tiny_llama();
  const LayerIndex block(1);
  EXPECT_THAT(names(plan, {block, Phase::Forward, Operation::Attention}),
              ElementsAre("norm_forward", "linear_forward", "rotary_forward", "attention_forward", "linear_forward", "residual_forward"));
  EXPECT_THAT(names(plan, {block, Phase::Forward, Operation::AttentionResidual}), ElementsAre())
      << "its sum waits for the norm that reads it";
  EXPECT_THAT(names(plan, {block, Phase::Backward, Operation::MlpNorm}), ElementsAre("residual_backward", "norm_backward"));
  EXPECT_THAT(names(plan, {LayerIndex(5), Phase::Forward, Operation::Head}),
              ElementsAre("norm_forward", "linear_forward", "cross_entropy_forward"));
  EXPECT_THAT(names(plan, {LayerIndex(5), Phase::Forward, Operation::HeadExponentials}), ElementsAre("cross_entropy_forward"));
  EXPECT_THAT(names(plan, {LayerIndex(5), Phase::Backward, Operation::Head}),
              ElementsAre("cross_entropy_backward", "linear_input_gradient", "linear_weight_gradient"));
}

// Behind the products that lead to it stand scores, choice and attention; backward attention's product of queries and keys is made again for the indexer's loss.
TEST(TaskKernels, AnIndexerStandsBesideAttention) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.kv_heads = plan.model.heads;
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 24, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 12};
  const auto count = [&](Phase phase, std::string_view kernel) {
    const std::vector<std::string> found = names(plan, {LayerIndex(1), phase, Operation::Attention});
    return std::ranges::count(found, kernel);
  };
  const auto gradients = count(Phase::Backward, "linear_input_gradient"), weights = count(Phase::Backward, "linear_weight_gradient");
  plan.model.attention.indexer = {.heads = 2, .width = 16, .topk = 4};
  EXPECT_EQ(count(Phase::Forward, "indexer_forward"), 1);
  EXPECT_EQ(count(Phase::Forward, "sparse_forward"), 1);
  EXPECT_EQ(count(Phase::Forward, "attention_forward"), 0);
  EXPECT_EQ(count(Phase::Backward, "sparse_backward"), 1);
  EXPECT_EQ(count(Phase::Backward, "sparse_forward"), 1);
  EXPECT_EQ(count(Phase::Backward, "indexer_backward"), 1);
  EXPECT_EQ(count(Phase::Backward, "linear_input_gradient"), gradients) << "the stream has no gradient from it";
  EXPECT_EQ(count(Phase::Backward, "linear_weight_gradient"), weights + 3);
  plan.model.adapters = Adapters{}.on(AdapterTarget::Output);
  EXPECT_EQ(count(Phase::Backward, "indexer_backward"), 0) << "frozen, it has no loss";
}

TEST(TaskKernels, GradientsEndAtTheFirstAdapter) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.adapters = Adapters{}.on(AdapterTarget::Query);
  const auto count = [&](LayerIndex block, std::string_view kernel) {
    const std::vector<std::string> found = names(plan, {block, Phase::Backward, Operation::Attention});
    return std::ranges::count(found, kernel);
  };
  EXPECT_EQ(count(LayerIndex(1), "linear_input_gradient") + 2, count(LayerIndex(2), "linear_input_gradient"))
      << "of the product of queries, keys and values, and of the adapter beside it";
  EXPECT_EQ(count(LayerIndex(1), "norm_backward"), 0);
  plan.recompute = Recompute::Full;
  EXPECT_EQ(count(LayerIndex(1), "linear_input_gradient"), count(LayerIndex(2), "linear_input_gradient"));
}

TEST(TaskKernels, CastsAroundAdaptersAreKernelsOfTheirOwnWhereNothingFusesThem) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.adapters = Adapters{}.on(AdapterTarget::Query);
  plan.workload.precision = Precision::Bf16;
  const LayerTask task{LayerIndex(2), Phase::Forward, Operation::Attention};
  const std::size_t fused = names(plan, task).size();
  plan.cluster.software.unfused_adapters = true;
  EXPECT_EQ(names(plan, task).size(), fused + 2);
  plan.model.adapters->dropout = 0.05;
  EXPECT_EQ(names(plan, task).size(), fused + 4) << "fp32 is dropped: the mask's kernel, and what it moves more";
  plan.workload.precision = plan.workload.precision.with(Numbers::Masters, Precision::Bf16);
  EXPECT_EQ(names(plan, task).size(), fused + 2) << "pure 16 bit is not cast: the mask's kernel, and the scaling";
}

TEST(TaskKernels, FrozenWeightsOf8BitAreUnpackedUnlessProductsReadThem) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.adapters = Adapters{.base = BaseFormat::Fp8}.on(AdapterTarget::Query);
  const LayerTask task{LayerIndex(2), Phase::Forward, Operation::Attention};
  const auto unpacked = [&](const PrecisionPolicy& precision) {
    plan.workload.precision = precision;
    return std::ranges::count(names(plan, task), "copy");
  };
  const PrecisionPolicy wide(Precision::Bf16);
  EXPECT_EQ(unpacked(wide), 2) << "of queries, keys and values, and of what attention puts out";
  EXPECT_EQ(unpacked(wide.with(ScaleRecipe::Delayed, false)), 0);
  EXPECT_EQ(unpacked(wide.with(ScaleRecipe::Nvfp4, false)), 2) << "products of 4 bit read none of 8";
}

// Five operators unpack a weight once a forward; its backward finds the numbers. 64 x 64 of the projection: 4.5, 2 and 3 bytes of a number walk what is not
// contiguous, at 58.5 / 25 of a copy's time, 5 and 2 do not.
TEST(TaskKernels, WholeNumbersAreUnpackedOperatorByOperator) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.adapters = Adapters{.base = BaseFormat::Int4}.on(AdapterTarget::Down);
  const ModelGraph model = make_model_graph(plan);
  const auto copied = [&](Phase phase) {
    std::int64_t bytes = 0;
    for (const KernelCall& call : kernels_of(model, plan, {LayerIndex(2), phase, Operation::Attention}).calls)
      bytes += call.kernel == Kernel::Copy ? 2 * call.shape[0] : 0;
    return static_cast<double>(bytes);
  };
  const double numbers = static_cast<double>(model.config.hidden * (2 * model.config.hidden + 2 * attention_widths(model.config).key));
  const double at_once = copied(Phase::Forward), backward = copied(Phase::Backward);
  EXPECT_NEAR(at_once, backward, 2);
  EXPECT_GT(at_once, 0);
  plan.cluster.software.unpacks_by_operator = true;
  EXPECT_NEAR(copied(Phase::Forward), numbers * (9.5 * 58.5 / 25 + 7), 20);
  EXPECT_EQ(copied(Phase::Backward), 0);
  plan.model.adapters->base = BaseFormat::Nf4;
  EXPECT_GT(copied(Phase::Backward), 0) << "one kernel, for each use";
}

// Of a block's own products every second one is made again (the router's), of experts all, and the copy that went to them, where it crossed no link.
TEST(TaskKernels, OperatorsMakeExpertsAgainAsAWhole) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::Op;
  const auto made = [&plan](Kernel kernel) {
    double share = 0;
    const ModelGraph model = make_model_graph(plan);
    for (const Piece& piece : backward_pieces(model, plan, LayerIndex(1)))
      if (!is_communication(piece.operation))
        for (const KernelCall& call : kernels_of(model, plan, {LayerIndex(1), Phase::Backward, piece.operation}).calls)
          if (call.kernel == kernel) share += call.share;
    return share;
  };
  const double products = made(Kernel::LinearForward), copies = made(Kernel::Permutation);
  plan.mesh.expert = 2;
  EXPECT_EQ(made(Kernel::LinearForward), products);
  EXPECT_LT(made(Kernel::Permutation), copies) << "exchanges are kept";
  plan.recompute_scope.modules = Module::LayerNorm;
  EXPECT_DOUBLE_EQ(products - made(Kernel::LinearForward), 1 + 0.5 + 2)
      << "halves of two products of attention and of the router, and both of experts";
}

// Bytes that rows of experts pass through memory beside a permutation's: of a number there and back 42 - 10 forward and 58 - 10 backward.
TEST(TaskKernels, RowsThatMoveOperatorByOperatorPassThroughMemoryMoreOften) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  plan.workload.precision = Precision::Bf16;
  const auto moved = [&plan](Phase phase) {
    std::int64_t bytes = 0;
    const ModelGraph model = make_model_graph(plan);
    for (const Piece& piece : pieces_of(model, plan, LayerIndex(1), phase))
      if (!is_communication(piece.operation))
        for (const KernelCall& call : kernels_of(model, plan, {LayerIndex(1), phase, piece.operation}).calls)
          bytes += call.kernel == Kernel::Copy ? 2 * call.shape[0] : 0;
    return bytes;
  };
  const std::int64_t forward = moved(Phase::Forward), backward = moved(Phase::Backward);
  plan.cluster.software.by_operator = true;
  const std::int64_t numbers = plan.shard_shape().tokens() * 2 * plan.model.hidden;
  EXPECT_EQ(moved(Phase::Forward) - forward, 32 * numbers);
  EXPECT_EQ(moved(Phase::Backward) - backward, 48 * numbers);
  plan.cluster.software.compiled = true;
  EXPECT_EQ(moved(Phase::Forward), forward);
  plan.cluster.software.compiled = false;
  plan.token_dispatcher = TokenDispatcher::Hierarchical;
  EXPECT_EQ(moved(Phase::Forward), forward) << "a library moves them";
}

TEST(TaskKernels, ShapesAreThoseOfOneTensorRank) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  const auto calls = kernels_of(make_model_graph(plan), plan, {LayerIndex(1), Phase::Forward, Operation::Attention}).calls;
  EXPECT_EQ(calls[0].shape, (KernelShape{32, 64}));        // norm: all tokens, all features
  EXPECT_EQ(calls[1].shape, (KernelShape{32, 96, 64}));    // qkv: half the outputs
  EXPECT_EQ(calls[2].shape, (KernelShape{1, 2, 32, 16}));  // half the heads
  EXPECT_EQ(calls[3].shape, (KernelShape{32, 64, 32}));    // projection: half the inputs
  plan.sequence_parallel = true;
  const auto norm = kernels_of(make_model_graph(plan), plan, {LayerIndex(1), Phase::Forward, Operation::AttentionNorm}).calls;
  EXPECT_EQ(norm[0].shape, (KernelShape{16, 64}));  // half the tokens
}

// However a layer is cut into tasks, the same kernels run, as often, with the same flops in all.
TEST(TaskKernels, EveryCutDoesTheSameWork) {
  using Count = std::map<Kernel, double>;
  const auto count = [](const ParallelPlan& plan, LayerIndex layer, Phase phase) {
    const ModelGraph model = make_model_graph(plan);
    Count kernels;
    for (const Piece& piece : phase == Phase::Forward ? forward_pieces(model, plan, layer) : backward_pieces(model, plan, layer)) {
      if (is_communication(piece.operation) || piece.operation == Operation::HeadLoss) continue;
      for (const KernelCall& call : kernels_of(model, plan, {layer, phase, piece.operation}).calls) kernels[call.kernel] += call.share;
    }
    return kernels;
  };
  for (ModelConfig config : {testing::tiny_gpt2(), testing::tiny_llama()})
    for (const LayerIndex layer : {LayerIndex(0), LayerIndex(1), LayerIndex(5)})
      for (const Phase phase : {Phase::Forward, Phase::Backward}) {
        config.residual_dropout = config.embedding_dropout = 0.1;
        ParallelPlan alone = testing::tiny_plan(), cut = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
        alone.model = cut.model = config;
        const Count whole = count(alone, layer, phase);
        EXPECT_EQ(count(cut, layer, phase), whole) << config.model_type << " layer " << layer.value();
        cut.sequence_parallel = true;
        EXPECT_EQ(count(cut, layer, phase), whole) << config.model_type << " layer " << layer.value();
      }
}

TEST(TaskKernels, FlatBuffersAreCountedInElements) {
  ParallelPlan plan = testing::tiny_plan();
  EXPECT_EQ(flat_kernels(plan, Operation::Update, {1000}).calls[0].kernel, Kernel::AdamW);
  EXPECT_EQ(flat_kernels(plan, Operation::NormPart, {1000}).calls[0].kernel, Kernel::SquaredNorm);
  EXPECT_EQ(flat_kernels(plan, Operation::Accumulate, {1000}).calls[0].shape, (KernelShape{1000, 1}));
  plan.workload.optimizer = OptimizerKind::Sgd;
  EXPECT_EQ(flat_kernels(plan, Operation::Update, {1000}).calls[0].kernel, Kernel::Sgd);
}

}  // namespace
}  // namespace sim
