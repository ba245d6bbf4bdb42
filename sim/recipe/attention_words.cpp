#include "sim/recipe/attention_words.h"

#include <fmt/format.h>

#include "sim/recipe/program.h"
#include "sim/units/at.h"

namespace sim {

void take_attention(const std::string& setting, AttentionWord word, Draft& draft) {
  draft.plan.attention = word;
  draft.attention_setting = setting;
}

void read_attention(const Value& value, Draft& draft) {
  struct Named {
    std::string_view names;
    AttentionWord word;
  };
  constexpr Named kNamed[] = {
      {"eager disabled math", AttentionWord::Unfused},
      {"xformers", AttentionWord::Efficient},
      {"flash_attention_2 flash_attn_2 flash_attn flash_attention fa2 true True kernels-community/flash-attn kernels-community/flash-attn2",
       AttentionWord::Flash2},
      {"flash_attention_3 flash_attn_3 fa3 kernels-community/flash-attn3 kernels-community/vllm-flash-attn3", AttentionWord::Flash3},
      {"sdpa auto null None false False", AttentionWord::AsTheProgram}};
  for (const Named& named : kNamed)
    if (has_name(named.names, value.text())) {
      take_attention(value.key(), named.word, draft);
      if (value.text() == "sdpa")
        value.note("skips what is hidden where no mask is handed to it: rows that are filled up have one",
                   "add \"attention\": \"efficient_masked\" to the plan, where such rows are");
      return;
    }
  value.lost("is a kernel of attention that no plan has: the software profile's is taken", "mind its time");
}

// Which words may stand is the plan's to say; what does not, was said in vain.
void settle_attention(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  if (plan.attention == AttentionWord::AsTheProgram) return;
  const std::vector<Violation> wrong = attention_violations(plan);
  const SoftwareStack& program = plan.cluster.software;
  const bool is_usual = attention_kernel(plan, program) == attention_kernel(program);
  if (!is_usual && wrong.empty()) return;
  if (!is_usual)
    draft.notes.push_back({draft.attention_setting,
                           fmt::format("{}: the plan has the kernel of its software profile", wrong.front().problem),
                           wrong.front().remedy});
  plan.attention = AttentionWord::AsTheProgram;
}

}  // namespace sim
