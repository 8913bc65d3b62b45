#include "checkpoint/checkpoint_reader.h"

#include "checkpoint/example_state.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using namespace testing;

}  // namespace

TEST_CASE("saved tensors are read back, whole or in part") {
    const TemporaryFolder run;
    ExampleState example = example_state(12, 0, 1);
    write_text(run / "words.txt", "[PAD]\n");
    example.state.vocabulary = std::make_shared<const TokenizerFile>(tokenizer_file(run / "words.txt"));
    const CheckpointReader reader(CheckpointStore(run / "checkpoints").save(example.state));
    CHECK(reader.step() == 12);
    CHECK(reader.progress() == example.state.progress);
    CHECK(reader.settings() == example.state.settings);
    CHECK(read_text(*reader.vocabulary()) == "[PAD]\n");
    CHECK(reader.moment_names() == std::vector<std::string>{"exp_avg", "exp_avg_sq"});
    REQUIRE(reader.parameters().size() == 3);  // aliases left out
    CHECK(reader.parameters()[0].name == words);
    CHECK(reader.parameters()[0].shape == std::vector<std::int64_t>{30, 4});
    for (std::size_t t = 0; t < 3; ++t) {
        const std::size_t count = t == 0 ? 120 : t == 1 ? 30 : 16;
        for (std::size_t first = 0; first < count; first += 7)
            for (std::size_t length = 0; first + length <= count; length += 5) {
                std::vector<float> values(length + 1, -1);
                const std::string& name = reader.parameters()[t].name;
                for (int set = 0; set < 3; ++set) {
                    if (set == 0)
                        reader.read_parameter(name, static_cast<std::int64_t>(first), values.data(),
                                              static_cast<std::int64_t>(length));
                    if (set > 0)
                        reader.read_moment(set == 1 ? "exp_avg" : "exp_avg_sq", name, static_cast<std::int64_t>(first),
                                           values.data(), static_cast<std::int64_t>(length));
                    for (std::size_t i = 0; i < length; ++i) REQUIRE(values[i] == example_value(set, t, first + i));
                    REQUIRE(values[length] == -1);
                }
            }
    }
    float tied = 0;
    reader.read_parameter("cls.predictions.decoder.weight", 5, &tied, 1);
    CHECK(tied == example_value(0, 0, 5));
}

TEST_CASE("a name, a moment or a range that does not exist is refused, with the nearest name") {
    const TemporaryFolder run;
    const CheckpointReader reader(CheckpointStore(run / "checkpoints").save(example_state(1).state));
    CHECK_FALSE(reader.vocabulary());
    float value = 0;
    CHECK_THROWS_WITH(reader.read_parameter("bert.pooler.dense_act.weight", 0, &value, 1), Says("bert.pooler.dense.weight"));
    CHECK_THROWS_WITH(reader.read_moment("exp_inf", words, 0, &value, 1), Says("exp_avg, exp_avg_sq"));
    CHECK_THROWS_WITH(reader.read_parameter(words, 120, &value, 1), Says("has 120 elements, expected at least 120 + 1"));
    CHECK_THROWS_AS(reader.read_parameter(words, -1, &value, 1), CheckpointError);
}

TEST_CASE("a flipped bit anywhere in a checkpoint is found and its file named") {
    const TemporaryFolder run;
    const auto folder = CheckpointStore(run / "checkpoints").save(example_state(1).state);
    for (const std::string name : {"model.pt", "optimizer.pt", "training_state.json", "settings.json"}) {
        const std::string original = read_text(folder / name);
        for (std::size_t at = 0; at < original.size(); at += 1 + original.size() / 60) {
            std::string flipped = original;
            flipped[at] = static_cast<char>(flipped[at] ^ 1);
            write_text(folder / name, flipped);
            CHECK_THROWS_WITH(CheckpointReader(folder), Says(name + ": damaged"));
        }
        write_text(folder / name, original + "x");
        CHECK_THROWS_WITH(CheckpointReader(folder, CheckpointReader::Verify::sizes), Says(name + ": damaged: it has"));
        std::filesystem::remove(folder / name);
        CHECK_THROWS_WITH(CheckpointReader(folder), Says(name + ": cannot be read (No such file or directory)"));
        write_text(folder / name, original);
    }
    CHECK(CheckpointReader(folder).step() == 1);
}

TEST_CASE("a COMPLETE.json of a newer format, or a malformed one, is refused") {
    const TemporaryFolder run;
    const auto folder = CheckpointStore(run / "checkpoints").save(example_state(1).state);
    const nlohmann::json mark = nlohmann::json::parse(read_text(folder / "COMPLETE.json"));
    const auto refused = [&](const nlohmann::json& changed, const std::string& why) {
        write_text(folder / "COMPLETE.json", changed.dump());
        CHECK_THROWS_WITH(CheckpointReader(folder), Says("COMPLETE.json") && Says(why));
    };
    nlohmann::json changed = mark;
    changed["format_version"] = 2;
    refused(changed, "format_version is 2; this program reads versions up to 1");
    for (const char* key : {"format_version", "step", "files"}) {
        changed = mark;
        changed.erase(key);
        refused(changed, "damaged");
        changed[key] = "a";
        refused(changed, "damaged");
    }
    changed = mark;
    changed["files"].erase("model.pt");
    refused(changed, "does not list model.pt");
    changed = mark;
    changed["files"]["model.pt"]["bytes"] = -5;
    refused(changed, "bytes");
    refused(nlohmann::json::array(), "damaged");
    std::filesystem::remove(folder / "COMPLETE.json");
    CHECK_THROWS_WITH(CheckpointReader(folder), Says("not a complete checkpoint"));
}

}  // namespace bertpretrain
