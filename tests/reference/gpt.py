"""GPT-2, Llama and a dense DeepSeek in plain PyTorch, from a Hugging Face config and parameters named as Meshwright names them.

The independent side of two comparisons: reference_gpt.py (numbers) and eager_gpt.py (speed). Shares no code with the executor.
"""
import json
import struct

import torch
import torch.nn.functional as F

TYPES = {"F64": torch.float64, "F32": torch.float32, "I64": torch.int64, "U8": torch.uint8}


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


class Config:
    """strong: as people write it who want speed: a vocabulary padded to a multiple of 128, angles kept, grouped heads not repeated."""

    def __init__(self, json_config, strong=False):
        get = json_config.get
        self.strong, self.angles = strong, {}
        self.is_gpt2 = get("model_type") == "gpt2"
        self.layers = get("n_layer") or get("num_hidden_layers")
        self.hidden = get("n_embd") or get("hidden_size")
        self.heads = get("n_head") or get("num_attention_heads")
        self.kv_heads = get("num_key_value_heads") or self.heads
        self.head_dim = get("head_dim") or self.hidden // self.heads
        self.ffn = get("n_inner") or get("intermediate_size") or 4 * self.hidden
        self.positions = get("n_positions") or get("max_position_embeddings")
        self.vocabulary = get("vocab_size") if not strong else -(-get("vocab_size") // 128) * 128
        self.epsilon = get("layer_norm_epsilon") or get("rms_norm_eps")
        self.theta = get("rope_theta")
        self.embedding_dropout, self.residual_dropout = (get(name, 0.0) for name in ("embd_pdrop", "resid_pdrop"))
        self.attention_dropout = get("attn_pdrop", get("attention_dropout", 0.0))
        self.tied = get("tie_word_embeddings")
        self.is_latent = get("kv_lora_rank") is not None
        self.q_lora, self.kv_lora = get("q_lora_rank"), get("kv_lora_rank")
        self.nope, self.rope, self.value = get("qk_nope_head_dim"), get("qk_rope_head_dim"), get("v_head_dim")


def normalized(config, weights, name, x):
    if config.is_gpt2:
        return F.layer_norm(x, (config.hidden,), weights[name + ".weight"], weights[name + ".bias"], config.epsilon)
    return F.rms_norm(x, (config.hidden,), weights[name + ".weight"], config.epsilon)


def linear(weights, name, x):
    return F.linear(x, weights[name + ".weight"], weights.get(name + ".bias"))


def rotary_angles(config, sequence, device, dtype):
    """cosines and sines [sequence, head_dim]; angles in fp64, then rounded."""
    frequency = config.theta ** (-torch.arange(config.head_dim // 2, dtype=torch.float64, device=device) * 2 / config.head_dim)
    angle = torch.outer(torch.arange(sequence, dtype=torch.float64, device=device), frequency)
    return angle.cos().to(dtype).repeat(1, 2), angle.sin().to(dtype).repeat(1, 2)


def rotate(config, x):
    """x [batch, heads, sequence, head_dim]"""
    half, form = config.head_dim // 2, (x.shape[2], x.device, x.dtype)
    if config.strong and form not in config.angles:
        config.angles[form] = rotary_angles(config, *form)
    cosine, sine = config.angles[form] if config.strong else rotary_angles(config, *form)
    return x * cosine + torch.cat((-x[..., half:], x[..., :half]), -1) * sine


def attention(config, weights, name, x):
    batch, sequence, _ = x.shape
    widths = [heads * config.head_dim for heads in (config.heads, config.kv_heads, config.kv_heads)]
    q, k, v = (part.view(batch, sequence, -1, config.head_dim).transpose(1, 2) for part in linear(weights, name + ".qkv", x).split(widths, 2))
    if not config.is_gpt2:
        q, k = rotate(config, q), rotate(config, k)
    grouped = config.strong and config.heads != config.kv_heads
    if config.heads != config.kv_heads and not grouped:
        k, v = (part.repeat_interleave(config.heads // config.kv_heads, 1) for part in (k, v))
    mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=config.attention_dropout, is_causal=True, enable_gqa=grouped).transpose(1, 2).reshape(batch, sequence, -1)
    return linear(weights, name + ".projection", mixed)


def turn_neighbours(config, x):
    """x [batch, heads, sequence, rope]: neighbours are complex numbers."""
    frequency = config.theta ** (-torch.arange(0, config.rope, 2, dtype=torch.float64) / config.rope)
    angle = torch.outer(torch.arange(x.shape[2], dtype=torch.float64), frequency)
    turned = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2)) * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flatten(3).to(x.dtype)


def latent_attention(config, weights, name, x):
    batch, sequence, _ = x.shape
    heads = lambda part, *widths: part.view(batch, sequence, -1, sum(widths)).transpose(1, 2).split(widths, 3)
    norm = lambda part, which: F.rms_norm(part, (part.shape[-1],), weights[f"{name}.{which}.weight"], 1e-6)
    q = linear(weights, name + ".q_up", norm(linear(weights, name + ".q_down", x), "q_norm")) if config.q_lora else linear(weights, name + ".q", x)
    q_nope, q_rope = heads(q, config.nope, config.rope)
    latent, position = linear(weights, name + ".kv_down", x).split((config.kv_lora, config.rope), 2)
    k_nope, v = heads(linear(weights, name + ".kv_up", norm(latent, "kv_norm")), config.nope, config.value)
    position = turn_neighbours(config, position[:, None]).expand(-1, config.heads, -1, -1)
    q, k = torch.cat((q_nope, turn_neighbours(config, q_rope)), 3), torch.cat((k_nope, position), 3)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, sequence, -1)
    return linear(weights, name + ".projection", mixed)


def mlp(config, weights, name, x):
    up = linear(weights, name + ".up", x)
    if config.is_gpt2:
        return linear(weights, name + ".down", F.gelu(up, approximate="tanh"))
    gate, value = up.chunk(2, -1)
    return linear(weights, name + ".down", F.silu(gate) * value)


def loss(config, weights, ids, targets):
    """Mean over the tokens of ids [batch, sequence]."""
    x = F.embedding(ids, weights["embedding.tokens.weight"])
    if config.is_gpt2:
        x = F.dropout(x + weights["embedding.positions.weight"][: ids.shape[1]], config.embedding_dropout)
    for layer in range(config.layers):
        block = f"layers.{layer}"
        for name, part in (("attention", latent_attention if config.is_latent else attention), ("mlp", mlp)):
            change = part(config, weights, f"{block}.{name}", normalized(config, weights, f"{block}.{name}.norm", x))
            x = x + F.dropout(change, config.residual_dropout)
    head = weights["embedding.tokens.weight" if config.tied else "head.weight"]
    logits = F.linear(normalized(config, weights, "head.norm", x), head)[..., : config.vocabulary]
    return F.cross_entropy(logits.reshape(-1, config.vocabulary), targets.reshape(-1))


def optimizer(weights, settings, fused):
    decayed = [weight for weight in weights.values() if weight.dim() > 1]
    others = [weight for weight in weights.values() if weight.dim() == 1]
    groups = [{"params": decayed, "weight_decay": settings["weight_decay"]}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=settings["learning_rate"], betas=(settings["beta1"], settings["beta2"]), eps=settings["epsilon"], fused=fused)
