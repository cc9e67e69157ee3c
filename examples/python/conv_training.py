"""Trains a small convolutional network on Fashion-MNIST, eagerly and as a traced function, saves it,
and loads what it saved. examples/c/conv_training.c is the same program and prints the same text.

    conv_training.py DATA FOLDER [THREADS]
"""

import gzip
import sys

import numpy

import tenon as tn

BATCH = 64
STEPS = 20


class Network:
    def __init__(self, weights):
        self.conv1 = tn.Variable(weights["conv1"], name="conv1")
        self.conv2 = tn.Variable(weights["conv2"], name="conv2")
        self.dense = tn.Variable(weights["dense"], name="dense")

    @staticmethod
    def random():
        generator = tn.Generator(7)
        return Network({
            "conv1": generator.normal((8, 1, 3, 3), scale=0.3),
            "conv2": generator.normal((16, 8, 3, 3), scale=0.15),
            "dense": generator.normal((784, 10), scale=0.05),
        })

    @property
    def weights(self):
        return [self.conv1, self.conv2, self.dense]

    def logits(self, images):
        """Maps f32[n,1,28,28] to a row of ten logits for each image."""
        for weight in (self.conv1, self.conv2):
            active = tn.relu(tn.conv(images, weight, pads=(1, 1, 1, 1)))
            images = tn.max_pool(active, kernel_shape=(2, 2), strides=(2, 2)).y
        return tn.flatten(images, 1) @ self.dense

    @tn.function(input_signature=[tn.TensorSpec([None, 1, 28, 28], name="images")])
    def classify(self, images):
        return self.logits(images)


def loss_of(logits, labels):
    return tn.sparse_softmax_cross_entropy(logits, labels, reduction="mean").loss


@tn.custom_gradient
def clip_gradient(x):
    """Passes a value on, and clips its gradient."""
    return tn.identity(x), lambda upstream: tn.clip(upstream, -0.01, 0.01)


def rate_at(step):
    """Returns the learning rate of a step: halved after every ten steps."""
    rate = tn.tensor(0.1)
    while step >= 10:
        rate = rate * 0.5
        step = step - 10
    return rate


def train(net, images, labels, step):
    """Makes one training step. Returns the loss before it."""
    with tn.GradientTape() as tape:
        loss = loss_of(clip_gradient(net.logits(images)), labels)
    gradients = tape.gradient(loss, net.weights)
    rate = rate_at(step)
    for weight, gradient in zip(net.weights, gradients):
        weight.assign(tn.sgd(weight, gradient, rate))
    return loss


def read_idx(path, header):
    """Reads the elements of a gzipped IDX file whose header has `header` bytes."""
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=header)


class Data:
    def __init__(self, folder):
        self.images = read_idx(f"{folder}/train-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
        self.labels = read_idx(f"{folder}/train-labels-idx1-ubyte.gz", 8)

    def batch(self, step):
        """Returns the images of one step as numbers from 0 to 1, and their labels."""
        rows = slice(step * BATCH, (step + 1) * BATCH)
        return (tn.tensor(self.images[rows], "float32") * (1.0 / 255.0),
                tn.tensor(self.labels[rows], "int32"))


def print_loss(what, loss):
    print(f"{what} {loss.item():.12f}")


def main(data_folder, folder, threads="0"):
    data = Data(data_folder)
    with tn.Scope(tn.Context(threads=int(threads))):
        net = Network.random()
        traced = tn.function(lambda images, labels, step: train(net, images, labels, step))
        for step in range(2 * STEPS):
            images, labels = data.batch(step)
            number = tn.tensor(step, "int64")
            if step < STEPS:
                print_loss("eager", train(net, images, labels, number))
            else:
                print_loss("traced", traced(images, labels, number))

        tn.save(f"{folder}/conv_training_python.program", {"classify": net.classify})
        tn.save_safetensors(f"{folder}/conv_training_python.safetensors",
                            {weight.name: weight for weight in net.weights})

        images, labels = data.batch(0)
        program = tn.load(f"{folder}/conv_training_python.program")
        print_loss("program", loss_of(program.classify(images), labels))
        loaded = Network(tn.load_safetensors(f"{folder}/conv_training_python.safetensors"))
        print_loss("safetensors", loss_of(loaded.logits(images), labels))


if __name__ == "__main__":
    main(*sys.argv[1:])
