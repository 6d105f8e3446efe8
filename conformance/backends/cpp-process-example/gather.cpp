// A backend of the gatherspec protocol, version 2, as a process in C++17 for Linux and macOS, without libraries:
//
//     c++ -O2 -std=c++17 -o gather gather.cpp
//     gatherspec run -- ./gather
//
// It declares one operator, three dtypes and one dtype of indices, as many kernels have. `gather_nd` is the kernel. The rest
// reads and writes the messages that PROTOCOL.md describes. A process can be run under a debugger, a sanitizer or valgrind;
// a shared library needs less code (../cpp-example).

#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using Dims = std::vector<int64_t>;

struct Refusal : std::runtime_error { using runtime_error::runtime_error; };     // an error of the operator
struct Unsupported : std::runtime_error { using runtime_error::runtime_error; }; // a call that this backend does not do

// ---- the kernel

static int64_t product(const Dims &dims, size_t first, size_t last) {
    int64_t all = 1;
    for (size_t axis = first; axis < last; axis++)
        if (dims[axis] == 0) return 0;
    for (size_t axis = first; axis < last; axis++)
        if (__builtin_mul_overflow(all, dims[axis], &all)) throw Refusal("the product of the dims exceeds 2^63 - 1");
    return all;
}

// The shape of the output: indices.shape[:-1] and then the dims of a slice of data.
static Dims output_shape(const Dims &data, const Dims &indices, int64_t batch_dims, int64_t size) {
    int64_t r = data.size(), q = indices.size();
    if (r == 0 || q == 0) throw Refusal("data and indices have at least one dim");
    if (batch_dims < 0 || batch_dims >= std::min(r, q)) throw Refusal("batch_dims is below both ranks");
    for (int64_t axis = 0; axis < batch_dims; axis++)
        if (data[axis] != indices[axis]) throw Refusal("the batch dims differ");
    int64_t depth = indices[q - 1];
    if (depth < 1 || depth > r - batch_dims) throw Refusal("the last dim of indices is not in [1, rank(data) - batch_dims]");
    Dims shape(indices.begin(), indices.end() - 1);
    shape.insert(shape.end(), data.begin() + batch_dims + depth, data.end());
    int64_t bytes = size;
    for (int64_t dim : shape)
        if (dim != 0 && __builtin_mul_overflow(bytes, dim, &bytes)) throw Refusal("the output exceeds 2^63 - 1 bytes");
    if (shape.size() > 64) throw Unsupported("an output of more than 64 dims");
    if (product(shape, 0, shape.size()) > (int64_t(1) << 27) / size) throw Unsupported("an output beyond 2^27 bytes");
    return shape;
}

static void gather_nd(const uint8_t *data, const Dims &dims, const int64_t *indices, const Dims &of_indices,
                      int64_t batch_dims, int64_t size, uint8_t *output) {
    size_t q = of_indices.size(), depth = of_indices[q - 1];
    int64_t slice = product(dims, batch_dims + depth, dims.size()) * size;
    int64_t batches = product(of_indices, 0, batch_dims), rows = product(of_indices, batch_dims, q - 1);
    if (batches == 0 || rows == 0) return;
    for (int64_t batch = 0; batch < batches; batch++) {
        for (int64_t row = 0; row < rows; row++, indices += depth) {
            int64_t at = batch;
            for (size_t component = 0; component < depth; component++) {
                int64_t bound = dims[batch_dims + component], index = indices[component];
                if (index < -bound || index >= bound) throw Refusal("an index is out of range");
                // Where a slice is empty, its offset may be anything.
                at = slice == 0 ? 0 : at * bound + (index < 0 ? index + bound : index);
            }
            if (slice > 0) std::memcpy(output, data + at * slice, slice);
            output += slice;
        }
    }
}

// ---- JSON: as much as the messages need

struct Json {
    std::string text; // of a string, a number, true, false or null
    std::vector<Json> items;
    std::map<std::string, Json> members;

    const Json *find(const std::string &name) const {
        auto found = members.find(name);
        return found == members.end() ? nullptr : &found->second;
    }
    const Json &at(const std::string &name) const { return members.at(name); }
    int64_t integer() const { return std::stoll(text); }
};

struct Reader {
    const char *at;

    void skip() { at += std::strspn(at, " \t\r\n"); }
    bool take(char wanted) { skip(); return *at == wanted ? at++, true : false; }

    Json value() {
        Json json;
        if (take('{')) {
            while (!take('}')) { take(','); std::string name = string(); take(':'); json.members[name] = value(); }
        } else if (take('[')) {
            while (!take(']')) { take(','); json.items.push_back(value()); }
        } else if (skip(), *at == '"') {
            json.text = string();
        } else {
            size_t length = std::strcspn(at, ",]} \t\r\n");
            json.text.assign(at, length);
            at += length;
        }
        return json;
    }

    // Names, dtypes, base64 and paths: of the escapes only those that a path may need.
    std::string string() {
        std::string text;
        if (!take('"')) throw std::runtime_error("a string is missing");
        for (; *at != '"'; at++) {
            if (*at == 0) throw std::runtime_error("a string does not end");
            text += *at == '\\' ? *++at : *at;
        }
        at++;
        return text;
    }
};

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static std::vector<uint8_t> decoded(const std::string &text) {
    std::vector<uint8_t> bytes;
    uint32_t bits = 0;
    int count = 0;
    for (char c : text) {
        const char *place = c == '=' ? nullptr : std::strchr(ALPHABET, c);
        if (place == nullptr) break;
        bits = bits << 6 | uint32_t(place - ALPHABET);
        count += 6;
        if (count >= 8) bytes.push_back(uint8_t(bits >> (count -= 8)));
    }
    return bytes;
}

static std::string encoded(const std::vector<uint8_t> &bytes) {
    std::string text;
    for (size_t at = 0; at < bytes.size(); at += 3) {
        uint32_t bits = bytes[at] << 16 | (at + 1 < bytes.size() ? bytes[at + 1] : 0) << 8 |
                        (at + 2 < bytes.size() ? bytes[at + 2] : 0);
        for (size_t digit = 0; digit < 4; digit++)
            text += at + digit > bytes.size() ? '=' : ALPHABET[bits >> (18 - 6 * digit) & 63];
    }
    return text;
}

// ---- tensors of a call

static const std::map<std::string, int64_t> SIZES = {{"u8", 1}, {"f32", 4}, {"i64", 8}};

struct Tensor {
    std::string dtype;
    Dims shape;
    std::vector<uint8_t> bytes; // if the message holds them
    void *mapped = MAP_FAILED;  // if a file does
    size_t length = 0, skipped = 0;

    explicit Tensor(const Json &json) : dtype(json.at("dtype").text) {
        for (const Json &dim : json.at("shape").items) shape.push_back(dim.integer());
        if (SIZES.count(dtype) == 0) return;
        const Json *file = json.find("file");
        if (file == nullptr) {
            bytes = decoded(json.at("data").text);
            return;
        }
        int64_t offset = json.at("offset").integer(), page = sysconf(_SC_PAGESIZE);
        skipped = offset % page;
        length = product(shape, 0, shape.size()) * SIZES.at(dtype) + skipped;
        int descriptor = open(file->text.c_str(), O_RDONLY);
        if (length > skipped) mapped = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, offset - skipped);
        if (descriptor >= 0) close(descriptor);
        if (length > skipped && mapped == MAP_FAILED) throw std::runtime_error("a file cannot be mapped: " + file->text);
    }
    Tensor(const Tensor &) = delete;
    ~Tensor() { if (mapped != MAP_FAILED) munmap(mapped, length); }

    const uint8_t *data() const {
        return mapped == MAP_FAILED ? bytes.data() : static_cast<const uint8_t *>(mapped) + skipped;
    }
};

static std::string called(const Json &message) {
    if (message.at("operator").text != "onnx.GatherND-13") throw Unsupported("no such operator");
    Tensor data(message.at("operands").at("data")), indices(message.at("operands").at("indices"));
    if (SIZES.count(data.dtype) == 0 || indices.dtype != "i64") throw Unsupported("a dtype that is not declared");
    int64_t batch_dims = 0, size = SIZES.at(data.dtype);
    for (const auto &attribute : message.at("attributes").members) {
        if (attribute.first != "batch_dims") throw Unsupported("no such attribute: " + attribute.first);
        batch_dims = attribute.second.integer();
    }
    Dims shape = output_shape(data.shape, indices.shape, batch_dims, size);
    std::vector<uint8_t> output(product(shape, 0, shape.size()) * size);
    gather_nd(data.data(), data.shape, reinterpret_cast<const int64_t *>(indices.data()), indices.shape, batch_dims, size,
              output.data());
    std::string dims;
    for (int64_t dim : shape) dims += (dims.empty() ? "" : ",") + std::to_string(dim);
    return R"("output":{"dtype":")" + data.dtype + R"(","shape":[)" + dims + R"(],"data":")" + encoded(output) + "\"}";
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        Json message = Reader{line.c_str()}.value();
        const std::string &command = message.at("cmd").text;
        if (command == "stop") return 0;
        if (command == "start") {
            std::cout << R"({"protocol":2,"backend":{"name":"cpp-process-example","version":"1.0","language":"C++"},)"
                      << R"("operators":{"onnx.GatherND-13":{"profile":{"bad":"error","negative":"wrap"},"dtypes":["f32","i64","u8"],"index_dtypes":["i64"]}}})"
                      << std::endl;
            continue;
        }
        std::string reply;
        try {
            if (command != "call") throw Unsupported("no such command: " + command);
            reply = called(message);
        } catch (const Refusal &refusal) {
            // Without a code: any error satisfies an expected one, and the report says so.
            reply = R"("error":{"message":")" + std::string(refusal.what()) + "\"}";
        } catch (const Unsupported &why) {
            reply = R"("unsupported":")" + std::string(why.what()) + "\"";
        }
        std::cout << R"({"seq":)" << message.at("seq").text << "," << reply << "}" << std::endl;
    }
}
