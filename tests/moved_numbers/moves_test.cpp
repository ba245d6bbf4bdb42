#include "moves.h"

#include <gmock/gmock.h>

#include "sim/units/json_reader.h"

namespace moved {
namespace {

using sim::Json;
using testing::ElementsAre;

void read(const Json& json) {
  const sim::JsonReader reader(json, "f");
  reader.number("share", 0.5, {0, 1});
  reader.integer("count", 1, {1, 1024});
  reader.bytes_per_second("rate", sim::BytesPerSecond(1));
  reader.finish();
}

std::vector<std::string> words(const Json& json, const std::string& pointer) {
  std::vector<std::string> all;
  for (const Move& move : moves_of(json, pointer, read))
    all.push_back(move.words + (move.is_refused ? ", refused" : ": " + move.profile[Json::json_pointer(pointer)].dump()));
  return all;
}

TEST(Moves, NumbersAreThoseOfAllBlocksButSources) {
  const Json json = {
      {"name", "8 of a kind"}, {"rate", "4 GB/s"}, {"block", {{"at", {1, 2.5}}}}, {"sources", {{"rate", "4 GB/s"}}}, {"is", true}};
  EXPECT_THAT(numbers_of(json), ElementsAre("/rate", "/block/at/0", "/block/at/1"));
}

TEST(Moves, AreAFifthAndTheEndsOfTheRange) {
  const Json json = {{"share", 0.5}, {"count", 8}, {"rate", "4 GB/s"}};
  EXPECT_THAT(words(json, "/share"), ElementsAre("a fifth up: 0.6", "its low end 0: 0.0", "its high end 1: 1.0"));
  EXPECT_THAT(words(json, "/count"), ElementsAre("a fifth up: 10", "its low end 1: 1", "its high end 1024: 1024"));
  EXPECT_THAT(words(json, "/rate"), ElementsAre("a fifth up: \"4.8 GB/s\"", "0, refused", "many times: \"4000 GB/s\""));
}

TEST(Moves, WhatIsRefusedUpIsMovedDown) {
  EXPECT_THAT(words({{"share", 0.875}}, "/share"),
              ElementsAre("a fifth up, refused", "a fifth down: 0.7000000000000001", "its low end 0: 0.0", "its high end 1: 1.0"));
}

TEST(Moves, DecorationIsWhatNoAnswerShows) {
  const auto no_answer = [](const Json&) { return false; };
  EXPECT_THAT(decoration({{"count", 8}}, {"/count"}, read, no_answer),
              ElementsAre("/count: a fifth up", "/count: its low end 1", "/count: its high end 1024"));
  EXPECT_THAT(decoration({{"count", 8}}, {"/count"}, read, [](const Json& moved) { return moved["count"] > 8; }),
              ElementsAre("/count: its low end 1"));
}

}  // namespace
}  // namespace moved
