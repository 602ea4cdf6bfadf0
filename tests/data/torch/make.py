#!/usr/bin/env python3
"""Makes the files of this folder: one small GPT-2 as model.safetensors, and in each form that torch.save writes.

Run it with PyTorch (Debian: python3-torch); made with 1.13. The tests need no Python.
All weights are multiples of 1/64 below 1/4, which float16 and bfloat16 hold, so that every form has the same values.
"""
import collections
import json
import os
import pathlib
import pickle
import random
import struct

import torch

here = pathlib.Path(__file__).parent
width, inner, vocabulary, positions = 8, 32, 24, 8
random.seed(24)


def values(*shape):
    count = 1
    for size in shape:
        count *= size
    return torch.tensor([random.randint(-15, 15) / 64 for _ in range(count)]).reshape(shape)


def layer_norm(name):
    return {f"{name}.weight": 1 + values(width), f"{name}.bias": values(width)}


def linear(name, inputs, outputs):
    return {f"{name}.weight": values(inputs, outputs), f"{name}.bias": values(outputs)}


parameters = {
    "wte.weight": values(vocabulary, width),
    "wpe.weight": values(positions, width),
    **layer_norm("h.0.ln_1"),
    **linear("h.0.attn.c_attn", width, 3 * width),
    **linear("h.0.attn.c_proj", width, width),
    **layer_norm("h.0.ln_2"),
    **linear("h.0.mlp.c_fc", width, inner),
    **linear("h.0.mlp.c_proj", inner, width),
    **layer_norm("ln_f"),
}


def state_dict(tensors):
    """As transformers saves a GPT2LMHeadModel: with masks, a head that shares the embedding, and versions of the modules."""
    named = collections.OrderedDict()
    for name, tensor in tensors.items():
        named[f"transformer.{name}"] = tensor
        if name == "h.0.ln_1.bias":
            mask = torch.tril(torch.ones(positions, positions, dtype=torch.bool))
            named["transformer.h.0.attn.bias"] = mask.view(1, 1, positions, positions)
            named["transformer.h.0.attn.masked_bias"] = torch.tensor(-1e4)
    named["lm_head.weight"] = tensors["wte.weight"]
    named._metadata = collections.OrderedDict([("", {"version": 1}), ("transformer", {"version": 1})])
    return named


def one_storage():
    """Views of one storage, with gaps between them; every second matrix lies there transposed."""
    flat = torch.full((sum(tensor.numel() + 3 for tensor in parameters.values()),), 0.5)
    views, at = collections.OrderedDict(), 0
    for number, (name, tensor) in enumerate(parameters.items()):
        part = flat[at : at + tensor.numel()]
        if tensor.dim() == 2 and number % 2 == 0:
            views[name] = part.view(tensor.shape[::-1]).t()
        else:
            views[name] = part.view(tensor.shape)
        views[name].copy_(tensor)
        at += tensor.numel() + 3
    return views


def interleaved():
    """Biases and weights of the layer norms are the columns of one matrix each; the rest is as it is."""
    views = dict(parameters)
    for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        both = torch.stack([parameters[f"{name}.weight"], parameters[f"{name}.bias"]], 1)
        views[f"{name}.weight"], views[f"{name}.bias"] = both[:, 0], both[:, 1]
    return views


class Exploit:
    """What a hostile file may hold: unpickled by Python, it would run a program."""

    def __reduce__(self):
        return os.system, ("echo this ran",)


def save(name, content, **options):
    torch.save(content, here / name, **options)


def save_shards():
    whole = state_dict(parameters)
    names = list(whole)
    halves = names[: len(names) // 2], names[len(names) // 2 : -1]  # the head would be a second copy
    weight_map = {}
    for number, half in enumerate(halves, 1):
        file = f"pytorch_model-{number:05}-of-{len(halves):05}.bin"
        shard = collections.OrderedDict((name, whole[name]) for name in half)
        torch.save(shard, here / file, _use_new_zipfile_serialization=number == 1)
        weight_map.update(dict.fromkeys(half, file))
    index = {"metadata": {"total_size": 0}, "weight_map": weight_map}
    (here / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=1) + "\n")


def save_safetensors():
    header, data = {}, b""
    for name, tensor in parameters.items():
        raw = struct.pack(f"<{tensor.numel()}f", *tensor.reshape(-1).tolist())
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    (here / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


config = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "activation_function": "gelu_new",
    "vocab_size": vocabulary,
    "n_positions": positions,
    "n_embd": width,
    "n_layer": 1,
    "n_head": 2,
    "layer_norm_epsilon": 1e-5,
}
(here / "config.json").write_text(json.dumps(config, indent=1) + "\n")
save_safetensors()
save("zip.bin", state_dict(parameters))
save("older.bin", state_dict(parameters), _use_new_zipfile_serialization=False)
save("float16.bin", {name: tensor.half() for name, tensor in parameters.items()})
save("bfloat16.bin", {name: tensor.bfloat16() for name, tensor in parameters.items()}, _use_new_zipfile_serialization=False)
save("one-storage.bin", one_storage())
save("interleaved.bin", interleaved(), _use_new_zipfile_serialization=False)
save("parameters.bin", {name: torch.nn.Parameter(tensor) for name, tensor in parameters.items()}, pickle_protocol=4)
save_shards()
save("exploit.bin", collections.OrderedDict([("wte.weight", Exploit())]))
