/** Tenon for Java. Run with {@code --enable-native-access=dev.tenon}. */
module dev.tenon {
  exports dev.tenon;
}
