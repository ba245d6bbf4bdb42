#include "sim/cost/activation_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/memory_scene.h"
#include "tests/sim/model/pairs.h"

namespace sim {
namespace {

using testing::kept_by;
using testing::memory_of;

// 32 tokens, hidden 64, 4 heads of 16, ffn 256, fp32.
TEST(ActivationMemory, OfAGpt2Block) {
  const ParallelPlan plan = testing::tiny_plan();
  const SegmentMemory attention = memory_of(plan, Operation::Attention), mlp = memory_of(plan, Operation::Mlp);
  EXPECT_EQ(attention.stream, Bytes(4 * 32 * 64));
  EXPECT_EQ(attention.statistics, Bytes(4 * 32 * 2));
  EXPECT_EQ(attention.kept, Bytes(4 * 32 * (64 + 192 + 64 + 4)));  // normalized, qkv, out, logsumexp
  EXPECT_EQ(mlp.kept, Bytes(4 * 32 * (64 + 256 + 256)));
  EXPECT_EQ(mlp.backward_temporary, Bytes(4 * 32 * 256));
}

// What a norm behind the sum kept (rows of 64, mean and deviation) is gone when the rest of the segment runs backward; of a narrow feed-forward the norm's
// own gradient is most. Of one behind what is added another gradient stands in its place.
TEST(ActivationMemory, ANormBehindTheSumGoesFirst) {
  ParallelPlan plan = testing::tiny_plan();
  const Bytes before = memory_of(plan, Operation::Attention).backward_temporary;
  plan.model.norm_place = NormPlace::Behind;
  EXPECT_EQ(memory_of(plan, Operation::Attention).backward_temporary, before);
  plan.model.norm_place = NormPlace::AfterSum;
  EXPECT_EQ(before - memory_of(plan, Operation::Attention).backward_temporary, Bytes(4 * 32 * (64 + 2)));
  plan.model.ffn = 32;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).backward_temporary, Bytes(4 * 32 * 64));
}

// Four pieces of eight tokens, as the vocabulary is four times as wide as the stream.
TEST(ActivationMemory, ALossInPiecesHasNoWholeLogits) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.vocabulary = 256;
  plan.cluster.software.own_memory = plan.cluster.software.loss_in_pieces = true;
  const SegmentMemory head = memory_of(plan, Operation::Head);
  EXPECT_EQ(head.kept, Bytes(4 * 32 * 64)) << "the gradient of what the head reads, in its place";
  EXPECT_EQ(head.backward_temporary, Bytes((4 + 4) * 8 * 256));
  plan.cluster.software.loss_in_pieces = false;
  EXPECT_GT(memory_of(plan, Operation::Head).kept, Bytes(4 * 32 * 256));
}

TEST(ActivationMemory, OfALlamaBlock) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  const SegmentMemory attention = memory_of(plan, Operation::Attention), mlp = memory_of(plan, Operation::Mlp);
  EXPECT_EQ(attention.statistics, Bytes(4 * 32));
  EXPECT_EQ(attention.kept, Bytes(4 * 32 * (64 + 128 + 2 * 64 + 64 + 4)));  // keys and values are repeated for the other heads
  EXPECT_EQ(mlp.kept, Bytes(4 * 32 * (64 + 3 * 160)));
}

TEST(ActivationMemory, TensorParallelDividesTheInsideOnly) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  EXPECT_EQ(memory_of(plan, Operation::Mlp).kept, Bytes(4 * 32 * (64 + 128 + 128)));
  EXPECT_EQ(memory_of(plan, Operation::Mlp).stream, Bytes(4 * 32 * 64));
  plan.sequence_parallel = true;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).stream, Bytes(4 * 16 * 64));
  EXPECT_EQ(memory_of(plan, Operation::Mlp).statistics, Bytes(4 * 16 * 2));
}

// Recomputed as a module it gathers again: what waits is the rank's part of what the norm put out, though the core keeps all that was gathered.
TEST(ActivationMemory, AModuleStartsFromTheRanksPart) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  EXPECT_EQ(memory_of(plan, Operation::Mlp).entering, Bytes(4 * 32 * 64));
  EXPECT_EQ(memory_of(plan, Operation::Mlp).of_norm, Bytes(4 * 32 * 64));
  plan.sequence_parallel = true;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).entering, Bytes(4 * 16 * 64));
  EXPECT_EQ(memory_of(plan, Operation::Mlp).of_norm, Bytes(4 * 32 * 64));
}

// Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models" (arXiv 2205.05198), equation 6 with sequence parallelism and
// selective recomputation: 34 s b h / t bytes a block. Beside it the paper leaves out: statistics of two norms.
TEST(ActivationMemory, OfABlockOfMegatronIsThePapers) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  plan.cluster.software = load_software("megatron-lm-2022");
  plan.workload.precision = Precision::Fp16;
  plan.sequence_parallel = true;
  plan.recompute = Recompute::Selective;
  const SegmentMemory attention = memory_of(plan, Operation::Attention), mlp = memory_of(plan, Operation::Mlp);
  EXPECT_EQ(attention.kept + mlp.kept + mlp.stream * std::int64_t{2}, Bytes(34 * 32 * 64 / 2));
  EXPECT_EQ(attention.statistics + mlp.statistics, Bytes(2 * 4 * 2 * 32 / 2));
  EXPECT_EQ(attention.regathered, Bytes(2 * 32 * 64)) << "all tokens, while its products run";
  plan.recompute = Recompute::None;  // 5 a s / h more: softmax and its dropout in 16 bit, a mask
  EXPECT_EQ(memory_of(plan, Operation::Attention).kept - attention.kept, Bytes(5 * 32 * 32 * 4 / 2));
}

// A cluster that names no software is the worker's, as one that names it.
TEST(ActivationMemory, WithoutANameIsTheWorkers) {
  testing::PlanGenerator plans(5);
  for (int i = 0; i < 50; ++i) {
    ParallelPlan plan = plans.next(DeviceKind::Gpu);
    plan.cluster.software = {};
    for (const Operation segment : {Operation::Embedding, Operation::Attention, Operation::Mlp, Operation::Head, Operation::Experts}) {
      plan.cluster.software = {};
      const SegmentMemory nameless = memory_of(plan, segment);
      plan.cluster.software = load_software("meshwright");
      const SegmentMemory named = memory_of(plan, segment);
      EXPECT_EQ(named.kept, nameless.kept);
      EXPECT_EQ(named.backward_temporary, nameless.backward_temporary);
      EXPECT_EQ(named.exchanged, nameless.exchanged);
      EXPECT_EQ(named.regathered, Bytes(0));
      EXPECT_EQ(nameless.regathered, Bytes(0));
    }
  }
}

TEST(ActivationMemory, FollowsTheHabitsOfAProgram) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.workload.precision = Precision::Bf16;
  plan.cluster.software = worker_software();
  plan.cluster.software.own_memory = true;
  const auto more = [&](Operation segment, void (*change)(SoftwareStack&)) {
    const ParallelPlan before = plan;
    change(plan.cluster.software);
    const Bytes added = memory_of(plan, segment).kept - memory_of(before, segment).kept;
    plan = before;
    return added;
  };
  const Bytes row(2 * 32);  // an element of each token
  EXPECT_EQ(more(Operation::Attention, [](SoftwareStack& stack) { stack.repeats_keys = false; }), -(row * (2 * 64)));
  EXPECT_EQ(more(Operation::Attention, [](SoftwareStack& stack) { stack.keeps_unrotated = true; }), row * (128 / 2));
  EXPECT_EQ(more(Operation::Attention, [](SoftwareStack& stack) { stack.fused_norm = false; }), row * (2 * 64));
  EXPECT_EQ(more(Operation::Attention, [](SoftwareStack& stack) { stack.unfused_rms_norm = true; }), row * (2 * 64));
  EXPECT_EQ(more(Operation::Mlp, [](SoftwareStack& stack) { stack.fused_activation = false; }), row * 160);
  EXPECT_EQ(more(Operation::Mlp, [](SoftwareStack& stack) { stack.dropout = stack.keeps_masks = true; }), Bytes(32 * 64));
  EXPECT_EQ(more(Operation::Embedding, [](SoftwareStack& stack) { stack.dropout = stack.keeps_masks = true; }), Bytes(32 * 64));
  EXPECT_EQ(more(Operation::Attention, [](SoftwareStack& stack) { stack.attention = "unfused"; }),
            Bytes(6 * 32 * 32 * 4) - Bytes(4 * 32 * 4));  // softmax's output in fp32, and what the product behind read
  EXPECT_EQ(more(Operation::Attention,
                 [](SoftwareStack& stack) {
                   stack.attention = "unfused";
                   stack.dropout = true;
                 }),
            Bytes(7 * 32 * 32 * 4) - Bytes(4 * 32 * 4));  // and a mask
  EXPECT_GT(more(Operation::Head, [](SoftwareStack& stack) { stack.fused_loss = false; }), Bytes(0));
  const Bytes fused = memory_of(plan, Operation::Attention).kept;
  plan.attention = AttentionWord::Unfused;
  EXPECT_EQ(memory_of(plan, Operation::Attention).kept - fused, Bytes(6 * 32 * 32 * 4) - Bytes(4 * 32 * 4))
      << "as the plan says, whatever the program does";
  plan.workload.precision = plan.workload.precision.with(Numbers::Gradients, Precision::Bf16).with(Numbers::Masters, Precision::Bf16);
  EXPECT_EQ(memory_of(plan, Operation::Attention).kept - fused, Bytes(2 * 32 * 32 * 4) - Bytes(4 * 32 * 4)) << "softmax in 16 bit";
}

// Operators go over a cut vocabulary piece by piece; a kernel of product and loss does not.
TEST(ActivationMemory, PiecesOfALossOnTensorRanks) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.mesh.tensor = 2;
  plan.cluster.software = load_software("torchtitan-2026");
  const Bytes whole = memory_of(plan, Operation::Head).kept;
  plan.cluster.software.loss_in_pieces = true;
  const Bytes cut = memory_of(plan, Operation::Head).kept;
  EXPECT_LT(cut, whole);
  plan.cluster.software.by_operator = false;
  EXPECT_GT(memory_of(plan, Operation::Head).kept, cut);
}

// Of q, k, v, o, gate, up and down every second one is made again; attention's output stays.
TEST(ActivationMemory, OfALlamaBlockMadeAgainByOperators) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::Op;
  const SegmentMemory attention = memory_of(plan, Operation::Attention), mlp = memory_of(plan, Operation::Mlp);
  EXPECT_EQ(attention.statistics, Bytes(0));
  EXPECT_EQ(attention.kept, Bytes(4 * 32 * (64 + 32 + 64 + 4)));  // q, v, out, logsumexp
  EXPECT_EQ(mlp.kept, Bytes(4 * 32 * (160 + 64)));                // gate; what the last product put out
  EXPECT_EQ(mlp.unread, Bytes(4 * 32 * 64));
  plan.cluster.software = load_software("torchtitan-2026");
  plan.cluster.software.compiled = true;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).unread, Bytes(0));
}

TEST(ActivationMemory, StatisticsHaveAtLeastFourBytes) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = Precision::Bf16;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).statistics, Bytes(4 * 32 * 2));
  EXPECT_EQ(memory_of(plan, Operation::Mlp).stream, Bytes(2 * 32 * 64));
  plan.workload.precision = Precision::Fp64;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).statistics, Bytes(8 * 32 * 2));
}

TEST(ActivationMemory, InnerNormsKeepWhatTheyRead) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  const Bytes attention = kept_by(plan, 1), feed_forward = kept_by(plan, 1, 1);
  plan.model.inner_norms = true;
  EXPECT_EQ(kept_by(plan, 1) - attention, Bytes(4 * 32 * (64 + 1)));
  EXPECT_EQ(kept_by(plan, 1, 1) - feed_forward, Bytes(4 * 32 * (plan.model.ffn + 1)));
}

// 12 places of 20 numbers: two frames, two rows before and behind the first activation, one before the second.
TEST(ActivationMemory, SoundKeepsWhatIsConvolved) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = small_pair("bart", {.layers = 1, .decoder_layers = 1});
  plan.model.encoder->frames = 12;
  const Bytes silent = kept_by(plan, 0);
  plan.model.encoder->frame_width = 20;
  EXPECT_EQ(kept_by(plan, 0) - silent, Bytes(4 * 12 * (2 * 20 + 5 * 64)));
}

TEST(ActivationMemory, ANormedHeadHasItsRowsTwice) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  const int head = static_cast<int>(plan.model.layers) + 1;
  const Bytes plain = kept_by(plan, head);
  plan.model.normed_head = true;
  EXPECT_EQ(kept_by(plan, head) - plain, Bytes(4 * make_model_graph(plan).padded_vocabulary * (64 + 1)));
}

// 32 tokens of 64 columns in fp32: the stream, the norm's output, queries, keys, values, what comes out. Small ones stay, and what is made again is nowhere.
TEST(ActivationMemory, OfItModulesSendToTheHost) {
  ParallelPlan plan = testing::tiny_plan();
  constexpr std::int64_t kStream = 4 * 32 * 64, kSums = 4 * 32 * 4;
  plan.offload_modules = kSentToHost;
  plan.offload_least = 0;
  EXPECT_EQ(testing::memory_of(plan, Operation::Attention).on_host, Bytes(6 * kStream + kSums));
  EXPECT_EQ(testing::memory_of(plan, Operation::Mlp).on_host, Bytes((2 + 2 * 4) * kStream)) << "input, norm, both sides of the activation";
  plan.offload_least = 1'000;
  EXPECT_EQ(testing::memory_of(plan, Operation::Attention).on_host, Bytes(6 * kStream));
  plan.offload_modules = Module::CoreAttention;
  EXPECT_EQ(testing::memory_of(plan, Operation::Attention).on_host, Bytes(3 * kStream));
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  plan.offload_modules = kSentToHost;
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::LayerNorm;
  EXPECT_EQ(testing::memory_of(plan, Operation::Experts).on_host, Bytes(kStream + 2 * kStream + kStream));  // input, rows, first products
  EXPECT_EQ(testing::memory_of(plan, Operation::Attention).on_host, Bytes(5 * kStream));
}

}  // namespace
}  // namespace sim
