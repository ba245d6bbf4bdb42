// Rows for the tests of validation: one that is complete, and invented ones made from it.
#pragma once

#include <map>

#include "sim/units/json_reader.h"
#include "sim/validation/predict_rows.h"

namespace sim {

inline Json valid_row() {
  return Json::parse(R"({"id": "mine/1", "source": {"key": "mine"}, "headline": true,
    "workload": {"model": "GPT", "kind": "decoder", "layers": 24, "hidden": 2048, "heads": 16, "vocab": 51200, "seq_len": 2048, "activation": "gelu",
                 "attention": {"kind": "full"}, "moe": null, "lora": null},
    "hardware": {"gpu": "A100-SXM4-80GB", "total_gpus": 8, "gpus_per_node": 8, "nodes": 1, "intra_node": {"type": "nvlink3", "GBps_per_gpu": 600},
                 "inter_node": {"type": null, "Gbps_per_node": null}},
    "plan": {"dp": 8, "tp": 1, "pp": 1, "cp": 1, "ep": 1, "zero_stage": 1, "micro_batch": 4, "global_batch": 64, "recompute": "none",
             "precision": "bf16", "attention_kernel": "flash2", "schedule": "none", "software": {"framework": "megatron-core", "year": 2024}},
    "measured": {"memory_kind": "allocated"}, "target": {"iteration_time_s": 2.0, "memory_gb": 40, "oom": false}})");
}

inline DescribedRow describe(const Json& row) {
  static const SoftwareCatalog catalog = load_software_catalog();
  static std::map<std::string, Device> parts;
  return describe_row(row, "mine", {catalog, [](const std::string& part) -> const Device& {
                                      return parts.try_emplace(part, load_device(part)).first->second;
                                    }});
}

inline Json patched(Json row, const Json& patch) {
  row.merge_patch(patch);
  return row;
}

inline std::vector<PredictedRow> predict(std::vector<Json> rows) {
  Json list = Json::array();
  for (Json& row : rows) list.push_back(std::move(row));
  return predict_rows(list, "rows");
}

}  // namespace sim
