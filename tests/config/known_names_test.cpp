#include "config/known_names.h"

#include <array>

#include "config/sample_config.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

constexpr std::array<ForeignName, 3> foreign{ForeignName{"lr", "optimizer.learning_rate"},
                                             ForeignName{"batch_size", "batch.micro_batch_size", "of one rank"},
                                             ForeignName{"logging_steps", "", "every step is logged"}};

KnownNames names() { return {list_settings(SampleConfig{}), foreign}; }

}  // namespace

TEST_CASE("a name of another program is answered with the setting's path here, wherever it stands") {
    CHECK(names().advice("optimizer", "lr") == "did you mean optimizer.learning_rate?");
    CHECK(names().advice("", "lr") == "did you mean optimizer.learning_rate?");
    CHECK(names().advice("", "Batch-Size") == "did you mean batch.micro_batch_size? (of one rank)");
    CHECK(names().advice("batch", "logging_steps") == "every step is logged");
}

TEST_CASE("a setting in the wrong section is answered with its path") {
    CHECK(names().advice("", "learning_rate") == "did you mean optimizer.learning_rate?");
    CHECK(names().advice("batch", "betas") == "did you mean optimizer.betas?");
    CHECK(names().advice_on_path("betas") == "did you mean optimizer.betas?");
}

TEST_CASE("a slip is answered with the nearest name of its section, then with the nearest of all") {
    CHECK(names().advice("optimizer", "learning_rat") == "did you mean optimizer.learning_rate?");
    CHECK(names().advice("", "optimiser") == "did you mean optimizer?");
    CHECK(names().advice("", "micro_batch_sise") == "did you mean batch.micro_batch_size?");
    CHECK(names().advice_on_path("optimizer.beta") == "did you mean optimizer.betas?");
}

TEST_CASE("the beginning of one name of the section is answered with that name, although another section has a nearer one") {
    CHECK(names().advice_on_path("batch.micro") == "did you mean batch.micro_batch_size?");
    CHECK(names().advice_on_path("batch.mi").empty());  // two letters are the beginning of too much
}

TEST_CASE("a name like no other is answered with the names of its section") {
    CHECK(names().advice("batch", "workers") == "there are: micro_batch_size, temperature, threads, rows");
    CHECK(names().advice("", "xxxxxxxxxxx") == "there are: about, seed, init_from, shards, batch, optimizer");
    CHECK(names().advice_on_path("xxxxxxxxxxx").empty());
}
