#include "core/base64.h"

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("Base64 gives its bytes, and text that is none gives nothing") {
    CHECK(decoded_base64("") == "");
    CHECK(decoded_base64("Zm9v") == "foo");
    CHECK(decoded_base64("Zm8=") == "fo");
    CHECK(decoded_base64("Zg==") == "f");
    for (const char* const wrong : {"Z", "Zm9", "Zm9v\n", "Zm=v", "====", "Zm9*", " Zm9v"}) CHECK_FALSE(decoded_base64(wrong));
}
