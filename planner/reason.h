// Why something is so, as a value: a code and its arguments, in the order of the sentence. Made by search_space, evaluator and
// explanation; whoever shows it picks the language. The English sentences are one table in reason.cpp. Decides nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace planner {

struct Argument {
  std::string name;
  std::string value;  // with its unit: "84.2 GiB", "8.3 %"
  bool operator==(const Argument&) const = default;
};

struct Reason {
  std::string code;  // "divisibility.heads": the part before the dot is the family of reasons (Exclusion::code)
  std::vector<Argument> arguments;
  bool operator==(const Reason&) const = default;
};

std::string_view pattern_of(const Reason& reason);  // "{heads} attention heads are not divisible by {tensor}"; empty: an unknown code
std::string filled(std::string pattern, const std::vector<Argument>& arguments);  // in whatever language the pattern is

std::string_view family_of(const Reason& reason);             // "divisibility"
std::string to_sentence(const Reason& reason);                // English; an unknown code shows as the code with its arguments
std::string to_sentence(const std::vector<Reason>& reasons);  // the first is the claim: "8.3 % slower: bubble ..., ..."

}  // namespace planner
