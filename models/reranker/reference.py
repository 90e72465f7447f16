"""Compares an exported model in plain numpy with the logits of torch that stand beside it. Needs numpy alone."""
import argparse
import json
from pathlib import Path

import numpy as np
from tensors import TABLE


def check_reference(description, open_model, score_case):
    """Reads MODEL and --table from the command line, prints the largest difference, and returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("--table", type=Path, default=TABLE, help="the builtin model")
    options = parser.parse_args()
    reference = json.loads((options.model / "reference.json").read_text(encoding="utf-8"))
    model, largest = open_model(options.model, options.table), {"int8": 0.0, "float": 0.0}
    for case in reference["cases"]:
        logits = score_case(model, case)
        largest = {kind: max(most, float(np.abs(logits - case[kind]).max())) for kind, most in largest.items()}
    agree = all(largest[kind] <= reference["tolerance"][kind] for kind in largest)
    print(f"{len(reference['cases'])} questions; numpy differs from torch by at most {largest['int8']:.1e} with the same int8 weights, "
          f"{largest['float']:.1e} with those of training: {'they agree' if agree else 'TOO MUCH'}")
    return 0 if agree else 1
