#include "planner/exclusion.h"

#include <utility>

namespace planner {

Exclusion exclude(std::string family, const Reason& reason, std::string nearest_fix) {
  return {.family = std::move(family),
          .code = std::string(family_of(reason)),
          .reason = to_sentence(reason),
          .arguments = reason.arguments,
          .rule = reason.code,
          .nearest_fix = std::move(nearest_fix)};
}

}  // namespace planner
