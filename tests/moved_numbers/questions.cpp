#include "questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/engine/simulate.h"
#include "steps.h"

namespace moved {
namespace {

using sim::DeviceMesh;
using sim::ParallelPlan;

constexpr const char* kH100 = "h100-80gb-sxm";
constexpr const char* kA100 = "a100-80gb-sxm";
constexpr const char* kV100 = "v100-32gb-sxm2";

sim::PrecisionPolicy numbers(const char* text) {
  std::vector<sim::Violation> violations;
  return sim::parse_precision_policy(text, violations);
}

// Words one behind the other.
template <class... More>
Words both(More... words) {
  return [=](ParallelPlan& plan) { (words(plan), ...); };
}
Words in(const char* precision) {
  return [=](ParallelPlan& plan) { plan.workload.precision = numbers(precision); };
}
Words on(DeviceMesh mesh) {
  return [=](ParallelPlan& plan) { plan.mesh = mesh; };
}
Words zero(std::int32_t stage) {
  return [=](ParallelPlan& plan) { plan.zero_stage = stage; };
}
void as_usual(ParallelPlan&) {}
void parallel_in_sequence(ParallelPlan& plan) { plan.sequence_parallel = true; }
void recomputed(ParallelPlan& plan) { plan.recompute = sim::Recompute::Full; }
void with_graphs(ParallelPlan& plan) { plan.cuda_graphs = sim::CudaGraphs::PerLayer; }
void one_by_one(ParallelPlan& plan) { plan.microbatch_size = 1; }
void few_tokens(ParallelPlan& plan) {
  plan.microbatch_size = 1, plan.workload.sequence = 64;
}  // the host issues them more slowly than the device runs them
void few_words(ParallelPlan& plan) { plan.model.vocabulary = 1024; }
void with_adapters(ParallelPlan& plan) {
  std::vector<sim::Violation> violations;
  plan.model.adapters = sim::parse_adapters("rank 16 on q,v", violations);
}
void in_slices(ParallelPlan& plan) { plan.slices = 2, plan.mesh = DeviceMesh{.data = 2, .pipeline = 4}; }
void as_encoder_and_decoder(ParallelPlan& plan) {  // a block of the decoder is two
  plan.model.encoder = sim::EncoderForm{.layers = 2, .decoder_layers = 1};
  plan.model.halves = {sim::BlockHalf::Both, sim::BlockHalf::Both, sim::BlockHalf::Mixer, sim::BlockHalf::Both};
}
Words wide(std::int64_t columns) {  // of the feed-forward
  return [=](ParallelPlan& plan) { plan.model.ffn = columns; };
}

}  // namespace

std::vector<Question> of_layouts() {
  const DeviceMesh three{.data = 4, .pipeline = 2, .tensor = 2}, tensor{.data = 1, .tensor = 16}, ring{.data = 4, .context = 4};
  std::vector<Question> all{
      step("three degrees", {"llama-3-8b", kH100, "meshwright"}, on(three)),
      step("tensor on two nodes", {"llama-3-8b", kH100, "megatron-core"}, both(on(tensor), parallel_in_sequence)),
      step("sharded", {"llama-3-8b", kH100, "torchtitan"}, zero(3)),
      step("sharded on many nodes", {"llama-3-8b", kA100, "plain", 64}, zero(3)),
      step("sharded optimizer", {"llama-3-8b", kH100, "sagemaker-smp"}, zero(1)),
      step("many nodes, little work", {"gpt2", kA100, "plain", 128}, both(one_by_one, zero(1))),
      step("context", {"llama-3-8b", kH100, "torchtitan"}, both(on(ring), zero(3))),
      step("a domain of several machines", {"llama-3-8b", "gb200-186gb", "plain", 128}, zero(1)),
      step("three degrees in fp32", {"gpt2", kV100, "plain", 8}, both(on({.data = 2, .pipeline = 2, .tensor = 2}), in("fp32"))),
      step("a node in fp32", {"gpt2", kV100, "plain", 4}, both(on({.data = 1, .tensor = 4}), in("fp32"))),
      step("stages on a node in fp32", {"gpt2", kV100, "plain", 4}, both(on({.data = 1, .pipeline = 4}), in("fp32"))),
      step("devices alone", {"gpt2", kA100, "meshwright", 1}, as_usual)};
  all.push_back(step("stages in two domains", {"gpt2", "gb200-186gb", "plain", 144}, both(on({.data = 72, .pipeline = 2}), few_tokens)));
  const auto once = [](ParallelPlan& plan) { plan.workload.global_batch = plan.mesh.data * plan.microbatch_size; };
  for (const std::int32_t node : {4, 8, 72})
    all.push_back(step(fmt::format("one message between nodes of {}", node), {"llama-3-8b", kH100, "plain", 2 * node},
                       both(on({.data = node, .pipeline = 2}), once)));
  for (const std::int32_t some : {3, 5, 6, 7})
    all.push_back(
        step(fmt::format("{} devices of a node", some), {"gpt2", kA100, "plain", some}, both(on({.data = some}), few_tokens, once)));
  all.push_back(step("stages on nodes, few tokens", {"gpt2", kH100, "plain"}, both(on({.data = 8, .pipeline = 2}), few_tokens)));
  all.push_back(step("stages, few words", {"llama-3-8b", kH100, "torchtitan"}, both(on({.data = 4, .pipeline = 4}), few_words)));
  for (const char* network : {"gpt2", "llama-3-8b"})
    for (const DeviceMesh& mesh : {DeviceMesh{.data = 4, .pipeline = 4}, DeviceMesh{.data = 1, .pipeline = 4, .tensor = 4}})
      all.push_back(step(fmt::format("stages of {}, tensor {}", network, mesh.tensor), {network, "p100-16gb-sxm2", "megatron-lm-2021"},
                         both(on(mesh), one_by_one)));
  return all;
}

std::vector<Question> of_kernels() {
  std::vector<Question> all;
  const auto ask = [&](const std::string& name, const Run& run, const Words& words) { all.push_back(step(name, run, words)); };
  for (const char* precision : {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8:delayed", "fp8:tensorwise", "fp8:rowwise", "fp8:blockwise"}) {
    ask(precision, {"llama-3-8b", kH100, "meshwright", 8}, in(precision));
    ask(fmt::format("{}, compiled", precision), {"llama-3-8b", kH100, "fms-fsdp", 8}, both(in(precision), zero(3)));
  }
  for (const char* precision : {"fp4:nvfp4", "fp8:mx"}) ask(precision, {"llama-3-8b", "b300-288gb-sxm", "plain", 8}, in(precision));
  ask("operands read either way", {"llama-3-8b", "b300-288gb-sxm", "plain", 8}, in("fp8:tensorwise"));
  for (const char* software : {"pytorch-ddp", "megatron-lm-2021", "fsdp1", "plain", "in-house", "xla"})
    for (const char* network : {"gpt2", "llama-3-8b", "bert-base-uncased"})
      ask(fmt::format("{} by {}", network, software), {network, kA100, software, 8},
          [](ParallelPlan& plan) { plan.workload.sequence = 512; });
  for (const char* network : {"mamba2-2.7b", "gemma-3-1b"}) ask(network, {network, kH100, "plain", 8}, as_usual);
  ask("a scan of channels", {"mamba2-2.7b", kH100, "plain", 8}, [](ParallelPlan& plan) {
    sim::LinearForm& form = *plan.model.linear;
    form.rule = sim::LinearRule::Selective, form.heads = form.groups = form.values(), form.key = 16, form.value = 1, form.step_rank = 160;
  });
  ask("latent attention", {"deepseek-v2-lite", kH100, "plain", 8}, as_usual);
  ask("PyTorch's memory-efficient attention", {"llama-2-7b", kH100, "plain", 8},
      [](ParallelPlan& plan) { plan.attention = sim::AttentionWord::Efficient; });
  ask("attention to chosen tokens", {"deepseek-v2-lite", kH100, "plain", 8}, [](ParallelPlan& plan) {
    plan.model.attention.q_lora = 512, plan.model.attention.indexer = {.heads = 16, .width = 128, .topk = 256};
  });
  for (const std::int64_t columns : {std::int64_t{5000}, std::int64_t{5001}})
    ask(fmt::format("{} columns", columns), {"gpt2", kA100, "plain", 8}, wide(columns));
  ask("adapters", {"llama-3-8b", kH100, "accelerate", 8}, both(with_adapters, one_by_one));
  ask("adapters, each matrix a unit", {"llama-3-8b", kH100, "accelerate", 8}, both(with_adapters, few_tokens, zero(3)));
  ask("one by one", {"gpt2", kA100, "plain", 8}, one_by_one);
  ask("few tokens", {"gpt2", kA100, "xla", 8}, few_tokens);
  ask("a host that nobody read", {"llama-3-8b", kH100, "lit-gpt", 8}, few_tokens);
  ask("slices", {"llama-3-8b", kH100, "plain", 8}, in_slices);
  ask("an encoder and a decoder", {"gpt2", kH100, "plain", 8}, as_encoder_and_decoder);
  ask("graphs", {"gpt2", kH100, "megatron-core", 8}, both(with_graphs, few_tokens));
  ask("muon", {"gpt2", kA100, "meshwright", 8}, [](ParallelPlan& plan) { plan.workload.optimizer = sim::OptimizerKind::Muon; });
  const auto maps = [](ParallelPlan& plan) { plan.workload.sequence = 1, plan.microbatch_size = 64, plan.workload.global_batch = 1024; };
  const auto depthwise = [](ParallelPlan& plan) { plan.model.convolution->width_per_group = 1; };
  for (const char* precision : {"fp32", "tf32", "fp16"}) {
    const char* hardware = precision == std::string("tf32") ? kA100 : kV100;
    for (const char* network : {"resnet-50", "regnet-x-040"})
      ask(fmt::format("{} in {}", network, precision), {network, hardware, "mxnet", 8}, both(in(precision), maps));
    ask(fmt::format("channels alone in {}", precision), {"regnet-x-040", hardware, "mxnet", 8}, both(in(precision), maps, depthwise));
  }
  return all;
}

std::vector<Question> of_experts() {
  const DeviceMesh some{.data = 16, .expert = 8}, all{.data = 16, .expert = 16};
  const auto overlapped = [](ParallelPlan& plan) { plan.expert_overlap = true; };
  const auto untrained = [](ParallelPlan& plan) { plan.workload.expert_loads = {.kind = sim::LoadKind::Untrained}; };
  const auto hierarchical = [](ParallelPlan& plan) { plan.token_dispatcher = sim::TokenDispatcher::Hierarchical; };
  return {step("experts", {"mixtral-8x7b", kH100, "megatron-core"}, on(some)),
          step("untrained experts", {"mixtral-8x7b", kH100, "megatron-core"}, both(on(some), untrained)),
          step("experts, fp8", {"mixtral-8x7b", kH100, "megatron-core"}, both(in("fp8:delayed"), on(some))),
          step("experts, one by one, fp8", {"mixtral-8x7b", kH100, "megatron-core"}, both(in("fp8:tensorwise"), on(some), one_by_one)),
          step("experts beside exchanges", {"deepseek-v2-lite", kH100, "plain"}, both(on(all), overlapped)),
          step("a token a node", {"deepseek-v2-lite", kH100, "plain"}, both(on(all), hierarchical)),
          step("a token a node, beside computing", {"deepseek-v2-lite", kH100, "plain"}, both(on(all), hierarchical, overlapped)),
          step("few tokens an expert", {"deepseek-v2-lite", kH100, "plain"},
               both(on(all), one_by_one, [](ParallelPlan& plan) { plan.workload.sequence = 128; }))};
}

namespace {

// The largest size that fits, to a few hundredths.
Answer most_that_fits(const Run& run, const Stand& stand, double most, const std::function<void(ParallelPlan&, double)>& take) {
  double fits = 1;
  Answer answer;
  for (double above = most; above / fits > 1.05;) {
    const double size = std::sqrt(fits * above);
    answer = simulated(plan_of(
        run, [&](ParallelPlan& plan) { take(plan, size); }, stand));
    (answer[3] > 0 ? fits : above) = size;
  }
  answer.push_back(fits);
  return answer;
}

}  // namespace

std::vector<Question> of_memory() {
  const auto optimizer = [](ParallelPlan& plan) { plan.zero_stage = 1, plan.offload_optimizer = true; };
  const auto activations = [](ParallelPlan& plan) { plan.recompute = sim::Recompute::Full, plan.offload_activations = true; };
  const Run samples{"gpt2", kH100, "meshwright", 8}, states{"gpt-1t", kH100, "meshwright", 8};
  return {step("optimizer on the host", {"llama-3-8b", kH100, "deepspeed", 8}, optimizer),
          step("activations on the host", {"llama-3-8b", kH100, "meshwright", 8}, activations),
          step("recomputed", {"llama-3-8b", kH100, "megatron-core", 8}, recomputed),
          {"samples that fit",
           [samples](const Stand& stand) {
             return most_that_fits(samples, stand, 1e6, [](ParallelPlan& plan, double size) {
               plan.microbatch_size = static_cast<std::int64_t>(size), plan.workload.global_batch = 8 * plan.microbatch_size;
             });
           }},
          {"states that fit the host", [states](const Stand& stand) {
             return most_that_fits(states, stand, 60, [](ParallelPlan& plan, double size) {
               plan.zero_stage = 3, plan.offload_optimizer = plan.offload_parameters = true;
               plan.microbatch_size = 1, plan.workload.global_batch = 8, plan.recompute = sim::Recompute::Full;
               plan.model.layers = static_cast<std::int64_t>(size);
             });
           }}};
}

}  // namespace moved
