// Where a program's words go: the result to stdout (as text, or with --json as one document), everything else to stderr.
// Knows terminals and NO_COLOR; knows no result.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"

namespace cli {

enum class Form { Text, Json };

class Console {
 public:
  explicit Console(Form form);
  // One of the two, on stdout. Throws sim::InputError: stdout cannot be written.
  void result(std::string_view text, const std::function<std::string()>& document) const;
  void say(std::string_view line) const;                      // stderr
  void note(const std::vector<sim::Violation>& notes) const;  // stderr, a line each: what a person should know beside the result
  std::string heading(std::string_view text) const;           // bold where stdout shows it
  Form form() const { return form_; }

 private:
  Form form_;
  bool bold_;
};

}  // namespace cli
