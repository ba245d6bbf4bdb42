// What a program asked of a card that is not there: calls by name, written to the file that COUNTED_CUDA names when the program ends.
#pragma once

#include <string>

void count(const std::string& what);
