// A plan while it is read from another program's configuration, and the fields that carry it there and back: one row a field, both ways in one place.
// What cannot be read is collected with its key; nothing is dropped unsaid.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/recipe/launch_size.h"
#include "sim/recipe/settings.h"
#include "sim/recipe/spelling.h"

namespace sim {

// What a configuration does not hold; from the command line or the window. 0: not given, the file must say it.
struct RecipeContext {
  std::optional<ModelConfig> model;  // none: the file must say the network
  Cluster cluster;
  std::int64_t sequence = 0, global_batch = 0, microbatch = 0, vocabulary = 0;
  Recompute recompute = Recompute::None;  // where the program's code decides
  bool own_software = false;              // the cluster's is stated: not the program's
  Texts given{};                          // variables of a script
};

inline constexpr std::int64_t kBucketOfDeepSpeed = 500'000'000;  // elements, where reduce_bucket_size is not said

// Degrees and batch as the file counts them, put together by complete_draft().
struct Draft {
  ParallelPlan plan;
  std::optional<std::int64_t> sequence, global_batch, microbatch, accumulation_steps, processes, bucket_elements;
  std::optional<std::int64_t> prefetched_elements;  // of weights that are gathered ahead
  std::optional<std::int64_t> replicate, shard;     // data degrees of FSDP: copies of the weights, ranks that share one; -1: the rest
  std::optional<std::int64_t> blocks_of_chunk, first_blocks, last_blocks;
  struct Ends {
    std::int64_t first = 1, last = 1;
  } less_layers{};  // torchtitan: what embedding and head weigh where layers are dealt out
  std::optional<Precision> precision;
  std::optional<ScaleRecipe> scales;        // of products in 8 or 4 bit, where scales_products
  std::optional<std::int64_t> local_batch;  // of a data rank: all its microbatches
  std::optional<bool> fp32_gradients, reduces_each, sequence_parallel, overlaps_reduce;
  bool is_bf16 = false, is_fp16 = false, is_fsdp = false, embedding_counts = false, loss_counts = false, accumulates_once = false;
  bool scales_products = false, gathers_scaled = false, leaves_ends_unscaled = false;
  std::optional<std::int64_t> unscaled_first, unscaled_last;   // blocks at the ends, where leaves_ends_unscaled
  WireCodec weight_codec{}, gradient_codec{};                  // of what travels
  std::array<std::optional<Precision>, kNumWideKinds> wide{};  // of WideKind
  bool overlaps_gather = false;
  bool is_fsdp_of_launcher = false;  // `--use_fsdp`, whose policy alone wraps blocks; the Trainer's own `fsdp` does by itself
  std::int64_t mtp_layers = 0, microbatch_beside = 0;  // of the command line, where the file says none
  std::optional<std::int64_t> placed_predictions;      // of a layout: layers that predict further tokens
  std::optional<std::size_t> part_of_predictions;      // where they stand, if apart from the head
  Launch launch;                                       // who starts it, and on how many devices
  bool are_processes_certain = true;        // the recipe itself says them; false: the job's head does, or the devices that it sees
  std::int32_t strategy = 0;                // of sharding, as a stage; under is_fsdp alone
  std::int64_t gpt2_vocabulary = 0;         // of the tokenizer's usual files, where the recipe names that tokenizer
  std::string attention_setting;            // which said plan.attention
  bool is_attention_named = false;          // by its kernel's name, not by a switch
  std::string order_file;                   // beside the recipe: the pipeline's order as CSV
  std::vector<std::int64_t> blocks;         // of each virtual stage, in the model's order; empty: cut evenly
  std::map<std::string, std::string> said;  // every setting, by the name in the program's table
  Texts documents;                          // files that the recipe itself writes
  std::vector<Violation> wrong, unknown, lost, notes;  // lost: known to matter, and no word of a plan
};

// The last value of a setting, or null; "false" and its likes are no value.
const std::string* said(const Draft& draft, const std::string& key);
bool is_on(const std::string& value);
std::string text_of(const Draft& draft, const std::string& key, std::string otherwise);  // "false" is one
bool flag_of(const Draft& draft, const std::string& key, bool otherwise);
double number_of(const Draft& draft, const std::string& key, double otherwise);  // where the whole text is no number, too
std::int64_t size_said(const Draft& draft, const std::string& key, std::int64_t otherwise);

class Value {
 public:
  Value(const RecipeSetting& setting, Draft& draft) : setting_(setting), draft_(draft) {}
  const std::string& key() const { return setting_.key; }
  const std::string& in_the_file() const { return setting_.written.empty() ? setting_.key : setting_.written; }
  const std::string& text() const { return setting_.value; }
  bool is_default() const { return setting_.is_default; }
  bool is_unknown() const;                   // told with the variable to give, where the text does not say it
  std::int64_t integer() const;              // 0 where it is none; told. 5e8 is one, "auto" is not
  std::int64_t count() const;                // at least 1
  double number(double most = 1e300) const;  // 0 to that
  bool boolean() const;
  std::int32_t degree() const;  // at least 1
  std::size_t choice(std::span<const std::string_view> names) const;
  // Describes the network: what the model beside it must be. Written for the program, compared when it comes back.
  void must_be(std::int64_t expected) const;
  void wrong(std::string problem, std::string remedy) const;
  void note(std::string problem, std::string remedy) const;
  void lost(std::string problem, std::string remedy) const;
  void unknown(std::string problem, std::string remedy) const;

 private:
  const RecipeSetting& setting_;
  Draft& draft_;
};

using Written = std::optional<std::string>;  // nothing: this plan has no need of the field

struct Field {
  std::string_view key;
  std::string_view aliases;               // other spellings, by a space
  Written (*write)(const ParallelPlan&);  // null: only read
  void (*read)(const Value&, Draft&);
  bool is_size = false;                  // a degree or a size: without any of them a file says nothing
  std::string_view means = {};           // the name under which others look for it in draft.said; empty: its key
  Spelling spelling = Spelling::AsItIs;  // where the file's value is another text than the one written and read above
};
std::string text_in_file(const Field& field, const ParallelPlan& plan);  // empty: this plan has no need of it
inline void only_said(const Value&, Draft&) {}                           // draft.said has it for whoever asks

// Settings that change time or memory and have no word in a plan.
struct LostSetting {
  std::string_view keys;    // by a space
  std::string_view what;    // it means for the figures
  std::string_view when{};  // empty: wherever it is on; "off": where it is switched off; "but A B": any other value; "A B": these alone
};

std::vector<double> numbers_of(std::string text);  // "(0.9, 0.98)", "[4]", "0.0003"; empty: another text stands among them
void read_pair_of_betas(const Value& value, Draft& draft);
// Where DeepSpeed has the optimizer and the weights: none (the device), cpu or nvme; anything else is told. read_place: true, off the device.
bool read_place(const Value& value, Draft& draft, OnDrive what);
void read_offload(const Value& value, Draft& draft);
void read_offload_of_weights(const Value& value, Draft& draft);
std::string offload_text(const ParallelPlan& plan, OnDrive what);  // of what is off the device
void read_reduce_scatter(const Value& value, Draft& draft);        // DeepSpeed's
void note_unpacked(std::int64_t sequence, Draft& draft);           // a sample may have fewer tokens

// Whoever starts it: offload_param below stage 3 does nothing, which is told, and parameters are gathered in units of its own, not of FSDP 2.
void settle_engine_of_deepspeed(Draft& draft);
void take_stage_of_accelerate(Draft& draft, std::string setting);  // DeepSpeedPlugin's own, where nobody says it
void settle_drives(Draft& draft);                                  // of its stages, when these and what is on the host are known

bool reduces_in_fp32(const ParallelPlan& plan);         // of 16-bit weights
bool keeps_all_in_bf16(const PrecisionPolicy& policy);  // weights and states, without fp32 copies
// Of 16-bit products; others have gradients of their own width.
PrecisionPolicy mixed_precision(const PrecisionPolicy& products, bool fp32_gradients);
PrecisionPolicy with_wide(PrecisionPolicy policy, const Draft& draft);                  // what is wider there than the policy
PrecisionPolicy products_of(const Draft& draft, Precision compute, ScaleRecipe usual);  // `usual`: where the file says scales, not which

Written written(std::int64_t value);
Written written_number(double value);
Written written_flag(bool set);  // "true", or nothing
template <auto flag>             // of the plan: a row's two functions
Written flag_of(const ParallelPlan& plan) {
  return written_flag(plan.*flag);
}
template <auto flag>
void put_flag(const Value& value, Draft& draft) {
  draft.plan.*flag = value.boolean();
}
Written written_if(bool holds, std::string value);
std::vector<std::int64_t> blocks_of(const ParallelPlan& plan);  // of each virtual stage, in the model's order
std::int64_t elements_of_bucket(const ParallelPlan& plan);      // programs count gradients, not bytes

std::int64_t elements_gathered_ahead(
    const ParallelPlan& plan);  // DeepSpeed's stage3_prefetch_bucket_size: of as many units as the plan says

// Puts degrees, batch and cut together and judges the whole; what is wrong stands in draft.wrong.
void complete_draft(Draft& draft, const RecipeContext& context);

}  // namespace sim
