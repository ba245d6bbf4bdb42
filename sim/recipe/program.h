// A program that people train with, as a row: the fields of its configuration, its syntax, and what of a plan it cannot say.
// To add one: a file with its table, and a row in recipe.cpp. To carry a new field of the plan: one row in each table that can say it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/recipe/draft.h"

namespace sim {

// Of a plan that is to leave. Refused: its layout would be another. Noted: it is carried, but for what stands here.
class Judgement {
 public:
  void refuse(bool when, std::string where, std::string problem, std::string remedy);
  void note(bool when, std::string where, std::string problem, std::string remedy);
  std::vector<Violation> refused, notes;
};

// What FSDP and its likes do in their own way: a unit is one layer there.
void note_units(const ParallelPlan& plan, Judgement& judgement);
void note_reshard(const ParallelPlan& plan, Judgement& judgement);

struct RecipeFile {
  std::string name, text;
};

// Of programs that are only read.
inline std::vector<RecipeFile> no_files(const RecipeHead&, const RecipeSettings&, const ParallelPlan&) { return {}; }

// What an import reads, and what is given beside it.
struct Program;
struct RecipeSource {
  std::string text, path;
  const Texts& given;
  const Program& program;
  Texts documents{};  // files that a script wrote before this one was read
};

// What decides time or memory, and a script may have by itself.
struct Decided {
  std::string_view what, keys;  // of the table, by a space: one of them says it
};

struct Program {
  std::string_view name;     // as typed: --to megatron
  std::string_view title;    // "Megatron-LM"
  std::string_view version;  // the release whose fields these are; stands in what is written
  std::string_view file;     // the main file's name
  std::string_view marks;    // by a space: a file with one of these words is of this program; empty: it is not read
  std::span<const Field> fields;
  void (*judge)(const ParallelPlan&, Judgement&);
  std::vector<RecipeFile> (*files)(const RecipeHead&, const RecipeSettings&, const ParallelPlan&);
  RecipeReading (*settings)(const RecipeSource&);  // keys as in the table
  void (*settle)(Draft&);                          // what several fields say together
  std::span<const LostSetting> lost{};
  std::string_view without_effect{};  // names by a space; x* is all that begin so: they change neither time nor memory
  TrainingSettings training{};        // its defaults
  std::optional<ModelConfig> (*network)(Draft&, const RecipeContext&) = nullptr;  // as the file says it; nothing: it names none
  std::string_view software = {};                            // profile in profiles/software: what it keeps, overlaps and costs
  std::string_view trained_by = {};                          // who says beside its files what is not trained; empty: it trains all weights
  std::string_view option = {};                              // in front of a key where people write it: "--"
  void (*habits)(ParallelPlan&) = nullptr;                   // what it does whatever a plan says: types, buffers; null: nothing
  bool says_scales = false;                                  // of products in 8 or 4 bit
  Written (*says_attention)(AttentionWord) = nullptr;        // which kernel attends; null: the code says it that builds the network
  bool (*says_codecs)(const PrecisionPolicy&) = nullptr;     // of what travels; null: of nothing
  bool (*says_types)(const PrecisionPolicy&) = nullptr;      // of what is kept apart; null: what follows from the products
  bool (*says_owners)(const ParallelPlan&) = nullptr;        // of states that are dealt out by tensors; null: of none
  bool says_dispatch = false, says_exchange_beside = false;  // how tokens reach experts; whether beside another microbatch
  bool offloads_parameters = true;
  bool offloads_inputs = false;         // of recomputed blocks
  bool says_graphs = false;             // kernels that the host issues at once
  std::string_view scripts = {};        // its own, by a space, with a folder where the name is a common one; a module ends in a dot
  std::span<const Decided> decided{};   // by another script; asked for where `scripts` is not empty
  bool gathers_beside_forward = false;  // new weights of ZeRO 1 and 2, where a setting says so
};

const Field* field_of(const Program& program, const std::string& key);
const LostSetting* lost_of(const Program& program, const std::string& key);
bool matters(const LostSetting& lost, const std::string& value);
bool is_known_to(const Program& program, const std::string& key);  // read, lost or without effect
bool has_name(std::string_view names, std::string_view key);       // names by a space, x* for all that begin so

std::string order_csv(const ParallelPlan& plan);  // its pipeline order, as torch.distributed.pipelining loads it

extern const Program kMegatron, kMegatronBridge, kNemo, kDeepSpeed, kAccelerate, kTorchtitan, kNanotron, kFairseq, kLightning, kTrainer,
    kNeox, kLitgpt, kOlmo, kPipelineOrder;

}  // namespace sim
