// Compositions of what a step is made of: orders, whole experts beside tensor ranks, documents, owners, codecs, networks of maps. Of compositions.cpp, which has the others, and joins all.
#pragma once

#include <vector>

#include "tests/parity/compositions.h"
#include "tests/parity/tiny_plans.h"

namespace parity {

inline constexpr auto kEach = sim::Accumulation::ReduceEach;
inline constexpr auto kAdapters = "rank 3 alpha 5 on q,v,o,up,down";

inline sim::ExpertForm even() {
  sim::ExpertForm form = *tiny_mixtral().experts;
  form.forced_balance = true;
  return form;
}

// The auxiliary loss is of a rank's own tokens of a microbatch: context ranks, and tensor ranks that route apart, have others. All experts a token:
// even in itself.
inline sim::ExpertForm all_experts() {
  sim::ExpertForm form = *tiny_mixtral().experts;
  form.balance_loss = 0;
  form.topk = form.experts;
  return form;
}

sim::ModelConfig windows_and_sinks();  // of Granite's kind: scores of a width of their own, too
sim::ModelConfig norms_behind_the_turn();
sim::ModelConfig norms_of_all_heads();
sim::ModelConfig one_key_head();
sim::ModelConfig caps_and_windows();
sim::ModelConfig gated_heads();
sim::ModelConfig narrow_values();

std::vector<Composition> of_breadth_and_slices();
std::vector<Composition> of_adapters();
std::vector<Composition> of_recomputation();
std::vector<Composition> of_experts_apart();
std::vector<Composition> of_pairs();  // a forward takes turns with a backward
std::vector<Composition> of_frozen_parts();
std::vector<Composition> of_prefetching();
std::vector<Composition> of_networks();
std::vector<Composition> of_long_samples();  // one rank: memory of what networks keep
std::vector<Composition> of_documents();
std::vector<Composition> of_owners();
std::vector<Composition> of_priority();
std::vector<Composition> of_steps_in_the_backward();
std::vector<Composition> of_small_parameters();
std::vector<Composition> of_host();  // what lies there: the optimizer, inputs of blocks, weights
std::vector<Composition> of_modules_on_host();
std::vector<Composition> of_later_heads();  // gradients of their weights behind the last backward
std::vector<Composition> of_kept_numbers();
std::vector<Composition> of_full_units();
std::vector<Composition> of_moments();
std::vector<Composition> of_scales();
std::vector<Composition> of_agreed_scales();  // inside computations, over several axes
std::vector<Composition> of_codecs();
std::vector<Composition> of_heads_between_ranks();
std::vector<Composition> of_own_scores();  // of ranks that deal out heads, beside other ranks

}  // namespace parity
