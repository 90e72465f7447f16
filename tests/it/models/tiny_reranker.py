"""Writes the cross-encoder of the tests: words that query and text have in common, less an eighth of the text's. Needs onnx, numpy."""
import json, os, re, sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

words, out = sorted(set(re.findall(r"[a-z]+", open(sys.argv[1]).read().lower()))), sys.argv[2]
os.makedirs(out, exist_ok=True)
special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
vocab = {word: at for at, word in enumerate([*special, *words])}
is_word = np.array([float(at >= len(special)) for at in range(len(vocab))], dtype=np.float32)
const = lambda name, values, kind: numpy_helper.from_array(np.array(values, dtype=kind), name)
i64 = lambda name: helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
node = helper.make_node
graph = helper.make_graph(
    [node("OneHot", ["input_ids", "size", "off_on"], ["one_hot"]),
     node("Mul", ["one_hot", "is_word"], ["words"]),
     node("Cast", ["token_type_ids"], ["type"], to=TensorProto.FLOAT),
     node("Unsqueeze", ["type", "last"], ["in_text"]),
     node("Sub", ["one", "in_text"], ["in_query"]),
     node("Mul", ["words", "in_text"], ["of_text"]),
     node("Mul", ["words", "in_query"], ["of_query"]),
     node("ReduceMax", ["of_text"], ["text"], axes=[1], keepdims=0),
     node("ReduceMax", ["of_query"], ["query"], axes=[1], keepdims=0),
     node("Sub", ["query", "eighth"], ["weights"]),
     node("Mul", ["text", "weights"], ["parts"]),
     node("ReduceSum", ["parts", "first"], ["logits"], keepdims=1)],
    "common words", [i64("input_ids"), i64("attention_mask"), i64("token_type_ids")],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
    [const("size", len(vocab), np.int64), const("off_on", [0, 1], np.float32), numpy_helper.from_array(is_word, "is_word"),
     const("last", [2], np.int64), const("first", [1], np.int64), const("one", 1, np.float32), const("eighth", 0.125, np.float32)])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
save(model, f"{out}/model.onnx")
piece = lambda name, kind: {"SpecialToken": {"id": name, "type_id": kind}}
part = lambda name, kind: {"Sequence": {"id": name, "type_id": kind}}
tokens = {name: {"id": name, "ids": [vocab[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
added = [{"id": vocab[name], "content": name, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
          "special": True} for name in special]
json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
  "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "TemplateProcessing", "single": [piece("[CLS]", 0), part("A", 0), piece("[SEP]", 0)],
    "pair": [piece("[CLS]", 0), part("A", 0), piece("[SEP]", 0), part("B", 1), piece("[SEP]", 1)], "special_tokens": tokens},
  "decoder": None, "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}},
  open(f"{out}/tokenizer.json", "w"), separators=(",", ":"))
json.dump({"pad_token_id": 0, "architectures": ["BertForSequenceClassification"]}, open(f"{out}/config.json", "w"))
