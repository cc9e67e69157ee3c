/* The list of kernels, which is what the plugin claims and the conformance kit tests.
 *
 * Other ops run as decompositions into these, so a few dozen lines suffice to train a network.
 * The grammar of signatures is in tenon/plugin.h. */

#include <stdlib.h>

#include "plain.h"

tenon_error* plain_make_kernel(tenon_device_p* device, const tenon_kernel_p* made, uint32_t flags,
                               tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits) {
  tenon_kernel_p* kernel = malloc(sizeof *kernel);
  if (!kernel) return plain_error(device->host, TENON_OUT_OF_MEMORY, "no memory for a kernel");
  *kernel = *made;
  tenon_kernel_traits traits = {.flags = flags};
  plain_fill_struct(out_traits, &traits, sizeof traits);
  *out_kernel = kernel;
  return NULL;
}

void plain_read_attrs(const tenon_kernel_request* request, void* attrs, size_t size) {
  if (!request->attrs) return;
  const uint32_t given = *(const uint32_t*)request->attrs; /* The first field: struct_size. */
  memcpy(attrs, request->attrs, given < size ? given : size);
}

#define LINE(op, signature, attrs_size, prepare) \
  { TENON_OP_##op, attrs_size, TENON_STR(signature), TENON_STR(""), prepare }
#define PLAIN(op, signature, prepare) LINE(op, signature, 0, prepare)
#define WITH_ATTRS(op, signature, prepare) LINE(op, signature, sizeof(tenon_##op##_attrs), prepare)

const tenon_kernel plain_kernels[] = {
    PLAIN(copy, "T->T T:any", plain_prepare_copy),
    WITH_ATTRS(fill, "T->T T:any", plain_prepare_fill),
    WITH_ATTRS(cast, "A->B A:bool,u8,i32,u32,i64,f32 B:bool,u8,i32,u32,i64,f32",
               plain_prepare_cast),
    WITH_ATTRS(iota, "->T T:i32,i64,f32", plain_prepare_iota),
    WITH_ATTRS(concat, "T*->T T:any", plain_prepare_concat),

    PLAIN(neg, "f32->f32", plain_prepare_elementwise),
    PLAIN(exp, "f32->f32", plain_prepare_elementwise),
    PLAIN(expm1, "f32->f32", plain_prepare_elementwise),
    PLAIN(log, "f32->f32", plain_prepare_elementwise),
    PLAIN(sqrt, "f32->f32", plain_prepare_elementwise),
    PLAIN(sin, "f32->f32", plain_prepare_elementwise),
    PLAIN(cos, "f32->f32", plain_prepare_elementwise),

    PLAIN(add, "T,T->T T:f32,i64", plain_prepare_elementwise),
    PLAIN(sub, "f32,f32->f32", plain_prepare_elementwise),
    PLAIN(mul, "f32,f32->f32", plain_prepare_elementwise),
    PLAIN(div, "f32,f32->f32", plain_prepare_elementwise),
    PLAIN(maximum, "f32,f32->f32", plain_prepare_elementwise),
    PLAIN(equal, "T,T->bool T:f32,i64", plain_prepare_elementwise),
    PLAIN(less, "T,T->bool T:f32,i64", plain_prepare_elementwise),
    PLAIN(greater, "f32,f32->bool", plain_prepare_elementwise),
    PLAIN(shift_right, "u32,u32->u32", plain_prepare_elementwise),
    PLAIN(where, "bool,T,T->T T:f32,i64", plain_prepare_elementwise),

    WITH_ATTRS(sum, "f32->f32", plain_prepare_sum),
    WITH_ATTRS(max, "f32->f32", plain_prepare_max),
    WITH_ATTRS(matmul, "f32,f32->f32", plain_prepare_matmul),
    WITH_ATTRS(conv, "f32,f32,f32?->f32", plain_prepare_conv),
    WITH_ATTRS(conv_backward_filter, "f32,f32->f32", plain_prepare_conv_backward_filter),
    WITH_ATTRS(max_pool, "f32->f32,i64", plain_prepare_max_pool),

    WITH_ATTRS(gather, "T,I->T T:any I:i32,i64", plain_prepare_gather),
    WITH_ATTRS(gather_elements, "f32,I->f32 I:i32,i64", plain_prepare_gather_elements),
    WITH_ATTRS(scatter_elements, "f32,I,f32->f32 I:i32,i64", plain_prepare_scatter_elements),
    WITH_ATTRS(rng_bits, "u32->u32,u32", plain_prepare_rng_bits),
};
