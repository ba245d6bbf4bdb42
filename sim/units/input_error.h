// What is wrong with something a user gave us: every violation at once, each with its remedy. Exit code 30.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

struct Violation {
  std::string where;    // JSON pointer ("/memory"), field or option
  std::string problem;  // what is wrong, with the value and the accepted values
  std::string remedy;   // one thing to do
};

// "where: problem"; the problem alone where no place is known.
std::string located(const Violation& violation);

// A text in which every number is a #: what two lines have in common that differ in numbers alone.
std::string without_numbers(std::string_view text);

// Those that differ in numbers alone, and stand for four or more, as one with their count: 40 rows without a batch are one line.
std::vector<Violation> grouped(const std::vector<Violation>& violations);

class InputError : public std::runtime_error {
 public:
  InputError(std::string file, std::vector<Violation> violations);
  const std::string& file() const { return file_; }
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  std::string file_;
  std::vector<Violation> violations_;
};

}  // namespace sim
