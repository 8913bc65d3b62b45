// Hashes and authentication codes against published values and the system's sha256sum.
#include "core/files/sha256.h"

#include <vector>

#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;

TEST_CASE("SHA-256 equals sha256sum's hash for text lengths around multiples of the block size") {
    const testing::TemporaryFolder folder;
    std::string expected, found;
    for (const std::size_t length :
         std::vector<std::size_t>{0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129, 1000, 100000}) {
        std::string text;
        for (std::size_t i = 0; i < length; ++i) text += static_cast<char>(i * 7 + length);
        testing::write_text(folder / "text", text);
        expected += testing::run_command("sha256sum < " + (folder / "text").string()).out.substr(0, 64) + "\n";
        found += hexadecimal(sha256(text)) + "\n";
    }
    CHECK(found == expected);
}

TEST_CASE("SHA-256 of bytes that arrive in parts is that of the whole") {
    std::string text;
    for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
    for (const std::size_t part : std::vector<std::size_t>{1, 5, 63, 64, 65, 128, 200}) {
        CAPTURE(part);
        Sha256 hash;
        for (std::size_t at = 0; at < text.size(); at += part) hash.add(std::string_view(text).substr(at, part));
        CHECK(hash.finish() == sha256(text));
    }
}

TEST_CASE("HMAC-SHA-256 gives the codes of RFC 4231") {
    CHECK(hexadecimal(hmac_sha256(std::string(20, '\x0b'), "Hi There")) ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(hexadecimal(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(hexadecimal(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")) ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("secrets are equal when all bytes are, and random ones differ") {
    CHECK(equal_secrets("", ""));
    CHECK(equal_secrets("abc", "abc"));
    CHECK_FALSE(equal_secrets("abc", "abd"));
    CHECK_FALSE(equal_secrets("abc", "ab"));
    CHECK(random_secret(16).size() == 16);
    CHECK(random_secret(16) != random_secret(16));
}
