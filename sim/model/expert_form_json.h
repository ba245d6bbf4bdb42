// The experts of a Hugging Face config.json, under the names that the families have for the same numbers.
#pragma once

#include <optional>

#include "sim/model/expert_form.h"
#include "sim/units/json_fwd.h"

namespace sim {

class JsonReader;

struct DenseWidth {
  std::int64_t value = 0;
};  // of an expert where the file names none
// `form`: what the family takes where the file is silent. None: a dense model.
std::optional<ExpertForm> read_experts(const JsonReader& config, DenseWidth ffn, ExpertForm form = {});
// Whether scores choose with a summand, where the file says it by itself (Ling).
void read_corrected_scores(const JsonReader& config, std::optional<ExpertForm>& form);
void write_corrected_scores(Json& config, const std::optional<ExpertForm>& form);
void write_experts(Json& config, const ExpertForm& form);

}  // namespace sim
