"""A checkpoint made by transformers through our worker and back: its loss, its gradients, and what we trained as transformers reads it.

transformers_test.py <worker> <plans>        exit code 77 (skipped) where transformers is not installed:  cmake/setup.sh tests
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = os.environ["OMP_NUM_THREADS"] = "1"
LOSS, GRADIENTS, SKIPPED = 1e-6, 1e-5, 77
NO_TOKENS = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"))   # a token of padding would be one that is not trained
PADDING = {"m2m_100": 1}   # counts its positions from there
FIRST_POSITION = {"roberta": 2}   # else told by a token of padding, which masked ones may be
MASKED = ("bert", "roberta", "megatron-bert", "distilbert", "modernbert")   # predict tokens of their own
BITS = (1 << 64) - 1
WORKER, PLANS = sys.argv[1], pathlib.Path(sys.argv[2])

try:
    import torch
    import transformers
except ImportError as missing:
    print(f"skipped: {missing}; install it with:  cmake/setup.sh tests")
    sys.exit(SKIPPED)


def network_of(model, dtype):
    torch.manual_seed(11)
    config = transformers.AutoConfig.for_model(**model, **tokens_of(model))
    network = class_of(config).from_config(config, **eager(model)).to(dtype)
    with torch.no_grad():   # norms and biases begin as ones and zeros, which hide mistakes
        for weight in filter(lambda each: each.requires_grad, network.parameters()):   # a table of sines stays what it is
            weight.add_(torch.randn_like(weight) * 0.05)
        for correction in corrections(network).values():
            correction.add_(torch.randn_like(correction) * 0.05)
    return network.eval()


def corrections(network):
    """Of routers' scores, which begin as zeros and are not trained: as most classes have them no parameters."""
    return {name: buffer for name, buffer in network.named_buffers() if name.endswith("correction_bias")}


def tokens_of(model):
    return {**NO_TOKENS, "pad_token_id": PADDING.get(model["model_type"])}


def eager(model):
    """Experts as written out: the fused product knows no fp64."""
    return {"experts_implementation": "eager"} if {"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"} & model.keys() else {}


def class_of(config):
    if config.model_type in MASKED:
        return transformers.AutoModelForMaskedLM
    return transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM


def mixed(bits):
    """SplitMix64's, as sim/units/random_bits.h writes it down."""
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9 & BITS
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb & BITS
    return bits ^ bits >> 31


def random_bits(key, index):
    return mixed(key + (index + 1) * 0x9e3779b97f4a7c15 & BITS)


def random_key(*labels):
    key = 0x6d65736877726967
    for label in labels:
        key = mixed(random_bits(key, label) ^ 0xd1b54a32d192ed03)
    return key


def label_of(name):
    value = 0xcbf29ce484222325
    for character in name.encode():
        value = (value ^ character) * 0x100000001b3 & BITS
    return value


def permuted(index, size, seed, epoch):
    """A Feistel network on the next power of four, walked until it is inside."""
    key, half = random_key(seed, label_of("sample order"), epoch), 1
    while 1 << 2 * half < size:
        half += 1
    mask = (1 << half) - 1
    while True:
        for step in range(4):
            left, right = index >> half, index & mask
            index = right << half | (left ^ random_bits(key, right * 4 + step)) & mask
        if index < size:
            return index


def masked_batch(ids, plan):
    """What the worker reads and predicts in its first step: ids, and the masked positions (executor/training/masked_tokens.h)."""
    seed, sequence, samples = plan["training"]["seed"], plan["workload"]["sequence"], plan["workload"]["global_batch"]
    read, places = ids[:, :sequence].repeat(samples, 1), torch.zeros(samples, sequence, dtype=torch.bool)
    for number in range(samples):
        key = random_key(seed, label_of("masked tokens"), number)
        for at in range(max(1, round(0.15 * sequence))):
            position = permuted(at, sequence, random_key(seed, label_of("masked positions")), number)
            read[number, position] = random_bits(key, position) % plan["model"]["vocab_size"]
            places[number, position] = True
    return read, places


def masked_loss(network, ids, plan):
    read, places = masked_batch(ids, plan)
    first = FIRST_POSITION.get(network.config.model_type)
    positions = {} if first is None else {"position_ids": torch.arange(first, first + read.shape[1]).expand_as(read)}
    told = ids[:, :read.shape[1]].expand_as(read)
    return torch.nn.functional.cross_entropy(network(input_ids=read, **positions).logits[places], told[places])


def loss_of(network, ids, plan):
    """Of an encoder and a decoder the first half of a sample is the source, and the rest is told token by token."""
    if network.config.model_type in MASKED:
        return masked_loss(network, ids, plan)
    source = (ids.shape[1] - 1) // 2 if network.config.is_encoder_decoder else 0
    read = {"input_ids": ids[:, :source], "decoder_input_ids": ids[:, source:-1]} if source else {"input_ids": ids[:, :-1]}
    return torch.nn.functional.cross_entropy(network(**read).logits.flatten(0, 1), ids[:, source + 1:].flatten())


def run(plan_file, plan, weights, root, name):
    """The loss of one step that starts from `weights`, and the folder of what it trained."""
    ranks = plan["mesh"]["tensor"]
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
    folder, written = root / name, root / f"{name}-weights"
    subprocess.run([*launcher, WORKER, "run", "--plan", plan_file, "--data", root / "tokens.bin", "--out", folder, "--steps", "1", "--weights", weights],
                   check=True, stdout=subprocess.DEVNULL, text=True, timeout=120)
    subprocess.run([WORKER, "export", "--out", folder, "--weights", written], check=True)
    return json.loads((folder / "metrics.ndjson").read_text().splitlines()[0])["loss"], written


def off(value, expected, allowed, least):
    """least: below it a number is zero by mathematics, as the gradient of a bias of keys"""
    return ((value - expected).norm() / expected.norm().clamp_min(least)).item() / allowed


def check(plan_file, root):
    plan = json.loads(plan_file.read_text())
    root.mkdir()
    dtype = {"fp64": torch.float64, "fp32": torch.float32}[plan["workload"]["precision"]]
    network = network_of(plan["model"], dtype)
    network.save_pretrained(root / "made")
    ids = torch.randint(plan["model"]["vocab_size"], (1, plan["workload"]["sequence"] + 1))   # one sample, so every batch is made of it
    ids[ids == PADDING.get(plan["model"]["model_type"], -1)] = 0
    (root / "tokens.bin").write_bytes(struct.pack(f"<{ids.numel()}H", *ids.flatten().tolist()))
    expected = loss_of(network, ids, plan)
    expected.backward()
    loss, written = run(plan_file, plan, root / "made", root, "first")
    config = transformers.AutoConfig.from_pretrained(written, **tokens_of(plan["model"]))
    trained, keys = class_of(config).from_pretrained(written, config=config, dtype=dtype, output_loading_info=True, **eager(plan["model"]))
    trained.eval()
    errors = {"loss": abs(loss / expected.item() - 1) / LOSS}
    if not plan_file.stem.startswith("family_"):   # of families one more would read the files that the first one read
        again, _ = run(plan_file, plan, written, root, "second")
        rounds = 10 if plan_file.stem.startswith("rope_") else 1   # transformers has stretched angles in fp32, and such an update makes weights large
        with torch.no_grad():
            errors["loss of what we trained"] = abs(again / loss_of(trained, ids, plan).item() - 1) / LOSS / rounds
    rate = plan["training"]["learning_rate"]   # the plan's update is w -= rate x gradient
    before = dict(network.named_parameters())
    least = 1e-6 * max(weight.grad.norm() for weight in before.values() if weight.grad is not None)
    for name, after in trained.named_parameters():
        if before[name].grad is None:   # the router's correction, which transformers keeps in fp32
            errors["change of " + name] = off(after.detach(), before[name].detach(), LOSS, least)
            continue
        errors["gradient of " + name] = off((before[name] - after).detach() / rate, before[name].grad, GRADIENTS, least)
    for name, after in corrections(trained).items():
        errors["change of " + name] = off(after, corrections(network)[name], LOSS, least)
    worst = max(errors, key=errors.get)
    print(f"{plan_file.stem}: loss {errors['loss'] * LOSS:.1e}; worst of {len(errors)}: {worst}, {errors[worst]:.2e} of what is allowed", flush=True)
    strays = {kind: sorted(names) for kind, names in keys.items() if names and kind in ("missing_keys", "unexpected_keys", "mismatched_keys")}
    if strays:
        print(f"{plan_file.stem}: {strays}", flush=True)
    return errors[worst] <= 1 and not strays


def without_types(network):
    network.bert.embeddings.token_type_embeddings.weight.data.zero_()


def without_transform(network):
    network.cls.predictions.transform = torch.nn.Identity()


def looking_back(network):
    network.config.is_decoder = network.bert.config.is_decoder = True
    for layer in network.bert.encoder.layer:
        layer.attention.self.is_causal = layer.is_decoder = True


def filled_up(network):
    torch.nn.init.eye_(network.model.decoder.project_in.weight)


def cut_to_width(network):
    torch.nn.init.eye_(network.model.decoder.project_out.weight)


def without_sinks(network):
    for layer in network.model.layers:
        layer.self_attn.sinks.data.fill_(-1e30)


def weighted_by_correction(network):
    """What chooses experts weighs them, too."""
    def changed(gate):
        choose = gate.forward

        def forward(hidden_states):
            logits, weights, chosen = choose(hidden_states)
            return logits, weights + gate.e_score_correction_bias[chosen], chosen
        gate.forward = forward
    for layer in network.model.layers[network.config.first_k_dense_replace:]:
        changed(layer.mlp.gate)


def seen_in(plan_file, root, bug):
    """A planted bug: their network without a piece of it. Our loss is not that one's."""
    plan = json.loads(plan_file.read_text())
    config = transformers.AutoConfig.from_pretrained(root / "made")
    network = class_of(config).from_pretrained(root / "made", dtype=torch.float64, **eager(plan["model"])).eval()
    ids = torch.tensor(struct.unpack(f"<{plan['workload']['sequence'] + 1}H", (root / "tokens.bin").read_bytes())).unsqueeze(0)
    ours = json.loads((root / "first/metrics.ndjson").read_text().splitlines()[0])["loss"]
    with torch.no_grad():
        right = loss_of(network, ids, plan).item()
        bug(network)
        wrong = loss_of(network, ids, plan).item()
    print(f"{plan_file.stem}: {bug.__name__}: {abs(ours / wrong - 1) / LOSS:.0f} times what is allowed off; as it is {abs(ours / right - 1) / LOSS:.1e}")
    return abs(ours / wrong - 1) > LOSS > abs(ours / right - 1)


def unscaled(model):
    del model["rope_scaling"]


def wider(model):
    model["sliding_window"] += 1


def less_valued(model):
    model["attention_value_scale"] *= 0.99


def misses(plan_file, root, key, change):
    """A planted bug: another network (positions that are not stretched, a window off by one, values a hundredth smaller). With their config.json such weights are refused; without,
    the loss is another."""
    plan = json.loads(plan_file.read_text())
    change(plan["model"])
    (root / "plan.json").write_text(json.dumps(plan))
    refused = subprocess.run([WORKER, "run", "--plan", root / "plan.json", "--data", root / "tokens.bin", "--out", root / "refused", "--steps", "1",
                              "--weights", root / "made"], capture_output=True, text=True)
    alone = root / "alone"
    alone.mkdir()
    shutil.copy(root / "made/model.safetensors", alone)
    loss, _ = run(root / "plan.json", plan, alone, root, "planted")
    right = json.loads((root / "first/metrics.ndjson").read_text().splitlines()[0])["loss"]
    print(f"{plan_file.stem}: with another {key} {abs(loss / right - 1) / LOSS:.0f} times what is allowed off; refused: {refused.stderr.strip()[:150]}")
    return abs(loss / right - 1) > LOSS and refused.returncode == 30 and key in refused.stderr


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as scratch:
        results = [check(plan, pathlib.Path(scratch) / plan.stem) for plan in sorted([*PLANS.glob("hf_*.json"), *PLANS.glob("rope_*.json"), *PLANS.glob("family_*.json")])]
        planted = [("rope_*.json", "rope_scaling", unscaled), ("family_mistral.json", "sliding_window", wider),
                   ("family_mimo_v2_flash.json", "attention_value_scale", less_valued)]
        results += [misses(plan, pathlib.Path(scratch) / plan.stem, key, change) for pattern, key, change in planted for plan in sorted(PLANS.glob(pattern))]
        pieces = {"bert": (without_types, without_transform, looking_back), "opt_350m": (filled_up, cut_to_width), "gpt_oss": (without_sinks,),
                  "deepseek_v3": (weighted_by_correction,), "glm4_moe": (weighted_by_correction,)}
        results += [seen_in(plan, pathlib.Path(scratch) / plan.stem, bug) for name, bugs in pieces.items() for bug in bugs for plan in PLANS.glob(f"family_{name}.json")]
    print(f"transformers {transformers.__version__}, {len(results)} plans")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
