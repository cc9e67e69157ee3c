/* Stands for libopenblas.so.0 while tenon_cpu_openblas.so is linked, so that a build needs no
 * OpenBLAS. It is never loaded. */
typedef int tenon_openblas_import;
