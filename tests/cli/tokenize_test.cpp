#include <gmock/gmock.h>

#include <fstream>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace cli {
namespace {

std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(Tokenize, JoinsFilesAsLittleEndianBytes) {
  const std::string output = testing::TempDir() + "tokens.bin";
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(TokenizeOptions{.texts = {file("a.txt", "hi"), file("b.txt", "\xff")}, .output = output}, Console(Form::Text)), kSuccess);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::StartsWith("3 tokens"));
  EXPECT_EQ(sim::load_text_file(output), std::string("h\0i\0\xff\0", 6));
}

TEST(Tokenize, RefusesEmptyAndMissingText) {
  const Console console(Form::Text);
  EXPECT_THROW(run(TokenizeOptions{.texts = {file("empty.txt", "")}, .output = "/dev/null"}, console), sim::InputError);
  EXPECT_THROW(run(TokenizeOptions{.texts = {"no-such-file.txt"}, .output = "/dev/null"}, console), sim::InputError);
}

TEST(Tokenize, RefusesTablesAndLinesOfSamplesByName) {
  const auto refused = [](const std::string& name, const std::string& bytes) {
    try {
      run(TokenizeOptions{.texts = {file(name, bytes)}, .output = testing::TempDir() + "refused.bin"}, Console(Form::Text));
      return std::string();
    } catch (const sim::InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refused("a.npy", "\x93NUMPY"), testing::HasSubstr("is a NumPy array (.npy), no plain text"));
  EXPECT_THAT(refused("a.parquet", "PAR1"), testing::HasSubstr("a Parquet table"));
  EXPECT_THAT(refused("a.jsonl", "{\"text\": \"a\"}"), testing::HasSubstr("JSON text"));
  testing::internal::CaptureStdout();
  EXPECT_EQ(refused("package.json", "{\"name\": 1}"), "");
  testing::internal::GetCapturedStdout();
}

}  // namespace
}  // namespace cli
