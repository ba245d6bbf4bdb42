"""Parameters in parameters.json, which family_test.cpp holds against our own sum, are those of the networks that Transformers builds.

Asks transformers 5 on the meta device (no weights). Families that it lacks, in some releases or all, are summed here from the shapes of their published tensors."""
import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).parent
CONFIGS = HERE.parents[2] / "profiles" / "models"
EXPECTED = json.loads((HERE / "parameters.json").read_text())

try:
    import torch
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
    config = transformers.AutoConfig.for_model(kind, **fields)
    heads = {"MaskedLM": transformers.AutoModelForMaskedLM, "ImageClassification": transformers.AutoModelForImageClassification}
    build = heads.get(architecture.rpartition("For")[2], transformers.AutoModelForCausalLM)
    with torch.device("meta"):
        model = build.from_config(config)
    model.tie_weights()
    return sum(parameter.numel() for parameter in model.parameters())


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


if __name__ == "__main__":
    unittest.main()
