/* `tf.gather_nd` for one dtype of params and one of indices, which PARAMS, SIZE, INDICES and INDEX say; right, or with
 * one bug: BoundsOffByOne, BatchIgnored or LastComponentUnchecked. */

#include "gatherspec.h"

#include <stdlib.h>
#include <string.h>

#define MOST (1 << 20)

static const uint32_t DTYPES[] = {PARAMS}, INDEX_DTYPES[] = {INDICES};
static const gatherspec_operator OPERATOR = {
    .name = "tf.gather_nd",
    .bad = GATHERSPEC_BAD_INDEX_ERROR,
    .negative = GATHERSPEC_NEGATIVE_INDEX_REJECT,
    .dtypes = DTYPES,
    .dtype_count = 1,
    .index_dtypes = INDEX_DTYPES,
    .index_dtype_count = 1,
};
static const gatherspec_description DESCRIPTION = {"narrow", "1", "C", &OPERATOR, 1};

/* An output: its shape, and then its bytes. */
typedef struct output {
    int64_t shape[GATHERSPEC_MAX_RANK];
    unsigned char bytes[];
} output;

uint32_t gatherspec_abi(void) {
    return GATHERSPEC_ABI;
}

const gatherspec_description *gatherspec_describe(void) {
    return &DESCRIPTION;
}

static void refuse(gatherspec_reply *reply, uint32_t status, const char *message) {
    reply->status = status;
    reply->message = message;
}

/* The product of dims, or -1 if the non-zero ones exceed 2^63 - 1 bytes. */
static int64_t count(const int64_t *dims, int64_t rank) {
    int64_t product = 1, empty = 0;
    for (int64_t axis = 0; axis < rank; axis++) {
        if (dims[axis] == 0) empty = 1;
        else if (product > INT64_MAX / SIZE / dims[axis]) return -1;
        else product *= dims[axis];
    }
    return empty ? 0 : product;
}

/* The number of the slice that a row selects, or -1. */
static int64_t offset(int64_t batch, const INDEX *row, const int64_t *axes, int64_t depth) {
    int64_t at = batch;
    for (int64_t place = 0; place < depth; place++) {
        int64_t most = axes[place] - 1;
#ifdef BoundsOffByOne
        most++;
#endif
        int checked = 1;
#ifdef LastComponentUnchecked
        checked = place + 1 < depth;
#endif
        if (checked && (row[place] < 0 || row[place] > most)) return -1;
        at = (int64_t)((uint64_t)at * (uint64_t)axes[place] + (uint64_t)row[place]);
    }
    return at < 0 ? MOST : at;
}

void gatherspec_call(const gatherspec_call_args *call, gatherspec_reply *reply) {
    const gatherspec_tensor *params = &call->operands[0].tensor, *indices = &call->operands[1].tensor;
    if (params->dtype != PARAMS || indices->dtype != INDICES)
        return refuse(reply, GATHERSPEC_UNSUPPORTED, "another dtype");
    if (indices->rank == 0) return refuse(reply, GATHERSPEC_ERROR, "indices is a scalar");
    int64_t r = params->rank, q = indices->rank, depth = indices->shape[q - 1], b = 0;
    if (call->attribute_count > 0) b = call->attributes[0].integer;
    if (b < 0 || b >= q || b > r || depth > r - b) return refuse(reply, GATHERSPEC_ERROR, "the ranks do not fit");
    for (int64_t axis = 0; axis < b; axis++) {
        if (params->shape[axis] != indices->shape[axis]) return refuse(reply, GATHERSPEC_ERROR, "the batch differs");
    }

    int64_t shape[GATHERSPEC_MAX_RANK * 2], rank = q - 1;
    memcpy(shape, indices->shape, (size_t)rank * sizeof *shape);
    for (int64_t axis = b + depth; axis < r; axis++) shape[rank++] = params->shape[axis];
    int64_t elements = count(shape, rank), length = count(params->shape + b + depth, r - b - depth);
    if (elements < 0 || elements > MOST || rank > GATHERSPEC_MAX_RANK)
        return refuse(reply, GATHERSPEC_ERROR, "the output is too large");

    /* Rows without components have nothing to check; without elements, there is nothing to copy either. */
    int64_t rows = depth > 0 || elements > 0 ? count(indices->shape, q - 1) : 0;
    int64_t batches = count(params->shape, b), stored = count(params->shape, r);
    output *made = malloc(sizeof *made + (size_t)(elements * SIZE) + 1);
    if (made == NULL) return refuse(reply, GATHERSPEC_UNSUPPORTED, "no memory");
    for (int64_t row = 0; row < rows; row++) {
        int64_t batch = row / (rows / batches);
#ifdef BatchIgnored
        batch = 0;
#endif
        int64_t at = offset(batch, (const INDEX *)indices->data + row * depth, params->shape + b, depth);
        if (at < 0) {
            free(made);
            return refuse(reply, GATHERSPEC_ERROR, "an index is out of range");
        }
        /* What a bug lets through reads as zeros here, not as whatever lies behind params. */
        unsigned char *slice = made->bytes + row * length * SIZE;
        if (length > 0 && at < stored / length) memcpy(slice, (const char *)params->data + at * length * SIZE, (size_t)(length * SIZE));
        else memset(slice, 0, (size_t)(length * SIZE));
    }
    memcpy(made->shape, shape, (size_t)rank * sizeof *shape);
    reply->status = GATHERSPEC_OUTPUT;
    reply->output = (gatherspec_tensor){.dtype = PARAMS, .rank = (uint32_t)rank, .shape = made->shape, .data = made->bytes};
    reply->owner = made;
}

void gatherspec_release(gatherspec_reply *reply) {
    free(reply->owner);
}
