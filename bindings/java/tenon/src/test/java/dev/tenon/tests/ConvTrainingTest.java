package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.examples.ConvTraining;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example prints the same losses for any number of threads. */
class ConvTrainingTest {
  private static final String DATA = "/usr/share/datasets/fashion-mnist";

  private static List<String> lines(Path folder, String threads) throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    System.setOut(new PrintStream(text, true));
    try {
      ConvTraining.main(DATA, folder.toString(), threads);
    } finally {
      System.setOut(before);
    }
    return text.toString().lines().toList();
  }

  @Test
  void lossesAreTheSameWithOneThreadAndTwo(@TempDir Path folder) throws Exception {
    List<String> one = lines(folder, "1");
    assertEquals(42, one.size());
    assertEquals(one, lines(folder, "2"));
    double first = Double.parseDouble(one.get(0).split(" ")[1]);
    double last = Double.parseDouble(one.get(39).split(" ")[1]);
    assertTrue(last < first, "the loss went from " + first + " to " + last);
    assertEquals(one.get(40).split(" ")[1], one.get(41).split(" ")[1]);
  }
}
