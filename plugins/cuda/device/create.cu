// iota and random bits.

struct Iota {
  i64 n, size, stride;
  char* y;
};
// Each element is its index along the axis; integers that it does not fit wrap.
KERNEL iota(PARAMETERS(Iota) p) {
  FOR_EACH(i, p.n) ((T*)p.y)[i] = op_cast<T>(i / p.stride % p.size);
}
