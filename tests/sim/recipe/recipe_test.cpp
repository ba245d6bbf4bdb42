// What leaves comes back: over the plans that the planner emits, for every program. Every difference was announced when the plan left.
#include <fmt/format.h>

#include "planner/search_space.h"
#include "sim/engine/simulate.h"
#include "sim/units/random_bits.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool was_announced(const std::string& difference, const std::vector<Violation>& notes) {
  return std::any_of(notes.begin(), notes.end(), [&](const Violation& note) {
    return !note.where.empty() && (difference.starts_with(note.where + ":") || difference.starts_with(note.where + "/"));
  });
}

std::string unannounced(const Program& program, const ParallelPlan& plan, const std::string& folder) {
  const Recipe recipe = export_recipe(program, plan, folder);
  const ParallelPlan now = import_recipe(folder + "/" + std::string(program.file), testing::context_of(plan)).plan;
  const PlanDifferences found = differences(plan, now);
  std::string text;
  for (const auto* list : {&found.layout, &found.training})
    for (const std::string& difference : *list)
      if (!was_announced(difference, recipe.notes)) text += difference + "\n";
  return text;
}

planner::SearchRequest request_for(ModelConfig model) {
  planner::SearchRequest request;
  request.model = std::move(model);
  request.cluster = load_cluster("h100-80gb-sxm", DeviceCount{16});
  request.workload = {
      .sequence = 64, .global_batch = 32, .precision = PrecisionPolicy(Precision::Bf16).with(Numbers::Gradients, Precision::Fp32)};
  request.offload = true;
  return request;
}

struct Counted {
  std::int64_t carried = 0, refused = 0;
};

Counted expect_round_trips(const Program& program, const planner::SearchRequest& request, std::size_t stride) {
  const std::string folder = testing::recipe_folder() + "/" + std::string(program.name);
  Counted counted;
  const std::vector<planner::PlanCandidate> candidates = planner::enumerate(request).candidates.all();
  for (std::size_t at = 0; at < candidates.size(); at += stride) {
    const ParallelPlan plan = planner::make_plan(request, candidates[at]);
    if (!violations(plan).empty()) continue;
    if (!make_recipe(program, plan).refused.empty()) {
      ++counted.refused;
      continue;
    }
    ++counted.carried;
    if (const std::string lost = unannounced(program, plan, folder); !lost.empty()) {
      ADD_FAILURE() << program.name << " " << planner::to_text(candidates[at]) << "\n" << lost;
      break;  // the first is enough to read
    }
  }
  return counted;
}

ModelConfig with_experts() {
  ModelConfig model = testing::tiny_llama();
  model.model_type = "mixtral";
  model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 160, .renormalised = true};  // as Mixtral's router always does
  return model;
}

TEST(Recipe, WhatThePlannerEmitsComesBack) {
  for (const Program* program : all_programs()) {
    if (program->marks.empty()) continue;
    Counted all;
    for (const ModelConfig& model : {testing::tiny_gpt2(), testing::tiny_llama(), with_experts()}) {
      planner::SearchRequest request = request_for(model);
      const bool has_few_words = program == &kFairseq;
      if (has_few_words) request.workload.precision = Precision::Fp16;  // of whole gradients in fp32, and of bf16
      const Counted counted = expect_round_trips(*program, request, has_few_words ? 7 : 17);
      all.carried += counted.carried, all.refused += counted.refused;
    }
    EXPECT_GE(all.carried, 5) << program->name;
    EXPECT_GE(all.refused, 15) << program->name;
  }
}

TEST(Recipe, AnotherPrecisionComesBackOrWasAnnounced) {
  for (const Precision precision : {Precision::Fp32, Precision::Fp16, Precision::Bf16})
    for (const Program* program : {&kMegatron, &kMegatronBridge, &kNemo, &kDeepSpeed, &kAccelerate, &kTorchtitan, &kNanotron}) {
      planner::SearchRequest request = request_for(testing::tiny_llama());
      request.workload.precision = precision;
      request.vocabulary_multiple = 256;
      request.training.seed = 7;
      request.training.decay_steps = 1000;
      request.training.learning_rate = 1.25e-4;
      expect_round_trips(*program, request, 97);
    }
}

// What a program does whatever a plan says is in the plan before it leaves: it comes back with the time and the memory that were promised.
struct Returned {
  std::int64_t plans = 0, simulated = 0;
};
void expect_promises_kept(const Program& program, planner::SearchRequest request, Returned& returned) {
  const RecipeContext given{.model = request.model,
                            .cluster = request.cluster,
                            .sequence = request.workload.sequence,
                            .global_batch = request.workload.global_batch};
  const std::string folder = testing::recipe_folder() + "/promised_" + std::string(program.name);
  take_software(program, request.cluster);
  request.habits = habits_of_search(&program);
  request.why_not = [&](const ParallelPlan& plan) { return why_not_for(program, plan); };  // words that it lacks are not drawn
  const std::vector<planner::PlanCandidate> candidates = planner::enumerate(request).candidates.all();
  constexpr std::int64_t kOfModel = 110;  // plans: three networks make more than 250 of a program
  const std::int64_t most = returned.plans + kOfModel;
  for (std::uint64_t drawn = 0; drawn < 12'000 && returned.plans < most; ++drawn) {
    const planner::PlanCandidate& candidate = candidates[random_bits({23}, drawn) % candidates.size()];
    const ParallelPlan plan = planner::make_plan(request, candidate);
    if (!violations(plan).empty() || !why_not_for(program, plan).empty()) continue;
    RecipeContext context = given;
    context.microbatch = plan.microbatch_size;
    context.recompute = plan.recompute;
    export_recipe(program, plan, folder);
    const ParallelPlan back = import_recipe(folder + "/" + std::string(program.file), context).plan;
    const bool by_order = back.schedule == kOrderFromCsv;  // of a schedule without a name there
    ASSERT_TRUE(by_order || plan_hash(back) == plan_hash(plan)) << program.name << " " << planner::to_text(candidate) << "\n"
                                                                << ::testing::PrintToString(differences(plan, back).layout);
    if (returned.plans++ % 40 != 0 && !by_order) continue;
    const SimulationResult promised = simulate(make_model_graph(plan), plan), kept = simulate(make_model_graph(back), back);
    EXPECT_EQ(promised.step_time, kept.step_time);
    EXPECT_EQ(promised.peak_memory, kept.peak_memory);
    ++returned.simulated;
  }
}

// Networks that torchtitan's recipe builds.
std::vector<ModelConfig> llamas() {
  std::vector<ModelConfig> models(3, testing::tiny_llama());
  models[1].ffn = 320;
  models[2].kv_heads = 4;
  return models;
}

// Of fairseq's language models.
std::vector<ModelConfig> gpts() {
  std::vector<ModelConfig> models(6, testing::tiny_gpt2());
  for (std::size_t at = 0; at < models.size(); ++at) models[at].layers += static_cast<std::int64_t>(at);
  return models;
}

TEST(Recipe, WhatIsPlannedForAProgramIsWhatItsRecipeMeans) {
  for (const Program* program :
       {&kMegatron, &kMegatronBridge, &kNemo, &kDeepSpeed, &kAccelerate, &kTorchtitan, &kNanotron, &kFairseq, &kLightning}) {
    Returned returned;
    const std::vector<ModelConfig> models = program == &kTorchtitan || program == &kNanotron ? llamas()
                                            : program == &kFairseq
                                                ? gpts()
                                                : std::vector{testing::tiny_gpt2(), testing::tiny_llama(), with_experts()};
    for (const ModelConfig& model : models) {
      planner::SearchRequest request = request_for(model);
      if (model.position != Position::Rotary) request.workload.precision = request.workload.precision.compute();
      if (program == &kNanotron) request.offload = false;
      if (program == &kDeepSpeed || program == &kAccelerate) request.fixed = {{"pipeline", "1"}};  // they know no stages
      if (program == &kLightning) request.fixed = {{"pipeline", "1"}, {"context", "1"}, {"sequence_parallel", "false"}};
      if (program == &kFairseq) {
        request.fixed = {{"pipeline", "1"}, {"tensor", "1"}, {"context", "1"}};
        request.workload.precision = Precision::Fp16;
        request.workload.global_batch = 256;
      }
      expect_promises_kept(*program, request, returned);
    }
    EXPECT_GE(returned.plans, 250) << program->name;
    EXPECT_GE(returned.simulated, 5) << program->name;
  }
}

// A habit that nobody told the planner of is seen: torchtitan sums gradients in fp32.
TEST(Recipe, AHabitThatIsForgottenIsSeen) {
  ParallelPlan plan = testing::gpu_plan({.data = 4, .pipeline = 1, .tensor = 2});
  plan.model = testing::tiny_llama();
  plan.zero_stage = 3;
  plan.accumulation = Accumulation::ReduceEach;
  plan.workload.precision = plan.workload.precision.compute();
  const ParallelPlan back = testing::imported(testing::main_text(kTorchtitan, plan), testing::context_of(plan)).plan;
  EXPECT_NE(plan_hash(back), plan_hash(plan));
  EXPECT_GT(simulate(make_model_graph(back), back).peak_memory, simulate(make_model_graph(plan), plan).peak_memory);
}

// The comparison above can fail: a plan that was changed on the way is told.
TEST(Recipe, AChangeOnTheWayIsSeen) {
  const std::string folder = testing::recipe_folder() + "/planted";
  ParallelPlan plan = testing::gpu_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.zero_stage = 1;
  EXPECT_EQ(unannounced(kMegatron, plan, folder), "");
  Program planted = kMegatron;
  std::vector<Field> fields(planted.fields.begin(), planted.fields.end());
  std::erase_if(fields, [](const Field& field) { return field.key == "use-distributed-optimizer"; });
  planted.fields = fields;
  EXPECT_THAT(unannounced(planted, plan, folder), HasSubstr("/zero_stage"));
}

TEST(Recipe, RefusalsComeAllAtOnceAndLeaveNoFile) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2, .tensor = 2});
  plan.sequence_parallel = true;
  plan.workload.precision = Precision::Fp64;
  const Recipe recipe = make_recipe(kDeepSpeed, plan);
  EXPECT_THAT(recipe.refused, SizeIs(3));
  EXPECT_THAT(recipe.files, IsEmpty());
  for (const Violation& violation : recipe.refused) EXPECT_FALSE(violation.remedy.empty());
  EXPECT_THROW(export_recipe(kDeepSpeed, plan, testing::recipe_folder() + "/none"), InputError);
}

TEST(Recipe, EachSaysForWhichReleaseItIs) {
  for (const Program* program : all_programs()) {
    ParallelPlan plan = testing::gpu_plan({.data = 8});
    plan.zero_stage = program == &kNanotron ? 1 : 3;
    plan.model = program == &kFairseq ? testing::tiny_gpt2() : testing::tiny_llama();
    if (program == &kFairseq) plan.workload.precision = Precision::Fp16;
    const std::string text = testing::main_text(*program, plan);
    EXPECT_TRUE(program == &kPipelineOrder || text.find(fmt::format("{} {}", program->title, program->version)) != std::string::npos)
        << text;
    EXPECT_EQ(find_program(program->name), program);
  }
  EXPECT_EQ(find_program("horovod"), nullptr);
}

// Who starts DeepSpeed or Accelerate trains what it likes; others train all weights, and say who does not.
TEST(Recipe, WhatIsTrainedIsOfWhoeverStartsTheProgram) {
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  plan.model.adapters = Adapters{}.on(AdapterTarget::Output);
  const auto where = [](const std::vector<Violation>& all) { return testing::text_of(all); };
  EXPECT_THAT(where(make_recipe(kAccelerate, plan).refused), ::testing::Not(HasSubstr("/workload/adapters")));
  EXPECT_THAT(where(make_recipe(kAccelerate, plan).notes), HasSubstr("/workload/adapters"));
  const std::string refused = where(make_recipe(kNanotron, plan).refused);
  EXPECT_THAT(refused, HasSubstr("nanotron has no word for adapters"));
  EXPECT_THAT(refused, HasSubstr("deepspeed, accelerate"));
  EXPECT_THAT(refused, HasSubstr("--adapters"));
}

TEST(Recipe, MomentsThatPageAreOfWhoeverStartsTheProgram) {
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  plan.paged_optimizer = true;
  for (const Program* program : {&kMegatron, &kDeepSpeed, &kAccelerate})
    EXPECT_THAT(testing::refused_by(*program, plan), HasSubstr("name no optimizer that pages"));
}

// No program that is written has a word for it.
TEST(Recipe, WeightsAreSteppedBehindTheBackward) {
  ParallelPlan plan = testing::gpu_plan({.data = 8, .pipeline = 1, .tensor = 1});
  plan.training.gradient_clip = 0;
  plan.optimizer_in_backward = true;
  for (const Program* program : {&kMegatron, &kDeepSpeed, &kAccelerate, &kTorchtitan})
    EXPECT_THAT(testing::refused_by(*program, plan), HasSubstr("steps when all gradients of a step are there"));
}

}  // namespace
}  // namespace sim
