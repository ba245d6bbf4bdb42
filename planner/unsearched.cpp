#include "planner/unsearched.h"

#include <algorithm>
#include <iterator>

namespace planner {
namespace {

constexpr Unsearched kUnsearched[] = {
    {"vocabulary_multiple", "asked for: it changes the network's size; another multiple gains 0.5 % at most"},
    {"order", "a written order is a plan of its own; the schedules by name are searched"},
    {"cut", "follows from the prices of layers: the slowest stage is as fast as it can be"},
    {"microbatch_group",
     "interleaved groups as large as the pipeline hold least; twice as large ones gain 0.45 % of GPT-3 175B's step for 14.6 GiB more"},
    {"passes", "all microbatches in one pass of the pipeline are never slower: several fill and drain it more often"},
    {"tensor_overlap",
     "a habit of the program, which the plan follows; `check` says what exchanges along products and beside gradients of weights gain"},
    {"reshard_after_backward",
     "a habit of the program's loop over microbatches: `check` says what weights that are gathered once a step gain"},
    {"prefetch",
     "stage 3 gathers one unit ahead wherever the program does: without it a step takes up to 1.8 times as long, and a third unit ahead "
     "gains 0.03 % at most, for up to 1.6 GiB"},
    {"slices",
     "asked for, as each number multiplies the space: four of long samples take 10.6 % longer than context ranks, which cut them too"},
    {"context_inner", "asked for: two levels of context ranks take 0.9 % longer than one where both fit"},
    {"kept_until", "belongs to reshard_ranks: a program keeps what neighbours have until the backward, or until the step"},
    {"persistence_threshold", "keeping small parameters whole gains less than 0.1 %"},
    {"bucket_size", "a habit of the program: buckets from 10 to 400 MiB lie within 0.3 %"},
    {"first_bucket_size", "a habit of the program, which gains nothing that can be seen"},
    {"gradient_sync", "reduce_scatter sends half of what all_reduce does"},
    {"overlap_weight_gather", "on wherever the program has a setting for it: it costs nothing"},
    {"post_validation", "gains nothing that can be seen beside other gathers, and no program of --for has it"},
    {"partition_size", "sums by priority train without clipping: a plan says it by hand"},
    {"credit_size", "belongs to partition_size"},
    {"optimizer_in_backward",
     "trains without clipping, one microbatch a step: a plan says it by hand, as it gains 1.8 % and 1.9 GiB of such a step of Llama-3-8B; "
     "`check` says what it gains"},
    {"paged_optimizer",
     "a habit of the optimizer's library: it gains no time, and frees 0.8 to 7.5 GiB of the best plans; a plan says it by hand, and "
     "`check` says what it gains"},
    {"state_shards", "owners of whole tensors hold more, and gain nothing where slices can be gathered"},
    {"weight_sync", "belongs to state_shards"},
    {"cuda_graphs",
     "asked for: in plans for Megatron-LM they gain nothing that can be seen, 2.5 % of Qwen3-30B-A3B, and take gigabytes that are not "
     "priced; `check` says what they gain"},
    {"graph_scope", "belongs to cuda_graphs: a graph that holds more is never slower"},
    {"attention", "asked for: which kernels a program can run is known where it runs; the fused one that its profile names is taken"},
    {"delay_wgrad",
     "goes with expert_overlap, and splits every backward, whose pairs no bound walks; it gains 2.7 % of DeepSeek-V3's step for 0.2 GiB: "
     "`check` says what it gains"},
    {"delay_head_wgrad",
     "a plan says it by hand: it takes the logits' gradients of so many microbatches, and moves a product from the last stage's "
     "microbatches to "
     "the end of its step; `check` says what it gains"},
    {"offload_modules",
     "a plan says it by hand: which modules fit beside computing is known when all else is; recomputation is searched, and `check` says "
     "what the device's memory would be without"},
    {"offload_least", "belongs to offload_modules"},
    {"offload_blocks", "belongs to offload_modules"},
    {"on_drive",
     "a plan says it by hand: a step takes 9 times as long with states on drives, 13 with weights, too, and the host has room or has not"},
    {"offload_share",
     "a plan says it by hand: a tenth less on the host gains 2.3 % of a step for 2.2 GiB, so the best share is what fits, which is known "
     "when all else is"},
    {"mtp_apart", "asked for, as the layers that predict further tokens are: then their place follows from the prices of layers, too"},
    {"expert_loads", "tells what a router does, and is nothing to choose"},
    {"context_by_document", "a plan says it by hand: it goes with what is trained, as documents do"},
    {"direct_source",
     "a plan says it by hand: no program of --for has it; it gains 3 % of BART-large on 8 stages behind PCIe, and 0.1 % of T5-11B"},
    {"sync_batch_norm", "changes what is trained: a plan says it by hand"},
};

}  // namespace

std::span<const Unsearched> unsearched() { return kUnsearched; }

bool is_searched(std::string_view field) { return std::ranges::find(kUnsearched, field, &Unsearched::field) == std::end(kUnsearched); }

}  // namespace planner
