"""Parameters in parameters.json, which family_test.cpp holds against our own sum, are those of the networks that Transformers builds.

Asks transformers 5 on the meta device (no weights). Families that it lacks, in some releases or all, are summed here from the shapes of their published tensors.
families.json holds, of families without a published config here, what their class takes with few layers, and the number; --write makes it anew."""
import dataclasses
import json
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).parent
CONFIGS = HERE.parents[2] / "profiles" / "models"
EXPECTED = json.loads((HERE / "parameters.json").read_text())
FAMILIES = HERE / "families.json"
FLOPS = HERE / "flops.json"
LAYERS = 8
# What a class does not take by itself, or is no network with; under another name where Transformers builds it under that.
OTHER = {
    "dots1": {"n_routed_experts": 16, "n_shared_experts": 2, "num_experts_per_tok": 4, "first_k_dense_replace": 1},
    "dbrx": {"attn_config": {"kv_n_heads": 8, "rope_theta": 500000.0}},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128, "num_experts": 8, "moe_topk": 2},
    "hunyuan_vl_text": {"head_dim": 128, "tie_word_embeddings": True},
    "glm4v_text": {"attention_bias": True, "rms_norm_eps": 1e-5, "max_position_embeddings": 32768},
    "glm_ocr_text": {"pad_token_id": None, "attention_bias": False, "vocab_size": 59392, "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "num_key_value_heads": 8, "rms_norm_eps": 1e-5},
    "granite_docling_text": {"vocab_size": 133800, "hidden_size": 1024, "intermediate_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 4, "tie_word_embeddings": True,
                             "embedding_multiplier": 12.0, "logits_scaling": 4.0, "residual_multiplier": 0.263, "attention_multiplier": 0.015625},
    "glm4v_moe_text": {"head_dim": 128, "attention_bias": True, "vocab_size": 151424, "max_position_embeddings": 65536},
    "ministral": {"head_dim": 128},
    "laguna": {"layer_types": ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention"] * 2, "num_attention_heads_per_layer": [48, 64, 64, 64] * 2, "num_experts": 16},
    "mimo_v2_flash": {"n_routed_experts": 16},
    "gemma4_text": {"hidden_size": 1536, "intermediate_size": 6144, "num_key_value_heads": 1, "num_kv_shared_layers": 2, "use_double_wide_mlp": True,
                    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2 + ["sliding_attention", "full_attention"]},
    "gemma4_unified_text": {"hidden_size": 5376, "intermediate_size": 21504, "num_attention_heads": 32, "num_key_value_heads": 16, "num_global_key_value_heads": 4, "attention_k_eq_v": True},
    "lfm2": {"full_attn_idxs": [2, 5], "conv_bias": True},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention", "conv", "conv", "full_attention", "conv", "conv"]},
    "falcon_h1": {"mamba_d_ssm": 3072, "mamba_n_heads": 24, "mamba_rms_norm": True},
    "nemotron": {"num_key_value_heads": 8},
    "emu3_text_model": {"vocab_size": 184622, "intermediate_size": 14336, "num_key_value_heads": 8, "max_position_embeddings": 9216, "rms_norm_eps": 1e-5,
                        "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"}},
    "esm": {"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32, "position_embedding_type": "rotary", "emb_layer_norm_before": False, "token_dropout": True},
    "olmo_hybrid": {"num_key_value_heads": 30},
    "dinov2": {"use_swiglu_ffn": True}, "dinov2_with_registers": {"num_register_tokens": 4},
    "minicpm": {"scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 256},
}
BUILT_AS = {"phi4_multimodal": "phi3", "minicpm": "llama", "emu3_text_model": "llama", "glm4v_text": "glm4", "glm_ocr_text": "glm4", "hunyuan_vl_text": "hunyuan_v1_dense", "paddleocr_vl_text": "ernie4_5", "granite_docling_text": "granite", "glm4v_moe_text": "glm4_moe",
            "qwen3_omni_moe_text": "qwen3_moe", "qwen2_vl_text": "qwen2", "qwen2_5_vl_text": "qwen2", "qwen2_5_omni_text": "qwen2", "qwen3_vl_text": "qwen3", "qwen3_vl_moe_text": "qwen3_moe"}
UNUSED = ("mask_token", "contact_head.regression.weight", "contact_head.regression.bias")  # by the network that is trained here: no gradient reaches them
NO_GRADIENT = ("e_score_correction_bias", "expert_bias")   # of routers: no parameter of ours

try:
    import torch
    import torch.utils.flop_counter
    import transformers
except ImportError as error:
    print(f"SKIPPED: {error}; parameters are not compared with Transformers", file=sys.stderr)
    torch = transformers = None


def config_of(name):
    return json.loads((CONFIGS / f"{name}.json").read_text())


def of_transformers(fields):
    architecture = fields["architectures"][0]
    fields = fields.get("text_config", fields)  # of networks of text and images that of text
    if fields["model_type"] == "kimi_k2":  # the same network under another name
        fields = fields | {"model_type": "deepseek_v3"}
    kind = fields.pop("model_type")
    return count(transformers.AutoConfig.for_model(kind, **fields), architecture)


def count(config, architecture=""):
    heads = {"MaskedLM": transformers.AutoModelForMaskedLM, "ImageClassification": transformers.AutoModelForImageClassification}
    pairs = transformers.AutoModelForSpeechSeq2Seq if config.model_type == "whisper" else transformers.AutoModelForSeq2SeqLM
    build = pairs if config.is_encoder_decoder else heads.get(architecture.rpartition("For")[2], transformers.AutoModelForCausalLM)
    with torch.device("meta"):
        model = class_of_images(config.model_type)(config) if architecture == "ForImageClassification" else build.from_config(config)
    model.tie_weights()
    return sum(parameter.numel() for name, parameter in model.named_parameters() if parameter.requires_grad and not name.endswith(NO_GRADIENT + UNUSED) and not is_of_sines(config, name))


def class_of_images(kind):
    """Without a teacher's head (DeiT has both)."""
    names = transformers.models.auto.modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES[kind]
    return getattr(transformers, names if isinstance(names, str) else names[0])


def task_of(kind):
    auto = transformers.models.auto.modeling_auto
    if kind in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES and kind not in ("llama", "qwen2", "qwen3", "qwen3_moe"):
        return "ForMaskedLM"
    sees = kind in auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES and kind not in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return "ForImageClassification" if sees else ""


def is_of_sines(config, name):
    """Tables of sines of encoders and decoders, which are no parameters of ours."""
    return config.model_type in ("marian", "pegasus", "m2m_100") and "embed_positions" in name


def of_class(family):
    """What its configuration says with few layers: the fields that are its own."""
    kind, other = BUILT_AS.get(family, family), OTHER.get(family, {})
    usual = transformers.AutoConfig.for_model(kind).to_dict()
    layers = next(key for key in ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers") if key in usual)
    few = {"attention_types": [[["global", "local"], LAYERS // 2]]} if family == "gpt_neo" else {}
    config = transformers.AutoConfig.for_model(kind, **{layers: LAYERS}, **few, **other)
    library = set(transformers.PretrainedConfig().to_dict())
    own = {key: value for key, value in config.to_dict().items() if key not in library and value is not None and not key.endswith("_token_id") and "Infinity" not in json.dumps(value)}
    task = task_of(kind)
    said = {"num_labels": config.num_labels} if task == "ForImageClassification" else {"tie_word_embeddings": config.tie_word_embeddings}
    return {"parameters": count(config, task), "config": {"model_type": family, **said, **own}}


def of_sized(c):
    """OpenELM and Nemotron-NAS: Llama's blocks, each with heads and a width of its own, or one half alone."""
    if c["model_type"] == "openelm":
        hidden, head = c["model_dim"], c["head_dim"]
        nearest = [max(256, int(factor * hidden + 128) // 256 * 256) for factor in c["ffn_multipliers"]]
        widths = [near + 256 * (near < 0.9 * factor * hidden) for near, factor in zip(nearest, c["ffn_multipliers"])]
        blocks = [hidden * head * (2 * q + 2 * k) + 2 * head + 3 * hidden * width + 2 * hidden for q, k, width in zip(c["num_query_heads"], c["num_kv_heads"], widths)]
    else:
        hidden, heads = c["hidden_size"], c["num_attention_heads"]
        blocks = []
        for attention, ffn in ((block["attention"], block["ffn"]) for block in c["block_configs"]):
            mixer = 0 if attention["no_op"] else hidden + 2 * hidden * hidden + 2 * hidden * (hidden // attention["n_heads_in_group"])
            blocks.append(mixer + (0 if ffn["no_op"] else hidden + 3 * hidden * (-(-int(2 * ffn["ffn_mult"] * hidden / 3) // 256) * 256)))
    tied = c.get("share_input_output_layers", False)
    return (1 if tied else 2) * c["vocab_size"] * hidden + sum(blocks) + hidden


def of_hosted(c):
    """Classes beside their weights, by the shapes of their published tensors: Llama's, with each one's biases and norms."""
    if c["model_type"] in ("openelm", "nemotron-nas"):
        return of_sized(c)
    hidden, heads, kind = c["hidden_size"], c["num_attention_heads"], c["model_type"]
    head = c.get("head_dim") or c.get("kv_channels") or hidden // heads
    queries, keys = head * heads, head * (c.get("num_key_value_heads") or c.get("multi_query_group_num") or heads)
    ffn = {"qwen": c.get("intermediate_size", 0) // 2, "chatglm": c.get("ffn_hidden_size")}.get(kind) or c["intermediate_size"]
    of_input = c.get("bias") or c.get("attention_bias") or c.get("add_qkv_bias") or c.get("use_qkv_bias") or kind == "qwen"
    attention = hidden * (2 * queries + 2 * keys) + (queries + 2 * keys) * bool(of_input) + hidden * bool(c.get("bias") or c.get("use_bias")) + 2 * head * bool(c.get("use_qk_norm"))
    norm, layers = hidden * (2 if kind == "orion" else 1), c.get("num_layers") or c["num_hidden_layers"]
    dense = c.get("first_k_dense_replace", 0) if "num_experts" in c else layers
    experts = hidden * c.get("num_experts", 0) + (c.get("num_experts", 0) + c.get("num_shared_experts", 0)) * 3 * hidden * c.get("moe_intermediate_size", 0)
    tables = (1 if c["tie_word_embeddings"] else 2) * (c.get("padded_vocab_size") or c["vocab_size"]) * hidden
    return tables + layers * (attention + 2 * norm) + dense * 3 * hidden * ffn + (layers - dense) * experts + norm


def is_hosted(family):
    return f'.name = "{family}"' in (HERE.parents[2] / "sim/model/hosted_families.cpp").read_text()


def entry(family, known):
    return {"parameters": of_hosted(known[family]["config"]), "config": known[family]["config"]} if is_hosted(family) else of_class(family)


def write_families(families):
    known = json.loads(FAMILIES.read_text())
    lines = (f"  {json.dumps(family)}: {json.dumps(entry(family, known))}" for family in sorted(families))
    FAMILIES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def of_grok_1(c):
    """xai-org/grok-1: four norms a block, experts of three matrices, one table for embedding and head."""
    hidden, width = c["hidden_size"], c["hidden_size"] // c["num_attention_heads"] * c["num_key_value_heads"]
    attention = 2 * hidden * hidden + 2 * hidden * width
    experts = c["num_experts"] * 3 * hidden * c["intermediate_size"] + hidden * c["num_experts"]
    return c["vocab_size"] * hidden + c["num_hidden_layers"] * (attention + experts + 4 * hidden) + hidden


def of_deepseek(c):
    """deepseek-ai/deepseek-moe-16b-base: a dense first layer, then a router, routed and shared experts."""
    hidden, ffn = c["hidden_size"], c["moe_intermediate_size"]
    attention = 2 * hidden * hidden + 2 * hidden * (hidden // c["num_attention_heads"] * c["num_key_value_heads"])
    experts = c["n_routed_experts"] * hidden + (c["n_routed_experts"] + c["n_shared_experts"]) * 3 * hidden * ffn
    dense = c["first_k_dense_replace"]
    blocks = c["num_hidden_layers"] * (attention + 2 * hidden) + dense * 3 * hidden * c["intermediate_size"]
    return 2 * c["vocab_size"] * hidden + blocks + (c["num_hidden_layers"] - dense) * experts + hidden


def of_indexed(c):
    """deepseek-ai/DeepSeek-V3.2 and zai-org/GLM-5: latent attention with an indexer (wq_b, wk, weights_proj, weight and bias of k_norm), experts."""
    hidden, heads, queries, latent, turned = (c[key] for key in ("hidden_size", "num_attention_heads", "q_lora_rank", "kv_lora_rank", "qk_rope_head_dim"))
    attention = hidden * queries + queries + queries * heads * (c["qk_nope_head_dim"] + turned) + hidden * (latent + turned) + latent
    attention += latent * heads * (c["qk_nope_head_dim"] + c["v_head_dim"]) + heads * c["v_head_dim"] * hidden
    indexer = queries * c["index_n_heads"] * c["index_head_dim"] + hidden * (c["index_head_dim"] + c["index_n_heads"]) + 2 * c["index_head_dim"]
    experts = c["n_routed_experts"] * hidden + (c["n_routed_experts"] + c["n_shared_experts"]) * 3 * hidden * c["moe_intermediate_size"]
    dense, layers = c["first_k_dense_replace"], c["num_hidden_layers"]
    blocks = layers * (attention + indexer + 2 * hidden) + dense * 3 * hidden * c["intermediate_size"] + (layers - dense) * experts
    return 2 * c["vocab_size"] * hidden + blocks + hidden


def flops_of(fields):
    """Of a forward of two samples of 64 tokens: every product, and of attention all pairs, as if no query were held back."""
    config = transformers.AutoConfig.for_model(**fields)
    config._attn_implementation = "eager"
    model, ids = transformers.AutoModelForCausalLM.from_config(config), torch.zeros(2, 64, dtype=torch.long)
    with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
        model(input_ids=ids, use_cache=False)
    return counter.get_total_flops()


LACKING = {"grok-1": of_grok_1, "deepseek-moe-16b": of_deepseek, "deepseek-v3.2": of_indexed, "glm-5": of_indexed}


class Transformers(unittest.TestCase):
    def test_every_config_has_a_number(self):
        self.assertLessEqual(set(EXPECTED), {path.stem for path in CONFIGS.glob("*.json")})

    def test_published_shapes(self):
        for name, count in LACKING.items():
            self.assertEqual(EXPECTED[name], count(config_of(name)), name)

    @unittest.skipIf(torch is None, "needs the Python packages torch and transformers")
    def test_transformers_builds_as_many(self):
        for name in sorted(EXPECTED):
            if name not in LACKING:
                with self.subTest(name):
                    self.assertEqual(EXPECTED[name], of_transformers(config_of(name)))

    @unittest.skipIf(torch is None, "needs the Python packages torch and transformers")
    def test_classes_have_as_many(self):
        for family, expected in json.loads(FAMILIES.read_text()).items():
            with self.subTest(family):
                self.assertEqual(expected["parameters"], entry(family, json.loads(FAMILIES.read_text()))["parameters"])

    @unittest.skipIf(torch is None, "needs the Python packages torch and transformers")
    def test_classes_take_these_sizes(self):
        text = (HERE.parents[2] / "sim/model/class_sizes.cpp").read_text()
        rows = re.findall(r'\{"(\w+)", ([\d, ]+)\}', text)
        self.assertGreater(len(rows), 80)
        keys = ("num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size", "vocab_size")
        for family, row in rows:
            with self.subTest(family):
                taken = {field.name: field.default for field in dataclasses.fields(transformers.models.auto.configuration_auto.CONFIG_MAPPING[family])}
                usual = [taken.get(key) if isinstance(taken.get(key), int) else 0 for key in keys]
                self.assertEqual(usual, [int(number) for number in row.split(",")])

    @unittest.skipIf(torch is None, "needs the Python packages torch and transformers")
    def test_blocks_that_differ_multiply_as_much(self):
        for family, expected in json.loads(FLOPS.read_text()).items():
            with self.subTest(family):
                self.assertEqual(expected["flops"], flops_of(expected["config"]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_families(sys.argv[2:] or json.loads(FAMILIES.read_text())))
    unittest.main()
