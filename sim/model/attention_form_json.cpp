#include "sim/model/attention_form_json.h"

#include <algorithm>

#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kWidth = {1, 1e6};

// GLM-5: "full" has an indexer of its own, others take another layer's choice.
void judge_indexers(const JsonReader& config) {
  const Json& types = config.json()["indexer_types"];
  if (!types.is_array() || std::ranges::any_of(types, [](const Json& type) { return type != "full"; }))
    config.violate("indexer_types", "names layers without an indexer of their own: indexers that several layers share are not supported",
                   "plan another network: with an indexer in each layer it would be one, too");
}

}  // namespace

bool has_latent_attention(const JsonReader& config) { return config.has("kv_lora_rank"); }

AttentionForm read_latent_attention(const JsonReader& config) {
  AttentionForm form;
  form.kind = AttentionKind::Latent;
  form.q_lora = config.integer("q_lora_rank", 0, {0, kWidth.high});
  form.kv_lora = config.integer("kv_lora_rank", {}, kWidth);
  form.qk_nope = config.integer("qk_nope_head_dim", {}, kWidth);
  form.qk_rope = config.integer("qk_rope_head_dim", {}, kWidth);
  form.v_dim = config.integer("v_head_dim", {}, kWidth);
  if (!config.has("index_topk")) return form;
  if (config.has("indexer_types")) judge_indexers(config);
  form.indexer = {.heads = config.integer("index_n_heads", {}, kWidth),
                  .width = config.integer("index_head_dim", {}, kWidth),
                  .topk = config.integer("index_topk", {}, kWidth)};
  if (form.q_lora == 0)
    config.violate("q_lora_rank", "is none, and the indexer reads those narrow queries", "set it, or leave index_topk out");
  return form;
}

void write_latent_attention(Json& config, const AttentionForm& form) {
  config["q_lora_rank"] = form.q_lora > 0 ? Json(form.q_lora) : Json(nullptr);
  config["kv_lora_rank"] = form.kv_lora;
  config["qk_nope_head_dim"] = form.qk_nope;
  config["qk_rope_head_dim"] = form.qk_rope;
  config["v_head_dim"] = form.v_dim;
  if (!form.is_sparse()) return;
  config["index_n_heads"] = form.indexer.heads;
  config["index_head_dim"] = form.indexer.width;
  config["index_topk"] = form.indexer.topk;
}

}  // namespace sim
