// One row, or one with others, for each value that published rows may state and no row of profiles/published/rows.json does: each has to be
// predicted, with an arithmetic rate that the part can reach, memory, and an interval that is wider than that of a plain row.
#include <gmock/gmock.h>

#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

struct Form {
  std::string name;
  Json patch;
};

Json mixture(const std::string& dispatch, const Json& capacity = nullptr) {
  return {{"workload",
           {{"moe",
             {{"experts", 8},
              {"topk", 2},
              {"expert_ffn", 8192},
              {"dispatch", dispatch},
              {"capacity_factor", capacity},
              {"balance", "forced"}}}}},
          {"plan", {{"ep", 8}}}};
}

const Json kLatent = {{"kind", "mla"}, {"q_lora", 1536}, {"kv_lora", 512}, {"qk_nope", 128}, {"qk_rope", 64}, {"v_dim", 128}};

Json with_framework(const std::string& framework) { return {{"plan", {{"software", {{"framework", framework}, {"year", 2024}}}}}}; }

Json adapters(const std::string& targets, const std::string& base) {
  return {{"workload", {{"lora", {{"rank", 16}, {"targets", targets}, {"base_precision", base}}}}}};
}

Json context(const std::string& kind) {
  return {{"workload", {{"seq_len", 32768}}}, {"plan", {{"dp", 4}, {"cp", 2}, {"cp_kind", kind}, {"global_batch", 32}}}};
}

Json on_part(const std::string& part, const std::string& link) {
  return {{"hardware", {{"gpu", part}, {"intra_node", {{"type", link}, {"GBps_per_gpu", nullptr}, {"topology", nullptr}}}}}};
}

Json pipeline(const std::string& schedule) {
  return {{"plan", {{"dp", 1}, {"pp", 8}, {"schedule", schedule}, {"zero_stage", 0}, {"global_batch", 64}}}};
}

Json plan(const std::string& key, const Json& value) { return {{"plan", {{key, value}}}}; }
Json fp8(const std::string& recipe) {
  const std::string part = recipe == "mx" ? "B200-SXM-180GB" : "H100-SXM5-80GB";
  return {{"hardware", {{"gpu", part}}}, {"plan", {{"precision", "fp8"}, {"fp8_recipe", recipe}}}};
}

std::vector<Form> transformer_forms() {
  std::vector<Form> forms = {
      {"layer alone", {{"workload", {{"kind", "decoder_layer"}, {"layers", 1}}}}},
      {"geglu", {{"workload", {{"activation", "geglu"}, {"norm", "rmsnorm"}}}}},
      {"alibi", {{"workload", {{"position", "alibi"}}}}},
      {"latent", {{"workload", {{"attention", kLatent}, {"head_dim", nullptr}}}}},
      {"sliding", {{"workload", {{"attention", {{"kind", "sliding"}, {"window", 512}, {"every", 2}}}}}}},
      {"dropless", mixture("dropless")},
      {"padded", mixture("padded", 1.25)},
      {"drop", mixture("drop", 1.0)},
      {"zero 2", plan("zero_stage", 2)},
      {"efa",
       {{"hardware", {{"total_gpus", 16}, {"nodes", 2}, {"inter_node", {{"type", "efa"}, {"Gbps_per_node", 400}}}}},
        {"plan", {{"dp", 16}}}}},
      {"fp32 accumulation", plan("grad_accum_precision", "fp32")},
      {"ends as layers", {{"plan", {{"dp", 1}, {"pp", 8}, {"zero_stage", 0}, {"partition", {{"kind", "embedding_and_loss_as_layers"}}}}}}},
      {"rmsprop", plan("optimizer", "rmsprop_ema")},
      {"offload to the host", plan("offload", "cpu")},
      {"offload to a drive", plan("offload", "nvme")},
  };
  for (const char* targets : {"attention", "all"})
    for (const char* base : {"bf16", "int8"}) forms.push_back({std::string("lora ") + targets + base, adapters(targets, base)});
  for (const char* kind : {"all_gather", "a2a", "ring"}) forms.push_back({kind, context(kind)});
  for (const char* recipe : {"delayed", "tensorwise", "rowwise", "mx", "blockwise"}) forms.push_back({recipe, fp8(recipe)});
  for (const char* graphs : {"per_layer", "full_iteration"}) forms.push_back({graphs, plan("cuda_graphs", graphs)});
  for (const char* detail : {"attention_core", "attention_core_some_microbatches", "save_projections", "gpipe_always", "gpipe_except_last"})
    forms.push_back({detail, {{"plan", {{"recompute", "selective"}, {"recompute_detail", detail}}}}});
  for (const char* schedule : {"gpipe", "zb-1p", "zb-2p", "zb-2p-sync"}) forms.push_back({schedule, pipeline(schedule)});
  for (const char* framework :
       {"deepspeed", "internevo", "oneflow", "tensorflow-xla", "maxtext", "torchgpipe", "tinygrad", "lit-gpt", "sagemaker-smp", "in-house"})
    forms.push_back({framework, with_framework(framework)});
  for (const auto& [part, link] : {std::pair{"A800-80GB", "nvlink3"},
                                   {"H200-SXM5-141GB", "nvlink4"},
                                   {"B200-SXM-180GB", "nvlink5"},
                                   {"P40-24GB", "pcie3"},
                                   {"A30-24GB", "pcie4"},
                                   {"L40S-48GB", "pcie4"},
                                   {"RTX-4090-24GB", "pcie4"},
                                   {"RX-7900-XTX-24GB", "pcie4"}})
    forms.push_back({part, on_part(part, link)});
  return forms;
}

Json form_of(Json row, const Json& patch, const std::string& id) {
  row.merge_patch(patch);
  row["id"] = id;
  row.erase("target");
  row.erase("measured");
  return row;
}

std::vector<PredictedRow> predict_forms(const Json& base, const std::vector<Form>& forms) {
  std::vector<Json> rows;
  for (const Form& form : forms) rows.push_back(form_of(base, form.patch, form.name));
  return predict(std::move(rows));
}

double width(const RowEstimate& estimate) { return (estimate.high - estimate.low) / estimate.time; }

void expect_sane(const PredictedRow& row, double longest) {
  EXPECT_EQ(row.error, "") << row.id;
  EXPECT_GT(row.estimate.time.count(), 1e-4) << row.id;
  EXPECT_LT(row.estimate.time.count(), longest) << row.id;
  EXPECT_LT(row.estimate.low, row.estimate.time) << row.id;
  EXPECT_GT(row.estimate.high, row.estimate.time) << row.id;
  EXPECT_GT(row.estimate.memory_gib, 0.3) << row.id;
  EXPECT_LT(row.estimate.memory_gib, 2000) << row.id;
}

TEST(Forms, OfTransformersArePredicted) {
  const PredictedRow plain = predict({valid_row()})[0];
  const double flops = 6.0 * 64 * 2048 * 1.2e9 / 8;  // of a GPU, of the plain row; every form but a few has about as many
  for (const PredictedRow& row : predict_forms(valid_row(), transformer_forms())) {
    expect_sane(row, 400 * plain.estimate.time.count());
    if (row.id == "layer alone") continue;
    EXPECT_LT(flops / row.estimate.time.count(), 4.5e15 * 0.75) << row.id;
  }
}

TEST(Forms, WithoutRowsHaveWiderIntervals) {
  const double plain =
      width(predict({patched(valid_row(), {{"hardware", {{"gpu", "H100-SXM5-80GB"}}}})})[0].estimate);  // on which its program ran
  for (const PredictedRow& row : predict_forms(valid_row(), transformer_forms()))
    for (const char* name :
         {"dropless", "padded",      "drop",    "latent", "sliding", "lora", "a2a", "ring", "internevo", "maxtext", "tinygrad",
          "in-house", "layer alone", "offload", "P40",    "A30",     "RTX",  "RX-", "B200", "L40S",      "H200"})
      if (row.id.starts_with(name)) {
        EXPECT_GT(width(row.estimate), plain) << row.id;
      }
}

TEST(Forms, MixOfThem) {  // experts with latent attention, shared experts, dense layers first, a pipeline with its ends as layers
  Json patch = mixture("dropless");
  patch["workload"]["attention"] = kLatent;
  patch["workload"]["layers"] = 22;
  patch["workload"]["moe"].update({{"experts", 64}, {"topk", 6}, {"expert_ffn", 1408}, {"shared_experts", 2}, {"first_dense_layers", 1}});
  patch["hardware"] = {
      {"gpu", "B200-SXM-180GB"}, {"total_gpus", 64}, {"nodes", 8}, {"inter_node", {{"type", "infiniband"}, {"Gbps_per_node", 3200}}}};
  patch["plan"].update({{"dp", 16},
                        {"pp", 4},
                        {"vpp", 2},
                        {"ep", 8},
                        {"schedule", "interleaved"},
                        {"global_batch", 256},
                        {"micro_batch", 1},
                        {"precision", "fp8"},
                        {"fp8_recipe", "mx"},
                        {"partition", {{"kind", "embedding_and_loss_as_layers"}}},
                        {"recompute", nullptr}});
  const auto rows = predict_forms(valid_row(), {{"mix", patch}});
  expect_sane(rows[0], 100);
  EXPECT_GT(width(rows[0].estimate), 0.35);
}

TEST(Forms, OfConvolutionalNetworksArePredicted) {
  Json base = valid_row();
  base["workload"] = {{"model", "cnn"}, {"kind", "cnn"}, {"image", {3, 224, 224}}};
  base["plan"].merge_patch({{"precision", "fp16"},
                            {"memory_format", "nhwc"},
                            {"optimizer", "sgd_momentum"},
                            {"micro_batch", 32},
                            {"zero_stage", 0},
                            {"global_batch", 256},
                            {"software", {{"framework", "pytorch-ddp"}, {"year", 2021}}}});
  std::vector<Form> forms;
  for (const char* architecture : {"resnet50", "resnet101", "resnext101-32x4d", "se-resnext101-32x4d", "amoebanet-d:18,256", "unet:5,64"})
    forms.push_back({architecture, {{"workload", {{"architecture", architecture}}}}});
  const auto rows = predict_forms(base, forms);
  for (const PredictedRow& row : rows) expect_sane(row, 10);
  for (std::size_t at = 4; at < rows.size(); ++at) EXPECT_GT(width(rows[at].estimate), width(rows[0].estimate)) << rows[at].id;
}

TEST(Forms, PipelinesOfConvolutionalNetworks) {
  Json base = valid_row();
  base["workload"] = {{"model", "cnn"}, {"kind", "cnn"}, {"architecture", "resnet101"}, {"image", {3, 224, 224}}};
  base["hardware"] = on_part("P40-24GB", "pcie3")["hardware"];
  base["hardware"].update({{"total_gpus", 4}, {"gpus_per_node", 4}, {"nodes", 1}});
  base["plan"] = {{"dp", 1},
                  {"tp", 1},
                  {"pp", 4},
                  {"micro_batch", 22},
                  {"num_microbatches", 256},
                  {"global_batch", 5632},
                  {"schedule", "gpipe"},
                  {"partition", {{"kind", "balance"}, {"balance", {44, 92, 124, 110}}}},
                  {"precision", "fp32"},
                  {"optimizer", "sgd_momentum"},
                  {"software", {{"framework", "torchgpipe"}, {"year", 2019}}}};
  const auto rows = predict_forms(base, {{"always", plan("recompute_detail", "gpipe_always")}, {"none", plan("recompute", "none")}});
  for (const PredictedRow& row : rows) expect_sane(row, 100);
}

}  // namespace
}  // namespace sim
