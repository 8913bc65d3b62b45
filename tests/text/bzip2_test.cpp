// Parallel decompression of bzip2 files, block by block.

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "packing.h"
#include "planted_mark.h"
#include "text/content/bzip2_block_decoder.h"
#include "text/content/open_content.h"

using namespace bertpretrain;
using testing::bzip2;
using testing::TemporaryFolder;
using testing::write_text;

namespace {

std::string words(std::size_t bytes, std::uint64_t seed = 1) {
    RandomSequence random(seed, Purpose::sample_order, 0);
    std::string text;
    while (text.size() < bytes) text += std::string(1 + random.below(9), static_cast<char>('a' + random.below(26))) + ' ';
    return text;
}

std::string content_of(const std::string& packed, std::size_t threads, std::size_t at_once = 70'001) {
    const TemporaryFolder folder;
    write_text(folder / "a.bz2", packed);
    TaskPool pool(threads);
    const auto content = open_content(folder / "a.bz2", pool);
    std::string plain, buffer(at_once, '\0');
    while (const std::size_t count = content->read(buffer.data(), buffer.size())) plain.append(buffer, 0, count);
    CHECK(content->bytes_read() == packed.size());
    return plain;
}

std::vector<Bzip2Piece> pieces_of(const std::string& packed) {
    const TemporaryFolder folder;
    write_text(folder / "a.bz2", packed);
    ByteSource source(folder / "a.bz2");
    Bzip2Splitter splitter(source);
    std::vector<Bzip2Piece> pieces;
    for (Bzip2Piece piece; splitter.next(piece);) pieces.push_back(piece);
    return pieces;
}

}  // namespace

TEST_CASE("blocks decompress to the original, at any bit offset and in any number of streams") {
    const std::string text = words(1'500'000);
    const std::string one = bzip2(text);
    const std::vector<Bzip2Piece> pieces = pieces_of(one);
    REQUIRE(pieces.size() >= 12);
    std::array<bool, 8> bits{};
    for (const Bzip2Piece& piece : pieces) bits[piece.first_bit] = true;
    CHECK(std::count(bits.begin(), bits.end(), true) >= 6);
    const std::string several = bzip2("") + bzip2(text.substr(0, 400'000), 9) + bzip2("") + bzip2(text.substr(400'000), 2);
    for (const std::size_t threads : {1U, 3U}) {
        CHECK((content_of(one, threads) == text));
        CHECK((content_of(several, threads) == text));
    }
    CHECK(content_of(bzip2(""), 1).empty());
}

TEST_CASE("a piece becomes a bzip2 stream of its own, at any bit it begins") {
    const std::string text = words(900'000);
    std::string joined, plain(200'000, '\0');
    for (const Bzip2Piece& piece : pieces_of(bzip2(text))) {
        std::string stream = stream_of_piece(piece);
        auto size = static_cast<unsigned>(plain.size());
        REQUIRE(BZ2_bzBuffToBuffDecompress(plain.data(), &size, stream.data(), static_cast<unsigned>(stream.size()), 0, 0) ==
                BZ_OK);
        joined.append(plain, 0, size);
    }
    CHECK((joined == text));
}

TEST_CASE("a block that decompresses to forty times its size is read completely") {
    const std::string text(30'000'000, 'a');
    CHECK((content_of(bzip2(text, 9), 2) == text));
}

TEST_CASE("joining two pieces restores the piece that a false boundary has cut") {
    const Bzip2Piece whole = pieces_of(bzip2(words(90'000))).at(0);
    for (std::uint64_t cut = 100; cut < whole.bits; cut += 997) {
        Bzip2Piece first = whole, second = whole;
        const std::uint64_t at = whole.first_bit + cut;
        first.bits = cut;
        first.ending = Bzip2Piece::Ending::block_follows;
        first.packed.resize((at + 7) / 8);
        second.packed.erase(0, at / 8);
        second.first_bit = static_cast<unsigned>(at % 8);
        second.bits -= cut;
        first.join(second);
        REQUIRE(first.packed == whole.packed);
        REQUIRE(first.bits == whole.bits);
        REQUIRE(first.ending == whole.ending);
    }
}

TEST_CASE("a mark inside a block's data is no boundary") {
    const std::string text = words(20'000), stream = bzip2(text);
    for (const std::uint64_t mark : {testing::bzip2_block_mark, bzip2_stream_end}) {
        int planted = 0;
        for (std::size_t at = stream.size() * 4; planted < 4 && at < stream.size() * 8; at += 5) {
            const auto marked = testing::with_mark(stream, at, mark);
            if (!marked) continue;
            ++planted;
            std::string plain;
            REQUIRE(testing::unpack_stream(*marked, plain, 100'000) == marked->size());
            REQUIRE(pieces_of(*marked).size() == 2);
            for (const std::size_t threads : {1U, 3U}) CHECK((content_of(*marked + stream, threads) == plain + text));
        }
        CHECK(planted == 4);
    }
}

TEST_CASE("a bzip2 file cut short anywhere is an error") {
    const std::string packed = bzip2(words(30'000)) + bzip2(words(500, 2));
    for (std::size_t size = 4; size < packed.size(); size += size < 200 || packed.size() - size < 400 ? 1U : 61U) {
        const bool at_border = packed.compare(size, 3, "BZh") == 0;
        CAPTURE(size);
        if (at_border) CHECK_NOTHROW(content_of(packed.substr(0, size), 1));
        else CHECK_THROWS_AS(content_of(packed.substr(0, size), 1), DataError);
    }
}

TEST_CASE("a flipped bit of a bzip2 file is an error, or changes nothing", "[system]") {
    const std::string text = words(6'000), packed = bzip2(text, 1);
    for (std::size_t bit = 0; bit < packed.size() * 8; bit += bit < 800 || bit + 200 > packed.size() * 8 ? 1U : 13U) {
        std::string flipped = packed;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        std::string plain = text;
        try {
            plain = content_of(flipped, 1);
        } catch (const DataError&) {}
        CAPTURE(bit);
        if (flipped.starts_with("BZh")) CHECK((plain == text));  // otherwise it is not recognised as bzip2
    }
}
