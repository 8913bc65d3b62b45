// .pt files and the pickles in them: any bytes are read or refused with one error. All values that are read are accessed
// completely, and give the same tree after our writer.

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "archive/pickle_writer.h"
#include "archive/pt_reader.h"
#include "archive/unpickler.h"
#include "core/error.h"
#include "fuzz/memory_file.h"

using namespace bertpretrain;

namespace {

void read_ends(const PtReader& reader) {
    std::vector<float> values(64);
    for_each_tensor(reader.root(), [&](const std::string&, const PtTensor& tensor) {
        const std::int64_t count = std::min<std::int64_t>(tensor.elements(), 64);
        reader.read_as_float(tensor, 0, count, values.data());
        reader.read_as_float(tensor, tensor.elements() - count, count, values.data());
    });
}

/// Checks that writing a tree, reading it, and writing it again gives the same pickle.
void write_again(const PtValue& tree) {
    const std::string once = pickle_of(tree);
    PtValue again;
    try {
        again = unpickle(std::as_bytes(std::span(once)));
    } catch (const PickleRefusal& refusal) {
        if (std::string(refusal.what()).find("more values") == std::string::npos) std::abort();
        return;  // copies of shared values exceed the limit
    }
    if (pickle_of(again) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    const auto rest = std::as_bytes(std::span(data + 1, size - 1));
    try {
        if (data[0] == 'p') {
            write_again(unpickle(rest));
        } else {
            const MemoryFile file(rest);
            read_ends(PtReader(file.path(), PtReader::Checksums::never));
            PtReader(file.path()).verify();
        }
    } catch (const PickleRefusal&) {
    } catch (const CheckpointError&) {}
    return 0;
}
