// Both checkers over what lower() and the engine make of random plans.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <set>

#include "sim/check/checkers.h"
#include "sim/engine/simulate.h"
#include "sim/plan/scaled_products.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/task_graph/source_edges.h"
#include "sim/units/at.h"
#include "tests/sim/cost/random_plans.h"
#include "tests/sim/model/pairs.h"

namespace sim {
namespace {

using ::testing::IsEmpty;

// With ranks that do the same together and each by itself: the checkers find nothing, and a step takes as long.
void pass_in_both_folds(const ParallelPlan& plan) {
  SCOPED_TRACE(testing::describe(plan));
  const ModelGraph model = make_model_graph(plan);
  std::vector<SimTime> steps;
  for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
    const TaskGraph graph = lower(model, plan, fold);
    ASSERT_THAT(check_graph(model, plan, graph), IsEmpty());
    const SimulationResult result = simulate(model, plan, graph, Detail::Timeline);
    ASSERT_THAT(check_timeline(graph, result.timeline), IsEmpty());
    steps.push_back(result.step_time);
  }
  EXPECT_EQ(steps[0], steps[1]);
}

TEST(Simulations, PassTheCheckers) {
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu}) {
    testing::PlanGenerator generator(23);
    for (int i = 0; i < 60; ++i) {
      const ParallelPlan plan = generator.next(kind);
      SCOPED_TRACE(testing::describe(plan));
      const ModelGraph model = make_model_graph(plan);
      for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
        const TaskGraph graph = lower(model, plan, fold);
        ASSERT_THAT(check_graph(model, plan, graph), IsEmpty());
        ASSERT_THAT(check_timeline(graph, simulate(model, plan, graph, Detail::Timeline).timeline), IsEmpty());
      }
    }
  }
}

// Frozen weights are gathered where they are sharded, and nothing else; what is trained is as of any network.
TEST(Simulations, OfAdaptersPassTheCheckers) {
  testing::PlanGenerator generator(29);
  int seen = 0;
  for (int i = 0; i < 80; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    plan.model.mtp_layers = 0;
    plan.model.mtp_apart = false;
    std::vector<Violation> wrong;
    plan.model.adapters = parse_adapters(i % 3 == 0   ? "rank 2 on o base nf4"
                                         : i % 3 == 1 ? "rank 4 on q,v,o"
                                                      : "rank 2 on qkv,up,down dropout 0.1",
                                         wrong);
    if (!violations(plan).empty()) continue;
    ++seen;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 30);
}

// Ranks that agree on scales of 8 bit, whatever they share of a product.
TEST(Simulations, OfAgreedScalesPassTheCheckers) {
  constexpr std::array kRecipes = {ScaleRecipe::Delayed, ScaleRecipe::Tensorwise, ScaleRecipe::Rowwise, ScaleRecipe::Blockwise,
                                   ScaleRecipe::Mx};
  testing::PlanGenerator generator(83);
  std::set<MeshAxis> asked;
  int seen = 0;
  for (int i = 0; i < 300; ++i) {
    ParallelPlan plan = generator.next(DeviceKind::Cpu);
    plan.workload.precision = PrecisionPolicy(Precision::Fp32).with(sim::at(kRecipes, i % 5), false);
    if (i % 2 == 0) plan.model.mtp_layers = 0, plan.model.mtp_apart = false;
    if (plan.model.experts) plan.model.experts->shared_gate = plan.model.experts->shared_ffn > 0 && i % 3 > 0;
    if (!violations(plan).empty()) continue;
    ++seen;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
    if (!asks_within_computations(plan)) continue;
    const ModelGraph model = make_model_graph(plan);
    for (const Piece& piece : forward_pieces(model, plan, LayerIndex(2)))
      if (piece.within) asked.insert(piece.group);
  }
  EXPECT_GT(seen, 150);
  EXPECT_THAT(asked, ::testing::IsSupersetOf({MeshAxis::Tensor, MeshAxis::Context, MeshAxis::ExpertData}));
}

// Scans that context ranks deal out, whichever way attention goes beside them: of Mamba-2 with a group for each rank or for several, of both delta rules.
TEST(Simulations, OfScansOverContextRanksPassTheCheckers) {
  testing::PlanGenerator generator(59);
  constexpr LinearRule kRules[] = {LinearRule::StateSpace, LinearRule::GatedDelta, LinearRule::ChannelDelta};
  int seen = 0, copied = 0, rings = 0;
  for (int i = 0; i < 300; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    if (plan.mesh.context == 1 || plan.model.mtp_layers > 0) continue;
    const LinearRule rule = at(kRules, i % 3);
    const std::int64_t groups = rule == LinearRule::StateSpace ? plan.mesh.tensor * (i % 2 + 1) : 32;
    plan.model.linear = LinearForm{.rule = rule, .heads = 32, .groups = groups, .key = 8, .value = 4, .chunk = 16, .beside = i % 5 == 0};
    plan.model.linear_layers.assign(count_of(plan.model.layers), true);
    plan.model.linear_layers.back() = false;
    if (!violations(plan).empty()) continue;
    ++seen;
    copied += groups < plan.mesh.tensor * plan.mesh.context ? 1 : 0;
    rings += plan.context_algorithm == ContextAlgorithm::Ring ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 30);
  EXPECT_GT(copied, 5);
  EXPECT_GT(rings, 5);
}

// Blocks that differ in their heads and widths, values that are narrower than keys, and gates of heads: over data, tensor, context and pipeline ranks.
TEST(Simulations, OfBlocksThatDifferPassTheCheckers) {
  testing::PlanGenerator generator(53);
  int seen = 0, shared = 0, cut = 0;
  for (int i = 0; i < 240; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    ModelConfig& model = plan.model;
    if (model.attention.kind == AttentionKind::Latent) continue;
    for (std::int64_t block = 0; block < model.layers; ++block)
      model.sizes.push_back(block % 2 == 0 ? BlockSizes{model.heads, model.kv_heads, model.head_dim, model.ffn}
                                           : BlockSizes{2 * model.heads, i % 3 == 0 ? 1 : model.heads, 2 * model.head_dim, 2 * model.ffn});
    if (i % 4 == 0) model.value_dim = 2;
    if (i % 4 == 1) model.attention_gate = model.head_gate = true;
    if (!violations(plan).empty()) continue;
    ++seen;
    shared += shares_keys(model, plan.mesh.tensor) ? 1 : 0;
    cut += plan.mesh.context > 1 ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 40);
  EXPECT_GT(shared, 3);
  EXPECT_GT(cut, 3);
}

// Norms that tensor ranks add up for, over data, tensor, context and pipeline ranks.
TEST(Simulations, OfNormsOverAllHeadsPassTheCheckers) {
  testing::PlanGenerator generator(67);
  int met = 0, cut = 0;
  for (int i = 0; i < 240; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    if (plan.model.attention.kind == AttentionKind::Latent) continue;
    plan.model.norm = Norm::RmsNorm;
    plan.model.qk_norm = QkNorm::Joint;
    if (!violations(plan).empty()) continue;
    met += plan.mesh.tensor > 1 ? 1 : 0;
    cut += plan.mesh.tensor > 1 && plan.mesh.context > 1 ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(met, 10);
  EXPECT_GT(cut, 2);
}

// Keys and values that later blocks read again, one product for both, a token's input of each block: over data, tensor and context ranks of one stage.
TEST(Simulations, OfSharedKeysAndInputsOfBlocksPassTheCheckers) {
  testing::PlanGenerator generator(59);
  int seen = 0, shared = 0, cut = 0;
  for (int i = 0; i < 400; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    ModelConfig& model = plan.model;
    if (model.attention.kind == AttentionKind::Latent || model.layers < 2) continue;
    if (i % 3 != 0) model.shared_kv_layers = 1;
    if (i % 3 != 1) model.layer_inputs = 4, model.layer_vocabulary = 32;
    model.keys_as_values = model.value_norm = i % 4 == 0;
    if (i % 5 == 0) model.kv_heads = 1;
    if (!violations(plan).empty()) continue;
    ++seen;
    shared += shares_keys(model, plan.mesh.tensor) ? 1 : 0;
    cut += plan.mesh.context > 1 ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 30);
  EXPECT_GT(shared, 2);
  EXPECT_GT(cut, 2);
}

// Images as tokens, over data, tensor and pipeline ranks.
TEST(Simulations, OfPatchesPassTheCheckers) {
  const ModelConfig vit = load_model_config("profiles/models/vit-base-patch16-224.json");
  testing::PlanGenerator generator(31);
  int seen = 0;
  for (int i = 0; i < 80; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    plan.model = vit;
    plan.model.layers = 4;
    plan.workload.sequence = 197;
    plan.cut = even_cut(4, {.stages = plan.mesh.pipeline, .microbatches = 1, .chunks = plan.chunks});
    if (!violations(plan).empty()) continue;
    ++seen;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 10);
}

// An encoder, and a decoder behind it, over data, tensor and pipeline ranks: what the source leaves goes along to the last stage.
TEST(Simulations, OfEncodersWithDecodersPassTheCheckers) {
  testing::PlanGenerator generator(43);
  int seen = 0, cut = 0;
  for (int i = 0; i < 240; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    plan.model = small_pair(i % 3 == 0 ? "t5" : i % 3 == 1 ? "bart" : "mbart", {.layers = 2, .decoder_layers = 2});
    plan.model.source_tokens = i % 4 == 0 ? 0 : plan.workload.sequence / 4;
    if (i % 5 == 0)
      plan.model.encoder->frame_width = 8, plan.model.encoder->frames = plan.workload.sequence / 4, plan.model.source_tokens = 0;
    plan.cut = even_cut(plan.model.layers, {.stages = plan.mesh.pipeline, .microbatches = 1, .chunks = plan.chunks});
    if (!violations(plan).empty()) continue;
    ++seen;
    cut += plan.mesh.tensor > 1 && plan.mesh.pipeline > 1 ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 20);
  EXPECT_GT(cut, 3);
}

// The same, where the source goes straight to the stages that read it.
TEST(Simulations, OfSourcesSentStraightPassTheCheckers) {
  testing::PlanGenerator generator(47);
  int seen = 0, with_edges = 0;
  for (int i = 0; i < 400; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    plan.model = small_pair(i % 3 == 0 ? "t5" : "bart", {.layers = 2, .decoder_layers = 3});
    plan.model.source_tokens = i % 4 == 0 ? 0 : plan.workload.sequence / 4;
    plan.chunks = 1;
    plan.cut = even_cut(plan.model.layers, {.stages = plan.mesh.pipeline, .microbatches = 1, .chunks = 1});
    plan.direct_source = true;
    if (!violations(plan).empty()) continue;
    ++seen;
    with_edges += source_edges(plan).readers.empty() ? 0 : 1;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 20);
  EXPECT_GT(with_edges, 8);
}

// Documents that each have a context degree of their own: all ranks have one pool, so that a step is the same in both folds.
TEST(Simulations, OfContextByDocumentPassTheCheckers) {
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu})
    for (const std::int32_t zero : {0, 1, 3})
      for (const char* samples : {"packed list 2*7 30", "padded lognormal mean 9 spread 1"})
        for (const std::int32_t stages : {1, 2}) {
          ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = stages, .context = 2});
          if (kind == DeviceKind::Gpu) plan.cluster = testing::described({testing::small_gpu(), plan.mesh.ranks(), {}}, true);
          std::vector<Violation> wrong;
          plan.workload.samples = parse_samples_policy(samples, wrong);
          plan.zero_stage = zero;
          plan.context_by_document = true;
          ASSERT_THAT(violations(plan), IsEmpty());
          ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
        }
}

TEST(Simulations, OfBlocksMadeAgainTogetherPassTheCheckers) {
  testing::PlanGenerator generator(71);
  int seen = 0, cut = 0, experts = 0;
  for (int i = 0; i < 400; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    plan.recompute = Recompute::Full;
    plan.recompute_scope = {.together = 2 + i % 3, .but_last = i % 5 == 0};
    if (!violations(plan).empty()) continue;
    ++seen;
    cut += plan.mesh.tensor > 1 || plan.mesh.context > 1 ? 1 : 0;
    experts += plan.model.experts ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 60);
  EXPECT_GT(cut, 20);
  EXPECT_GT(experts, 10);
}

// Steps that cross: each word where the rules allow it, over random plans. A step takes what its fold takes, and no longer than one that ends at a
// barrier does (of a program that has no other way to hide its gather).
TEST(Simulations, OfStepsThatCrossPassTheCheckers) {
  testing::PlanGenerator generator(37);
  std::array<int, 4> seen{};
  int repeat = 0, simulated = 0;
  const auto check = [&](const ParallelPlan& plan, std::size_t word) {
    if (!violations(plan).empty()) return;
    ++seen[word];
    SCOPED_TRACE(testing::describe(plan));
    const ModelGraph model = make_model_graph(plan);
    std::vector<SimTime> steps;
    for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
      const TaskGraph graph = lower(model, plan, fold);
      ASSERT_THAT(check_graph(model, plan, graph), IsEmpty());
      const SimulationResult result = simulate(model, plan, graph, Detail::Timeline);
      ASSERT_THAT(check_timeline(graph, result.timeline, result.cycle == 1 ? result.step_time : SimTime(0)), IsEmpty());
      repeat += result.cycle > 0 ? 1 : 0;
      ++simulated;
      steps.push_back(result.step_time);
    }
    EXPECT_EQ(steps[0], steps[1]);
  };
  for (int i = 0; i < 90; ++i) {
    ParallelPlan plan = generator.next(i % 3 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    plan.offload_optimizer = plan.offload_parameters = false;
    ParallelPlan gathered = plan;
    gathered.zero_stage = i % 2 == 0 ? 1 : 2;
    gathered.overlap_weight_gather = true;
    check(gathered, 0);
    for (const PostValidation how : {PostValidation::InPlace, PostValidation::Copies}) {
      ParallelPlan validated = plan;
      validated.zero_stage = i % 2;
      validated.post_validation = how;
      check(validated, how == PostValidation::InPlace ? 1 : 2);
    }
    ParallelPlan summed = plan;
    summed.zero_stage = 0;
    summed.partition_size = Bytes(65'536);
    summed.credit_size = Bytes(65'536 * (1 + i % 4));
    summed.training.gradient_clip = 0;
    summed.mesh = {.data = 4, .context = plan.mesh.context};
    summed.cluster.devices = summed.mesh.ranks();
    summed.schedule = "1f1b";
    summed.chunks = 1;
    summed.sequence_parallel = summed.expert_overlap = false;
    summed.token_dispatcher = TokenDispatcher::AsTheProgram;
    summed.accumulation = Accumulation::ReduceLast;
    summed.cut = even_cut(plan.model.layers, {.stages = 1, .microbatches = 1, .chunks = 1});
    check(summed, 3);
  }
  for (const int count : seen) EXPECT_GT(count, 10);
  EXPECT_GT(repeat * 10, simulated * 8) << "of ten steps so many repeat soon";
}

// Where the rules allow it, over random plans: with as many gradients as one unit's, the step takes less memory, or as much.
TEST(Simulations, OfStepsInTheBackwardPassTheCheckers) {
  testing::PlanGenerator generator(53);
  int seen = 0, sharded = 0;
  for (int i = 0; i < 160; ++i) {
    ParallelPlan plan = generator.next(i % 3 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    plan.mesh = {.data = 1 + 3 * (i % 2), .context = plan.mesh.context, .context_inner = plan.mesh.context_inner};
    plan.cluster.devices = plan.mesh.ranks();
    plan.workload.global_batch = plan.mesh.data * plan.microbatch_size;
    plan.zero_stage = i % 4 < 2 ? 0 : 3;
    plan.schedule = "1f1b";
    plan.chunks = plan.slices = 1;
    plan.persistence_threshold = 0;
    plan.sequence_parallel = plan.expert_overlap = plan.offload_optimizer = plan.offload_parameters = false;
    plan.accumulation = Accumulation::ReduceLast;
    plan.token_dispatcher = TokenDispatcher::AsTheProgram;
    plan.cut = even_cut(plan.model.inner_layers(), {.stages = 1, .microbatches = 1, .chunks = 1});
    plan.training.gradient_clip = 0;
    if (!violations(plan).empty()) continue;
    const Bytes before = simulate(make_model_graph(plan), plan).peak_memory;
    plan.optimizer_in_backward = true;
    if (!violations(plan).empty()) continue;
    ++seen;
    sharded += plan.zero_stage == 3 && plan.mesh.data > 1 ? 1 : 0;
    SCOPED_TRACE(testing::describe(plan));
    const ModelGraph model = make_model_graph(plan);
    for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
      const TaskGraph graph = lower(model, plan, fold);
      ASSERT_THAT(check_graph(model, plan, graph), IsEmpty());
      const SimulationResult result = simulate(model, plan, graph, Detail::Timeline);
      ASSERT_THAT(check_timeline(graph, result.timeline, SimTime(0)), IsEmpty());
      EXPECT_LE(result.peak_memory, before);
    }
  }
  EXPECT_GT(seen, 30);
  EXPECT_GT(sharded, 8);
}

// States and weights on drives, loads of experts, sums in switches: each is drawn, and moves steps.
TEST(Simulations, OfDrivesLoadsAndSwitchesPassTheCheckers) {
  struct Word {
    bool (*is_said)(const ParallelPlan&);
    void (*leave_out)(ParallelPlan&);
    int seen = 0, moved = 0;
  };
  Word words[] = {{[](const ParallelPlan& p) { return p.on_drive != OnDrive::None; }, [](ParallelPlan& p) { p.on_drive = OnDrive::None; }},
                  {[](const ParallelPlan& p) { return p.workload.expert_loads.kind != LoadKind::AsRecorded; },
                   [](ParallelPlan& p) { p.workload.expert_loads = {}; }},
                  {[](const ParallelPlan& p) { return p.cluster.hardware.inter_node.switch_sums; },
                   [](ParallelPlan& p) { p.cluster.hardware.inter_node.switch_sums = false; }},
                  {[](const ParallelPlan& p) { return !p.offload_modules.none(); }, [](ParallelPlan& p) { p.offload_modules = {}; }},
                  {[](const ParallelPlan& p) { return p.delay_head_wgrad > 0; }, [](ParallelPlan& p) { p.delay_head_wgrad = 0; }}};
  testing::PlanGenerator generator(73);
  for (int i = 0; i < 800; ++i) {
    const ParallelPlan plan = generator.next_with_surroundings(DeviceKind::Gpu);
    const bool is_rare = words[0].is_said(plan);  // the others are soon seen
    if (!is_rare && (i >= 200 || std::ranges::none_of(words, [&](const Word& word) { return word.is_said(plan); }))) continue;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
    const SimTime step = simulate(make_model_graph(plan), plan).step_time;
    for (Word& word : words) {
      if (!word.is_said(plan)) continue;
      ParallelPlan without = plan;
      word.leave_out(without);
      ++word.seen;
      word.moved += simulate(make_model_graph(without), without).step_time != step ? 1 : 0;
    }
  }
  for (const Word& word : words) {
    EXPECT_GT(word.seen, 8);
    EXPECT_GT(word.moved, 5);
  }
}

// The least memory of a device in which nothing has room beside that.
Bytes memory_for(Cluster cluster, Bytes peak) {
  Bytes& memory = cluster.hardware.memory;
  memory = Bytes(std::int64_t{1} << 40);
  const Bytes wide = usable_memory(cluster), half = memory / 2, all = memory;
  memory = half;
  const double share = static_cast<double>((wide - usable_memory(cluster)).value()) / static_cast<double>(half.value());
  return all - Bytes(static_cast<std::int64_t>(static_cast<double>((wide - peak).value()) / share));
}

// Moments in managed memory on devices that have no room beside the peak of all else: updates bring them in.
TEST(Simulations, OfMomentsThatPagePassTheCheckers) {
  testing::PlanGenerator generator(79);
  int seen = 0, longer = 0;
  for (int i = 0; i < 80; ++i) {
    ParallelPlan plan = generator.next_with_surroundings(DeviceKind::Gpu);
    plan.paged_optimizer = true;
    if (!violations(plan).empty()) continue;
    plan.cluster.hardware.memory = Bytes(std::int64_t{1} << 40);
    const SimulationResult roomy = simulate(make_model_graph(plan), plan);
    plan.cluster.hardware.memory = memory_for(plan.cluster, roomy.peak_memory);
    const SimulationResult tight = simulate(make_model_graph(plan), plan);
    EXPECT_GT(tight.host_memory, roomy.host_memory) << testing::describe(plan);
    ++seen;
    longer += tight.step_time > roomy.step_time ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(pass_in_both_folds(plan));
  }
  EXPECT_GT(seen, 20);
  EXPECT_GT(longer, 15);
}

}  // namespace
}  // namespace sim
