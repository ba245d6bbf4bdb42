// Which kernel attends, as programs call it. A word of the plan is what its software profile does not do anyway.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

// A name of Transformers and of what is built on it: "eager", "flash_attention_2", LLaMA-Factory's "fa2". "sdpa" and "auto" are what the profile has.
void read_attention(const Value& value, Draft& draft);
void take_attention(const std::string& setting, AttentionWord word, Draft& draft);
template <AttentionWord word>  // of a switch
void switch_attention(const Value& value, Draft& draft) {
  if (is_on(value.text())) take_attention(value.key(), word, draft);
}

// Once degrees, precision and software are known. What the plan cannot have is told.
void settle_attention(Draft& draft);

}  // namespace sim
