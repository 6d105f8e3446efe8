/* The four operators of the suite in plain C, as a library for `gatherspec run --library ./libgather.so`.
 *
 * An example to start from: each check returns the code that the clauses give it, in their order, and the two loops at
 * the heart, `gather_nd` and `gather`, copy slices. What stands around them is the interface of gatherspec.h. */

#include "gatherspec.h"

#include <stdlib.h>
#include <string.h>

/* What a reply's owner is: the memory of an output. */
typedef struct output {
    int64_t shape[GATHERSPEC_MAX_RANK];
    uint32_t rank;
    unsigned char *data;
    uint8_t *bytes; /* of strings */
} output;

/* ---- dtypes ---- */

static const uint32_t ALL[] = {
    GATHERSPEC_BOOL, GATHERSPEC_I8,   GATHERSPEC_U8,  GATHERSPEC_I16, GATHERSPEC_U16, GATHERSPEC_I32,
    GATHERSPEC_U32,  GATHERSPEC_I64,  GATHERSPEC_U64, GATHERSPEC_F16, GATHERSPEC_BF16, GATHERSPEC_F32,
    GATHERSPEC_F64,  GATHERSPEC_C64,  GATHERSPEC_C128, GATHERSPEC_STRING,
};
static const uint32_t OF_PADDLE[] = {
    GATHERSPEC_BOOL, GATHERSPEC_I32, GATHERSPEC_I64, GATHERSPEC_F32, GATHERSPEC_F64,
};
static const uint32_t INDICES[] = {GATHERSPEC_I32, GATHERSPEC_I64, GATHERSPEC_I16};

static int64_t element_size(uint32_t dtype) {
    static const int64_t SIZES[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16, sizeof(gatherspec_string)};
    return SIZES[dtype];
}

static int is_listed(uint32_t dtype, const uint32_t *dtypes, uint64_t count) {
    for (uint64_t at = 0; at < count; at++) {
        if (dtypes[at] == dtype) return 1;
    }
    return 0;
}

static int64_t index_at(const gatherspec_tensor *indices, int64_t at) {
    switch (indices->dtype) {
    case GATHERSPEC_I16: return ((const int16_t *)indices->data)[at];
    case GATHERSPEC_I32: return ((const int32_t *)indices->data)[at];
    default: return ((const int64_t *)indices->data)[at];
    }
}

/* ---- replies ---- */

/* Both give 0, which says that there is no output. */
static int refuse(gatherspec_reply *reply, const char *code, const char *message) {
    reply->status = GATHERSPEC_ERROR;
    reply->code = code;
    reply->message = message;
    return 0;
}

static int unsupported(gatherspec_reply *reply, const char *why) {
    reply->status = GATHERSPEC_UNSUPPORTED;
    reply->message = why;
    return 0;
}

/* ---- shapes: a dim of 0 must not hide dims whose product overflows ---- */

/* The product of dims; none of the dims of an output that was checked overflows it. */
static int64_t product(const int64_t *dims, int64_t count) {
    int64_t product = 1;
    for (int64_t at = 0; at < count; at++) {
        if (dims[at] == 0) return 0;
        product *= dims[at];
    }
    return product;
}

/* Whether the non-zero dims times the element size are at most 2^63 - 1. */
static int is_in_reach(const output *output, uint32_t dtype) {
    int64_t bytes = element_size(dtype);
    for (uint32_t axis = 0; axis < output->rank; axis++) {
        int64_t dim = output->shape[axis];
        if (dim != 0 && bytes > INT64_MAX / dim) return 0;
        if (dim != 0) bytes *= dim;
    }
    return 1;
}

/* Adds dims to the shape of an output; 0 if that makes too many. */
static int add_dims(output *output, const int64_t *dims, int64_t count) {
    if (output->rank + count > GATHERSPEC_MAX_RANK) return 0;
    for (int64_t at = 0; at < count; at++) output->shape[output->rank++] = dims[at];
    return 1;
}

/* Memory for an output that was checked; 0 if there is none. */
static int allocate(output *output, uint32_t dtype) {
    int64_t bytes = product(output->shape, output->rank) * element_size(dtype);
    output->data = malloc(bytes > 0 ? (size_t)bytes : 1);
    return output->data != NULL;
}

static int same_batch(const gatherspec_tensor *params, const gatherspec_tensor *indices, int64_t batch_dims) {
    for (int64_t axis = 0; axis < batch_dims; axis++) {
        if (params->shape[axis] != indices->shape[axis]) return 0;
    }
    return 1;
}

/* ---- the operators: 1 if the output is made, 0 if the reply says why not ---- */

static int gather_nd(const gatherspec_tensor *params, const gatherspec_tensor *indices, int64_t batch_dims,
                     output *output, gatherspec_reply *reply) {
    int64_t r = params->rank, q = indices->rank, size = element_size(params->dtype);
    if (q == 0) return refuse(reply, "indices-rank", "indices has rank 0");
    if (batch_dims < 0 || batch_dims >= q || batch_dims > r)
        return refuse(reply, "batch-dims-out-of-range", "batch_dims must be in [0, rank(indices)) and within params");
    if (!same_batch(params, indices, batch_dims))
        return refuse(reply, "batch-shape-mismatch", "the batch dims of params and indices differ");
    int64_t depth = indices->shape[q - 1];
    if (depth > r - batch_dims)
        return refuse(reply, "index-depth", "the index vectors are longer than params has dims");

    const int64_t *bounds = params->shape + batch_dims, *slice_shape = bounds + depth;
    if (!add_dims(output, indices->shape, q - 1) || !add_dims(output, slice_shape, r - batch_dims - depth))
        return unsupported(reply, "the output would have more than 64 dims");
    if (!is_in_reach(output, params->dtype))
        return refuse(reply, "output-too-large", "the output would exceed 2^63 - 1 bytes");
    if (!allocate(output, params->dtype)) return unsupported(reply, "no memory for the output");

    int64_t slice = product(slice_shape, r - batch_dims - depth) * size;
    int64_t batches = product(indices->shape, batch_dims);
    int64_t rows = product(indices->shape + batch_dims, q - 1 - batch_dims);
    /* Without components there is nothing to check, so that an output without elements is complete. */
    if (depth == 0 && slice == 0) return 1;
    int64_t block = product(bounds, depth) * slice; /* of one batch, in bytes */
    for (int64_t batch = 0; batch < batches; batch++) {
        for (int64_t row = 0; row < rows; row++) {
            int64_t place = batch * rows + row, offset = 0;
            for (int64_t component = 0; component < depth; component++) {
                int64_t index = index_at(indices, place * depth + component);
                if (index < 0 || index >= bounds[component])
                    return refuse(reply, "index-out-of-range", "an index is outside its axis");
                offset = offset * bounds[component] + index;
            }
            if (slice > 0)
                memcpy(output->data + place * slice,
                       (const unsigned char *)params->data + batch * block + offset * slice, (size_t)slice);
        }
    }
    return 1;
}

static int gather(const gatherspec_tensor *params, const gatherspec_tensor *indices, const int64_t *given_axis,
                  int64_t batch_dims, output *output, gatherspec_reply *reply) {
    int64_t r = params->rank, q = indices->rank, size = element_size(params->dtype);
    if (r == 0) return refuse(reply, "params-rank", "params has rank 0");
    if (batch_dims < -q || batch_dims > q)
        return refuse(reply, "batch-dims-out-of-range", "batch_dims must be in [-rank(indices), rank(indices)]");
    if (batch_dims < 0) batch_dims += q;
    int64_t axis = given_axis != NULL ? *given_axis : batch_dims;
    if (axis < -r || axis >= r)
        return refuse(reply, "axis-out-of-range", "axis must be in [-rank(params), rank(params))");
    if (axis < 0) axis += r;
    if (axis < batch_dims) return refuse(reply, "axis-before-batch", "axis must not lie in the batch");
    if (!same_batch(params, indices, batch_dims))
        return refuse(reply, "batch-shape-mismatch", "the batch dims of params and indices differ");

    if (!add_dims(output, params->shape, axis) || !add_dims(output, indices->shape + batch_dims, q - batch_dims) ||
        !add_dims(output, params->shape + axis + 1, r - axis - 1))
        return unsupported(reply, "the output would have more than 64 dims");
    if (!is_in_reach(output, params->dtype))
        return refuse(reply, "output-too-large", "the output would exceed 2^63 - 1 bytes");

    int64_t bound = params->shape[axis], checked = product(indices->shape, q);
    for (int64_t at = 0; at < checked; at++) {
        int64_t index = index_at(indices, at);
        if (index < 0 || index >= bound)
            return refuse(reply, "index-out-of-range", "an index is outside the axis");
    }
    if (!allocate(output, params->dtype)) return unsupported(reply, "no memory for the output");
    if (product(output->shape, output->rank) == 0) return 1;

    int64_t batches = product(params->shape, batch_dims);
    int64_t outers = product(params->shape + batch_dims, axis - batch_dims);
    int64_t count = product(indices->shape + batch_dims, q - batch_dims);
    int64_t inner = product(params->shape + axis + 1, r - axis - 1) * size;
    unsigned char *to = output->data;
    for (int64_t batch = 0; batch < batches; batch++) {
        for (int64_t outer = 0; outer < outers; outer++) {
            const unsigned char *from =
                (const unsigned char *)params->data + (batch * outers + outer) * bound * inner;
            for (int64_t at = 0; at < count; at++, to += inner)
                memcpy(to, from + index_at(indices, batch * count + at) * inner, (size_t)inner);
        }
    }
    return 1;
}

/* The bytes of strings are the caller's until the call returns: an output needs its own. */
static int own_strings(output *output) {
    int64_t count = product(output->shape, output->rank);
    gatherspec_string *strings = (gatherspec_string *)output->data;
    uint64_t total = 0;
    for (int64_t at = 0; at < count; at++) total += strings[at].length;
    uint8_t *bytes = output->bytes = malloc(total > 0 ? (size_t)total : 1);
    if (bytes == NULL) return 0;
    for (int64_t at = 0; at < count; at++) {
        if (strings[at].length > 0) memcpy(bytes, strings[at].data, (size_t)strings[at].length);
        strings[at].data = bytes;
        bytes += strings[at].length;
    }
    return 1;
}

static void free_output(output *output) {
    if (output == NULL) return;
    free(output->data);
    free(output->bytes);
    free(output);
}

/* ---- the interface ---- */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OPERATOR(name_, dtypes_, index_dtypes_)                                                                       \
    {.name = name_, .bad = GATHERSPEC_BAD_INDEX_ERROR, .negative = GATHERSPEC_NEGATIVE_INDEX_REJECT, .dtypes = dtypes_,       \
     .dtype_count = COUNT(dtypes_), .index_dtypes = INDICES, .index_dtype_count = index_dtypes_}

static const gatherspec_operator OPERATORS[] = {
    OPERATOR("tf.gather_nd", ALL, 2),
    OPERATOR("tf.raw_ops.GatherNd", ALL, 3),
    OPERATOR("paddle.gather_nd", OF_PADDLE, 2),
    OPERATOR("tf.gather", ALL, 2),
};
static const gatherspec_description DESCRIPTION = {"c-example", "1.0", "C", OPERATORS, COUNT(OPERATORS)};

uint32_t gatherspec_abi(void) {
    return GATHERSPEC_ABI;
}

const gatherspec_description *gatherspec_describe(void) {
    return &DESCRIPTION;
}

/* The operand of a name, which every call of an operator has. */
static const gatherspec_tensor *operand(const gatherspec_call_args *call, const char *name) {
    for (uint64_t at = 0; at < call->operand_count; at++) {
        if (strcmp(call->operands[at].name, name) == 0) return &call->operands[at].tensor;
    }
    return NULL;
}

static int answer(const gatherspec_call_args *call, const gatherspec_tensor *params,
                  const gatherspec_tensor *indices, output *output, gatherspec_reply *reply) {
    const gatherspec_operator *operator = NULL;
    for (size_t at = 0; at < COUNT(OPERATORS); at++) {
        if (strcmp(call->operator_name, OPERATORS[at].name) == 0) operator = &OPERATORS[at];
    }
    if (operator == NULL) return unsupported(reply, "an unknown operator");
    if (params == NULL || indices == NULL) return unsupported(reply, "an operand is missing");
    if (!is_listed(params->dtype, operator->dtypes, operator->dtype_count) ||
        !is_listed(indices->dtype, operator->index_dtypes, operator->index_dtype_count))
        return unsupported(reply, "dtypes that are not declared");

    int is_gather = strcmp(operator->name, "tf.gather") == 0, has_batch = is_gather || operator == &OPERATORS[0];
    int64_t batch_dims = 0;
    const int64_t *axis = NULL;
    for (uint64_t at = 0; at < call->attribute_count; at++) {
        const gatherspec_attribute *attribute = &call->attributes[at];
        int is_integer = attribute->kind == GATHERSPEC_INTEGER, is_boolean = attribute->kind == GATHERSPEC_BOOLEAN;
        if (has_batch && is_integer && strcmp(attribute->name, "batch_dims") == 0)
            batch_dims = attribute->integer;
        else if (is_gather && is_integer && strcmp(attribute->name, "axis") == 0)
            axis = &attribute->integer;
        else if (!is_gather || !is_boolean || strcmp(attribute->name, "validate_indices") != 0)
            return unsupported(reply, "an unknown attribute");
    }

    int made = is_gather ? gather(params, indices, axis, batch_dims, output, reply)
                         : gather_nd(params, indices, batch_dims, output, reply);
    if (made && params->dtype == GATHERSPEC_STRING && !own_strings(output))
        return unsupported(reply, "no memory for the strings");
    return made;
}

void gatherspec_call(const gatherspec_call_args *call, gatherspec_reply *reply) {
    /* Paddle's page calls its operands input and index. */
    int is_paddle = strncmp(call->operator_name, "paddle.", 7) == 0;
    const gatherspec_tensor *params = operand(call, is_paddle ? "input" : "params");
    const gatherspec_tensor *indices = operand(call, is_paddle ? "index" : "indices");
    output *output = calloc(1, sizeof *output);
    if (output != NULL && answer(call, params, indices, output, reply)) {
        reply->status = GATHERSPEC_OUTPUT;
        reply->output = (gatherspec_tensor){
            .dtype = params->dtype, .rank = output->rank, .shape = output->shape, .data = output->data};
        reply->owner = output;
        return;
    }
    if (output == NULL) unsupported(reply, "no memory for the output");
    free_output(output);
}

void gatherspec_release(gatherspec_reply *reply) {
    free_output(reply->owner);
}
