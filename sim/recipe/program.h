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

struct Program {
  std::string_view name;     // as typed: --to megatron
  std::string_view title;    // "Megatron-LM"
  std::string_view version;  // the release whose fields these are; stands in what is written
  std::string_view file;     // the main file's name
  std::string_view marks;    // by a space: a file with one of these words is of this program; empty: it is not read
  std::span<const Field> fields;
  void (*judge)(const ParallelPlan&, Judgement&);
  std::vector<RecipeFile> (*files)(const RecipeHead&, const RecipeSettings&, const ParallelPlan&);
  RecipeSettings (*settings)(const std::string& text, const std::string& file);  // keys as in the table
  void (*settle)(Draft&);                                                        // what several fields say together
};

std::string order_csv(const ParallelPlan& plan);  // its pipeline order, as torch.distributed.pipelining loads it

extern const Program kMegatron, kDeepSpeed, kAccelerate, kTorchtitan, kPipelineOrder;

}  // namespace sim
