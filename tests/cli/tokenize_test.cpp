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

}  // namespace
}  // namespace cli
