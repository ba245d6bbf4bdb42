// Latent attention of a Hugging Face config.json, and the indexer of a sparse one.
#pragma once

#include "sim/model/attention_form.h"
#include "sim/units/json_fwd.h"

namespace sim {

class JsonReader;

// The file has kv_lora_rank. q_lora_rank may be null or 0: queries are projected directly.
bool has_latent_attention(const JsonReader& config);
AttentionForm read_latent_attention(const JsonReader& config);  // index_topk: an indexer, too; a key that is missing is a violation
void write_latent_attention(Json& config, const AttentionForm& form);

}  // namespace sim
