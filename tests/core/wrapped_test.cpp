#include "core/strings.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("wrapped text breaks between words, with its own indent on the first line") {
    CHECK(wrapped("one two three four", 9, 0, 2) == "one two\n  three\n  four\n");
    CHECK(wrapped("one two", 9, 2, 4) == "  one two\n");
    CHECK(wrapped("one  two\nthree", 80, 0, 0) == "one two three\n");
}

TEST_CASE("a word longer than the width has a line of its own, and no text has no line") {
    CHECK(wrapped("a abcdefghij b", 5, 0, 1) == "a\n abcdefghij\n b\n");
    CHECK(wrapped("", 5, 0, 1).empty());
    CHECK(wrapped(" \n", 5, 3, 1).empty());
}
