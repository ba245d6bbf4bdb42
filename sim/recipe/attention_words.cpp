#include "sim/recipe/attention_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accounting.h"
#include "sim/recipe/program.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::string_view kUsualAttention = "sdpa";
struct NamedKernel {
  std::string_view names;  // the first is the one that is written
  AttentionWord word;
};
constexpr NamedKernel kNamedKernels[] = {
    {"eager disabled math", AttentionWord::Unfused},
    {"xformers", AttentionWord::Efficient},
    {"flash_attention_2 flash_attn_2 flash_attn flash_attention fa2 true True kernels-community/flash-attn kernels-community/flash-attn2",
     AttentionWord::Flash2},
    {"flash_attention_3 flash_attn_3 fa3 kernels-community/flash-attn3 kernels-community/vllm-flash-attn3", AttentionWord::Flash3},
    {"sdpa", AttentionWord::AsTheProgram}};
constexpr std::string_view kNoKernel = "auto null None false False";  // what the program takes by itself

// From Ampere on (flash-attn's README): parts that have products in bf16. Data sheets of those before give the rate of fp32 for it.
bool runs_flash2(const HardwareProfile& hardware) {
  return 2 * sim::at(hardware.peak, Precision::Bf16) > sim::at(hardware.peak, Precision::Fp16);
}

void note_beside(const Value& value, const std::string& other, const std::string& asked) {
  value.note(fmt::format("stands beside {}, and one kernel attends: {} is asked first", other, asked), "leave one");
}

// A name is asked before any switch, wherever it stands.
void take_named_attention(const Value& value, AttentionWord word, Draft& draft) {
  if (!draft.attention_setting.empty() && draft.attention_setting != value.key()) note_beside(value, draft.attention_setting, value.key());
  take_attention(value.key(), word, draft);
  draft.is_attention_named = true;
}

}  // namespace

void take_attention(const std::string& setting, AttentionWord word, Draft& draft) {
  draft.plan.attention = word;
  draft.attention_setting = setting;
}

// The order of axolotl/utils/schemas/enums.py, 0.19.0.
void take_switched_attention(const Value& value, AttentionWord word, Draft& draft) {
  constexpr AttentionWord kAsked[] = {AttentionWord::Efficient, AttentionWord::Flash2, AttentionWord::AsTheProgram, AttentionWord::Unfused};
  const auto is_before = [&](AttentionWord one, AttentionWord other) {
    return std::ranges::find(kAsked, one) < std::ranges::find(kAsked, other);
  };
  const std::string other = draft.attention_setting;
  const bool stays = !other.empty() && (draft.is_attention_named || !is_before(word, draft.plan.attention));
  if (!other.empty()) note_beside(value, other, stays ? other : value.key());
  if (!stays) take_attention(value.key(), word, draft);
}

void read_attention(const Value& value, Draft& draft) {
  if (has_name(kNoKernel, value.text())) return;
  for (const NamedKernel& named : kNamedKernels)
    if (has_name(named.names, value.text())) {
      take_named_attention(value, named.word, draft);
      if (value.text() == kUsualAttention)
        value.note("skips what is hidden where no mask is handed to it: rows that are filled up have one",
                   "add \"attention\": \"efficient_masked\" to the plan, where such rows are");
      return;
    }
  value.lost("is a kernel of attention that no plan has: the software profile's is taken", "mind its time");
}

static_assert(std::size(kAttentionWords) == std::size(kAttentionKernelNames) + 1);  // the words are the kernels, behind the program's own
AttentionWord kernel_word(const ParallelPlan& plan) {
  const auto word = static_cast<AttentionWord>(static_cast<int>(attention_kernel(plan, plan.cluster.software)) + 1);
  return word == AttentionWord::Flash2 && !runs_flash2(plan.cluster.hardware) ? AttentionWord::AsTheProgram : word;
}

Written attention_name(const ParallelPlan& plan) {
  const auto* const named = std::ranges::find(kNamedKernels, kernel_word(plan), &NamedKernel::word);
  return named == std::end(kNamedKernels) ? std::string(kUsualAttention) : words_of(named->names).front();
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
