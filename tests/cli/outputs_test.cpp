#include "cli/outputs.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"

namespace cli {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Outputs, NothingReadIsWrittenOver) {
  const std::string input = testing::TempDir() + "outputs_input.json", link = testing::TempDir() + "outputs_link.json";
  std::ofstream(input) << "{}";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(input, link);
  for (const std::string& output : {input, link})
    EXPECT_THAT([&] { require_outputs({{output}}, {"h100-80gb-sxm", input}); }, ThrowsMessage<sim::InputError>(HasSubstr("would be lost")));
  EXPECT_NO_THROW(require_outputs({{testing::TempDir() + "outputs_other.json"}}, {input}));
  EXPECT_NO_THROW(require_outputs({{"/dev/null"}, {"/dev/null"}}, {"/dev/null"}));
  EXPECT_NO_THROW(require_outputs({{""}, {""}}, {input}));
}

TEST(Outputs, EachHasAPlaceOfItsOwn) {
  const std::string output = testing::TempDir() + "outputs_twice.json";
  EXPECT_THAT(
      [&] {
        require_outputs({{output}, {testing::TempDir() + "./outputs_twice.json"}}, {});
      },
      ThrowsMessage<sim::InputError>(HasSubstr("named for two results")));
}

TEST(Outputs, WhatSomebodyElseWroteIsKept) {
  const std::string output = testing::TempDir() + "outputs_diary.json";
  std::ofstream(output) << "Dear diary";
  EXPECT_THAT([&] { require_outputs({{output}}, {}); }, ThrowsMessage<sim::InputError>(HasSubstr("is there already")));
}

TEST(Outputs, APlaceThatCannotBeWrittenIsToldBeforeTheWork) {
  EXPECT_THAT([] { require_outputs({{"/no/such/folder/plan.json"}}, {}); },
              ThrowsMessage<sim::InputError>(HasSubstr("create its folder first")));
  EXPECT_THAT([] { require_outputs({{testing::TempDir()}}, {}); }, ThrowsMessage<sim::InputError>(HasSubstr("Is a directory")));
}

}  // namespace
}  // namespace cli
