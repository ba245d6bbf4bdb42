// Every field of a plan beside its model and cluster, one row each, in the order of the plan file. JSON, schema, differences, --fix, tables of plans
// and the window's knobs walk these rows.
//
// To add one: a member of ParallelPlan, a row in plan_fields.cpp. Its default is what ParallelPlan{} holds. There it does not stand in the file, so that
// the hash of a plan that has no use for it stays the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace sim {

using FieldValue = std::variant<std::int64_t, double, bool, std::string, Bytes, std::vector<std::int64_t>, std::vector<std::string>>;
enum class FieldKind : std::uint8_t { Integer, Number, Switch, Text, Amount, Integers, Lines };  // in the order of FieldValue

// Workload and Training say what is trained, Layout how it is cut. Training and Saving change no prediction: they are outside the hash.
// Saving: how often the run is saved; plans do not differ in it.
enum class FieldRole : std::uint8_t { Workload, Layout, Training, Saving };

// How a field lies in a plan.
struct FieldAccess {
  FieldKind kind{};
  FieldValue (*get)(const ParallelPlan&) = nullptr;
  // Takes a value of its kind, range and names; tells what is still wrong with it. Null: derived from others; a file may say it, and nothing else.
  std::vector<Violation> (*set)(ParallelPlan&, const FieldValue&) = nullptr;
  std::vector<std::string_view> (*names)() = nullptr;  // of a text that is one of a few
  std::string_view grammar{};                          // of a text that has one
};

struct FieldRange {  // of numbers, both ends included
  double low = 0, high = 1e300;
};

struct PlanField {
  std::string_view name;   // of the command line, candidates and tables: "zero"
  std::string_view path;   // in the plan file: "/zero_stage"
  std::string_view words;  // for people: "ZeRO stage"
  std::string_view meaning;
  FieldRole role{};
  FieldAccess access;
  FieldRange range{};
  bool (*stands)(const ParallelPlan&) = nullptr;  // whether it is in the file; null: where it is not at its default
  bool required = false;                          // must be in the file
  // An older spelling of another field, which files may hold and none is written with. The hash is made of the older spelling where there is one, so that it
  // stays what it was; `hashed`: what then stands for the field that has it.
  bool is_older_spelling = false;
  FieldValue (*hashed)(const ParallelPlan&) = nullptr;
  bool may_change = false;  // where a run goes on from a checkpoint, if it is asked for: how it trains from there, not what
  bool was_switch = false;  // a number of which files say true for 1 and false for 0, as when it had no more values
};

std::span<const PlanField> plan_fields();
const PlanField& plan_field(std::string_view name);  // which must be there

bool is_at_default(const PlanField& field, const ParallelPlan& plan);
bool stands_in_file(const PlanField& field, const ParallelPlan& plan);

// A value as one text, for the command line, candidates and tables: "4", "true", "25 MiB", "1f1b".
std::string to_text(const FieldValue& value);
std::string text_of(const PlanField& field, const ParallelPlan& plan);
std::optional<FieldValue> parse_value(const PlanField& field, std::string_view text);  // nothing: it is no such value
std::string accepted(const PlanField& field);                                          // "true, false"; "a whole number of at least 1"

}  // namespace sim
