// The score as a JSON document. Declared in score.h.
#include <nlohmann/json.hpp>

#include "sim/units/json_fwd.h"
#include "sim/validation/score.h"

namespace sim {

std::string score_document(const Score& score) {
  Json json = {{"format", "meshwright.score/1"},      {"rows_predicted", score.predicted},
               {"rows_with_error", score.errors},     {"macro_mape", score.macro_mape},
               {"micro_mape", score.micro_mape},      {"median", score.median},
               {"percentile90", score.percentile90},  {"bias", score.bias},
               {"interval_coverage", score.coverage}, {"interval_score", score.interval_score}};
  json["sweeps"] = {{"count", score.sweeps.sweeps},
                    {"regret", score.sweeps_by_source.regret},
                    {"top1", score.sweeps_by_source.top1},
                    {"spearman", score.sweeps_by_source.spearman}};
  json["order_surprise"] = score.order_surprise;
  json["orders"] = Json::array();
  for (const OrderScore& order : score.orders)
    json["orders"].push_back({{"from", order.from},
                              {"pairs", order.pairs},
                              {"sources", order.sources},
                              {"said", order.said},
                              {"held", order.held},
                              {"held_by_source", order.held_by_source}});
  json["memory_mape"] = score.memory_mape;
  json["memory_coverage"] = score.memory_coverage;
  json["out_of_memory_accuracy"] = score.verdicts.accuracy();
  json["memory"] = Json::array();
  for (const MemoryScore& kind : score.memory)
    json["memory"].push_back(
        {{"source", kind.source}, {"counter", kind.kind}, {"rows", kind.rows}, {"mape", kind.mape}, {"bias", kind.bias}});
  json["sources"] = Json::array();
  for (const TimeScore& source : score.sources)
    json["sources"].push_back({{"source", source.source},
                               {"rows", source.rows},
                               {"mape", source.mape},
                               {"bias", source.bias},
                               {"coverage", source.coverage},
                               {"worst", source.worst},
                               {"worst_id", source.worst_id}});
  return json.dump(2) + "\n";
}

}  // namespace sim
