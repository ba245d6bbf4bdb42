// Rows drawn over the whole range of the schema, from every kind of network and part: each is predicted, within physics, and turning one knob
// moves time and memory the way it must.
#include <gmock/gmock.h>

#include <cmath>

#include "sim/clock/device.h"
#include "sim/units/random_bits.h"
#include "sim/validation/parts.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

constexpr int kRows = 1000;

struct Kind {
  const char* name;
  const char* workload;  // merged into a plain decoder
};
constexpr Kind kKinds[] = {
    {"llama",
     R"({"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256, "activation": "swiglu", "norm": "rmsnorm", "position": "rope", "bias": false})"},
    {"llama 70B",
     R"({"layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 8, "ffn": 28672, "vocab": 128256, "activation": "swiglu", "norm": "rmsnorm", "position": "rope", "tied_embeddings": false})"},
    {"gpt2",
     R"({"layers": 48, "hidden": 1600, "heads": 25, "ffn": 6400, "vocab": 50257, "position": "learned", "tied_embeddings": true, "bias": true})"},
    {"gpt3", R"({"layers": 96, "hidden": 12288, "heads": 96, "ffn": 49152})"},
    {"small",
     R"({"layers": 12, "hidden": 768, "heads": 12, "ffn": 3072, "vocab": null, "activation": null, "norm": null, "position": null, "bias": null})"},
    {"bloom", R"({"layers": 70, "hidden": 14336, "heads": 112, "ffn": 57344, "vocab": 250880, "position": "alibi"})"},
    {"bert", R"({"kind": "encoder", "layers": 24, "hidden": 1024, "heads": 16, "ffn": 4096, "vocab": 30528})"},
    {"nemotron",
     R"({"layers": 32, "hidden": 6144, "heads": 48, "kv_heads": 8, "ffn": 24576, "vocab": 256000, "activation": "squared_relu"})"},
    {"gemma",
     R"({"layers": 42, "hidden": 3584, "heads": 16, "kv_heads": 8, "head_dim": 256, "ffn": 14336, "activation": "geglu", "attention": {"kind": "sliding", "window": 4096, "every": 2}})"},
    {"mixtral",
     R"({"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "activation": "swiglu", "moe": {"experts": 8, "topk": 2, "expert_ffn": 14336}})"},
    {"deepseek",
     R"({"layers": 61, "hidden": 7168, "heads": 128, "head_dim": null, "ffn": 18432, "activation": "swiglu", "attention": {"kind": "mla", "q_lora": 1536, "kv_lora": 512, "qk_nope": 128, "qk_rope": 64, "v_dim": 128}, "moe": {"experts": 256, "shared_experts": 1, "topk": 8, "expert_ffn": 2048, "shared_ffn": 2048, "first_dense_layers": 3}})"},
    {"fine experts",
     R"({"layers": 48, "hidden": 2048, "heads": 32, "kv_heads": 4, "head_dim": 128, "ffn": 6144, "activation": "swiglu", "moe": {"experts": 128, "topk": 8, "expert_ffn": 768}})"},
};
constexpr const char* kPartNames[] = {
    "P40-24GB",  "V100-SXM2-16GB", "V100-SXM3-32GB",   "A30-24GB",       "A100-SXM4-40GB",  "A100-SXM4-80GB",       "A800-80GB",
    "L40S-48GB", "RTX-4090-24GB",  "RX-7900-XTX-24GB", "H100-SXM5-80GB", "H200-SXM5-141GB", "H100-SXM5-96GB-HBM2e", "B200-SXM-180GB"};
constexpr const char* kFrameworks[] = {
    "megatron-lm", "megatron-deepspeed", "megatron-core", "fsdp1",          "fsdp2",   "fms-fsdp", "pytorch-ddp", "mxnet",
    "deepspeed",   "internevo",          "oneflow",       "tensorflow-xla", "maxtext", "tinygrad", "lit-gpt",     "in-house"};

class Draw {
 public:
  Json one_of(const Json& choices) { return choices[next() % choices.size()]; }
  template <typename T, std::size_t N>
  const T& one_of(const T (&choices)[N]) {
    return choices[next() % N];
  }
  Json row(int at);

 private:
  std::uint64_t next() { return random_bits({2026}, drawn_++); }
  void degrees(Json& row);
  std::uint64_t drawn_ = 0;
};

std::int64_t divisor(std::int64_t wanted, std::int64_t whole) {
  while (wanted > 1 && whole % wanted != 0) wanted /= 2;
  return wanted;
}

void Draw::degrees(Json& row) {
  Json &plan = row["plan"], &hardware = row["hardware"], &workload = row["workload"];
  const std::int64_t nodes = one_of(Json{1, 1, 2, 16, 256, 2048}), node = one_of(Json{8, 8, 4}), gpus = nodes * node;
  const std::int64_t tensor = divisor(one_of(Json{1, 2, 4, 8}), node), pipeline = divisor(one_of(Json{1, 1, 2, 4, 8}), gpus / tensor);
  const std::int64_t length =
      workload["kind"] == "encoder" ? 512 : one_of(Json{512, 2048, 8192, 32768, 131072, 1048576}).get<std::int64_t>();
  const std::int64_t context = length < 4096 ? 1 : divisor(one_of(Json{1, 1, 2, 8}), gpus / tensor / pipeline);
  const std::int64_t data = gpus / tensor / pipeline / context, micro = length > 8192 ? 1 : one_of(Json{1, 2, 8}).get<std::int64_t>();
  hardware.update({{"total_gpus", gpus}, {"gpus_per_node", node}, {"nodes", nodes}});
  hardware["inter_node"] =
      nodes == 1 ? Json(nullptr) : Json{{"type", "infiniband"}, {"Gbps_per_node", one_of(Json{100, 400, 1600, 3200, nullptr})}};
  workload["seq_len"] = length;
  plan.update({{"dp", data}, {"tp", tensor}, {"pp", pipeline}, {"cp", context}, {"micro_batch", micro}});
  plan["global_batch"] = data * micro * pipeline * one_of(Json{1, 4, 16}).get<std::int64_t>();
  plan["cp_kind"] = context > 1 ? one_of(Json{"ring", "all_gather", "a2a", nullptr}) : Json(nullptr);
  plan["schedule"] = pipeline > 1 ? one_of(Json{"1f1b", "gpipe", "zb-1p", "zb-2p", "interleaved", "zbv", "v-half", "v-min"}) : Json("none");
  const bool chunked =
      plan["schedule"] == "interleaved" || plan["schedule"].get<std::string>().starts_with("v") || plan["schedule"] == "zbv";
  plan["vpp"] = chunked && 2 * pipeline <= workload["layers"] ? 2 : 1;
  if (chunked && plan["vpp"] == 1) plan["schedule"] = "1f1b";
  plan["zero_stage"] = one_of(pipeline > 1 ? Json{0, 1, 3} : Json{0, 1, 2, 3});
  plan["zero_group"] = plan["zero_stage"] == 0 ? Json(nullptr) : one_of(Json{nullptr, std::min<std::int64_t>(8, data * context)});
  if (!workload.contains("moe") || workload["moe"].is_null()) return;
  plan["ep"] = divisor(divisor(one_of(Json{1, 2, 8, 64}), workload["moe"]["experts"]), data * context * tensor);
  const std::string dispatch = one_of(Json{"dropless", "padded", "drop"});
  workload["moe"].update({{"dispatch", dispatch},
                          {"capacity_factor", dispatch == "dropless" ? Json(nullptr) : Json(1.25)},
                          {"balance", one_of(Json{"forced", nullptr})}});
}

// One that the part has a rate for.
void settle_precision(const Device& device, Json& precision) {
  const auto has = [&](Precision one) { return device.profile.peak[static_cast<std::size_t>(one)].value() > 0; };
  if (precision == "fp8" && device.kernels.fp8_peak.value() == 0) precision = "bf16";
  if (precision == "tf32" && !has(Precision::Tf32)) precision = "fp32";
  if (precision == "bf16" && !has(Precision::Bf16)) precision = "fp16";
  if ((precision == "fp16" || precision == "half") && !has(Precision::Fp16)) precision = "fp32";
}

Json Draw::row(int at) {
  Json row = valid_row();
  row["asked"] = {{"memory_kind", "peak allocated"}};  // of tensors: what an allocator holds beside them does not grow with every knob
  const Kind& kind = one_of(kKinds);
  row["workload"].merge_patch(Json::parse(kind.workload));
  row["hardware"].merge_patch({{"gpu", one_of(kPartNames)}, {"intra_node", nullptr}});
  row["id"] = std::to_string(at) + " " + kind.name + " " + row["hardware"]["gpu"].get<std::string>();
  degrees(row);
  Json& plan = row["plan"];
  plan.update(
      {{"precision", one_of(Json{"fp32", "tf32", "fp16", "bf16", "bf16", "half", "fp8"})},
       {"recompute", one_of(Json{"none", "selective", "full"})},
       {"attention_kernel", one_of(Json{"unfused", "fused_softmax", "no_flash", "flash1", "flash2", "flash", "flash3", "cudnn", nullptr})},
       {"sequence_parallel", one_of(Json{true, false, nullptr})},
       {"reshard_after_forward", one_of(Json{true, false, nullptr})},
       {"fused_norm", one_of(Json{true, false, nullptr})},
       {"compiled", one_of(Json{true, false, nullptr})},
       {"async_tp", one_of(Json{true, nullptr})},
       {"cuda_graphs", one_of(Json{"none", "per_layer", "full_iteration", nullptr})},
       {"offload", one_of(Json{"none", "none", "none", "cpu", "nvme"})},
       {"optimizer", one_of(Json{"adam", "lamb", nullptr})},
       {"overlap", one_of(Json{nullptr, {{"grad_reduce", true}, {"param_gather", true}, {"tp", true}, {"p2p", true}}})},
       {"software", {{"framework", one_of(kFrameworks)}, {"year", one_of(Json{2020, 2022, 2024, 2026})}}}});
  if (at % 3 == 0) plan["reshard_after_backward"] = false;
  settle_precision(load_device(profile_of_part(row["hardware"]["gpu"].get<std::string>())), plan["precision"]);
  if (plan["recompute"] == "selective")
    plan["recompute_detail"] = one_of(Json{"op", "every_second_layer", "attention_core", "save_projections", nullptr});
  const std::string targets = one_of(Json{"attention", "all"}), base = one_of(Json{"bf16", "int8", "nf4"});
  if (one_of(Json{0, 0, 0, 1}) == 1) row["workload"]["lora"] = {{"rank", 16}, {"targets", targets}, {"base_precision", base}};
  return row;
}

Json stated(const Json& json, const char* key) { return json.contains(key) ? json.at(key) : Json(nullptr); }

// Least arithmetic of a step: two operations a weight, token and pass (three passes, two where weights are frozen).
double least_flops(const Json& row) {
  const Json &w = row["workload"], &plan = row["plan"];
  const double hidden = w["hidden"].get<double>(), layers = w["layers"].get<double>(),
               gated = stated(w, "activation") == "swiglu" || stated(w, "activation") == "geglu" ? 3 : 2;
  const bool experts = !stated(w, "moe").is_null();
  const double kept = experts && w["moe"]["dispatch"] == "drop" ? 0.8 : 1;
  const double inner = experts ? kept * w["moe"]["topk"].get<double>() * w["moe"]["expert_ffn"].get<double>() : w["ffn"].get<double>();
  const double passes = stated(w, "lora").is_null() ? 6 : 4, tokens = plan["global_batch"].get<double>() * w["seq_len"].get<double>();
  return passes * tokens * layers * gated * hidden * inner / row["hardware"]["total_gpus"].get<double>();
}

double peak(const Json& row, const Device& device) {
  const std::string precision = row["plan"]["precision"];
  const NumberFormat format = precision == "fp32"   ? NumberFormat::Fp32
                              : precision == "tf32" ? NumberFormat::Tf32
                              : precision == "fp8"  ? NumberFormat::Fp8
                                                    : NumberFormat::Bf16;
  return device.matrix_peak(format).value();
}

// Rows whose plan keeps every rule; the others are refused by name.
struct Drawn {
  std::vector<Json> rows;
  std::vector<PredictedRow> predicted;
};

Drawn predicted_draws() {
  std::vector<Json> rows;
  Draw draw;
  for (int at = 0; at < kRows; ++at) rows.push_back(draw.row(at));
  const std::vector<PredictedRow> predicted = predict(rows);
  Drawn kept;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (predicted[at].error.empty()) {
      kept.rows.push_back(rows[at]);
      kept.predicted.push_back(predicted[at]);
    } else {
      EXPECT_THAT(predicted[at].error, testing::AnyOf(testing::HasSubstr("; "), testing::HasSubstr("longer than the clock")))
          << "no remedy";
    }
  }
  EXPECT_GT(kept.rows.size(), kRows * 2 / 3);
  return kept;
}

const Drawn& drawn() {
  static const Drawn once = predicted_draws();
  return once;
}

TEST(PerturbedRows, ArePredictedWithinPhysics) {
  const auto& [rows, predicted] = drawn();
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const RowEstimate& estimate = predicted[at].estimate;
    const double time = estimate.time.count();
    ASSERT_TRUE(std::isfinite(time) && std::isfinite(estimate.memory_gib) && time > 0 && estimate.memory_gib > 0) << rows[at].dump();
    EXPECT_TRUE(estimate.low < estimate.time && estimate.time < estimate.high) << rows[at].dump();
    const Device device = load_device(profile_of_part(rows[at]["hardware"]["gpu"].get<std::string>()));
    const double share = least_flops(rows[at]) / time / peak(rows[at], device);
    EXPECT_LT(share, 0.9) << rows[at].dump();
  }
}

struct Knob {
  const char* name;
  bool (*turn)(Json& row);  // false: says nothing here
  bool slower, fuller;      // time, memory cannot shrink
};

bool twice(Json& number) {
  if (number.is_null()) return false;
  number = 2 * number.get<std::int64_t>();
  return true;
}

constexpr Knob kKnobs[] = {
    {"more microbatches", [](Json& row) { return twice(row["plan"]["global_batch"]); }, true, true},
    {"larger microbatches", [](Json& row) { return twice(row["plan"]["micro_batch"]) && twice(row["plan"]["global_batch"]); }, true, true},
    {"longer sequences", [](Json& row) { return row["workload"]["kind"] != "encoder" && twice(row["workload"]["seq_len"]); }, true, true},
    {"slower network",
     [](Json& row) {
       if (row["hardware"]["inter_node"].is_null() || row["hardware"]["inter_node"]["Gbps_per_node"].is_null()) return false;
       row["hardware"]["inter_node"]["Gbps_per_node"] = 50;
       return true;
     },
     true, false},
    {"everything recomputed",
     [](Json& row) {
       const bool kept = row["plan"]["recompute"] == "none";
       row["plan"]["recompute"] = "full";
       return kept;
     },
     true, false},
    {"no recomputation",
     [](Json& row) {
       const bool again = row["plan"]["recompute"] == "full";
       row["plan"]["recompute"] = "none";
       return again;
     },
     false, true},
};

TEST(PerturbedRows, EachKnobTurnsTheRightWay) {
  const auto& [rows, before] = drawn();
  for (const Knob& knob : kKnobs) {
    int turned = 0;
    std::vector<Json> changed;
    std::vector<std::size_t> of_rows;
    for (std::size_t at = 0; at < rows.size(); ++at) {
      Json row = rows[at];
      if (!knob.turn(row)) continue;
      changed.push_back(std::move(row));
      of_rows.push_back(at);
    }
    const std::vector<PredictedRow> after = predict(changed);
    for (std::size_t which = 0; which < changed.size(); ++which) {
      if (!after[which].error.empty()) continue;
      ++turned;
      const std::size_t at = of_rows[which];
      const RowEstimate &one = before[at].estimate, &other = after[which].estimate;
      EXPECT_TRUE(!knob.slower || other.time >= 0.995 * one.time) << knob.name << ": " << one.time / other.time << rows[at].dump();
      // Gradients that wait for a slow network pile up while computation is short, and nothing limits them: where those of each
      // microbatch are reduced (ZeRO-2, ZeRO-3) a step may be less full.
      const bool is_fuller = knob.fuller && rows[at]["plan"]["zero_stage"] < 2;
      EXPECT_TRUE(!is_fuller || other.memory_gib >= 0.999 * one.memory_gib)
          << knob.name << other.memory_gib / one.memory_gib << rows[at].dump();
    }
    EXPECT_GT(turned, kRows / 20) << knob.name;
  }
}

// The same work on each of twice as many GPUs: only what is sharded over them can take less time.
TEST(PerturbedRows, MoreReplicasAreNotFaster) {
  std::vector<Json> rows, doubled;
  std::vector<PredictedRow> before;
  for (const auto& [all, predicted] = drawn(); const Json& row : all) {
    const PredictedRow& one = predicted[static_cast<std::size_t>(&row - all.data())];
    if (row["hardware"]["nodes"] == 1 || row["plan"]["zero_stage"] != 0 || row["workload"].value("moe", Json()) != nullptr) continue;
    rows.push_back(row);
    before.push_back(one);
  }
  for (Json row : rows) {
    for (const auto& [block, key] : {std::pair{"hardware", "total_gpus"}, {"hardware", "nodes"}, {"plan", "dp"}, {"plan", "global_batch"}})
      twice(row[block][key]);
    doubled.push_back(row);
  }
  const std::vector<PredictedRow> after = predict(doubled);
  ASSERT_GT(rows.size(), 40u);
  for (std::size_t at = 0; at < rows.size(); ++at)
    if (after[at].error.empty()) {
      EXPECT_GE(after[at].estimate.time, 0.99 * before[at].estimate.time) << rows[at].dump();
    }
}

}  // namespace
}  // namespace sim
