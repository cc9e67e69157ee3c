// The kernel of iota.

struct Iota {
  i64 n, size, stride;
  char* y;
};
// iota: the value of an element is its index along the axis. The index wraps if it exceeds the
// range of an integer dtype.
KERNEL iota(PARAMETERS(Iota) p) {
  FOR_EACH(i, p.n)((T*)p.y)[i] = op_cast<T>(i / p.stride % p.size);
}
