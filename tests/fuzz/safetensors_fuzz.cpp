// safetensors files: any bytes are read or refused with one error. The tensors that are read lie inside the file, fill it, and
// are accessed completely.

#include <cstdlib>
#include <span>
#include <vector>

#include "archive/safetensors_reader.h"
#include "core/error.h"
#include "fuzz/memory_file.h"

using namespace bertpretrain;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    try {
        const MemoryFile file(std::as_bytes(std::span(data, size)));
        const SafetensorsReader reader(file.path());
        std::vector<float> values(64);
        std::uint64_t bytes = 0;
        for (const SafetensorsEntry& tensor : reader.tensors()) {
            if (reader.find(tensor.name) != &tensor || tensor.offset + tensor.bytes > size) std::abort();
            bytes += reader.bytes(tensor).size();
            const std::int64_t count = std::min<std::int64_t>(tensor.elements(), 64);
            reader.read_as_float(tensor, 0, count, values.data());
            reader.read_as_float(tensor, tensor.elements() - count, count, values.data());
        }
        if (bytes > size) std::abort();
    } catch (const CheckpointError&) {}
    return 0;
}
