// A result of several parts for people: a title, and under each heading a table or sentences. Shown on one screen, or as Markdown to post.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"

namespace cli {

struct Section {
  std::string heading;
  std::vector<std::vector<std::string>> rows{};  // the first is the header; none: no table
  std::vector<std::string> lines{};              // below it
};
struct Report {
  std::string title;
  std::vector<Section> sections;
};

inline constexpr std::size_t kScreenColumns = 100, kScreenLines = 45;

std::string screen_text(const Report& report, const Console& console);  // no line is longer than a screen
std::size_t num_lines(const Report& report);                            // of that text
std::string markdown_text(const Report& report);

// Lines that are too long go on below, under where their last cell begins.
std::string wrapped(std::string_view text);
std::string grouped(std::int64_t number);  // "1,000,000"

}  // namespace cli
