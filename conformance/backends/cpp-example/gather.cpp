// A small library in C++ to start from: one operator, one dtype pair. conformance/C.md builds and runs it.
#include "gatherspec.h"

#include <new>
#include <vector>

using Dims = std::vector<int64_t>;

// The strides of a tensor, in elements.
static Dims strides_of(const gatherspec_tensor &tensor) {
    if (tensor.strides != nullptr) return Dims(tensor.strides, tensor.strides + tensor.rank);
    Dims strides(tensor.rank, 1);
    for (uint32_t axis = tensor.rank; axis > 1; axis--) {
        strides[axis - 2] = strides[axis - 1] * (tensor.shape[axis - 1] > 0 ? tensor.shape[axis - 1] : 1);
    }
    return strides;
}

// Where the element lies that is the `at`-th, in row-major order, of the axes from `first` to `last`.
static int64_t offset_of(int64_t at, const int64_t *shape, const Dims &strides, int64_t first, int64_t last) {
    int64_t offset = 0;
    for (int64_t axis = last - 1; axis >= first; at /= shape[axis], axis--) offset += at % shape[axis] * strides[axis];
    return offset;
}

// The kernel under test: slices of `params`, one for each index vector of `depth` components. Yours takes its place.
static bool gather_nd(const gatherspec_tensor &params, const gatherspec_tensor &indices, int64_t depth, int64_t rows,
                      int64_t slice, float *output) {
    if (depth == 0 && slice == 0) return true; // there may be 2^40 such rows
    const Dims of_params = strides_of(params), of_indices = strides_of(indices);
    const int64_t q = indices.rank;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t first = offset_of(row, indices.shape, of_indices, 0, q - 1);
        int64_t start = 0;
        for (int64_t axis = 0; axis < depth; axis++) {
            int64_t index = static_cast<const int64_t *>(indices.data)[first + axis * of_indices[q - 1]];
            if (index < 0 || index >= params.shape[axis]) return false;
            start += index * of_params[axis];
        }
        for (int64_t at = 0; at < slice; at++) {
            int64_t offset = start + offset_of(at, params.shape, of_params, depth, params.rank);
            *output++ = static_cast<const float *>(params.data)[offset];
        }
    }
    return true;
}

// What the library has: paddle.gather_nd of f32 params by i64 indices, where a bad or negative index is an error, of operands in
// any layout.
static const uint32_t DTYPES[] = {GATHERSPEC_F32}, INDEX_DTYPES[] = {GATHERSPEC_I64};
static const char *const VARIANTS[] = {"operands=transposed", "operands=offset", "operands=reversed", "operands=stride-0"};
static const gatherspec_operator OPERATORS[] = {{"paddle.gather_nd", GATHERSPEC_BAD_INDEX_ERROR,
                                                 GATHERSPEC_NEGATIVE_INDEX_REJECT, DTYPES, 1, INDEX_DTYPES, 1,
                                                 nullptr, nullptr, 0, nullptr, 0, VARIANTS, 4}};
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
    int64_t rows = 1, slice = 1;
    for (uint32_t axis = 0; axis + 1 < indices.rank; axis++) rows *= indices.shape[axis];
    for (uint32_t axis = depth; axis < params.rank; axis++) slice *= params.shape[axis];
    output->data.resize(rows * slice);
    if (!gather_nd(params, indices, depth, rows, slice, output->data.data())) {
        return end(reply, GATHERSPEC_ERROR, "an index is out of range");
    }
    reply->status = GATHERSPEC_OUTPUT;
    reply->output = {GATHERSPEC_F32, static_cast<uint32_t>(output->shape.size()), output->shape.data(),
                     output->data.data(), nullptr};
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
