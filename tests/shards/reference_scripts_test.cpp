// With --compatible-with, shards must equal the reference script's value for value.

#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>

#include "sample_rows.h"
#include "shards/build/build_request.h"
#include "shards/build/python_rng.h"
#include "shards/build/reference_samples.h"
#include "shards/shard_reader.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"
#include "support/files.h"
#include "support/golden.h"
#include "support/shared_data.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

const std::string smallest_shard = "nvidia_seq128_pred20_dupe1_seed1";

struct Reference {
    SampleSettings settings;
    std::filesystem::path vocabulary_file;
    std::shared_ptr<const Vocabulary> vocabulary;

    Reference(const std::string& script, std::int64_t sequence_length, std::int64_t max_predictions, bool whole_words = false,
              const std::filesystem::path& file = golden_sample("vocab.txt"))
        : vocabulary_file(file), vocabulary(std::make_shared<const Vocabulary>(Vocabulary::read(file))) {
        settings.compatible_with = settings.token_rules = script;
        settings.sequence_length = sequence_length;
        settings.max_predictions = max_predictions;
        settings.whole_word_masking = whole_words;
    }
    /// Returns all rows that the script makes from a text.
    ShardRows rows(const std::filesystem::path& text, std::size_t threads = 1) const {
        const SampleRules rules = sample_rules(settings, *vocabulary);
        const ReferenceSamples samples(read_reference_text(text, *make_tokenizer(settings, vocabulary_file), threads), rules);
        return samples.rows(0, samples.size());
    }
};

/// google_instances.json's record of each row: [n, ids(n), len_seg0, m, positions(m), labels(m), is_random_next].
std::vector<std::int32_t> instance_stream(const ShardRows& rows) {
    std::vector<std::int32_t> stream;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const auto mask = rows.input_mask_RS.begin() + r * rows.sequence_length;
        const auto segments = rows.segment_ids_RS.begin() + r * rows.sequence_length;
        const auto ids = rows.input_ids_RS.begin() + r * rows.sequence_length;
        const auto positions = rows.masked_lm_positions_RP.begin() + r * rows.max_predictions;
        const auto labels = rows.masked_lm_ids_RP.begin() + r * rows.max_predictions;
        const auto length = std::count(mask, mask + rows.sequence_length, 1);
        const auto masked = rows.max_predictions - std::count(positions, positions + rows.max_predictions, 0);
        stream.push_back(static_cast<std::int32_t>(length));
        stream.insert(stream.end(), ids, ids + length);
        stream.push_back(static_cast<std::int32_t>(std::count(segments, segments + length, 0)));
        stream.push_back(static_cast<std::int32_t>(masked));
        stream.insert(stream.end(), positions, positions + masked);
        stream.insert(stream.end(), labels, labels + masked);
        stream.push_back(rows.next_sentence_labels_R[static_cast<std::size_t>(r)]);
    }
    return stream;
}

template <class Value>
void write_raw(const std::filesystem::path& file, const std::vector<Value>& values) {
    write_text(file, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
}

std::string sha256(const std::filesystem::path& file) {
    const CommandResult result = run_command(
        PYTHON " -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], \"rb\").read()).hexdigest())' " + file.string());
    return result.out.substr(0, 64);
}

/// Compares each dataset's little-endian bytes with the SHA-256 of nvidia_shards.json.
void check_hashes(const std::string& name, const ShardRows& rows) {
    const auto expected = nlohmann::json::parse(read_text(golden_sample("nvidia_shards.json"))).at(name);
    CHECK(rows.rows == expected["rows"].get<std::int64_t>());
    const TemporaryFolder folder;
    write_raw(folder / "input_ids", rows.input_ids_RS);
    write_raw(folder / "input_mask", rows.input_mask_RS);
    write_raw(folder / "segment_ids", rows.segment_ids_RS);
    write_raw(folder / "masked_lm_positions", rows.masked_lm_positions_RP);
    write_raw(folder / "masked_lm_ids", rows.masked_lm_ids_RP);
    write_raw(folder / "next_sentence_labels", rows.next_sentence_labels_R);
    CHECK(expected["sha256"].size() == 6);
    for (const auto& [dataset, hash] : expected["sha256"].items()) {
        INFO(name << " " << dataset);
        CHECK(sha256(folder / dataset) == hash.get<std::string>());
    }
}

}  // namespace

TEST_CASE("PythonRng draws the same numbers as CPython's random.Random, also for seeds above 32 bits") {
    const CommandResult python = run_command(PYTHON R"( - <<'END'
import json, random
def draw(count, how, seed=12345):
    generator = random.Random(seed)
    return [how(generator) for _ in range(count)]
def shuffled(values):
    random.Random(12345).shuffle(values)
    return values
print(json.dumps({
    "random8": draw(8, lambda g: g.random()), "getrandbits32": draw(8, lambda g: g.getrandbits(32)),
    "randint_1_10": draw(20, lambda g: g.randint(1, 10)), "randint_0_30521": draw(20, lambda g: g.randint(0, 30521)),
    "seed_2p40plus7_random3": draw(3, lambda g: g.random(), 2**40 + 7), "shuffle_range20": shuffled(list(range(20)))}))
END)");
    INFO(python.err);
    REQUIRE(python.exit_code == 0);
    const auto expected = nlohmann::json::parse(python.out);
    PythonRng uniform(12345), bits(12345), ten(12345), below(12345), shuffling(12345), large((std::uint64_t{1} << 40) + 7);
    for (const double value : expected["random8"]) CHECK(uniform.uniform() == value);
    for (const std::uint32_t value : expected["getrandbits32"]) CHECK(bits.next() == value);
    for (const std::uint32_t value : expected["randint_1_10"]) CHECK(ten.below(10) + 1 == value);
    for (const std::uint32_t value : expected["randint_0_30521"]) CHECK(below.below(30522) == value);
    for (const double value : expected["seed_2p40plus7_random3"]) CHECK(large.uniform() == value);
    std::vector<int> range(20);
    for (int i = 0; i < 20; ++i) range[static_cast<std::size_t>(i)] = i;
    shuffling.shuffle(range);
    CHECK(range == expected["shuffle_range20"].get<std::vector<int>>());
}

TEST_CASE("the reader returns the same bytes as h5py for NVIDIA's shards") {
    const ShardReader reader(golden_sample(smallest_shard + ".hdf5"));
    check_hashes(smallest_shard, reader.read(0, reader.rows()));
    CHECK(reader.band_rows() == 293);
}

TEST_CASE("a text gives exactly the shard that NVIDIA's script made from it, on any number of threads") {
    const auto rows = [](std::int64_t length, std::int64_t predictions, std::int64_t duplicates, std::uint64_t seed,
                         std::size_t threads) {
        Reference nvidia("nvidia", length, predictions);
        nvidia.settings.duplicate_factor = duplicates;
        nvidia.settings.seed = seed;
        return nvidia.rows(golden_sample("text.txt"), threads);
    };
    const ShardReader reader(golden_sample(smallest_shard + ".hdf5"));
    CHECK(same_rows(rows(128, 20, 1, 1, 1), reader.read(0, reader.rows())));
    for (const std::size_t threads : {std::size_t{1}, std::size_t{3}})
        check_hashes("nvidia_seq128_pred20_dupe5_seed12345", rows(128, 20, 5, 12345, threads));
    check_hashes("nvidia_seq512_pred76_dupe3_seed777", rows(512, 76, 3, 777, 1));
}

TEST_CASE("texts are read as Python reads them: three kinds of line ends, and lines of any white space end a document") {
    const TemporaryFolder folder;
    const Reference nvidia("nvidia", 128, 20);
    const auto with = [&](const std::string& line_end, const std::string& blank) {
        std::string text;
        for (const std::string line : {"One sentence.", "Another one.", "", "A second article.", "It ends here."})
            text += (line.empty() ? blank : line) + line_end;
        write_text(folder / "text.txt", text);
        return nvidia.rows(folder / "text.txt");
    };
    const ShardRows plain = with("\n", "");
    CHECK(same_rows(plain, with("\r\n", "")));
    CHECK(same_rows(plain, with("\r", "")));
    CHECK(same_rows(plain, with("\n", " \t")));
    CHECK(same_rows(plain, with("\n", "\u00a0\u3000")));
    CHECK(same_rows(plain, with("\n", "\x1c")));
    CHECK_FALSE(same_rows(plain, with("\n", "\u200b")));  // a format character is not white space, so no new document begins
}

TEST_CASE("instances equal those of Google's script at 128 and 512 tokens, also with whole word masking") {
    NEEDS_SHARED_DATA();
    const std::filesystem::path golden = shared_data() / "hdf5_golden";
    const auto expected = nlohmann::json::parse(read_text(golden / "google_instances.json"));
    CHECK(expected["cases"].size() == 6);
    for (const auto& [name, facts] : expected["cases"].items()) {
        INFO(name);
        const bool is_long = contains(name, "seq512 pred80"), whole_words = contains(name, "wwm=True");
        const Reference google("google", is_long ? 512 : 128, is_long ? 80 : 20, whole_words,
                               shared_data() / "vocab/bert-uncased-vocab.txt");
        const ShardRows rows = google.rows(golden / name.substr(0, name.find(' ')));
        const TemporaryFolder folder;
        write_raw(folder / "stream", instance_stream(rows));
        CHECK(rows.rows == facts["instances"].get<std::int64_t>());
        CHECK(sha256(folder / "stream") == facts["sha256_int32le_stream"].get<std::string>());
    }
}
