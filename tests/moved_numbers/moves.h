// Numbers of a profile, and where each can be moved: by a fifth, and to the ends of the range that its reader states. Asks the reader alone: a number that
// is far too large is refused with the range beside it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/units/json_fwd.h"

namespace moved {

// The real reader, whatever it makes of the document. Throws sim::InputError where it refuses.
using Read = std::function<void(const sim::Json&)>;

// JSON pointers of all numbers, of quantities ("80 GiB"), too; nothing of "sources".
std::vector<std::string> numbers_of(const sim::Json& profile);

struct Move {
  std::string words;  // "a fifth up", "0", "its high end 1"
  sim::Json profile;
  bool is_refused = false;  // by the reader, which names the number
};
std::vector<Move> moves_of(const sim::Json& profile, const std::string& pointer, const Read& read);

// What each of them is asked: the same answers as before mean that the number is not read.
using Answers = std::function<bool(const sim::Json& moved)>;  // whether any answer is another than of the profile as it is
// One line for each number and move that no answer shows and no reader refuses: "/kernels/drive: a fifth up".
std::vector<std::string> decoration(const sim::Json& profile, const std::vector<std::string>& pointers, const Read& read,
                                    const Answers& moves);

}  // namespace moved
