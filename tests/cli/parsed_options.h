// A command line, parsed: for the tests of what subcommands declare.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/options.h"

namespace cli {

inline ParseResult parse(std::vector<const char*> words) {
  words.insert(words.begin(), "meshwright");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

template <class Options>
Options parsed(const std::vector<const char*>& words) {
  const ParseResult result = parse(words);
  EXPECT_FALSE(result.ended);
  return std::get<Options>(result.invocation.options);
}

inline int usage_error(const std::vector<const char*>& words, const std::string& part) {
  testing::internal::CaptureStderr();
  const ParseResult result = parse(words);
  EXPECT_TRUE(result.ended);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr(part));
  return result.exit_code;
}

inline const std::vector<const char*> kPlan{"plan", "--model", "m", "--cluster", "c", "--global-batch", "8", "--sequence", "64", "-o", "p"};

inline std::vector<const char*> plan_with(const std::vector<const char*>& more) {
  std::vector<const char*> words = kPlan;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace cli
