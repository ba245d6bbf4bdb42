#include <array>
#include <filesystem>
#include <string_view>

#include "executor/training/hugging_face.h"
#include "executor/training/hugging_face_files.h"
#include "sim/model/model_differences.h"
#include "sim/units/json_reader.h"

namespace executor {

namespace {

struct Architecture {
  std::string_view family, name;
};
constexpr auto kArchitectures = std::to_array<Architecture>({{"gpt2", "GPT2LMHeadModel"},
                                                             {"llama", "LlamaForCausalLM"},
                                                             {"mistral", "MistralForCausalLM"},
                                                             {"qwen2", "Qwen2ForCausalLM"},
                                                             {"qwen3", "Qwen3ForCausalLM"},
                                                             {"gemma", "GemmaForCausalLM"},
                                                             {"gemma2", "Gemma2ForCausalLM"},
                                                             {"gemma3_text", "Gemma3ForCausalLM"},
                                                             {"olmo2", "Olmo2ForCausalLM"},
                                                             {"phi3", "Phi3ForCausalLM"},
                                                             {"glm4", "Glm4ForCausalLM"},
                                                             {"starcoder2", "Starcoder2ForCausalLM"},
                                                             {"mixtral", "MixtralForCausalLM"},
                                                             {"qwen2_moe", "Qwen2MoeForCausalLM"},
                                                             {"qwen3_moe", "Qwen3MoeForCausalLM"},
                                                             {"olmoe", "OlmoeForCausalLM"},
                                                             {"gpt_oss", "GptOssForCausalLM"},
                                                             {"glm4_moe", "Glm4MoeForCausalLM"},
                                                             {"deepseek_v2", "DeepseekV2ForCausalLM"},
                                                             {"deepseek_v3", "DeepseekV3ForCausalLM"},
                                                             {"arcee", "ArceeForCausalLM"},
                                                             {"nemotron", "NemotronForCausalLM"},
                                                             {"jais2", "Jais2ForCausalLM"},
                                                             {"ernie4_5", "Ernie4_5ForCausalLM"},
                                                             {"ernie4_5_moe", "Ernie4_5_MoeForCausalLM"},
                                                             {"helium", "HeliumForCausalLM"},
                                                             {"glm", "GlmForCausalLM"},
                                                             {"seed_oss", "SeedOssForCausalLM"},
                                                             {"cwm", "CwmForCausalLM"},
                                                             {"ministral", "MinistralForCausalLM"},
                                                             {"internlm3", "LlamaForCausalLM"},
                                                             {"iquestcoder", "LlamaForCausalLM"},
                                                             {"stablelm", "StableLmForCausalLM"},
                                                             {"olmo3", "Olmo3ForCausalLM"},
                                                             {"flex_olmo", "FlexOlmoForCausalLM"},
                                                             {"vaultgemma", "VaultGemmaForCausalLM"},
                                                             {"minimax_m2", "MiniMaxM2ForCausalLM"},
                                                             {"dots1", "Dots1ForCausalLM"},
                                                             {"solar_open", "SolarOpenForCausalLM"},
                                                             {"glm4_moe_lite", "Glm4MoeLiteForCausalLM"},
                                                             {"youtu", "YoutuForCausalLM"},
                                                             {"phi", "PhiForCausalLM"},
                                                             {"gptj", "GPTJForCausalLM"},
                                                             {"gpt_bigcode", "GPTBigCodeForCausalLM"},
                                                             {"gpt_neo", "GPTNeoForCausalLM"},
                                                             {"cohere", "CohereForCausalLM"},
                                                             {"cohere2", "Cohere2ForCausalLM"},
                                                             {"exaone4", "Exaone4ForCausalLM"},
                                                             {"smollm3", "SmolLM3ForCausalLM"},
                                                             {"mpt", "MptForCausalLM"},
                                                             {"granite", "GraniteForCausalLM"},
                                                             {"olmo", "OlmoForCausalLM"},
                                                             {"nanochat", "NanoChatForCausalLM"},
                                                             {"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM"},
                                                             {"hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM"},
                                                             {"minicpm3", "MiniCPM3ForCausalLM"},
                                                             {"gpt_neox", "GPTNeoXForCausalLM"},
                                                             {"bloom", "BloomForCausalLM"},
                                                             {"falcon", "FalconForCausalLM"},
                                                             {"opt", "OPTForCausalLM"},
                                                             {"bert", "BertForMaskedLM"},
                                                             {"megatron-bert", "MegatronBertForMaskedLM"},
                                                             {"roberta", "RobertaForMaskedLM"},
                                                             {"camembert", "CamembertForMaskedLM"},
                                                             {"xlm-roberta", "XLMRobertaForMaskedLM"},
                                                             {"distilbert", "DistilBertForMaskedLM"},
                                                             {"modernbert", "ModernBertForMaskedLM"}});

}  // namespace

void save_exported_config(const sim::ModelConfig& config, c10::ScalarType type, const std::string& path) {
  sim::Json json = sim::to_json(config);
  for (const Architecture& known : kArchitectures)
    if (known.family == config.model_type) json["architectures"] = {std::string(known.name)};
  json["torch_dtype"] = json["dtype"] = type == c10::kDouble ? "float64" : "float32";  // masters: never of 16 bits
  sim::save_json_file(json, path);
}

void save_model_config(const sim::ModelConfig& config, const std::string& path) { sim::save_json_file(sim::to_json(config), path); }

bool require_same_network(const std::string& path, const sim::ModelConfig& planned) {
  namespace fs = std::filesystem;
  const std::string config = (fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path()) / "config.json";
  if (!fs::exists(config)) return false;
  const std::vector<sim::Violation> differences = sim::function_differences(planned, sim::load_model_config(config));
  if (!differences.empty()) throw sim::InputError(config, differences);
  return true;
}

}  // namespace executor
