// With Python's generator in place of ours, the builders must give what the reference scripts gave, value by value.

#include <memory>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "shards/python_dice.h"
#include "shards/sample.h"
#include "shards/shard_reader.h"
#include "shards/text_articles.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "tokens/wordpiece.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::filesystem::path golden() { return shared_data() / "hdf5_golden"; }

/// create_training_instances of google-research/bert and of NVIDIA: one generator for everything, in their order.
std::vector<Sample> reference_samples(const std::string& text, std::int64_t sequence_length, std::int64_t max_predictions,
                                      bool whole_words = false) {
    const auto vocabulary =
        std::make_shared<const Vocabulary>(Vocabulary::read(shared_data() / "vocab" / "bert-uncased-vocab.txt"));
    const WordPiece tokenizer(vocabulary, Casing::uncased);
    const TextArticles articles({golden() / text});
    std::vector<Document> documents(articles.size());
    for (std::size_t a = 0; a < articles.size(); ++a)
        for (const std::string& sentence : articles.sentences(a)) documents[a].push_back(tokenizer.encode(sentence));
    PythonDice dice(12345);
    dice.shuffle(documents);
    const MaskingSettings masking{0.15, max_predictions,
                                  whole_words ? continuations_of(*vocabulary) : std::vector<std::uint8_t>{}};
    std::vector<Sample> samples;
    for (int duplicate = 0; duplicate < 5; ++duplicate)
        for (std::size_t d = 0; d < documents.size(); ++d)
            build_pairs(documents, d, {sequence_length, 0.1}, vocabulary->specials(), dice, [&](SentencePair pair) {
                Sample sample{std::move(pair), {}};
                sample.masked = mask_tokens(sample.pair.tokens, masking, vocabulary->specials(), vocabulary->size(), dice);
                samples.push_back(std::move(sample));
            });
    dice.shuffle(samples);
    return samples;
}

ShardRows rows_of(const std::vector<Sample>& samples, std::int64_t sequence_length, std::int64_t max_predictions) {
    std::vector<const Sample*> pointers;
    for (const Sample& sample : samples) pointers.push_back(&sample);
    return to_rows(pointers, sequence_length, max_predictions);
}

/// google_instances.json's record of a sample.
void append_record(const Sample& sample, std::vector<std::int32_t>& stream) {
    const auto append = [&](const std::vector<std::int32_t>& values) {
        stream.push_back(static_cast<std::int32_t>(values.size()));
        stream.insert(stream.end(), values.begin(), values.end());
    };
    append(sample.pair.tokens);
    stream.push_back(sample.pair.first_segment);
    append(sample.masked.positions);
    stream.insert(stream.end(), sample.masked.labels.begin(), sample.masked.labels.end());
    stream.push_back(sample.pair.is_random_next ? 1 : 0);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class Value>
void write_raw(const std::filesystem::path& file, const std::vector<Value>& values) {
    write_text(file, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
}

std::string sha256(const std::filesystem::path& file) {
    const CommandResult result = run_command(
        PYTHON " -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], \"rb\").read()).hexdigest())' " + file.string());
    return result.out.substr(0, 64);
}

}  // namespace

TEST_CASE("our Python generator draws as CPython's random.Random does, also for seeds beyond 32 bits") {
    NEEDS_SHARED_DATA();
    const auto expected = nlohmann::json::parse(read_file(golden() / "python_random_seed12345.json"));
    PythonDice uniform(12345), bits(12345), ten(12345), below(12345), shuffling(12345), large((std::uint64_t{1} << 40) + 7);
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

TEST_CASE("the reader gives the bytes that h5py gave for NVIDIA's shards") {
    NEEDS_SHARED_DATA();
    const auto expected = nlohmann::json::parse(read_file(golden() / "expected.json"));
    const TemporaryFolder folder;
    for (const std::string name : {"sample_seq128_pred20.hdf5", "wiki12_seq128_pred20.hdf5"}) {
        const ShardReader reader(golden() / name);
        const ShardRows rows = reader.read(0, reader.rows());
        write_raw(folder / "input_ids", rows.input_ids_RS);
        write_raw(folder / "input_mask", rows.input_mask_RS);
        write_raw(folder / "segment_ids", rows.segment_ids_RS);
        write_raw(folder / "masked_lm_positions", rows.masked_lm_positions_RP);
        write_raw(folder / "masked_lm_ids", rows.masked_lm_ids_RP);
        write_raw(folder / "next_sentence_labels", rows.next_sentence_labels_R);
        for (const auto& [dataset, facts] : expected[name].items()) {
            INFO(name << " " << dataset);
            CHECK(sha256(folder / dataset) == facts["sha256_raw_le"].get<std::string>());
        }
    }
    CHECK(ShardReader(golden() / "sample_seq128_pred20.hdf5").band_rows() == 60);
    CHECK(ShardReader(golden() / "wiki12_seq128_pred20.hdf5").band_rows() == 249);
}

TEST_CASE("text becomes the very shard that NVIDIA's script made of it") {
    NEEDS_SHARED_DATA();
    const ShardReader sample_shard(golden() / "sample_seq128_pred20.hdf5"), wiki_shard(golden() / "wiki12_seq128_pred20.hdf5");
    const auto check_equal = [](const ShardRows& ours, const ShardRows& theirs) {
        REQUIRE(ours.rows == theirs.rows);
        CHECK(ours.input_ids_RS == theirs.input_ids_RS);
        CHECK(ours.input_mask_RS == theirs.input_mask_RS);
        CHECK(ours.segment_ids_RS == theirs.segment_ids_RS);
        CHECK(ours.masked_lm_positions_RP == theirs.masked_lm_positions_RP);
        CHECK(ours.masked_lm_ids_RP == theirs.masked_lm_ids_RP);
        CHECK(ours.next_sentence_labels_R == theirs.next_sentence_labels_R);
    };
    check_equal(rows_of(reference_samples("input_bert_sample_text.txt", 128, 20), 128, 20),
                sample_shard.read(0, sample_shard.rows()));
    check_equal(rows_of(reference_samples("input_wiki_12docs.txt", 128, 20), 128, 20), wiki_shard.read(0, wiki_shard.rows()));
}

TEST_CASE("instances are those of Google's script at 128 and 512 tokens, with whole words masked too") {
    NEEDS_SHARED_DATA();
    const auto expected = nlohmann::json::parse(read_file(golden() / "google_instances.json"));
    CHECK(expected["cases"].size() == 6);
    for (const auto& [name, facts] : expected["cases"].items()) {
        INFO(name);
        const bool is_long = contains(name, "seq512 pred80"), whole_words = contains(name, "wwm=True");
        const std::vector<Sample> samples =
            reference_samples(name.substr(0, name.find(' ')), is_long ? 512 : 128, is_long ? 80 : 20, whole_words);
        std::vector<std::int32_t> stream;
        for (const Sample& sample : samples) append_record(sample, stream);
        const TemporaryFolder folder;
        write_raw(folder / "stream", stream);
        CHECK(samples.size() == facts["instances"].get<std::size_t>());
        CHECK(sha256(folder / "stream") == facts["sha256_int32le_stream"].get<std::string>());
    }
}
