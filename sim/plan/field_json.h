// A field's value as JSON, both ways. Includes JSON's 5 s header: for *_json.cpp files of this room.
#pragma once

#include "sim/plan/plan_fields.h"
#include "sim/units/json_reader.h"

namespace sim {

Json to_json(const FieldValue& value);  // amounts as text with a unit

// Where a path ends: {"mesh", "data"} of "/mesh/data", {"", "chunks"} of "/chunks".
struct FieldPlace {
  std::string group, key;
};
FieldPlace place_of(const PlanField& field);

}  // namespace sim
