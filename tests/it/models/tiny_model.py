"""Writes the model of the tests: a vector for each word, and no more. Needs onnx and numpy."""
import json, re, sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

WORDS = sorted(set(re.findall(r"[a-z]+", open(sys.argv[1]).read().lower())))
out, rng = sys.argv[2], np.random.default_rng(7)
vocab = {word: at for at, word in enumerate(["[PAD]", "[UNK]", *WORDS])}
table = rng.normal(size=(len(vocab), 16)).astype(np.float32)
i64 = lambda name: helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
graph = helper.make_graph(
    [helper.make_node("Gather", ["table", "input_ids"], ["gathered"]),
     helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
     helper.make_node("Unsqueeze", ["mask", "last"], ["mask3"]),
     helper.make_node("Mul", ["gathered", "mask3"], ["last_hidden_state"])],
    "words", [i64("input_ids"), i64("attention_mask")],
    [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "seq", 16])],
    [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([2], dtype=np.int64), "last")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
save(model, f"{out}/model.onnx")
json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
  "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": None,
  "decoder": None, "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}},
  open(f"{out}/tokenizer.json", "w"), separators=(",", ":"))
json.dump({"pad_token_id": 0}, open(f"{out}/config.json", "w"))
# The same model with values of 8 bits, whose scale depends on the whole batch, as in models that are quantised as they run.
graph.node[0].output[0] = "exact"
graph.node.insert(1, helper.make_node("DynamicQuantizeLinear", ["exact"], ["small", "scale", "zero"]))
graph.node.insert(2, helper.make_node("DequantizeLinear", ["small", "scale", "zero"], ["gathered"]))
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
save(model, f"{out}/../tiny-quantised.onnx")
