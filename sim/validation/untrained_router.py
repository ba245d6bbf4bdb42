"""How unevenly a router deals out tokens before it has been trained: `untrained_share` of profiles/behavior/common.json (docs/decisions/1034).

    python3 sim/validation/untrained_router.py        a table; needs torch, takes some minutes on two cores

Blocks of attention and experts as Megatron-Core begins them (normal, 0.02; what is added to the stream divided by the root of twice the blocks) read tokens that are drawn, or counted up as its mock data is.
Printed of each block: the loads' standard deviation over their mean, as a share of what it is where all tokens choose the same experts, sqrt(E / k - 1).
"""
import math
import statistics

import torch

STD, VOCABULARY, TOKENS, BLOCKS, HIDDEN, WIDTH = 0.02, 32000, 2048, 8, 2048, 128
SHAPES = [(128, 8, 48), (64, 6, 27), (256, 8, 61), (8, 2, 32)]  # experts, chosen, blocks of the whole network


def normal(*shape, std=STD):
    return torch.randn(*shape) * std


def norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def attention(x, out_std, heads=16):
    def split(w):
        return (x @ w).view(TOKENS, heads, HIDDEN // heads).transpose(0, 1)

    queries, keys, values = (split(normal(HIDDEN, HIDDEN)) for _ in range(3))
    put_out = torch.nn.functional.scaled_dot_product_attention(queries[None], keys[None], values[None], is_causal=True)[0]
    return put_out.transpose(0, 1).reshape(TOKENS, HIDDEN) @ normal(HIDDEN, HIDDEN, std=out_std)


def experts(x, count, chosen, out_std):
    """What they add, and the tokens of each."""
    scores, choices = torch.softmax(x @ normal(HIDDEN, count), -1).topk(chosen, -1)
    added = torch.zeros_like(x)
    for expert in range(count):
        rows, place = (choices == expert).nonzero(as_tuple=True)
        gated = torch.nn.functional.silu(x[rows] @ normal(HIDDEN, WIDTH)) * (x[rows] @ normal(HIDDEN, WIDTH))
        added[rows] += (scores / scores.sum(-1, keepdim=True))[rows, place][:, None] * (gated @ normal(WIDTH, HIDDEN, std=out_std))
    return added, torch.bincount(choices.flatten(), minlength=count).float()


def shares(tokens, count, chosen, of_blocks):
    stream, out_std, alike = normal(VOCABULARY, HIDDEN)[tokens], STD / math.sqrt(2 * of_blocks), math.sqrt(count / chosen - 1)
    for _ in range(BLOCKS):
        stream = stream + attention(norm(stream), out_std)
        added, loads = experts(norm(stream), count, chosen, out_std)
        stream = stream + added
        yield (loads.std(unbiased=False) / loads.mean()).item() / alike


def main():
    torch.manual_seed(0)
    frequent = torch.multinomial(1 / torch.arange(1, VOCABULARY + 1).float(), TOKENS, replacement=True)
    kinds = {"drawn evenly": torch.randint(VOCABULARY, (TOKENS,)), "drawn as words are": frequent, "counted up": torch.arange(TOKENS)}
    deep = []
    for count, chosen, of_blocks in SHAPES:
        for name, tokens in kinds.items():
            with torch.no_grad():
                found = list(shares(tokens, count, chosen, of_blocks))
            deep += found[3:]
            print(f"{chosen} of {count:>3} experts, tokens {name:18}: " + " ".join(f"{share:.2f}" for share in found), flush=True)
    print(f"from the fourth block on: {statistics.median(deep):.2f} in the median, {min(deep):.2f} to {max(deep):.2f}")


main()
