// Whole bzip2 files: streams, bytes between them, false marks inside blocks, flipped bits, missing ends. Bzip2Content gives the
// same bytes as libbz2 with any number of threads, or reports damage where libbz2 does.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include <bzlib.h>

#include "core/error.h"
#include "fuzz/memory_file.h"
#include "text/content/bzip2_content.h"
#include "text/planted_mark.h"

using namespace bertpretrain;

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// Returns the fuzzer's bytes one after the other, then zeros.
struct Input {
    std::span<const unsigned char> left;

    std::size_t number(std::size_t limit, int bytes = 1) {
        std::size_t value = 0;
        for (int i = 0; i < bytes && !left.empty(); ++i) {
            value = value << 8 | left.front();
            left = left.subspan(1);
        }
        return value % limit;
    }
    std::string bytes(std::size_t count) {
        const auto taken = left.first(std::min(count, left.size()));
        left = left.subspan(taken.size());
        return {taken.begin(), taken.end()};
    }
};

std::string pack(std::string plain) {
    std::string packed(plain.size() + plain.size() / 50 + 700, '\0');
    auto size = static_cast<unsigned>(packed.size());
    if (BZ2_bzBuffToBuffCompress(packed.data(), &size, plain.data(), static_cast<unsigned>(plain.size()), 1, 0, 0) != BZ_OK)
        std::abort();
    packed.resize(size);
    return packed;
}

/// Appends a stream of some repeated bytes, so that a few bytes of input give blocks of any size.
void append_stream(Input& input, std::string& file) {
    const std::size_t copies = 1 + input.number(3000, 2), distinct = input.number(256);
    const std::string part = input.bytes(distinct);
    std::string plain;
    for (std::size_t i = 0; i < copies && plain.size() < most_bytes / 32; ++i) {
        plain += part;
        plain += static_cast<char>(i * i / 7);
    }
    std::string stream = pack(plain);
    if (input.number(2) == 1) {
        const std::uint64_t mark = input.number(2) == 1 ? testing::bzip2_block_mark : bzip2_stream_end;
        const auto marked = testing::with_mark(stream, input.number(stream.size() * 8, 3), mark);
        if (marked) stream = *marked;
    }
    file += stream;
}

std::string any_file(Input& input) {
    std::string file;
    for (int part = 0; part < 8 && !input.left.empty() && file.size() < most_bytes / 16; ++part) {
        const std::size_t kind = input.number(8);
        if (kind < 5) {
            append_stream(input, file);
        } else if (kind == 5) {
            file += input.bytes(input.number(64));
        } else if (!file.empty()) {
            const std::size_t at = input.number(file.size(), 3);
            if (kind == 6) file[at] = static_cast<char>(file[at] ^ (1 << input.number(8)));
            else file.resize(at);
        }
    }
    return file;
}

/// Decompresses stream after stream. Returns nothing where libbz2 finds damage. Sets `is_large` where a stream does not fit.
std::optional<std::string> by_libbz2(std::string file, bool& is_large) {
    std::string all, plain;
    while (!file.empty()) {
        const auto used = testing::unpack_stream(file, plain, most_bytes);
        is_large = is_large || plain.size() == most_bytes;
        if (!used) return {};
        all += plain;
        file.erase(0, *used);
    }
    return all;
}

std::optional<std::string> by_our_reader(const std::string& file, std::size_t threads, std::size_t at_once) {
    const MemoryFile memory(std::as_bytes(std::span(file)));
    TaskPool pool(threads);
    std::string plain, buffer(at_once, '\0');
    try {
        Bzip2Content content(std::make_unique<ByteSource>(memory.path()), pool);
        while (const std::size_t count = content.read(buffer.data(), buffer.size())) plain.append(buffer, 0, count);
        if (content.bytes_read() != file.size()) std::abort();
    } catch (const DataError&) { return {}; }
    return plain;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    Input input{{data, size}};
    const std::size_t threads = 1 + input.number(3), at_once = 1 + input.number(70'000, 2);
    const std::string file = any_file(input);
    bool is_large = false;
    const auto expected = by_libbz2(file, is_large);
    const auto found = by_our_reader(file, threads, at_once);
    if (!is_large && found != expected) std::abort();
    return 0;
}
