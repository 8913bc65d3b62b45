#include "core/utf8_check.h"

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using Catch::Matchers::Contains;

namespace {

/// The message with which a file of these bytes is refused, or "accepted". @param at_once bytes of each call
std::string answer(std::string_view bytes, std::size_t at_once = 4096, Utf8Check::Remedy remedy = Utf8Check::Remedy::option) {
    try {
        Utf8Check check("corpus.txt", remedy);
        for (std::size_t i = 0; i < bytes.size(); i += at_once) check.add(bytes.substr(i, at_once));
        check.finish();
    } catch (const DataError& error) { return error.what(); }
    return "accepted";
}

/// Whether Unicode's definition accepts the bytes: a decoder that follows the definition of the encoding form instead of ranges.
bool is_utf8(const std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
        const auto first = static_cast<unsigned char>(bytes[i]);
        const std::size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
        if (length == 0 || i + length > bytes.size()) return false;
        std::uint32_t number = length == 1 ? first : first & (0xFFU >> (length + 1));
        for (std::size_t k = 1; k < length; ++k) {
            const auto next = static_cast<unsigned char>(bytes[i + k]);
            if (next >> 6 != 2) return false;
            number = number << 6 | (next & 0x3F);
        }
        const std::size_t shortest = number < 0x80 ? 1 : number < 0x800 ? 2 : number < 0x10000 ? 3 : 4;
        if (shortest != length || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000)) return false;
        i += length;
    }
    return true;
}

}  // namespace

TEST_CASE("text in any script is accepted, with a mark of its byte order") {
    for (const char* text : {"", "a", "Käse 中文 😀\n", "\xEF\xBB\xBFwith a mark\n", "seven a's, ä and 16 bytes more: 中"})
        CHECK(answer(text) == "accepted");
}

TEST_CASE("bytes that are not UTF-8 are refused with the offset of their character") {
    CHECK_THAT(answer("K\xE4se\n"), Contains("byte 1 "));
    CHECK_THAT(answer("aaaa \xED\xA0\x80"), Contains("byte 5 "));  // a surrogate
    CHECK_THAT(answer("\xC3\xA4 \xE4\xB8"), Contains("byte 3 "));  // ends inside a character
    CHECK_THAT(answer("\xC0\x80"), Contains("byte 0 "));           // overlong
}

TEST_CASE("the same byte sequences are UTF-8 as by the definition of the encoding, in pieces of any size") {
    const unsigned char interesting[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1,
                                         0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
    for (const unsigned char a : interesting)
        for (const unsigned char b : interesting)
            for (const unsigned char c : interesting)
                for (const unsigned char d : interesting) {
                    // A letter first, so that no byte order mark is among them.
                    const std::string bytes{'x', static_cast<char>(a), static_cast<char>(b), static_cast<char>(c),
                                            static_cast<char>(d)};
                    if ((answer(bytes, 2) == "accepted") != is_utf8(bytes)) {
                        CAPTURE(a, b, c, d);
                        FAIL("accepted: " << answer(bytes));
                    }
                }
}

TEST_CASE("another encoding is proposed only for text that is not nearly all UTF-8, which it would garble") {
    std::string german;
    for (int i = 0; i < 100; ++i) german += "Der Fluß fließt früh über grüne Hügel.\n";
    for (const std::string& wrong : {german + "\xFF" + german, german + "\xE4\xF6\xFC" + german,
                                     std::string("Plain ASCII.\xFF\n"), "An \xE9 in it.\n" + german, german + "\xC3"})
        CHECK_THAT(answer(wrong),
                   !Contains("--encoding latin1") && !Contains("windows-") && Contains("iconv -f UTF-8 -t UTF-8 -c"));
    CHECK_THAT(answer(german + "\xFF" + german, 100'000), Contains("is not UTF-8 (0xFF)") && Contains("would garble it"));
    CHECK_THAT(answer("Plain ASCII.\xFF\n"), Contains("if the file has another encoding, name it with --encoding"));
    CHECK_THAT(answer("Der Flu\xDF flie\xDFt fr\xFCh \xFC"
                      "ber gr\xFCne H\xFCgel.\n"),
               Contains("`--encoding latin1`"));
    CHECK_THAT(answer("A \x93quote\x94, a \x96 dash, and a longer text after it.\n"), Contains("`--encoding windows-1252`"));
    CHECK_THAT(answer("Der Flu\xDF flie\xDFt fr\xFCh.\n", 4096, Utf8Check::Remedy::conversion),
               Contains("`iconv -f latin1 -t UTF-8 FILE > CONVERTED`") && !Contains("--encoding"));
    CHECK_THAT(answer("\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0"), Contains("windows-1251") && !Contains("latin-1"));
}
