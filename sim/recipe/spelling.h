// One value in two spellings: an argument of a shell line, and the same as a value of Python.
#pragma once

#include <cstdint>
#include <string>

namespace sim {

//                        argument              Python
enum class Spelling : std::uint8_t {
  AsItIs,
  Flag,   //              there, or not         True, False
  Not,    //              there, or not         False, True
  List,   //              ([0]*2+[1]*1)         [0, 0, 1]
  Pair,   //              127,0                 (127, 0)
  Words,  //              mlp layernorm         ["mlp", "layernorm"]
};

// From the argument's text; `is_there` is false where the argument is left out. Empty: the value is left out, too.
std::string spelled(Spelling spelling, bool is_there, const std::string& argument);
std::string argument_of(Spelling spelling, const std::string& value);

}  // namespace sim
