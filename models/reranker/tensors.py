"""Reads and writes safetensors, and cuts the texts of candidates to token ids. Needs numpy alone."""
import json
from pathlib import Path

import numpy as np

TYPES = {"F32": np.float32, "I8": np.int8, "I32": np.int32}
FIELDS = ("path", "head", "body")  # what is read of a candidate, in this order
MAX_PATH = 24  # tokens of a path that are kept, its last ones: they name the file
MAX_HEAD = 24  # tokens of a name or a title
TABLE = Path(__file__).resolve().parents[1] / "builtin/model.safetensors"


def read_tensors(path):
    """Returns {name: array} of a safetensors file."""
    with open(path, "rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        body = file.read()
    head.pop("__metadata__", None)
    tensors = {}
    for name, entry in head.items():
        start, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(body[start:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def write_tensors(path, tensors):
    """Writes {name: array} as safetensors; names are sorted so that equal tensors give equal files."""
    names = {np.dtype(kind): name for name, kind in TYPES.items()}
    head, at = {}, 0
    tensors = {name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}
    for name, tensor in tensors.items():
        head[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(tensor.tobytes())


def read_table(path=TABLE):
    """Returns the vectors of the builtin model's tokens as `[n_tokens, 256]` f32, its factors multiplied in."""
    tensors = read_tensors(path)
    return tensors["embeddings"].astype(np.float32) * tensors["weights"][:, None]


def join_fields(path, head, body, fields, most):
    """Returns the first `most` tokens of the named fields of a candidate: path, then name, then text."""
    parts = {"path": path[-MAX_PATH:], "head": head[:MAX_HEAD], "body": body}
    return [token for name in FIELDS if name in fields for token in parts[name]][:most]


def flatten_rows(rows, kind=np.uint16):
    """Returns all rows in one array, and `[n + 1]` offsets into it."""
    offsets = np.zeros(len(rows) + 1, np.uint32)
    offsets[1:] = np.cumsum([len(row) for row in rows])
    flat = np.concatenate([np.asarray(row, kind) for row in rows]) if rows else np.zeros(0, kind)
    return flat.astype(kind), offsets


def pad_rows(flat, offsets, width, start=0):
    """Returns the tokens of each row from `start` on as `[n, width]` int16, zeros after them, and their numbers."""
    offsets = offsets.astype(np.int64)
    lengths = np.clip(np.diff(offsets) - start, 0, width)
    padded = np.zeros((len(lengths), width), np.int16)
    inside = np.arange(width) < lengths[:, None]
    places = (offsets[:-1, None] + start + np.arange(width))[inside]
    padded[inside] = flat[places]
    return padded, lengths
