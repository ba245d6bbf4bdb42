"""A llama in plain torch, with the tensors that torchtitan's keeps: complex rotary in fp32, heads repeated by expand, logits' loss in fp32."""
import torch
from torch import nn
from torch.distributed.tensor import DTensor, Partial
from torch.nn import functional as F


def rotary_table(width, positions):
    angle = 1.0 / (10000.0 ** (torch.arange(0, width, 2)[: width // 2].float() / width))
    turns = torch.outer(torch.arange(positions).float(), angle)
    return torch.polar(torch.ones_like(turns), turns)


def rotated(heads, table):
    pairs = torch.view_as_complex(heads.float().reshape(*heads.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * table[None, :, None, :]).flatten(3).type_as(heads)


class FusedNorm(torch.autograd.Function):
    """torch's fused RMSNorm keeps what it read and a reciprocal a row; its CPU has it in parts only, so that its tensors are made here."""

    @staticmethod
    def forward(context, x, weight):
        rows = torch.empty(x.shape[:-1], dtype=torch.float32)
        context.save_for_backward(x, weight, rows)
        return torch.empty_like(x)

    @staticmethod
    def backward(context, gradient):
        x, weight, _ = context.saved_tensors
        return torch.empty_like(x), torch.empty_like(weight)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        if not isinstance(x, DTensor):
            return FusedNorm.apply(x, self.weight)
        weight = self.weight.to_local(grad_placements=[Partial()])   # each rank norms its part of the sequence
        return DTensor.from_local(FusedNorm.apply(x.to_local(), weight), x.device_mesh, x.placements, run_check=False)


class PlainNorm(nn.RMSNorm):
    """torch's own, in the parts that its CPU has: for what ranks exchange, which DTensor must be able to follow."""

    def __init__(self, width):
        super().__init__(width, eps=1e-5)


class Attention(nn.Module):
    def __init__(self, form):
        super().__init__()
        self.width = form["hidden"] // form["heads"]
        self.repeats = form["heads"] // form["kv_heads"]
        self.wq = nn.Linear(form["hidden"], form["heads"] * self.width, bias=False)
        self.wk = nn.Linear(form["hidden"], form["kv_heads"] * self.width, bias=False)
        self.wv = nn.Linear(form["hidden"], form["kv_heads"] * self.width, bias=False)
        self.wo = nn.Linear(form["heads"] * self.width, form["hidden"], bias=False)

    def forward(self, x, table):
        batch, sequence = x.shape[:2]
        query, key, value = (product(x).view(batch, sequence, -1, self.width) for product in (self.wq, self.wk, self.wv))
        query, key = rotated(query, table), rotated(key, table)
        if self.repeats > 1:
            key, value = (torch.unsqueeze(each, 3).expand(-1, -1, -1, self.repeats, -1).reshape(batch, sequence, -1, self.width)
                          for each in (key, value))
        out = F.scaled_dot_product_attention(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), is_causal=True)
        return self.wo(out.transpose(1, 2).contiguous().view(batch, sequence, -1))


class Mlp(nn.Module):
    def __init__(self, form):
        super().__init__()
        self.w1 = nn.Linear(form["hidden"], form["ffn"], bias=False)
        self.w2 = nn.Linear(form["ffn"], form["hidden"], bias=False)
        self.w3 = nn.Linear(form["hidden"], form["ffn"], bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, form, norm):
        super().__init__()
        self.attention_norm, self.ffn_norm = norm(form["hidden"]), norm(form["hidden"])
        self.attention, self.feed_forward = Attention(form), Mlp(form)

    def forward(self, x, table):
        h = x + self.attention(self.attention_norm(x), table)
        return h + self.feed_forward(self.ffn_norm(h))


class Llama(nn.Module):
    def __init__(self, form, sequence, norm=RMSNorm):
        super().__init__()
        self.tok_embeddings = nn.Embedding(form["vocabulary"], form["hidden"])
        self.layers = nn.ModuleDict({str(index): Block(form, norm) for index in range(form["layers"])})
        self.norm = norm(form["hidden"])
        self.output = nn.Linear(form["hidden"], form["vocabulary"], bias=False)
        self.register_buffer("table", rotary_table(form["hidden"] // form["heads"], sequence), persistent=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for layer in self.layers.values():
            h = layer(h, self.table)
        return self.output(self.norm(h))


def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(0, 1))
