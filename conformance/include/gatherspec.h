/* A gather implementation as a shared library that `gatherspec run --library ./libmine.so` validates.
 *
 * The library exports the four functions at the end of this file. It is loaded into a process of its own: what
 * crashes or hangs costs the call at hand its verdict and nothing else. Calls come one at a time, all from one thread.
 *
 * Who owns what:
 *  - What a call hands in (tensors, texts, attributes) belongs to the caller and is valid until gatherspec_call
 *    returns. It must not be written to: a write, even of the same value, is the verdict `input-changed`. Data is
 *    in read-only memory; shapes, texts and the structures themselves are compared after gatherspec_release.
 *  - What a reply points to belongs to the library and stays valid until gatherspec_release is called with that reply,
 *    which happens once for every call, before the next one. The data of an output is aligned for its elements and does
 *    not overlap the inputs, or the verdict is `protocol-error`.
 *  - What gatherspec_describe returns belongs to the library and stays valid until the process ends.
 *
 * The library is never unloaded, so threads that it has started may run until the process ends, by exit().
 *
 * Nothing that comes from the library is trusted, but what cannot be seen is up to the library: an output has as many
 * elements as its shape says, an array as many entries as its count says, and a text ends with a zero byte.
 *
 * No C++ exception may leave these functions, nor a longjmp: the process aborts, which is a `crash`. Catch it and reply
 * GATHERSPEC_ERROR.
 *
 * conformance/PROTOCOL.md has the formulas of the operators, what each error code means, what to declare, and which
 * calls come although their dtypes are not declared. conformance/backends/c-example/gather.c is a whole library. */

#ifndef GATHERSPEC_H
#define GATHERSPEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Another version is another number: nothing below ever changes under the same. */
#define GATHERSPEC_ABI 3

/* The most dims that a tensor has. */
#define GATHERSPEC_MAX_RANK 64

/* The types of elements. */
enum {
    GATHERSPEC_BOOL = 1, /* a byte: 0 is false, 1 is true, others are moved unchanged */
    GATHERSPEC_I8 = 2,
    GATHERSPEC_U8 = 3,
    GATHERSPEC_I16 = 4,
    GATHERSPEC_U16 = 5,
    GATHERSPEC_I32 = 6,
    GATHERSPEC_U32 = 7,
    GATHERSPEC_I64 = 8,
    GATHERSPEC_U64 = 9,
    GATHERSPEC_F16 = 10,
    GATHERSPEC_BF16 = 11,
    GATHERSPEC_F32 = 12,
    GATHERSPEC_F64 = 13,
    GATHERSPEC_C64 = 14,   /* two f32, real part first */
    GATHERSPEC_C128 = 15,  /* two f64, real part first */
    GATHERSPEC_STRING = 16 /* gatherspec_string */
};

/* An element of dtype GATHERSPEC_STRING: bytes of any value. Where the length is 0, the data may be null. */
typedef struct gatherspec_string {
    const uint8_t *data;
    uint64_t length;
} gatherspec_string;

/* A tensor in the machine's byte order. `data` points to its first element. Strides count elements: element (i, j) is at
 * data + i * strides[0] + j * strides[1]. Null strides mean row-major order without gaps. Operands have null strides unless the
 * library declares variants with layouts; an output always has. `data` is aligned for the C type of its elements, and no
 * better: 1, 2, 4 or 8 bytes; complex numbers like the float that they consist of, strings like gatherspec_string. An
 * operand of more than 16 MiB that comes in a file is mapped, and aligned to 64 bytes. */
typedef struct gatherspec_tensor {
    uint32_t dtype;
    uint32_t rank;
    const int64_t *shape; /* null only if the rank is 0 */
    const void *data;     /* may be null if there is no element */
    const int64_t *strides;
} gatherspec_tensor;

/* An operand, by the name that the operator's page gives it: `params` and `indices` for TensorFlow's operators, `input` and
 * `index` for Paddle's. They come in the page's order. */
typedef struct gatherspec_operand {
    const char *name;
    gatherspec_tensor tensor;
} gatherspec_operand;

/* What the value of an attribute is. */
enum {
    GATHERSPEC_NULL = 0,    /* no value */
    GATHERSPEC_BOOLEAN = 1, /* `integer`, 0 or 1 */
    GATHERSPEC_INTEGER = 2, /* `integer` */
    GATHERSPEC_FLOAT = 3,   /* `number`, finite */
    GATHERSPEC_TEXT = 4,    /* `text`, UTF-8 with a zero byte at its end */
    GATHERSPEC_INTEGERS = 5, /* `integers`, so many as `integer_count` */
    GATHERSPEC_ELEMENT = 6   /* `element`, of rank 0 and the dtype of params */
};

/* An attribute. One that is absent is not passed and has its default.
 *
 *   tf.gather               axis (default: batch_dims), batch_dims (default: 0), validate_indices (boolean, no effect)
 *   tf.gather_nd            batch_dims (default: 0)
 *   tf.raw_ops.GatherNd     none
 *   paddle.gather_nd        none
 *   onnx.Gather-1           axis (default: 0)
 *   onnx.Gather-13          axis (default: 0)
 *   onnx.GatherND-11        none
 *   onnx.GatherND-13        batch_dims (default: 0)
 *   onnx.GatherElements-13  axis (default: 0)
 *   openvino.Gather-7       batch_dims (default: 0); the third operand, axis, is a scalar or a vector of one integer
 *   openvino.Gather-8       batch_dims (default: 0); the third operand, axis, likewise
 *   openvino.GatherND-5     batch_dims (default: 0)
 *   openvino.GatherND-8     batch_dims (default: 0)
 *   openvino.GatherElements-6  axis (always passed)
 *   webnn.gather            axis (default: 0)
 *   webnn.gatherElements    axis (default: 0)
 *   webnn.gatherND          none
 *   torch.gather            dim (always passed), sparse_grad (boolean, no effect)
 *   torch.index_select      dim (always passed)
 *   torch.take              none
 *   torch.take_along_dim    dim (integer or null, default: null)
 *   torch.nn.functional.embedding  padding_idx (integer or null, no effect), scale_grad_by_freq, sparse (boolean, no effect);
 *                           the operands are indices and params, in this order
 *   numpy.take              axis (integer or null, default: null), mode (text: raise, wrap or clip; default: raise)
 *   numpy.take_along_axis   axis (integer or null, default: -1)
 *   numpy.ndarray.__getitem__  none
 *   array_api.take          axis (integer; none where x has one axis, else required)
 *   array_api.take_along_axis  axis (integer, default: -1)
 *   jax.numpy.take          axis (integer or null, default: null), mode (text: fill, clip or wrap, or null; default: fill),
 *                           fill_value (element or null, default: null)
 *   jax.numpy.take_along_axis  axis (integer or null, default: -1),
 *                           mode (text: fill, clip or promise_in_bounds, or null; default: fill),
 *                           fill_value (element or null, default: null)
 *   jax.Array.__getitem__   none
 *   jax.lax.gather          offset_dims, collapsed_slice_dims, start_index_map, slice_sizes (integers, always passed),
 *                           operand_batching_dims, start_indices_batching_dims (integers, default: none),
 *                           unique_indices, indices_are_sorted (boolean, default: 0),
 *                           mode (text: promise_in_bounds, clip, fill or drop, or null; default: promise_in_bounds),
 *                           fill_value (element or null, default: null)
 *   stablehlo.gather        offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims,
 *                           start_index_map, slice_sizes (integers, default: none), index_vector_dim (integer, default: 0),
 *                           indices_are_sorted (boolean, default: 0)
 *   stablehlo.dynamic_gather  offset_dims, collapsed_slice_dims, start_index_map (integers, default: none),
 *                           index_vector_dim (integer, default: 0), indices_are_sorted (boolean, default: 0);
 *                           the third operand, slice_sizes, is a vector of integers
 *
 * Reply GATHERSPEC_UNSUPPORTED to an attribute that the library does not know. */
typedef struct gatherspec_attribute {
    const char *name;
    uint32_t kind; /* says which of the following is set; the others are 0 or null */
    int64_t integer;
    double number;
    const char *text;
    const int64_t *integers;
    uint64_t integer_count;
    const gatherspec_tensor *element;
} gatherspec_attribute;

/* A call, such as tf.gather_nd of these operands. `struct_size` is sizeof(gatherspec_call_args) as the caller knows it: a
 * later version may add fields at the end, which a library that was built before does not look at. */
typedef struct gatherspec_call_args {
    uint64_t struct_size;
    const char *operator_name;
    const gatherspec_operand *operands;
    uint64_t operand_count;
    const gatherspec_attribute *attributes;
    uint64_t attribute_count;
    /* How to make the call, of the variants that the library declares, such as "data=transposed,execution=compiled"; null: as
     * usual. Strides are those of its layouts already. */
    const char *variant;
} gatherspec_call_args;

/* What a call comes to. */
enum {
    GATHERSPEC_OUTPUT = 1,     /* `output` is set */
    GATHERSPEC_ERROR = 2,      /* the call is refused: `message`, and `code` if the library can tell */
    GATHERSPEC_UNSUPPORTED = 3 /* the library does not do such calls: `message` */
};

/* A reply. It is all zeros when gatherspec_call gets it.
 *
 * The codes, of which the first that applies is the right one:
 *
 *   params-dtype index-dtype operand-dtype mode-unknown axis-required params-rank indices-rank operand-shape
 *   rank-mismatch empty-dim batch-dims-out-of-range axis-out-of-range axis-before-batch dimension-numbers
 *   slice-size-out-of-range batch-shape-mismatch join-mismatch index-depth output-too-large index-out-of-range
 *
 * A library that cannot tell its errors apart leaves `code` null: the code is not checked then. */
typedef struct gatherspec_reply {
    uint32_t status;
    gatherspec_tensor output;
    const char *code;    /* one of the above, or null */
    const char *message; /* UTF-8, or null */
    void *owner;         /* for the library alone, such as what gatherspec_release will free */
} gatherspec_reply;

/* What happens to an index outside its axis. */
enum {
    GATHERSPEC_BAD_INDEX_ERROR = 1,
    GATHERSPEC_BAD_INDEX_ZERO = 2,  /* the slice of its row is zero */
    GATHERSPEC_BAD_INDEX_CLAMP = 3, /* each component moves to the nearest end of its axis */
    GATHERSPEC_BAD_INDEX_UNSPECIFIED = 4
};

/* What a negative index means. */
enum {
    GATHERSPEC_NEGATIVE_INDEX_REJECT = 1, /* it is a bad index */
    GATHERSPEC_NEGATIVE_INDEX_WRAP = 2    /* it counts from the end of its axis */
};

/* What the library does not accept. Calls outside these limits are not made, but for one just outside each, which the library
 * may refuse or answer right. A 0 is no limit. */
typedef struct gatherspec_limits {
    uint32_t max_rank; /* the highest rank of params, of indices and of the output */
    uint32_t no_scalars; /* 1: params, indices and the output have a dim */
    uint32_t no_empty;   /* 1: params, indices and the output have an element */
    uint64_t max_elements; /* the most elements of params, of indices and of the output */
    uint64_t max_output_bytes; /* the largest output; a string counts 16 bytes */
    const int64_t *axes; /* the accepted values of the axis, as a call passes it or by default */
    uint64_t axis_count;
    const char *const *without_attributes; /* the attributes that no call passes */
    uint64_t without_attribute_count;
} gatherspec_limits;

/* What the library can do of one operator. What stands after `index_dtype_count` may be left 0. */
typedef struct gatherspec_operator {
    const char *name; /* such as "tf.gather_nd" */
    uint32_t bad;
    uint32_t negative;
    const uint32_t *dtypes; /* of params */
    uint64_t dtype_count;
    const uint32_t *index_dtypes;
    uint64_t index_dtype_count;
    const gatherspec_limits *limits; /* null: none */
    const uint32_t *more_dtypes;     /* dtypes of params that the library takes and the operator's page does not list */
    uint64_t more_dtype_count;
    const uint32_t *more_index_dtypes;
    uint64_t more_index_dtype_count;
    const char *const *variants; /* ways to make a call, such as "operands=transposed" or "indices=constant": see PROTOCOL.md */
    uint64_t variant_count;
} gatherspec_operator;

/* Who the library is, and what it can do. */
typedef struct gatherspec_description {
    const char *name;
    const char *version;
    const char *language;
    const gatherspec_operator *operators;
    uint64_t operator_count;
} gatherspec_description;

#if defined(_WIN32)
#define GATHERSPEC_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define GATHERSPEC_EXPORT __attribute__((visibility("default")))
#else
#define GATHERSPEC_EXPORT
#endif

/* Returns GATHERSPEC_ABI. Called first; with another number nothing else is called. */
GATHERSPEC_EXPORT uint32_t gatherspec_abi(void);

/* Says who this is. Called once, before any call. */
GATHERSPEC_EXPORT const gatherspec_description *gatherspec_describe(void);

/* Answers a call by filling in the reply. */
GATHERSPEC_EXPORT void gatherspec_call(const gatherspec_call_args *call, gatherspec_reply *reply);

/* Frees what a reply points to. Called once for every gatherspec_call, with the reply as that call left it. */
GATHERSPEC_EXPORT void gatherspec_release(gatherspec_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
