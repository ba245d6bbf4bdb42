#include "cli/console.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cli {
namespace {

TEST(Console, TextGoesToStdoutAndTalkToStderr) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Console console(Form::Text);
  console.say("talk");
  console.result("words", [] { return std::string("{}"); });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "words\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "talk\n");
}

TEST(Console, JsonIsOneDocument) {
  testing::internal::CaptureStdout();
  const Console console(Form::Json);
  console.result("words", [] { return std::string("{}"); });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "{}\n");
}

TEST(Console, NoColorWhereNobodyLooks) { EXPECT_EQ(Console(Form::Json).heading("title"), "title"); }

}  // namespace
}  // namespace cli
