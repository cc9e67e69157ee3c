// iota and random bits.

struct Iota {
  i64 n, size, stride;
  char* y;
};
// iota: the value of an element is its index along the axis. It wraps if the integer dtype is too
// small.
KERNEL iota(PARAMETERS(Iota) p) {
  FOR_EACH(i, p.n) ((T*)p.y)[i] = op_cast<T>(i / p.stride % p.size);
}
