import dev.tenon.Scope;
import dev.tenon.Tensor;

/** Adds two tensors. */
public final class Hello {
  private Hello() {}

  /**
   * Prints their sum.
   *
   * @param arguments none
   */
  public static void main(String... arguments) {
    try (var scope = Scope.open()) {
      System.out.println(Tensor.of(1f, 2f).add(Tensor.of(10f, 20f)));
    }
  }
}
