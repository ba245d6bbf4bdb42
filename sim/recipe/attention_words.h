// Which kernel attends, as programs call it. A word of the plan is what its software profile does not do anyway.
#pragma once

#include "sim/recipe/said_values.h"

namespace sim {

// A name of Transformers and of what is built on it: "eager", "flash_attention_2", LLaMA-Factory's "fa2". "sdpa" and "auto" are what the profile has.
void read_attention(const Value& value, Draft& draft);
Written attention_name(const ParallelPlan& plan);  // the same back; kernels that it has no name for are sdpa's
void take_attention(const std::string& setting, AttentionWord word, Draft& draft);
void take_switched_attention(const Value& value, AttentionWord word, Draft& draft);  // of several, the one that Axolotl asks first
template <AttentionWord word>                                                        // of a switch
void switch_attention(const Value& value, Draft& draft) {
  flag_said(value, draft);
  if (is_on(value.text())) take_switched_attention(value, word, draft);
}
AttentionWord kernel_word(const ParallelPlan& plan);  // what it says, or the word for the kernel that its software profile has
template <AttentionWord word>
Written attention_switch(const ParallelPlan& plan) {
  return written_flag(kernel_word(plan) == word);
}

// Once degrees, precision and software are known. What the plan cannot have is told.
void settle_attention(Draft& draft);

}  // namespace sim
