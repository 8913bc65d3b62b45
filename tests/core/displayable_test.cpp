#include "core/output/displayable.h"

#include "support/catch.h"

using bertpretrain::displayable;

TEST_CASE("text in other languages is displayed unchanged") {
    for (const std::string text : {"", "a run_1.2", "Grüße", "日本", "\xf0\x9f\x99\x82", "\xed\x9f\xbf", "\xee\x80\x80"})
        CHECK(displayable(text) == text);
}

TEST_CASE("control characters, U+0080 to U+009F included, are displayed as their bytes") {
    CHECK(displayable("a\x1b[2Jb") == "a\\x1b[2Jb");
    CHECK(displayable("\r\n\t\x7f") == "\\x0d\\x0a\\x09\\x7f");
    CHECK(displayable("\r\n\t", "\n\t") == "\\x0d\n\t");
    CHECK(displayable("\xc2\x9b"
                      "31m") == "\\xc2\\x9b31m");
    CHECK(displayable(std::string("\0", 1)) == "\\x00");
}

TEST_CASE("bytes that are not UTF-8 are displayed one by one") {
    CHECK(displayable("a\xff"
                      "b") == "a\\xffb");
    CHECK(displayable("\xc3") == "\\xc3");                    // cut short
    CHECK(displayable("\xc0\xaf") == "\\xc0\\xaf");           // overlong
    CHECK(displayable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a lone surrogate
    CHECK(displayable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
    CHECK(displayable("\xe2\x82z") == "\\xe2\\x82z");
}
