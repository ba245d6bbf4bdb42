#include "sim/model/expert_form.h"

#include <algorithm>
#include <cmath>

namespace sim {

bool ExpertForm::has_experts(std::int64_t layer) const {
  return layer >= first_dense_layers && (layer + 1) % every == 0 && std::ranges::find(dense_layers, layer) == dense_layers.end();
}

std::int64_t expert_capacity(const ExpertForm& form, RoutedTokens tokens) {
  const double even = static_cast<double>(tokens.value * form.topk) / static_cast<double>(form.experts);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(even * form.capacity_factor)));
}

std::int64_t rows_to_experts(const ExpertForm& form, RoutedTokens tokens) {
  const std::int64_t chosen = tokens.value * form.topk;
  if (!form.is_limited()) return chosen;
  const std::int64_t places = form.experts * expert_capacity(form, tokens);
  return form.dispatch == ExpertDispatch::Padded ? places : std::min(chosen, places);
}

}  // namespace sim
