#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "sim/units/json_reader.h"

namespace sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string nested(int depth, const std::string& open, const std::string& close) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(JsonFile, RefusesWhatIsNoJsonAndSaysWhere) {
  EXPECT_THAT([] { parse_json("{\"a\": 1,\n \"b\":", "cut.json"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("cut.json: is not JSON: line 2"), HasSubstr("written completely"))));
  for (const char* text : {"{", "[1, 2", "\"abc", "{'a': 1}", "{\"a\": 1} x", "NaN", "[Infinity]", "[-inf]", "tru", "{\"a\" 1}", "[1e999]",
                           "\x7f"
                           "ELF"})
    EXPECT_THROW(parse_json(text, "f"), InputError) << text;
}

TEST(JsonFile, RefusesAKeyThatStandsTwice) {
  EXPECT_THAT([] { parse_json(R"({"a": {"zero": 1, "b": [{"zero": 2}], "zero": 3}})", "f"); },
              ThrowsMessage<InputError>(HasSubstr("f: has the key \"zero\" twice in one object")));
  EXPECT_NO_THROW(parse_json(R"({"a": {"zero": 1}, "zero": [{"zero": 2}, {"zero": 3}]})", "f"));
}

TEST(JsonFile, SaysThatAFileIsEmpty) {
  for (const char* text : {"", " \n\t\r "})
    EXPECT_THAT([&] { parse_json(text, "f"); }, ThrowsMessage<InputError>(HasSubstr("f: is empty")));
}

TEST(JsonFile, BinaryGivesAPrintableShortMessage) {
  std::string binary = "\"";
  for (int i = 0; i < 100'000; ++i) binary += static_cast<char>(i % 255 + 1);
  try {
    parse_json(binary, "f");
    FAIL();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_LT(message.size(), 400u);
    for (const char c : message) EXPECT_TRUE(c >= 0x20 && c <= 0x7e) << static_cast<int>(c);
  }
}

TEST(JsonFile, RefusesDeepNestingBeforeAnyRecursion) {
  for (const int depth : {201, 200'000, 2'000'000}) {
    EXPECT_THAT([&] { parse_json(nested(depth, "[", "]"), "f"); }, ThrowsMessage<InputError>(HasSubstr("nests deeper than 200 levels")));
    EXPECT_THAT([&] { parse_json(nested(depth, "{\"a\":", "}"), "f"); },
                ThrowsMessage<InputError>(HasSubstr("nests deeper than 200 levels")));
    EXPECT_THAT([&] { parse_json(nested(depth, "[", ""), "f"); }, ThrowsMessage<InputError>(HasSubstr("nests deeper than 200 levels")));
  }
  EXPECT_NO_THROW(parse_json(nested(200, "[", "]"), "f"));
  EXPECT_NO_THROW(parse_json("\"" + std::string(1000, '[') + "\"", "f")) << "brackets inside text nest nothing";
  EXPECT_NO_THROW(parse_json("\"\\\"" + std::string(1000, '[') + "\"", "f")) << "nor behind an escaped quote";
}

TEST(JsonFile, KeepsTheOrderOfKeysAndTheSameBytes) {
  const std::string path = testing::TempDir() + "json_file_" + std::to_string(::getpid()) + ".json";
  const Json document = {{"z", 0.1}, {"a", 1}, {"m", {1, 2}}};
  save_json_file(document, path);
  const std::string first = load_text_file(path);
  EXPECT_EQ(first, "{\n  \"z\": 0.1,\n  \"a\": 1,\n  \"m\": [\n    1,\n    2\n  ]\n}\n");
  save_json_file(load_json_file(path), path);
  EXPECT_EQ(load_text_file(path), first);
  std::filesystem::remove(path);
}

TEST(JsonFile, NamesAMissingFile) {
  EXPECT_THAT([] { load_json_file("/no/such.json"); }, ThrowsMessage<InputError>(HasSubstr("/no/such.json: cannot be read")));
}

}  // namespace
}  // namespace sim
