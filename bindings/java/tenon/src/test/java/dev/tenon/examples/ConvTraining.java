package dev.tenon.examples;

import static dev.tenon.Ops.*;

import dev.tenon.Context;
import dev.tenon.Control;
import dev.tenon.DType;
import dev.tenon.Function;
import dev.tenon.Generator;
import dev.tenon.Gradients;
import dev.tenon.InputSpec;
import dev.tenon.Program;
import dev.tenon.Safetensors;
import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.Tensor;
import dev.tenon.Variable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * Trains a small convolutional network on Fashion-MNIST: twenty steps eagerly and twenty as a
 * traced function. Then saves the network as a program and its weights as a safetensors file, loads
 * both, and prints the loss of each. The same program exists in C, C++, Rust and Java. All print
 * the same text, for any number of threads.
 *
 * <p>{@code ConvTraining DATA FOLDER [THREADS]}
 */
public final class ConvTraining {
  private static final int BATCH = 64;
  private static final int STEPS = 20;
  private static final int SIDE = 28;

  /** The network: two convolutions and a dense layer. */
  record Network(Variable conv1, Variable conv2, Variable dense) {
    static Network create() {
      try (var random = new Generator(7)) {
        return new Network(
            new Variable(random.normal(DType.FLOAT32, 0, 0.3, 8, 1, 3, 3), "conv1"),
            new Variable(random.normal(DType.FLOAT32, 0, 0.15, 16, 8, 3, 3), "conv2"),
            new Variable(random.normal(DType.FLOAT32, 0, 0.05, 784, 10), "dense"));
      }
    }

    static Network of(Map<String, Tensor> weights) {
      return new Network(
          new Variable(weights.get("conv1")),
          new Variable(weights.get("conv2")),
          new Variable(weights.get("dense")));
    }

    List<Variable> variables() {
      return List.of(conv1, conv2, dense);
    }

    Tensor logits(Tensor images) {
      return block(block(images, conv1), conv2).flatten().matmul(dense.read());
    }

    private static Tensor block(Tensor x, Variable weight) {
      Tensor active = conv(x, weight.read(), new ConvAttrs().pads(1, 1, 1, 1)).relu();
      return active.max_pool(new MaxPoolAttrs().kernel_shape(2, 2).strides(2, 2)).y();
    }
  }

  private static Tensor loss(Tensor logits, Tensor labels) {
    return sparse_softmax_cross_entropy(logits, labels).loss();
  }

  /** Returns x. The backward pass clips the gradient with respect to x. */
  private static Tensor clipGradient(Tensor x) {
    return Gradients.customGradient(
        in -> List.of(in.get(0).identity()),
        call ->
            List.of(
                call.cotangents().get(0).clip(Tensor.scalar(-0.01), Tensor.scalar(0.01))),
        x);
  }

  /** Returns the learning rate, which is halved after every ten steps. */
  private static Tensor rate(Tensor step) {
    return Control.whileLoop(
            in -> List.of(in.get(1).greater_equal(10)),
            in -> List.of(in.get(0).mul(0.5), in.get(1).sub(10)),
            Tensor.scalar(0.1),
            step)
        .get(0);
  }

  /** Runs one training step, and returns the loss before the step. */
  private static Tensor train(Network net, Tensor images, Tensor labels, Tensor step) {
    try (var tape = new Tape()) {
      Tensor loss = loss(clipGradient(net.logits(images)), labels);
      List<Tensor> gradients = tape.gradients(loss, net.variables());
      Tensor rate = rate(step);
      for (int i = 0; i < gradients.size(); ++i) {
        Variable weight = net.variables().get(i);
        weight.assign(sgd(weight.read(), gradients.get(i), rate));
      }
      return loss;
    }
  }

  /** The training set of Fashion-MNIST. */
  record Data(byte[] pixels, byte[] labels) {
    static Data read(Path folder) throws IOException {
      return new Data(
          idx(folder.resolve("train-images-idx3-ubyte.gz"), 16),
          idx(folder.resolve("train-labels-idx1-ubyte.gz"), 8));
    }

    private static byte[] idx(Path file, int header) throws IOException {
      try (var in = new GZIPInputStream(Files.newInputStream(file))) {
        in.skipNBytes(header);
        return in.readAllBytes();
      }
    }

    Tensor images(int step) {
      int from = step * BATCH * SIDE * SIDE;
      byte[] part = Arrays.copyOfRange(pixels, from, from + BATCH * SIDE * SIDE);
      return Tensor.of(part, DType.UINT8, BATCH, 1, SIDE, SIDE)
          .cast(DType.FLOAT32)
          .mul(1.0 / 255);
    }

    Tensor labels(int step) {
      byte[] part = Arrays.copyOfRange(labels, step * BATCH, (step + 1) * BATCH);
      return Tensor.of(part, DType.UINT8, BATCH).cast(DType.INT32);
    }
  }

  private static void print(String what, Tensor loss) {
    System.out.println(String.format(java.util.Locale.ROOT, "%s %.12f", what, loss.item()));
  }

  private static void save(Network net, Path program, Path weights) {
    try (var classify = Function.of(net::logits)) {
      var images =
          InputSpec.of("images", DType.FLOAT32, InputSpec.UNKNOWN, 1, SIDE, SIDE);
      Program.save(program, new Program.Saved("classify", classify.trace(images)));
    }
    Map<String, Tensor> values = new LinkedHashMap<>();
    net.variables().forEach(weight -> values.put(weight.name(), weight.read()));
    Safetensors.save(weights, values);
  }

  /**
   * Runs the training.
   *
   * @param arguments the folder of the data, an output folder, and the number of threads
   * @throws IOException if the data cannot be read
   */
  public static void main(String... arguments) throws IOException {
    Data data = Data.read(Path.of(arguments[0]));
    Path program = Path.of(arguments[1], "conv_training.program");
    Path weights = Path.of(arguments[1], "conv_training.safetensors");
    var options = new Context.Options();
    if (arguments.length > 2) {
      options.threads(Integer.parseInt(arguments[2]));
    }
    try (var context = new Context(options);
        var all = Scope.open(context)) {
      Network net = Network.create();
      Function traced = Function.of((x, y, step) -> train(net, x, y, step));
      for (int step = 0; step < 2 * STEPS; ++step) {
        try (var scope = Scope.open()) {
          Tensor x = data.images(step);
          Tensor y = data.labels(step);
          Tensor number = Tensor.scalar(step);
          boolean eager = step < STEPS;
          Tensor loss = eager ? train(net, x, y, number) : traced.apply(x, y, number);
          print(eager ? "eager" : "traced", loss);
        }
      }
      save(net, program, weights);
      Tensor x = data.images(0);
      Tensor y = data.labels(0);
      try (var opened = new Program(program)) {
        print("program", loss(opened.function("classify").apply(x), y));
      }
      print("safetensors", loss(Network.of(Safetensors.load(weights)).logits(x), y));
    }
  }
}
