/* Source of an empty stub library with the name of libopenblas.so.0. tenon_cpu_openblas.so is
 * linked to the stub, so that a build does not need OpenBLAS. The stub is never loaded. */
typedef int tenon_openblas_import;
