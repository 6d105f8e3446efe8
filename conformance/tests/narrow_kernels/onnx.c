/* Gather, GatherElements and GatherND of ONNX for floats by 64-bit indices, tensors of rank 1 to 4 that have elements; right,
 *  or with one bug: BelowAccepted, BatchStride, IndexIn32Bits, TailCut, IndicesStride or OverRead.
 * With Variants it declares ways to make a call, and has these bugs, too: StridesIgnored and ConstantIndex. */

#include "gatherspec.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RANK 4
#define MOST (1 << 24)

static const uint32_t DTYPES[] = {GATHERSPEC_F32}, INDEX_DTYPES[] = {GATHERSPEC_I64};
#ifdef Variants
static const char *const VARIANTS[] = {"operands=transposed", "operands=offset",   "operands=reversed",
                                       "operands=stride-0",   "operands=constant", "execution=compiled"};
#define VARIANT_COUNT 6
#else
#define VARIANTS NULL
#define VARIANT_COUNT 0
#endif
static const gatherspec_limits LIMITS = {.max_rank = MAX_RANK, .no_scalars = 1, .no_empty = 1};
#define OPERATOR(NAME)                                                                                                 \
    {.name = NAME,                                                                                                     \
     .bad = GATHERSPEC_BAD_INDEX_ERROR,                                                                                \
     .negative = GATHERSPEC_NEGATIVE_INDEX_WRAP,                                                                       \
     .dtypes = DTYPES,                                                                                                 \
     .dtype_count = 1,                                                                                                 \
     .index_dtypes = INDEX_DTYPES,                                                                                     \
     .index_dtype_count = 1,                                                                                           \
     .limits = &LIMITS,                                                                                                \
     .variants = VARIANTS,                                                                                             \
     .variant_count = VARIANT_COUNT}
static const gatherspec_operator OPERATORS[] = {OPERATOR("onnx.Gather-13"), OPERATOR("onnx.GatherElements-13"),
                                                OPERATOR("onnx.GatherND-13")};
static const gatherspec_description DESCRIPTION = {"onnx-floats", "1", "C", OPERATORS, 3};

typedef struct output {
    int64_t shape[MAX_RANK];
    float data[];
} output;

uint32_t gatherspec_abi(void) {
    return GATHERSPEC_ABI;
}

const gatherspec_description *gatherspec_describe(void) {
    return &DESCRIPTION;
}

void gatherspec_release(gatherspec_reply *reply) {
    free(reply->owner);
}

static void refuse(gatherspec_reply *reply, const char *message) {
    reply->status = GATHERSPEC_ERROR;
    reply->message = message;
}

/* The product of dims, or MOST + 1 if it is larger. */
static int64_t count(const int64_t *dims, int64_t rank) {
    int64_t product = 1;
    for (int64_t axis = 0; axis < rank; axis++) {
        if (dims[axis] == 0) return 0;
        product = product > MOST / dims[axis] ? MOST + 1 : product * dims[axis];
    }
    return product;
}

/* The place of an index on an axis, or -1. */
static int64_t place(int64_t index, int64_t size) {
    int64_t least = -size;
#ifdef IndexIn32Bits
    index = (int32_t)index;
#endif
#ifdef BelowAccepted
    least--;
#endif
    if (index < least || index >= size) return -1;
    int64_t at = index < 0 ? index + size : index;
    return at < 0 ? 0 : at;
}

static void copy(float *to, const float *from, int64_t length) {
#ifdef TailCut
    if (length > 4) length = length / 4 * 4;
#endif
    memcpy(to, from, (size_t)length * sizeof *to);
#ifdef OverRead
    volatile char beyond = ((const volatile char *)(from + length))[14];
    (void)beyond;
#endif
}

/* An output of a shape; null, with a refusal, if it is beyond the limits. */
static output *make(gatherspec_reply *reply, const int64_t *shape, int64_t rank) {
    int64_t elements = count(shape, rank);
    output *made = NULL;
    if (rank == 0 || rank > MAX_RANK || elements == 0 || elements > MOST) refuse(reply, "beyond the limits");
    else if ((made = calloc(1, sizeof *made + (size_t)elements * sizeof(float))) == NULL) refuse(reply, "no memory");
    if (made == NULL) return NULL;
    memcpy(made->shape, shape, (size_t)rank * sizeof *shape);
    reply->owner = made;
    reply->status = GATHERSPEC_OUTPUT;
    reply->output = (gatherspec_tensor){GATHERSPEC_F32, (uint32_t)rank, made->shape, made->data, NULL};
    return made;
}

static void gather(const gatherspec_tensor *data, const gatherspec_tensor *indices, int64_t axis, gatherspec_reply *reply) {
    const int64_t *rows = indices->data;
    int64_t r = data->rank, q = indices->rank, shape[2 * MAX_RANK];
    if (axis < -r || axis >= r) return refuse(reply, "axis");
    if (axis < 0) axis += r;
    memcpy(shape, data->shape, (size_t)axis * sizeof *shape);
    memcpy(shape + axis, indices->shape, (size_t)q * sizeof *shape);
    memcpy(shape + axis + q, data->shape + axis + 1, (size_t)(r - axis - 1) * sizeof *shape);
    int64_t outer = count(data->shape, axis), bound = data->shape[axis], length = count(data->shape + axis + 1, r - axis - 1);
    int64_t number = count(indices->shape, q);
    output *made = make(reply, shape, r + q - 1);
    if (made == NULL) return;
    for (int64_t at = 0; at < outer * number; at++) {
        int64_t index = place(rows[at % number], bound);
        if (index < 0) return refuse(reply, "an index is out of range");
        copy(made->data + at * length, (const float *)data->data + (at / number * bound + index) * length, length);
    }
}

static void gather_elements(const gatherspec_tensor *data, const gatherspec_tensor *indices, int64_t axis,
                            gatherspec_reply *reply) {
    int64_t r = data->rank;
    if (indices->rank != data->rank) return refuse(reply, "the ranks differ");
    if (axis < -r || axis >= r) return refuse(reply, "axis");
    if (axis < 0) axis += r;
    for (int64_t other = 0; other < r; other++) {
        if (other != axis && indices->shape[other] > data->shape[other]) return refuse(reply, "indices are too large");
    }
    output *made = make(reply, indices->shape, r);
    if (made == NULL) return;
    for (int64_t at = 0, number = count(indices->shape, r); at < number; at++) {
        int64_t from = 0, rest = at, stride = 1;
        for (int64_t dim = r - 1; dim >= 0; dim--) {
            int64_t position = rest % indices->shape[dim];
            rest /= indices->shape[dim];
            if (dim == axis) position = place(((const int64_t *)indices->data)[at], data->shape[dim]);
            if (position < 0) return refuse(reply, "an index is out of range");
            from += position * stride;
#ifdef IndicesStride
            stride *= indices->shape[dim];
#else
            stride *= data->shape[dim];
#endif
        }
        made->data[at] = ((const float *)data->data)[from];
    }
}

static void gather_nd(const gatherspec_tensor *data, const gatherspec_tensor *indices, int64_t b, gatherspec_reply *reply) {
    int64_t r = data->rank, q = indices->rank, depth = indices->shape[q - 1], shape[2 * MAX_RANK];
    if (b < 0 || b >= q || b >= r || depth > r - b) return refuse(reply, "the ranks do not fit");
    if (memcmp(data->shape, indices->shape, (size_t)b * sizeof *shape) != 0) return refuse(reply, "the batch differs");
    memcpy(shape, indices->shape, (size_t)(q - 1) * sizeof *shape);
    memcpy(shape + q - 1, data->shape + b + depth, (size_t)(r - b - depth) * sizeof *shape);
    int64_t rows = count(indices->shape, q - 1), batches = count(data->shape, b);
    int64_t length = count(data->shape + b + depth, r - b - depth), stride = count(data->shape + b, r - b);
#ifdef BatchStride
    stride = count(data->shape + b, depth);
#endif
    output *made = make(reply, shape, q - 1 + r - b - depth);
    if (made == NULL) return;
    for (int64_t row = 0; row < rows; row++) {
        int64_t from = 0;
        for (int64_t component = 0; component < depth; component++) {
            int64_t size = data->shape[b + component];
            int64_t index = place(((const int64_t *)indices->data)[row * depth + component], size);
            if (index < 0) return refuse(reply, "an index is out of range");
            from = from * size + index;
        }
        from = from * length + row / (rows / batches) * stride;
        copy(made->data + row * length, (const float *)data->data + from, length);
    }
}

/* Makes an operand row-major. Its elements are moved to memory that is freed with the process. */
static const gatherspec_tensor *dense(const gatherspec_tensor *tensor, gatherspec_tensor *made, size_t size) {
    *made = *tensor;
#ifndef StridesIgnored
    if (tensor->strides != NULL) {
        char *to = malloc((size_t)count(tensor->shape, tensor->rank) * size);
        made->data = to;
        int64_t position[MAX_RANK] = {0};
        for (int64_t left = count(tensor->shape, tensor->rank); left > 0; left--, to += size) {
            int64_t from = 0;
            for (uint32_t dim = 0; dim < tensor->rank; dim++) from += position[dim] * tensor->strides[dim];
            memcpy(to, (const char *)tensor->data + from * (int64_t)size, size);
            for (int64_t dim = tensor->rank - 1; dim >= 0 && ++position[dim] == tensor->shape[dim]; dim--) position[dim] = 0;
        }
    }
#else
    (void)size;
#endif
    return made;
}

void gatherspec_call(const gatherspec_call_args *call, gatherspec_reply *reply) {
    const gatherspec_tensor *data = &call->operands[0].tensor, *indices = &call->operands[1].tensor;
    gatherspec_tensor made[2];
    int64_t attribute = call->attribute_count > 0 ? call->attributes[0].integer : 0;
    if (data->dtype != GATHERSPEC_F32 || indices->dtype != GATHERSPEC_I64) return refuse(reply, "another dtype");
    int64_t least = data->rank < indices->rank ? data->rank : indices->rank;
    int64_t most = data->rank < indices->rank ? indices->rank : data->rank;
    if (least == 0 || most > MAX_RANK || count(data->shape, data->rank) == 0 || count(indices->shape, indices->rank) == 0)
        return refuse(reply, "beyond the limits");
    data = dense(data, &made[0], sizeof(float));
    indices = dense(indices, &made[1], sizeof(int64_t));
    if (strcmp(call->operator_name, "onnx.Gather-13") == 0) gather(data, indices, attribute, reply);
    else if (strcmp(call->operator_name, "onnx.GatherElements-13") == 0) gather_elements(data, indices, attribute, reply);
    else gather_nd(data, indices, attribute, reply);
#ifdef ConstantIndex
    if (reply->status == GATHERSPEC_OUTPUT && call->variant != NULL && strstr(call->variant, "indices=constant"))
        ((float *)reply->owner)[sizeof(output) / sizeof(float)] += 1;
#endif
}
