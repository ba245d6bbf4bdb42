#include "sim/model/family.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "sim/model/config_notes.h"
#include "sim/model/model_graph.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kConfigs = "profiles/models/";

std::vector<std::string> published_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(kConfigs)) names.push_back(file.path().stem().string());
  return names;
}

ModelConfig published_config(const std::string& name) { return load_model_config(kConfigs + name + ".json"); }

// Numbers that transformers_test.py takes from Transformers.
TEST(Family, ParametersAreThoseOfTransformers) {
  const Json expected = load_json_file("tests/sim/model/parameters.json");
  EXPECT_GE(expected.size(), 32u);
  for (const auto& [name, count] : expected.items()) {
    EXPECT_EQ(num_parameters(make_model_graph(published_config(name), {1})), count.get<std::int64_t>()) << name;
    EXPECT_EQ(num_parameters(make_model_graph(published_config(name), {128})), count.get<std::int64_t>()) << name << ", padded";
  }
}

// The table tells a word that is left out, of every sort that has weights.
TEST(Family, APlantedFaultIsSeenInTheNumber) {
  const Json expected = load_json_file("tests/sim/model/parameters.json");
  const auto differs = [&](const std::string& name, void (*plant)(ModelConfig&)) {
    ModelConfig config = published_config(name);
    plant(config);
    return num_parameters(make_model_graph(config, {1})) != expected[name].get<std::int64_t>();
  };
  EXPECT_FALSE(differs("qwen3-8b", [](ModelConfig&) {}));
  EXPECT_TRUE(differs("qwen3-8b", [](ModelConfig& c) { c.qk_norm = QkNorm::None; }));
  EXPECT_TRUE(differs("olmoe-1b-7b", [](ModelConfig& c) { c.qk_norm = QkNorm::Heads; }));
  EXPECT_TRUE(differs("gemma-2-9b", [](ModelConfig& c) { c.norm_place = NormPlace::Before; }));
  EXPECT_TRUE(differs("falcon-7b", [](ModelConfig& c) { c.shared_norm = false; }));
  EXPECT_TRUE(differs("gpt-oss-20b", [](ModelConfig& c) { c.sinks = false; }));
  EXPECT_TRUE(differs("gpt-oss-20b", [](ModelConfig& c) { c.experts->biases = false; }));
  EXPECT_TRUE(differs("qwen1.5-moe-a2.7b", [](ModelConfig& c) { c.experts->shared_gate = false; }));
  EXPECT_TRUE(differs("deepseek-v3", [](ModelConfig& c) { c.experts->first_dense_layers = 0; }));
  EXPECT_TRUE(differs("qwen3-next-80b-a3b", [](ModelConfig& c) { c.attention_gate = false; }));
  EXPECT_TRUE(differs("qwen3-next-80b-a3b", [](ModelConfig& c) { c.linear->convolution = 3; }));
  EXPECT_TRUE(differs("bamba-9b", [](ModelConfig& c) { c.linear->convolution_bias = false; }));
  EXPECT_TRUE(differs("bamba-9b", [](ModelConfig& c) { c.linear_layers[9] = true; }));
  EXPECT_TRUE(differs("nemotron-h-8b", [](ModelConfig& c) { c.halves[0] = BlockHalf::Both; }));
  EXPECT_TRUE(differs("llama-4-maverick-17b-128e", [](ModelConfig& c) { c.experts->every = 1; }));
  EXPECT_TRUE(differs("opt-350m", [](ModelConfig& c) { c.embedding_width = 0; }));
  EXPECT_TRUE(differs("roberta-large", [](ModelConfig& c) { c.position_offset = 0; }));
  EXPECT_TRUE(differs("bert-base-uncased", [](ModelConfig& c) { c.head_bias = false; }));
  EXPECT_TRUE(differs("vit-base-patch16-224", [](ModelConfig& c) { c.patches->channels = 1; }));
  EXPECT_TRUE(differs("regnet-y-040", [](ModelConfig& c) { c.convolution->squeeze = false; }));
  EXPECT_TRUE(differs("regnet-x-040", [](ModelConfig& c) { c.convolution->width_per_group = 80; }));
  EXPECT_TRUE(differs("resnet-18", [](ModelConfig& c) { c.convolution->bottleneck = true; }));
}

// Of families without a published config here: what their class takes. Written and read again it is the same network.
TEST(Family, ClassesHaveAsManyParameters) {
  const Json classes = load_json_file("tests/sim/model/families.json");
  EXPECT_GE(classes.size(), 68u);
  for (const auto& [family, expected] : classes.items()) {
    const ModelConfig config = model_config_from_json(expected["config"], family);
    EXPECT_EQ(num_parameters(make_model_graph(config, {1})), expected["parameters"].get<std::int64_t>()) << family;
    EXPECT_EQ(model_config_from_json(to_json(config), family), config) << family;
    for (const Violation& note : config_notes_of(expected["config"]))
      EXPECT_THAT(note.problem, Not(HasSubstr("nobody here knows"))) << family << ", " << note.where;
  }
}

// A word that is left out of one is seen in its number, of every sort that they have beyond the published ones.
TEST(Family, APlantedFaultIsSeenInTheClasses) {
  const Json classes = load_json_file("tests/sim/model/families.json");
  const auto differs = [&](const std::string& family, void (*plant)(ModelConfig&)) {
    ModelConfig config = model_config_from_json(classes[family]["config"], family);
    plant(config);
    return num_parameters(make_model_graph(config, {1})) != classes[family]["parameters"].get<std::int64_t>();
  };
  EXPECT_FALSE(differs("cohere", [](ModelConfig&) {}));
  EXPECT_TRUE(differs("cohere", [](ModelConfig& c) { c.norm_bias = true; }));
  EXPECT_TRUE(differs("olmo", [](ModelConfig& c) { c.norm_weight = true; }));
  EXPECT_TRUE(differs("phi", [](ModelConfig& c) { c.head_bias = false; }));
  EXPECT_TRUE(differs("gpt_bigcode", [](ModelConfig& c) { c.kv_heads = c.heads; }));
  EXPECT_TRUE(differs("arcee", [](ModelConfig& c) { c.gated_mlp = true; }));
  EXPECT_TRUE(differs("hunyuan_v1_dense", [](ModelConfig& c) { c.qk_norm = QkNorm::Plain; }));
  EXPECT_TRUE(differs("exaone4", [](ModelConfig& c) { c.norm_place = NormPlace::Around; }));
  EXPECT_TRUE(differs("modernbert", [](ModelConfig& c) { c.first_norm = true; }));
  EXPECT_TRUE(differs("modernbert", [](ModelConfig& c) { c.transform_bias = true; }));
  EXPECT_TRUE(differs("umt5", [](ModelConfig& c) { c.encoder->distances_of_each = false; }));
  EXPECT_TRUE(differs("apertus", [](ModelConfig& c) { c.activation = Activation::SquaredRelu; }));
  EXPECT_TRUE(differs("bitnet", [](ModelConfig& c) { c.inner_norms = false; }));
  EXPECT_TRUE(differs("falcon_h1", [](ModelConfig& c) { c.linear->beside = false; }));
  EXPECT_TRUE(differs("falcon_h1", [](ModelConfig& c) { c.linear->gate_norm = false; }));
  EXPECT_TRUE(differs("jamba", [](ModelConfig& c) { c.linear->scan_norms = ScanNorms::Plain; }));
  EXPECT_TRUE(differs("mamba", [](ModelConfig& c) { c.linear->step_rank = 47; }));
  EXPECT_TRUE(differs("lfm2", [](ModelConfig& c) { c.linear->convolution = 4; }));
  EXPECT_TRUE(differs("whisper", [](ModelConfig& c) { c.key_bias = true; }));
  EXPECT_TRUE(differs("whisper", [](ModelConfig& c) { c.encoder->frame_width = 128; }));
  EXPECT_TRUE(differs("minimax_m2", [](ModelConfig& c) { c.qk_norm = QkNorm::Heads; }));
}

TEST(Family, EveryFamilyHasAConfig) {
  std::set<std::string> met;
  for (const std::string& name : published_names()) met.insert(published_config(name).model_type);
  const Json classes = load_json_file("tests/sim/model/families.json");
  for (const auto& [family, expected] : classes.items()) met.insert(family);
  for (const auto families : all_families())
    for (const Family& family : families.data() == map_families().data() ? std::span<const Family>() : families)
      EXPECT_TRUE(met.contains(std::string(family.name))) << family.name;
  EXPECT_TRUE(met.contains("resnet") && met.contains("regnet"));  // the other networks of maps have no config.json elsewhere
}

TEST(Family, WhatIsWrittenReadsBack) {
  for (const std::string& name : published_names()) {
    const ModelConfig config = published_config(name);
    EXPECT_EQ(model_config_from_json(to_json(config), "again"), config) << name;
    EXPECT_EQ(to_json(model_config_from_json(to_json(config), "again")).dump(), to_json(config).dump()) << name;
  }
}

TEST(Family, NamesOfParametersAreUnique) {
  for (const std::string& name : published_names()) {
    std::set<std::string> names;
    for (const Layer& layer : make_model_graph(published_config(name), {128}).layers)
      for (const Parameter& parameter : layer.parameters) EXPECT_TRUE(names.insert(parameter.name).second) << name << parameter.name;
  }
}

TEST(Family, KeysAreFoundByTheirField) {
  EXPECT_EQ(key_of("bloom", &ModelConfig::hidden), "hidden_size");
  EXPECT_EQ(key_of("gpt2", &ModelConfig::layers), "n_layer");
  EXPECT_EQ(key_of("gpt2", &ModelConfig::window), std::nullopt);
}

}  // namespace
}  // namespace sim
