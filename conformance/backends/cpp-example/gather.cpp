// A small library in C++ to start from: one operator, one dtype pair. conformance/C.md builds and runs it.
#include "gatherspec.h"

#include <cstring>
#include <new>
#include <vector>

// The kernel under test: rows of `params`, one for each index vector of `depth` components. Yours takes its place.
static bool gather_nd(const float *params, const int64_t *dims, int64_t depth, int64_t row_length,
                      const int64_t *indices, int64_t rows, float *output) {
    if (depth == 0 && row_length == 0) return true; // there may be 2^40 such rows
    for (int64_t row = 0; row < rows; row++) {
        int64_t start = 0;
        for (int64_t axis = 0; axis < depth; axis++) {
            int64_t index = indices[row * depth + axis];
            if (index < 0 || index >= dims[axis]) return false;
            start = start * dims[axis] + index;
        }
        if (row_length > 0) {
            std::memcpy(output + row * row_length, params + start * row_length, row_length * sizeof(float));
        }
    }
    return true;
}

// What the library has: paddle.gather_nd of f32 params by i64 indices, where a bad or negative index is an error.
static const uint32_t DTYPES[] = {GATHERSPEC_F32}, INDEX_DTYPES[] = {GATHERSPEC_I64};
static const gatherspec_operator OPERATORS[] = {{"paddle.gather_nd", GATHERSPEC_BAD_INDEX_ERROR,
                                                 GATHERSPEC_NEGATIVE_INDEX_REJECT, DTYPES, 1, INDEX_DTYPES, 1}};
static const gatherspec_description DESCRIPTION = {"mine", "1.0", "C++", OPERATORS, 1};

struct Output {
    std::vector<int64_t> shape;
    std::vector<float> data;
};

static void end(gatherspec_reply *reply, uint32_t status, const char *message) {
    reply->status = status;
    reply->message = message;
}

static void answer(const gatherspec_call_args *call, gatherspec_reply *reply) {
    const gatherspec_tensor &params = call->operands[0].tensor, &indices = call->operands[1].tensor;
    if (params.dtype != GATHERSPEC_F32 || indices.dtype != GATHERSPEC_I64) {
        return end(reply, GATHERSPEC_UNSUPPORTED, "f32 params and i64 indices only");
    }
    if (indices.rank < 2) return end(reply, GATHERSPEC_ERROR, "indices has fewer than two axes");
    const int64_t depth = indices.shape[indices.rank - 1];
    if (depth > params.rank) return end(reply, GATHERSPEC_ERROR, "an index vector is longer than params has axes");

    auto output = new Output;
    reply->owner = output; // gatherspec_release frees it, whatever happens below
    output->shape.assign(indices.shape, indices.shape + indices.rank - 1);
    output->shape.insert(output->shape.end(), params.shape + depth, params.shape + params.rank);
    int64_t bytes = sizeof(float); // of the output, if no dim were 0
    for (int64_t dim : output->shape) {
        if (dim > 0 && __builtin_mul_overflow(bytes, dim, &bytes)) {
            return end(reply, GATHERSPEC_ERROR, "the output is too large");
        }
    }
    int64_t rows = 1, row_length = 1;
    for (uint32_t axis = 0; axis + 1 < indices.rank; axis++) rows *= indices.shape[axis];
    for (uint32_t axis = depth; axis < params.rank; axis++) row_length *= params.shape[axis];
    output->data.resize(rows * row_length);
    if (!gather_nd(static_cast<const float *>(params.data), params.shape, depth, row_length,
                   static_cast<const int64_t *>(indices.data), rows, output->data.data())) {
        return end(reply, GATHERSPEC_ERROR, "an index is out of range");
    }
    reply->status = GATHERSPEC_OUTPUT;
    reply->output = {GATHERSPEC_F32, static_cast<uint32_t>(output->shape.size()), output->shape.data(),
                     output->data.data()};
}

extern "C" {
uint32_t gatherspec_abi(void) { return GATHERSPEC_ABI; }

const gatherspec_description *gatherspec_describe(void) { return &DESCRIPTION; }

void gatherspec_call(const gatherspec_call_args *call, gatherspec_reply *reply) {
    try {
        answer(call, reply);
    } catch (const std::bad_alloc &) {
        end(reply, GATHERSPEC_UNSUPPORTED, "no memory for the output"); // no exception may leave the library
    }
}

void gatherspec_release(gatherspec_reply *reply) { delete static_cast<Output *>(reply->owner); }
}
