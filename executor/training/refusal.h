// One-sentence refusals of files: what is wrong with `path`, and one thing to do.
#pragma once

#include <string>
#include <utility>

#include "sim/units/input_error.h"

namespace executor {

[[noreturn]] inline void refuse(const std::string& path, std::string problem, std::string remedy) {
  throw sim::InputError(path, {{.where = "", .problem = std::move(problem), .remedy = std::move(remedy)}});
}

}  // namespace executor
