"""Adapters made by PEFT through our worker and back: the loss, the gradients of every A and B, and what we trained as PEFT reads it. Of QLoRA with a base
that bitsandbytes has packed.

peft_test.py <worker> <plans>        exit code 77 (skipped) where peft or transformers is not installed
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = os.environ["OMP_NUM_THREADS"] = "1"
LOSS, GRADIENTS, SKIPPED = 1e-6, 1e-5, 77   # transformers turns by angles in fp32
NO_TOKENS = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"))
WORKER, PLANS = sys.argv[1], pathlib.Path(sys.argv[2])
MODULES = {"gpt2": {"qkv": "c_attn", "o": "attn.c_proj"},
           "llama": {"q": "q_proj", "v": "v_proj", "o": "o_proj", "gate": "gate_proj", "down": "down_proj"}}

try:
    import torch
    import transformers
    import peft
except ImportError as missing:
    print(f"skipped: {missing}; install it with:  pip install peft transformers")
    sys.exit(SKIPPED)
try:
    import nf4
except ImportError as missing:
    nf4 = None
    print(f"without QLoRA: {missing}; install it with:  cmake/setup.sh tests")


def loss_of(network, ids):
    logits = network(ids[:, :-1]).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def base_of(plan, root):
    torch.manual_seed(11)
    network = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(**plan["model"], **NO_TOKENS)).double()
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(torch.randn_like(weight) * 0.05)
    network.eval().save_pretrained(root / "base")


def read(root, adapters, packs):
    config = transformers.AutoConfig.from_pretrained(root / "base", **NO_TOKENS)
    network = transformers.AutoModelForCausalLM.from_pretrained(root / "base", config=config, dtype=torch.float64)
    adapted = peft.PeftModel.from_pretrained(network, adapters, is_trainable=True).eval()
    return with_packed_base(adapted) if packs else adapted


def is_packed(plan):
    return "base nf4" in plan["workload"]["adapters"]


def with_packed_base(network):
    """QLoRA: products of blocks read what comes back of nf4."""
    with torch.no_grad():
        for name, module in network.named_modules():
            if isinstance(module, torch.nn.Linear) and ".layers." in name and "lora_" not in name:
                module.weight.copy_(nf4.there_and_back(module.weight))
    return network


def write_adapters(plan, root):
    words = plan["workload"]["adapters"].split()
    says = dict(zip(words[::2], words[1::2]))
    modules = [MODULES[plan["model"]["model_type"]][target] for target in says["on"].split(",")]
    network = transformers.AutoModelForCausalLM.from_pretrained(root / "base", dtype=torch.float64)
    config = peft.LoraConfig(r=int(says["rank"]), lora_alpha=int(says["alpha"]), target_modules=modules, fan_in_fan_out=plan["model"]["model_type"] == "gpt2",
                             task_type="CAUSAL_LM", base_model_name_or_path=str(root / "base"))
    adapted = peft.get_peft_model(network, config)
    with torch.no_grad():   # B begins at zero, which hides mistakes
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.copy_(torch.randn_like(weight) * 0.2)
    adapted.save_pretrained(root / "made")


def check(plan_file, root):
    plan = json.loads(plan_file.read_text())
    root.mkdir()
    base_of(plan, root)
    write_adapters(plan, root)
    packs = is_packed(plan)
    network = read(root, root / "made", packs)
    torch.manual_seed(5)
    ids = torch.randint(plan["model"]["vocab_size"], (1, plan["workload"]["sequence"] + 1))
    (root / "tokens.bin").write_bytes(struct.pack(f"<{ids.numel()}H", *ids.flatten().tolist()))
    expected = loss_of(network, ids)
    expected.backward()
    ranks = plan["mesh"]["tensor"]
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
    subprocess.run([*launcher, WORKER, "run", "--plan", plan_file, "--data", root / "tokens.bin", "--out", root / "run", "--steps", "1",
                    "--weights", root / "made"], check=True, stdout=subprocess.DEVNULL, timeout=120)
    subprocess.run([WORKER, "export", "--out", root / "run", "--weights", root / "trained"], check=True)
    loss = json.loads((root / "run/metrics.ndjson").read_text().splitlines()[0])["loss"]
    after = dict(read(root, root / "trained", packs).named_parameters())
    errors = {"loss": abs(loss / expected.item() - 1) / LOSS}
    if packs:   # a planted bug: a base that is not packed
        errors["loss over another base"] = 0 if abs(loss / loss_of(read(root, root / "made", False), ids).item() - 1) > LOSS else 1e9
    rate = plan["training"]["learning_rate"]   # the plan's update is w -= rate x gradient
    trained = 0
    for name, before in network.named_parameters():
        moved = (before - after[name]).detach()
        if "lora_" not in name:
            errors["frozen " + name] = 0 if moved.abs().max().item() == 0 else 1e9
            continue
        trained += 1
        errors["gradient of " + name] = ((moved / rate - before.grad).norm() / before.grad.norm()).item() / GRADIENTS
    names = [set(peft.utils.save_and_load.load_peft_weights(str(root / folder))) for folder in ("made", "trained")]
    worst = max(errors, key=errors.get)
    print(f"{plan_file.stem}: {trained} tensors trained, loss {errors['loss'] * LOSS:.1e}; worst: {worst}, {errors[worst]:.2e} of what is allowed", flush=True)
    return errors[worst] <= 1 and names[0] == names[1] and trained > 0


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as scratch:
        plans = [plan for plan in sorted(PLANS.glob("peft_*.json")) if nf4 or not is_packed(json.loads(plan.read_text()))]
        results = [check(plan, pathlib.Path(scratch) / plan.stem) for plan in plans]
    print(f"peft {peft.__version__}, {len(results)} plans")
    packed = sum(is_packed(json.loads(plan.read_text())) for plan in plans)
    return 0 if results and all(results) and (packed > 0 or not nf4) else 1


if __name__ == "__main__":
    sys.exit(main())
