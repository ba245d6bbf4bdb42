#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

TEST(PredictRows, AContradictionStopsItsRowOnly) {
  Json wrong = valid_row();
  wrong["plan"]["tp"] = 4;
  wrong["id"] = "mine/2";
  const auto rows = predict({wrong, valid_row(), Json("no row")});
  EXPECT_THAT(rows[0].error, testing::AllOf(testing::HasSubstr("mine/2"), testing::HasSubstr("total_gpus is 8")));
  EXPECT_EQ(rows[1].error, "");
  EXPECT_GT(rows[1].estimate.time.count(), 0.1);
  EXPECT_NE(rows[2].error, "");
}

TEST(PredictRows, NumbersOutOfRangeAreNamed) {
  const std::vector<std::tuple<const char*, const char*, Json>> faults = {{"workload", "layers", 1'000'000'000},
                                                                          {"workload", "hidden", -1},
                                                                          {"workload", "seq_len", "long"},
                                                                          {"plan", "tp", 0},
                                                                          {"plan", "zero_stage", 7},
                                                                          {"plan", "dp", 1e18},
                                                                          {"hardware", "total_gpus", 1.5},
                                                                          {"plan", "offload", "moon"}};
  for (const auto& [block, key, value] : faults) {
    Json wrong = valid_row();
    wrong[block][key] = value;
    const auto rows = predict({wrong, valid_row()});
    EXPECT_THAT(rows[0].error, testing::HasSubstr(std::string("/") + block)) << key;
    EXPECT_EQ(rows[1].error, "") << key;
  }
}

TEST(PredictRows, WhatWouldNotEndIsRefused) {
  Json endless = valid_row();
  endless["plan"].update(
      {{"dp", 1}, {"pp", 8}, {"schedule", "1f1b"}, {"micro_batch", 1}, {"global_batch", 1'000'000'000'000}, {"num_microbatches", nullptr}});
  EXPECT_THAT(predict({endless})[0].error, testing::HasSubstr("passes"));
}

TEST(PredictRows, MeasurementsAreNotLookedAt) {
  constexpr std::size_t kEvery = 4;  // of most sources some
  const Json published = load_json_file("profiles/published/rows.json");
  Json rows = Json::array(), blind = Json::array();
  for (std::size_t at = 0; at < published.size(); at += kEvery) {
    Json row = published[at];
    rows.push_back(row);
    for (const char* key : {"measured", "derived", "target", "headline", "source", "notes"}) row.erase(key);
    blind.push_back(row);
  }
  EXPECT_EQ(predictions_document(predict_rows(rows, "f")), predictions_document(predict_rows(blind, "f")));
}

double seconds(const Json& row) {
  const auto rows = predict({row});
  EXPECT_EQ(rows[0].error, "");
  return rows[0].estimate.time.count();
}

TEST(PredictRows, FormsWithoutRowsGetSaneTimes) {
  const double dense = seconds(valid_row());
  Json mixture = valid_row(), adapted = valid_row(), latent = valid_row(), windowed = valid_row();
  mixture["workload"]["moe"] = {{"experts", 8}, {"topk", 2}, {"expert_ffn", 8192}, {"dispatch", "dropless"}};
  mixture["plan"]["ep"] = 8;
  EXPECT_GT(seconds(mixture), 1.2 * dense);
  EXPECT_LT(seconds(mixture), 4 * dense);
  adapted["workload"]["lora"] = {{"rank", 16}, {"targets", "attention"}, {"base_precision", "bf16"}};
  EXPECT_GT(seconds(adapted), 0.5 * dense);
  EXPECT_LT(seconds(adapted), 0.9 * dense);
  latent["workload"]["attention"] = {{"kind", "mla"},  {"q_lora", 1536}, {"kv_lora", 512},
                                     {"qk_nope", 128}, {"qk_rope", 64},  {"v_dim", 128}};
  EXPECT_GT(seconds(latent), 0.7 * dense);
  windowed["workload"]["attention"] = {{"kind", "sliding"}, {"window", 256}, {"every", 2}};
  EXPECT_LT(seconds(windowed), dense);
}

TEST(PredictRows, EveryPartAnswers) {
  double slowest = 0;
  for (const char* part : {"P40-24GB", "V100-SXM2-32GB", "A30-24GB", "A100-SXM4-40GB", "A800-80GB", "L40S-48GB", "RTX-4090-24GB",
                           "RX-7900-XTX-24GB", "H100-SXM5-80GB", "H200-SXM5-141GB", "B200-SXM-180GB"}) {
    Json row = valid_row();
    row["hardware"]["gpu"] = part;
    row["hardware"]["intra_node"]["GBps_per_gpu"] = nullptr;
    row["plan"]["precision"] = "fp16";
    slowest = std::max(slowest, seconds(row));
    EXPECT_LE(seconds(row), slowest) << part;
  }
  EXPECT_LT(seconds(valid_row()), slowest);
}

TEST(PredictRows, AFileWithoutRowsIsRefused) { EXPECT_THROW(predict_rows(Json::object(), "f"), InputError); }

TEST(PredictRows, EachSaysWhoseSpeedItIs) {
  const std::vector<PredictedRow> rows = predict_rows(Json::array({valid_row()}), "f");
  EXPECT_FALSE(rows.front().speed.program.empty());
  const Json document = Json::parse(predictions_document(rows));
  EXPECT_EQ(document["rows"][0]["speed_of"]["program"], rows.front().speed.program);
  EXPECT_EQ(document["rows"][0]["speed_of"]["part"], rows.front().speed.part);
}

}  // namespace
}  // namespace sim
