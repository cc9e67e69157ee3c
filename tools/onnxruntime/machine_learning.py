"""Cases of ai.onnx.ml with random trees and support vector machines, for foreign.py."""

import numpy
from onnx import numpy_helper

ML = "ai.onnx.ml:"
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
random = numpy.random.default_rng(480)


def rows(*shape):
    """Returns features with few distinct values, so that comparisons meet equal numbers."""
    return (random.integers(-4, 5, shape) / 2).astype("f4")


def keyed_trees(n_trees, depth, n_features, modes):
    """Returns the attributes nodes_* of the older ops, and the leaves as (tree, node)."""
    fields = ["treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
              "missing_value_tracks_true"]
    nodes, leaves = {field: [] for field in fields}, []
    for tree in range(n_trees):
        count = 0
        pending = [(count, 0)]
        while pending:
            node, level = pending.pop()
            is_leaf = level == depth or (level > 0 and random.random() < 0.2)
            children = (0, 0) if is_leaf else (count + 1, count + 2)
            values = [tree, node, int(random.integers(n_features)), float(rows(1)[0]),
                      "LEAF" if is_leaf else str(random.choice(modes)), *children, int(random.integers(2))]
            for field, value in zip(fields, values):
                nodes[field].append(value)
            if is_leaf:
                leaves.append((tree, node))
            else:
                count += 2
                pending += [(child, level + 1) for child in children]
    return {f"nodes_{field}": values for field, values in nodes.items()}, leaves


def weights(prefix, leaves, targets, scale=1.0, shift=0.0):
    """Returns the weights of leaves: one for each of the targets."""
    entries = [(tree, node, target) for tree, node in leaves for target in targets]
    return {f"{prefix}_treeids": [entry[0] for entry in entries], f"{prefix}_nodeids": [entry[1] for entry in entries],
            f"{prefix}_ids": [entry[2] for entry in entries],
            f"{prefix}_weights": [float(x) * scale + shift for x in random.standard_normal(len(entries))]}


def regressors():
    for modes in [["BRANCH_LEQ"], MODES]:
        nodes, leaves = keyed_trees(5, 4, 3, modes)
        for how in ["SUM", "AVERAGE", "MIN", "MAX"]:
            yield ML + "TreeEnsembleRegressor", [rows(20, 3)], 1, dict(
                **nodes, **weights("target", leaves, [0, 1]), n_targets=2, aggregate_function=how,
                base_values=[0.5, -2.0])
    x = rows(20, 3)
    x[::3, 1] = numpy.nan
    yield ML + "TreeEnsembleRegressor", [x], 1, dict(**nodes, **weights("target", leaves, [0]), n_targets=1)
    for transform in ["LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]:
        yield ML + "TreeEnsembleRegressor", [rows(20, 3)], 1, dict(
            **nodes, **weights("target", leaves, [0, 2]), n_targets=3, post_transform=transform)


def classifiers():
    nodes, leaves = keyed_trees(4, 3, 3, ["BRANCH_LEQ"])
    for transform in ["NONE", "LOGISTIC", "SOFTMAX"]:
        yield ML + "TreeEnsembleClassifier", [rows(20, 3)], 2, dict(
            **nodes, **weights("class", leaves, [0, 1, 2]), classlabels_int64s=[10, 20, 30], post_transform=transform)
    for transform in ["NONE", "LOGISTIC"]:
        yield ML + "TreeEnsembleClassifier", [rows(20, 3)], 2, dict(
            **nodes, **weights("class", leaves, [0]), classlabels_int64s=[7, 9], post_transform=transform)
    positive = weights("class", leaves, [0], 0.0, 0.125)
    positive["class_weights"] = [abs(float(x)) / 4 for x in random.standard_normal(len(positive["class_weights"]))]
    yield ML + "TreeEnsembleClassifier", [rows(20, 3)], 2, dict(**nodes, **positive, classlabels_int64s=[7, 9])


def ensembles():
    """Yields TreeEnsemble with the trees of a regressor in the newer form, without a transform of
    the scores: onnxruntime numbers the transforms otherwise than ONNX."""
    tensor = lambda values, kind: numpy_helper.from_array(numpy.array(values, kind))
    for how in range(4):
        nodes, leaves = keyed_trees(4, 4, 3, MODES)
        keys = list(zip(nodes["nodes_treeids"], nodes["nodes_nodeids"]))
        inner = [i for i, mode in enumerate(nodes["nodes_modes"]) if mode != "LEAF"]
        places = {keys[i]: (place, 0) for place, i in enumerate(inner)}
        places |= {key: (place, 1) for place, key in enumerate(leaves)}
        take = lambda field: [nodes[f"nodes_{field}"][i] for i in inner]
        attributes = dict(tree_roots=[places[tree, 0][0] for tree in range(4)], n_targets=2, aggregate_function=how,
                          nodes_featureids=take("featureids"),
                          nodes_splits=tensor(take("values"), "f4"),
                          nodes_modes=tensor([MODES.index(mode) for mode in take("modes")], "u1"),
                          nodes_missing_value_tracks_true=take("missing_value_tracks_true"),
                          leaf_weights=tensor(random.standard_normal(len(leaves)), "f4"),
                          leaf_targetids=[int(x) for x in random.integers(0, 2, len(leaves))])
        for side in ["true", "false"]:
            children = [places[tree, node] for tree, node in zip(take("treeids"), take(f"{side}nodeids"))]
            attributes[f"nodes_{side}nodeids"] = [place for place, _ in children]
            attributes[f"nodes_{side}leafs"] = [leaf for _, leaf in children]
        x = rows(20, 3)
        x[::4, 2] = numpy.nan
        yield ML + "TreeEnsemble", [x], 1, attributes


def numbers(*shape):
    return [float(x) for x in random.standard_normal(shape).ravel()]


def machines():
    kernels = [("LINEAR", [0.0, 0.0, 0.0]), ("POLY", [0.5, 1.0, 3.0]), ("RBF", [0.25, 0.0, 0.0]),
               ("SIGMOID", [0.1, 0.2, 0.0])]
    x = random.standard_normal((20, 3)).astype("f4")
    for kernel, parameters in kernels:
        shared = dict(kernel_type=kernel, kernel_params=parameters)
        for one_class in [0, 1]:
            yield ML + "SVMRegressor", [x], 1, dict(**shared, n_supports=6, support_vectors=numbers(6, 3),
                                                    coefficients=numbers(6), rho=[0.3], one_class=one_class)
        for labels, counts in [([3, 8], [4, 2]), ([5, 2, 9, 1], [2, 3, 1, 2])]:
            n, total = len(labels), sum(counts)
            pairs = n * (n - 1) // 2
            machine = dict(**shared, classlabels_ints=labels, vectors_per_class=counts, rho=numbers(pairs),
                           support_vectors=numbers(total, 3), coefficients=numbers(n - 1, total))
            yield ML + "SVMClassifier", [x], 2, machine
            yield ML + "SVMClassifier", [x], 2, dict(**machine, prob_a=[-abs(a) - 0.5 for a in numbers(pairs)],
                                                     prob_b=numbers(pairs))
    yield ML + "SVMRegressor", [x], 1, dict(kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], n_supports=0, coefficients=numbers(3), rho=[0.3])


def encoders():
    x = rows(6, 3)
    holes = x.copy()
    holes[::2, 1] = numpy.nan
    whole = random.integers(-2, 3, (6, 3))
    yield ML + "Imputer", [holes], 1, dict(imputed_value_floats=[0.5, 1.5, 2.5], replaced_value_float=float("nan"))
    yield ML + "Imputer", [x], 1, dict(imputed_value_floats=[7.0], replaced_value_float=0.5)
    yield ML + "Imputer", [whole], 1, dict(imputed_value_int64s=[9], replaced_value_int64=-1)
    yield ML + "FeatureVectorizer", [rows(6, 2), rows(6, 3)], 1, dict(inputdimensions=[2, 3])
    yield ML + "OneHotEncoder", [whole], 1, dict(cats_int64s=[-1, 2, 0])
    yield ML + "LabelEncoder", [whole], 1, dict(keys_int64s=[0, 2], values_floats=[0.25, 4.0], default_float=-3.0)
    yield ML + "LabelEncoder", [x], 1, dict(keys_floats=[-1.0, 0.5], values_int64s=[4, 5], default_int64=6)
    for transform in ["NONE", "SOFTMAX", "LOGISTIC"]:
        yield ML + "LinearClassifier", [x], 2, dict(classlabels_ints=[4, 8, 6], coefficients=numbers(9),
                                                    intercepts=numbers(3), post_transform=transform)
    yield ML + "LinearClassifier", [x], 2, dict(classlabels_ints=[4, 8], coefficients=numbers(6), intercepts=numbers(2))
    yield ML + "SVMClassifier", [x], 2, dict(kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], rho=[0.25],
                                             classlabels_ints=[4, 8, 6], coefficients=numbers(9))


def cases():
    for group in [regressors, classifiers, ensembles, machines, encoders]:
        yield from group()
