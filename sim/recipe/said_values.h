// Settings that no row reads by itself: others look them up in draft.said, and take what they do not know as something. Here their kind is told: a value
// that no release has is named, and stays what whoever looks it up takes it for.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

void flag_said(const Value& value, Draft&);    // true, false and their likes
void number_said(const Value& value, Draft&);  // one, several, or switched off
void runs_said(const Value& value, Draft&);    // of numbers: 4, 1 0 1, ([0]*3+[1]*58)
void tell_other_word(const Value& value, std::span<const std::string_view> words);

template <const auto& words>
void word_said(const Value& value, Draft&) {
  tell_other_word(value, words);
}

}  // namespace sim
