#include "tokens/models/tokenizer_difference.h"

#include "support/catch.h"
#include "support/files.h"
#include "tokens/models/folder_tokenizer.h"
#include "tokens/models/open_tokenizer.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("tokenizers with other normalizers differ in a text, and equal ones in none") {
    const TemporaryFolder folder;
    const auto vocabulary = folder / "vocab.txt";
    write_text(vocabulary, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nuber\nüber\nHeron\n");
    write_text(folder / "tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": false})");
    const auto uncased = open_tokenizer(vocabulary, Casing::uncased);
    CHECK_FALSE(text_read_differently(*open_tokenizer(vocabulary, Casing::uncased), *uncased));
    CHECK(text_read_differently(*open_folder_tokenizer(*read_folder_tokenizer(folder.path())), *uncased) == "über Ärger");
    write_text(vocabulary, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nHeron\n");
    CHECK(text_read_differently(*open_tokenizer(vocabulary, Casing::cased), *open_tokenizer(vocabulary, Casing::uncased)) ==
          "Heron");
}
