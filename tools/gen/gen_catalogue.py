"""The ops as data: docs/ops/ops.json, one op a line, which the command tenon embeds."""

import json
import re

import gen_docs
import registry


def plain(text):
    """Markdown's links as their texts, for a terminal."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)


def entry(op, family):
    source = gen_docs.source_of(op["name"])
    rules = gen_docs.rules_of(source) if source else []
    return {
        "id": op["id"],
        "name": op["name"],
        "family": family,
        "summary": op["summary"],
        "formula": op["formula"],
        "details": op["details"],
        "declaration": gen_docs.declaration(op),
        "inputs": [{"name": i["name"], "kind": i["kind"], "doc": registry.sentence(i["doc"])}
                   for i in op["inputs"]],
        "outputs": [{"name": o["name"], "doc": registry.sentence(o["doc"])}
                    for o in op["outputs"]],
        "attrs": [{"name": a["name"], "type": a.get("enum", a["type"]), "default": a["default"],
                   "default_text": registry.default_text(a),
                   "doc": registry.sentence(a.get("doc", ""))} for a in op["attrs"]],
        "rules": [{"label": label, "text": plain(text)} for label, text in rules],
        "differentiable": not op["no_gradient"],
        "derivative": gen_docs.derivative(op),
        "kind": gen_docs.kind(op),
        "numerics": gen_docs.NUMERICS[op["numeric"]],
        "promotion": gen_docs.PROMOTION.get(op["promotes"], ""),
        "onnx": op["onnx"],
        "since": op["since"],
    }


def generate(ops):
    family_of = {name: title for title, names in gen_docs.families() for name in names}
    lines = [json.dumps(entry(op, family_of.get(op["name"], "")), ensure_ascii=False)
             for op in ops["ops"]]
    return {"docs/ops/ops.json": "[\n" + ",\n".join(lines) + "\n]\n"}
