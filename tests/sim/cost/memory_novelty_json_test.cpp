#include <gtest/gtest.h>

#include "sim/cost/memory_novelty.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

TEST(MemoryNoveltyJson, ProgramsThatItNamesAreKnown) {
  const MemoryNovelty& novelty = memory_novelty();
  EXPECT_EQ(novelty.of("megatron-lm-2022").novelty, 0);
  EXPECT_TRUE(novelty.of("nanotron").holds_reductions);
  EXPECT_EQ(novelty.of("nobody's").novelty, novelty.unknown_program);
  EXPECT_FALSE(novelty.of("nobody's").holds_reductions);
}

TEST(MemoryNoveltyJson, EachNumberNeedsItsSource) {
  const char* const kFile = "profiles/behavior/memory.json";
  for (const char* pointer : {"/programs/nanotron/source", "/unknown_program/source", "/forms/slices/source", "/forms/slices/meaning"}) {
    Json json = load_json_file(kFile);
    json[Json::json_pointer(pointer)] = "";
    EXPECT_THROW(memory_novelty_from_json(json, kFile), InputError) << pointer;
  }
  Json json = load_json_file(kFile);
  json["forms"]["windows"] = {{"value", 0.1}, {"meaning", "m"}, {"source", "s"}};
  EXPECT_THROW(memory_novelty_from_json(json, kFile), InputError) << "nothing reads it";
}

}  // namespace
}  // namespace sim
