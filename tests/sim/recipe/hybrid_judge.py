"""Megatron-Core's own networks of Mamba-2 mixers, and of gated delta nets, on one rank and without numbers. Their kernels (mamba_ssm, fla) and Transformer Engine
need a GPU's libraries to be imported: stand-ins take their place, which have the same weights."""
import contextlib
import functools
import sys
import types

import torch


class GatedNorm(torch.nn.Module):
    def __init__(self, width, **how):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width))


class RmsNorm(torch.nn.Module):
    def __init__(self, config, hidden_size, eps=1e-5):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(hidden_size))


def stand_in_for_kernels():
    contents = {"mamba_ssm": {}, "mamba_ssm.ops": {}, "mamba_ssm.ops.triton": {}, "mamba_ssm.ops.triton.layernorm_gated": {"RMSNorm": GatedNorm},
                "mamba_ssm.ops.triton.ssd_combined": {"mamba_chunk_scan_combined": None, "mamba_split_conv1d_scan_combined": None},
                "mamba_ssm.ops.triton.selective_state_update": {"selective_state_update": None},
                "fla": {}, "fla.modules": {}, "fla.ops": {}, "fla.modules.l2norm": {"l2norm": None}, "fla.ops.gated_delta_rule": {"chunk_gated_delta_rule": None}}
    for name, content in contents.items():
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = []
        vars(module).update(content)


@functools.lru_cache(maxsize=None)
def backend():
    """Layers of Megatron-Core itself, with the norm inside the product that follows, as Transformer Engine has it."""
    stand_in_for_kernels()
    from megatron.core.models.backends import LocalSpecProvider
    from megatron.core.models.gpt import experimental_attention_variant_module_specs, gpt_layer_specs, moe_module_specs
    from megatron.core.ssm import gated_delta_net, mamba_block, mamba_mixer
    from megatron.core.tensor_parallel import ColumnParallelLinear

    class NormedLinear(ColumnParallelLinear):
        def __init__(self, inputs, *given, **how):
            super().__init__(inputs, *given, **how)
            self.layer_norm_weight = torch.nn.Parameter(torch.empty(inputs))

    class Backend(LocalSpecProvider):
        def column_parallel_layer_norm_linear(self):
            return NormedLinear

        def fuse_layernorm_and_linear(self):
            return True

        def layer_norm(self, rms_norm=False, for_qk=False):
            return RmsNorm  # PyTorch's does not count from 1

    gpt_layer_specs.TESpecProvider = moe_module_specs.TESpecProvider = Backend
    experimental_attention_variant_module_specs._get_backend_spec_provider = lambda config: Backend()
    for module in (gated_delta_net, mamba_mixer):
        module.get_cuda_rng_tracker = lambda: types.SimpleNamespace(fork=contextlib.nullcontext)
    mamba_block.TENorm = Backend().layer_norm(rms_norm=True, for_qk=False)
    return Backend()


def stack():
    own = backend()
    from megatron.core.fusions.fused_bias_dropout import get_bias_dropout_add
    from megatron.core.models.gpt.moe_module_specs import get_moe_module_spec
    from megatron.core.ssm.mamba_block import MambaStack, MambaStackSubmodules
    from megatron.core.ssm.mamba_layer import MambaLayer, MambaLayerSubmodules
    from megatron.core.ssm.mamba_mixer import MambaMixer, MambaMixerSubmodules
    from megatron.core.ssm.mlp_layer import MLPLayer
    from megatron.core.transformer.attention import SelfAttention, SelfAttentionSubmodules
    from megatron.core.transformer.dot_product_attention import DotProductAttention
    from megatron.core.transformer.enums import AttnMaskType
    from megatron.core.transformer.mlp import MLP, MLPSubmodules
    from megatron.core.transformer.spec_utils import ModuleSpec
    from megatron.core.transformer.transformer_layer import MoETransformerLayer, TransformerLayer, TransformerLayerSubmodules
    normed, rows, norm = own.column_parallel_layer_norm_linear(), own.row_parallel_linear(), own.layer_norm(rms_norm=True, for_qk=False)
    mixer = ModuleSpec(module=MambaMixer, submodules=MambaMixerSubmodules(in_proj=normed, out_proj=rows))
    attention = ModuleSpec(module=SelfAttention, params={"attn_mask_type": AttnMaskType.causal},
                           submodules=SelfAttentionSubmodules(linear_qkv=normed, core_attention=DotProductAttention, linear_proj=rows))
    layer = lambda kind, **parts: ModuleSpec(module=kind, submodules=TransformerLayerSubmodules(**parts))
    return ModuleSpec(module=MambaStack, submodules=MambaStackSubmodules(
        mamba_layer=ModuleSpec(module=MambaLayer, submodules=MambaLayerSubmodules(mixer=mixer, mamba_bda=get_bias_dropout_add)),
        attention_layer=layer(TransformerLayer, self_attention=attention, self_attn_bda=get_bias_dropout_add),
        mlp_layer=layer(MLPLayer, mlp=ModuleSpec(module=MLP, submodules=MLPSubmodules(linear_fc1=normed, linear_fc2=rows)), mlp_bda=get_bias_dropout_add),
        moe_layer=layer(MoETransformerLayer, pre_mlp_layernorm=norm, mlp=get_moe_module_spec(use_te=False, num_experts=8, moe_grouped_gemm=False),
                        mlp_bda=get_bias_dropout_add)))


def network(config, args):
    """What pretrain_mamba.py makes of a pattern, or pretrain_gpt.py of gated delta nets."""
    ends = {"vocab_size": args.vocab_size, "max_sequence_length": args.max_position_embeddings, "position_embedding_type": args.position_embedding_type,
            "share_embeddings_and_output_weights": not args.untie_embeddings_and_output_weights}
    if config.is_hybrid_model:
        from megatron.core.models.mamba.mamba_model import MambaModel
        return MambaModel(config, stack(), hybrid_override_pattern=args.hybrid_override_pattern, **ends)
    backend()
    from megatron.core.models.gpt.experimental_attention_variant_module_specs import get_transformer_block_with_experimental_attention_variant_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    return GPTModel(config, get_transformer_block_with_experimental_attention_variant_spec(config), **ends)
