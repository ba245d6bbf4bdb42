"""Hugging Face weights in and out: the loss of a random checkpoint, its gradients, and what is written back.

hugging_face_test.py <worker> <plans>        against plain PyTorch; transformers itself is asked by transformers_test.py
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import torch

import gpt

LOSS, GRADIENTS = 1e-6, 1e-5
WORKER, PLANS = sys.argv[1], pathlib.Path(sys.argv[2])
NAMES = {torch.float64: "F64", torch.float32: "F32"}


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


LATENT = {"q": "q_proj", "q_down": "q_a_proj", "q_norm": "q_a_layernorm", "q_up": "q_b_proj", "kv_down": "kv_a_proj_with_mqa", "kv_norm": "kv_a_layernorm",
          "kv_up": "kv_b_proj"}


def latent_projections(config):
    key = config.heads * (config.nope + config.rope)
    query = [("q_a_proj", config.hidden, config.q_lora), ("q_b_proj", config.q_lora, key)] if config.q_lora else [("q_proj", config.hidden, key)]
    return [*query, ("kv_a_proj_with_mqa", config.hidden, config.kv_lora + config.rope),
            ("kv_b_proj", config.kv_lora, config.heads * (config.nope + config.value)), ("o_proj", config.heads * config.value, config.hidden)]


def random_checkpoint(config):
    """Named and laid out as transformers saves GPT2LMHeadModel and LlamaForCausalLM."""
    torch.manual_seed(3)
    tensors = {}

    def add(name, *shape, ones=False):
        tensors[name] = torch.randn(*shape) * (0.1 if ones else 0.2) + (1.0 if ones else 0.0)

    if config.is_gpt2:
        add("transformer.wte.weight", config.vocabulary, config.hidden)
        add("transformer.wpe.weight", config.positions, config.hidden)
        for at in range(config.layers):
            block = f"transformer.h.{at}."
            for norm in ("ln_1", "ln_2"):
                add(block + norm + ".weight", config.hidden, ones=True)
                add(block + norm + ".bias", config.hidden)
            for module, inputs, outputs in (("attn.c_attn", config.hidden, 3 * config.hidden), ("attn.c_proj", config.hidden, config.hidden),
                                            ("mlp.c_fc", config.hidden, config.ffn), ("mlp.c_proj", config.ffn, config.hidden)):
                add(block + module + ".weight", inputs, outputs)
                add(block + module + ".bias", outputs)
        add("transformer.ln_f.weight", config.hidden, ones=True)
        add("transformer.ln_f.bias", config.hidden)
        return tensors
    add("model.embed_tokens.weight", config.vocabulary, config.hidden)
    key_value = config.kv_heads * config.head_dim
    for at in range(config.layers):
        block = f"model.layers.{at}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            add(block + norm + ".weight", config.hidden, ones=True)
        if config.is_latent:
            heads = latent_projections(config)
            add(block + "self_attn.kv_a_layernorm.weight", config.kv_lora, ones=True)
            if config.q_lora:
                add(block + "self_attn.q_a_layernorm.weight", config.q_lora, ones=True)
        else:
            heads = (("q_proj", config.hidden, config.heads * config.head_dim), ("k_proj", config.hidden, key_value), ("v_proj", config.hidden, key_value),
                     ("o_proj", config.heads * config.head_dim, config.hidden))
        for module, inputs, outputs in (*(("self_attn." + module, *sizes) for module, *sizes in heads), ("mlp.gate_proj", config.hidden, config.ffn),
                                        ("mlp.up_proj", config.hidden, config.ffn), ("mlp.down_proj", config.ffn, config.hidden)):
            add(block + module + ".weight", outputs, inputs)
    add("model.norm.weight", config.hidden, ones=True)
    add("lm_head.weight", config.vocabulary, config.hidden)
    return tensors


def as_gpt(config, tensors):
    """The same weights as tests/reference/gpt.py wants them."""
    ours = {}

    def copy(name, *theirs, conv1d=False):
        for kind in ("weight", "bias"):
            if theirs[0] + "." + kind in tensors:
                pieces = [tensors[each + "." + kind] for each in theirs]
                ours[name + "." + kind] = pieces[0].t() if conv1d and kind == "weight" else torch.cat(pieces)

    if config.is_gpt2:
        copy("embedding.tokens", "transformer.wte"), copy("embedding.positions", "transformer.wpe"), copy("head.norm", "transformer.ln_f")
    else:
        copy("embedding.tokens", "model.embed_tokens"), copy("head.norm", "model.norm"), copy("head", "lm_head")
    for at in range(config.layers):
        block, theirs = f"layers.{at}.", f"transformer.h.{at}." if config.is_gpt2 else f"model.layers.{at}."
        if config.is_gpt2:
            copy(block + "attention.norm", theirs + "ln_1"), copy(block + "mlp.norm", theirs + "ln_2")
            for name, module in (("attention.qkv", "attn.c_attn"), ("attention.projection", "attn.c_proj"), ("mlp.up", "mlp.c_fc"), ("mlp.down", "mlp.c_proj")):
                copy(block + name, theirs + module, conv1d=True)
        else:
            copy(block + "attention.norm", theirs + "input_layernorm"), copy(block + "mlp.norm", theirs + "post_attention_layernorm")
            if config.is_latent:
                for name, module in LATENT.items():
                    copy(block + "attention." + name, theirs + "self_attn." + module)
            else:
                copy(block + "attention.qkv", *(theirs + f"self_attn.{each}_proj" for each in "qkv"))
            copy(block + "attention.projection", theirs + "self_attn.o_proj")
            copy(block + "mlp.up", theirs + "mlp.gate_proj", theirs + "mlp.up_proj"), copy(block + "mlp.down", theirs + "mlp.down_proj")
    return ours


def run(plan, folder, *more, ranks):
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*launcher, WORKER, "run", "--plan", plan, "--out", folder, "--steps", "1", *more], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "metrics.ndjson").read_text().splitlines()[0])["loss"]


def relative(value, expected):
    return ((value - expected).norm() / expected.norm()).item()


def check(plan_file, root):
    plan = json.loads(plan_file.read_text())
    config, dtype = gpt.Config(plan["model"]), torch.float64 if plan["workload"]["precision"] == "fp64" else torch.float32
    root = root / plan_file.stem
    root.mkdir()
    tensors = {name: tensor.to(dtype) for name, tensor in random_checkpoint(config).items()}
    write_safetensors(root / "model.safetensors", tensors)
    ids = torch.randint(config.vocabulary, (1, plan["workload"]["sequence"] + 1))   # one sample, so every batch is made of it
    (root / "tokens.bin").write_bytes(struct.pack(f"<{ids.numel()}H", *ids.flatten().tolist()))
    loss = run(plan_file, root / "run", "--data", root / "tokens.bin", "--weights", root / "model.safetensors", ranks=plan["mesh"]["tensor"])
    for tensor in tensors.values():
        tensor.requires_grad_()
    expected = gpt.loss(config, as_gpt(config, tensors), ids[:, :-1], ids[:, 1:])
    expected.backward()
    errors = {"loss": abs(loss / expected.item() - 1) / LOSS}
    subprocess.run([WORKER, "export", "--out", root / "run", "--weights", root / "out"], check=True)
    written = gpt.read_safetensors(root / "out" / "model.safetensors")
    assert written.keys() == tensors.keys(), written.keys() ^ tensors.keys()
    rate = plan["training"]["learning_rate"]
    for name, tensor in tensors.items():   # the plan's update is w -= rate x gradient
        assert written[name].shape == tensor.shape, name
        errors["gradient of " + name] = relative((tensor.detach() - written[name]) / rate, tensor.grad) / GRADIENTS
    worst = max(errors, key=errors.get)
    print(f"{plan_file.stem}: worst of {len(errors)}: {worst}, {errors[worst]:.2e} of what is allowed")
    return errors[worst] <= 1


def main():
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    plans = [plan for plan in sorted(PLANS.glob("hf_*.json")) if "mixtral" not in plan.stem]   # its reference is transformers' own
    with tempfile.TemporaryDirectory() as scratch:
        results = [check(plan, pathlib.Path(scratch)) for plan in plans]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
