#include "sim/cost/task_prices.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

SimTime block_time(const ParallelPlan& plan) {
  const ModelGraph model = make_model_graph(plan);
  return TaskPrices(model, plan).layer_task({LayerIndex(1), Phase::Forward, Operation::Attention}).duration;
}

TEST(TaskPrices, ATaskIsTheSumOfItsKernels) {
  const ParallelPlan plan = testing::tiny_plan();
  const ModelGraph model = make_model_graph(plan);
  const KernelPrices kernels(plan.cluster.hardware, Precision::Fp32, {1});
  Seconds sum{};
  for (const KernelCall& call : kernels_of(model, plan, {LayerIndex(1), Phase::Forward, Operation::Attention}).calls)
    sum += kernels.time(call, CallKind::Forward);
  EXPECT_EQ(block_time(plan), to_sim_time(sum));
}

SimTime exchange_time(const ParallelPlan& plan) {
  const ModelGraph model = make_model_graph(plan);
  const TaskKey key{.layer = LayerIndex(1), .phase = Phase::Forward, .operation = Operation::AllGather, .group = MeshAxis::Tensor};
  return TaskPrices(model, plan).collective(key, Bytes(1 << 24), Placement(plan).group(Rank(0), MeshAxis::Tensor)).duration;
}

TEST(TaskPrices, ExchangesAlongProductsLeaveAPieceInFront) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 4});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, true);
  plan.sequence_parallel = true;
  const SimTime as_the_program = exchange_time(plan);
  plan.tensor_overlap = TensorOverlap::AlongProducts;
  EXPECT_EQ(exchange_time(plan), as_the_program) << "which does so";
  plan.tensor_overlap = TensorOverlap::Apart;
  EXPECT_GT(exchange_time(plan), as_the_program);
  plan.cluster.software.overlap_tensor = false;
  const SimTime apart = exchange_time(plan);
  plan.tensor_overlap = TensorOverlap::AsTheProgram;
  EXPECT_EQ(exchange_time(plan), apart);
}

// Each of a block's four matrices makes a list with a tensor for each of four ranks; a block that is made again is gathered twice.
TEST(TaskPrices, ListsOfAUnitGrowWithTheRanks) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, true);
  plan.zero_stage = 3, plan.recompute = Recompute::Full;
  const ModelGraph model = make_model_graph(plan);
  const std::vector<Bucket> buckets = make_buckets(model, plan, StageIndex(0));
  const auto block = std::ranges::find(buckets, LayerIndex(1), &Bucket::ready_after);
  const auto time = [&](bool lists, Phase phase) {
    plan.cluster.software.unit_lists = lists;
    const TaskKey key{.microbatch = MicrobatchIndex(0),
                      .layer = LayerIndex(1),
                      .phase = phase,
                      .operation = Operation::AllGather,
                      .group = MeshAxis::Data};
    const GroupPlacement group = Placement(plan).group(Rank(0), MeshAxis::Data);
    return TaskPrices(model, plan).unit_exchange(key, *block, gathered_bytes(plan, *block), group).duration;
  };
  const SimTime at_once = time(false, Phase::Forward), listed = time(true, Phase::Forward);
  EXPECT_GT(listed - at_once, to_sim_time(4 * 4 * plan.cluster.software.host_per_kernel));
  EXPECT_EQ(time(true, Phase::Backward), 2 * listed);
  EXPECT_EQ(time(false, Phase::Backward), at_once);
}

// A pass before the wire and one after it: the collective of half the bytes is still quicker, and longer than without casts.
TEST(TaskPrices, GradientsThatTravelInAnotherTypeAreCast) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.cluster.hardware = testing::small_gpu();
  constexpr std::int64_t kGradients = 1 << 20;
  const auto time = [&](const PrecisionPolicy& policy) {
    plan.workload.precision = policy;
    const ModelGraph model = make_model_graph(plan);
    const TaskKey key{.phase = Phase::Gradients, .operation = Operation::AllReduce, .group = MeshAxis::Data};
    return TaskPrices(model, plan)
        .collective(key, plan.bytes(Numbers::Wire) * kGradients, Placement(plan).group(Rank(0), MeshAxis::Data))
        .duration;
  };
  const PrecisionPolicy half(Precision::Bf16), summed = half.with(Numbers::Gradients, Precision::Fp32);
  EXPECT_GT(time(summed.with(Numbers::Wire, Precision::Bf16)), time(half));
  EXPECT_LT(time(summed.with(Numbers::Wire, Precision::Bf16)), time(summed));
}

// Whole matrices are dealt out: the busiest of four ranks takes a fourth of the time, and at most one matrix more. The products are what Muon costs more.
TEST(TaskPrices, MuonMultipliesMatrices) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.cluster.hardware = testing::small_gpu();
  plan.model = testing::tiny_llama();
  plan.model.hidden = plan.model.heads * plan.model.head_dim;
  const auto flops = [&](OptimizerKind optimizer, std::int32_t zero) {
    plan.workload.optimizer = optimizer;
    plan.zero_stage = zero;
    const ModelGraph model = make_model_graph(plan);
    double all = 0;
    for (const Bucket& bucket : make_buckets(model, plan, StageIndex(0))) all += TaskPrices(model, plan).updated(bucket).orthogonalized;
    return all;
  };
  EXPECT_EQ(flops(OptimizerKind::AdamW, 0), 0);
  EXPECT_GT(flops(OptimizerKind::Muon, 0), 0);
  const double share = flops(OptimizerKind::Muon, 1) / flops(OptimizerKind::Muon, 0);
  EXPECT_GE(share, 0.25);
  EXPECT_LE(share, 0.4);
}

TEST(TaskPrices, CorrectionsMultiplyTheirKind) {
  ParallelPlan plan = testing::tiny_plan();
  const SimTime before = block_time(plan);
  plan.cluster.hardware.corrections = {{.kind = "backward.attention", .factor = 9.0, .samples = 1}};
  EXPECT_EQ(block_time(plan), before);
  plan.cluster.hardware.corrections.push_back({.kind = "forward.attention", .factor = 2.0, .samples = 1});
  EXPECT_NEAR(static_cast<double>(block_time(plan).count()), 2.0 * static_cast<double>(before.count()), 1.0);
}

// A device's link and its share of the host's memory say it all; with one rank at work on a node of four it has the whole of that memory.
TEST(TaskPrices, TheHostIsPricedByItsLinkAndItsMemory) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.cluster.hardware = testing::small_gpu();
  const KernelTraits traits;
  const TaskKey copy{.phase = Phase::Gradients, .operation = Operation::CopyToHost},
      update{.phase = Phase::Step, .operation = Operation::HostUpdate};
  const Elements elements{1'000'000};
  const auto host_update = [&] { return TaskPrices(make_model_graph(plan), plan).flat_task(update, elements); };
  EXPECT_EQ(TaskPrices(make_model_graph(plan), plan).host_copy(copy, Bytes(1'000'000)),
            to_sim_time(Seconds(1e6 / traits.host_link.value())));
  EXPECT_EQ(host_update(), to_sim_time(Seconds(28e6 / traits.host_memory.value())));  // fp32: 7 passes of 4 bytes
  plan.mesh.data = plan.cluster.devices = 1;
  EXPECT_EQ(host_update(), to_sim_time(Seconds(28e6 / (4 * traits.host_memory.value()))));
}

TEST(TaskPrices, ACpuRankIsItsOwnHost) {
  const ParallelPlan plan = testing::tiny_plan();
  const ModelGraph model = make_model_graph(plan);
  TaskPrices prices(model, plan);
  EXPECT_EQ(prices.flat_task({.phase = Phase::Step, .operation = Operation::HostUpdate}, {4096}),
            prices.flat_task({.phase = Phase::Step, .operation = Operation::Update}, {4096}));
  EXPECT_GT(prices.host_copy({.phase = Phase::Gradients, .operation = Operation::CopyToHost}, Bytes(4096)), SimTime(0));
}

TEST(TaskPrices, RanksBeyondTheCoresShareThem) {
  const auto share = [](std::int32_t ranks, std::int32_t measured) {
    ParallelPlan plan = testing::tiny_plan({.data = ranks, .pipeline = 1, .tensor = 1});
    if (measured > 1)
      plan.cluster.hardware.measured = {
          {.kernel = Kernel::LinearForward, .concurrent_ranks = measured, .shape = {64, 64, 64}, .time = Seconds(1e-4)}};
    const ModelGraph model = make_model_graph(plan);
    return TaskPrices(model, plan).core_share();
  };
  EXPECT_EQ(share(1, 1), 0.0);
  EXPECT_EQ(share(2, 1), 0.0);
  EXPECT_EQ(share(4, 1), 0.5);   // four on two cores: each runs at half speed
  EXPECT_EQ(share(4, 4), 0.0);   // the points hold that already
  EXPECT_EQ(share(8, 4), 0.25);  // beyond the four that they hold
}

TEST(TaskPrices, ATransferIsItsPostAndTheRest) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.cluster.hardware.intra_node = {.type = "x", .latency = Seconds(1e-6), .bandwidth = BytesPerSecond(1e9)};
  const ModelGraph model = make_model_graph(plan);
  TaskPrices prices(model, plan);
  const GroupPlacement pair{2, 2};
  EXPECT_EQ(prices.post({.phase = Phase::Forward, .operation = Operation::Send, .group = MeshAxis::Pipeline}, pair), SimTime(1'000'000));
  EXPECT_EQ(
      prices.receive({.phase = Phase::Forward, .operation = Operation::Receive, .group = MeshAxis::Pipeline}, Bytes(8000), pair).duration,
      SimTime(8'000'000));
}

TEST(TaskPrices, TheHostOfAReceiverWaitsForItsMessage) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, false);
  const auto receive = [&] {
    const TaskKey key{.phase = Phase::Forward, .operation = Operation::Receive, .group = MeshAxis::Pipeline};
    return TaskPrices(make_model_graph(plan), plan).receive(key, Bytes(8000), {2, 2}).duration;
  };
  const SimTime before = receive();
  plan.cluster.software.pipeline_sync = Seconds(1e-3);
  EXPECT_EQ(receive(), before + SimTime(1'000'000'000));
  plan.schedule = "zb-1p";
  EXPECT_EQ(receive(), before);
}

TEST(TaskPrices, TheHostWaitsForNoMessageInAGraphOfTheIterationNorForOverlappedOnesOfChunks) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, false);
  const auto waited = [&] {
    const TaskKey key{.phase = Phase::Forward, .operation = Operation::Receive, .group = MeshAxis::Pipeline};
    ParallelPlan hasty = plan, patient = plan;
    hasty.cluster.software.pipeline_sync = Seconds(0);
    patient.cluster.software.pipeline_sync = Seconds(1e-3);
    return TaskPrices(make_model_graph(patient), patient).receive(key, Bytes(8000), {2, 2}).duration -
           TaskPrices(make_model_graph(hasty), hasty).receive(key, Bytes(8000), {2, 2}).duration;
  };
  const SimTime whole(1'000'000'000), none(0);
  plan.cuda_graphs = CudaGraphs::PerLayer;
  EXPECT_EQ(waited(), whole);
  plan.cuda_graphs = CudaGraphs::FullIteration;
  EXPECT_EQ(waited(), none);
  plan.cuda_graphs = CudaGraphs::None;
  plan.cluster.software.overlap_pipeline = true;
  EXPECT_EQ(waited(), whole) << "one chunk a stage: exchanges are batches";
  plan.chunks = 2;
  EXPECT_EQ(waited(), none);
  plan.cluster.software.overlap_pipeline = false;
  EXPECT_EQ(waited(), whole);
}

TEST(TaskPrices, MessagesAreCutOverTensorRanksWhereTheProgramDoesThat) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 2});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, false);
  const auto receive = [&](Bytes payload) {
    const TaskKey key{.phase = Phase::Forward, .operation = Operation::Receive, .group = MeshAxis::Pipeline};
    return TaskPrices(make_model_graph(plan), plan).receive(key, payload, {2, 2}).duration;
  };
  const SimTime half = receive(Bytes(1 << 23));
  plan.cluster.software.scatter_gather = true;
  EXPECT_EQ(receive(Bytes(1 << 24)), half);
  plan.sequence_parallel = true;
  EXPECT_GT(receive(Bytes(1 << 24)), half);
}

// Behind attention's entry stand the weights of queries, keys and values, behind the feed-forward's its first product: wider, so more is hidden.
TEST(TaskPrices, SumsOfInputGradientsGoBesideWeightGradients) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, false);
  const auto time = [&](Phase phase, std::int32_t sequence, std::int64_t bytes = std::int64_t{1} << 32) {
    const TaskKey key{
        .layer = LayerIndex(1), .phase = phase, .operation = Operation::AllReduce, .group = MeshAxis::Tensor, .sequence = sequence};
    const ModelGraph model = make_model_graph(plan);
    return TaskPrices(model, plan).collective(key, Bytes(bytes), Placement(plan).group(Rank(0), MeshAxis::Tensor)).duration;
  };
  const auto hidden = [&](std::int32_t sequence) {
    plan.cluster.software.overlap_input_gradient = false;
    const SimTime whole = time(Phase::Backward, sequence);
    plan.cluster.software.overlap_input_gradient = true;
    const SimTime beside = time(Phase::Backward, sequence);
    plan.cluster.software.overlap_input_gradient = false;
    plan.tensor_overlap = TensorOverlap::BesideWeights;
    EXPECT_EQ(time(Phase::Backward, sequence), beside) << "the plan's word is the program's habit";
    plan.tensor_overlap = TensorOverlap::AsTheProgram;
    return whole - beside;
  };
  EXPECT_GT(hidden(0), hidden(1));
  EXPECT_GT(hidden(1), SimTime(0));
  plan.tensor_overlap = TensorOverlap::BesideWeights;
  const SimTime forward = time(Phase::Forward, 0), small = time(Phase::Backward, 0, 1);
  EXPECT_GT(small, SimTime(0)) << "it takes multiprocessors from what computes meanwhile";
  plan.schedule = "zb-1p";
  EXPECT_EQ(time(Phase::Backward, 0), forward) << "weight gradients are put off further";
}

TEST(TaskPrices, ALossOverTheWholeVocabularyGathersTheLogits) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, false);
  const auto loss = [&] {
    const ModelGraph model = make_model_graph(plan);
    TaskPrices prices(model, plan);
    return prices.layer_task({model.head(), Phase::Forward, Operation::HeadExponentials}).duration +
           prices.layer_task({model.head(), Phase::Forward, Operation::Head}).duration;
  };
  const SimTime cut = loss();
  plan.cluster.software.vocabulary_parallel = false;
  EXPECT_GT(loss(), cut);
}

}  // namespace
}  // namespace sim
