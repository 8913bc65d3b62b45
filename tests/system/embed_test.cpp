// The vectors of `embed` equal those of transformers, after a kill and on any number of ranks.

#include "core/concat.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/shared_data.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using bertpretrain::concat;
using nlohmann::json;

namespace {

/// Returns lines of the sample's sentences, with unusual lines among them.
std::string some_lines(std::size_t count) {
    std::string text = read_text(sample_data().text), lines;
    for (std::size_t i = 0, at = 0; i < count && at < text.size(); ++i) {
        const std::size_t end = text.find('\n', at);
        lines += text.substr(at, end - at) + "\n";
        at = end + 1;
        if (i % 50 == 7) lines += "\n";
        if (i % 60 == 9) lines += "  na\xC3\xAFve  CAF\xC3\x89, (1871) \xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x98\x80 [MASK]\n";
    }
    return lines;
}

std::string embed_command(const fs::path& model, const fs::path& text, const fs::path& output, const std::string& options = "") {
    return "env OMP_NUM_THREADS=1 " + train_program + " embed " + model.string() + " " + text.string() + " --output " +
           output.string() + " --precision fp32 " + options;
}

CommandResult embed(const fs::path& model, const fs::path& text, const fs::path& output, const std::string& options = "") {
    return run_command(embed_command(model, text, output, options));
}

/// Embeds `text` in every way and compares with transformers; `hf` is the folder that transformers reads. Skips the test where
/// Python lacks the packages.
void check_against_transformers(const fs::path& model, const fs::path& hf, const fs::path& text, const fs::path& folder,
                                const std::vector<std::string>& outputs = {"mean.npy", "cls.h5", "pooled.npy"}) {
    std::string files;
    for (const std::string& name : outputs) {
        const CommandResult done = embed(model, text, folder / name, "--vectors " + name.substr(0, name.find('.')));
        INFO(done.err);
        REQUIRE(done.exit_code == 0);
        files += " " + (folder / name).string();
    }
    const CommandResult compared = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/hf_embeddings.py " +
                                               hf.string() + " " + text.string() + files);
    if (lacks_package(compared)) SKIP_TEST(skip::no_oracle, "no Python with torch, transformers and h5py");
    INFO(compared.err);
    REQUIRE(compared.exit_code == 0);
    const json differences = json::parse(compared.out);
    CHECK(differences.size() == outputs.size());
    for (const auto& [name, difference] : differences.items()) {
        INFO(name << ": largest difference " << difference);
        CHECK(difference.get<double>() < 1e-4);
    }
}

}  // namespace

TEST_CASE("the vectors of our own model are transformers' of its export") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "text", some_lines(150));
    REQUIRE(run_command(train_program + " export " + finished_run().run.string() + " --format hf --output " +
                        (folder / "hf").string())
                .exit_code == 0);
    check_against_transformers(finished_run().run, folder / "hf", folder / "text", folder.path());
}

TEST_CASE("the vectors of models that transformers saved are transformers'") {
    NEEDS_TRAIN();
    NEEDS_SHARED_DATA();
    const TemporaryFolder folder;
    std::string numbered;  // lines of 0 to 150 words of coldfire's vocabulary
    for (int line = 0; line < 40; ++line) {
        for (int word = 0; word < line * line / 10; ++word)
            numbered += "t" + std::to_string(5 + (line * 31 + word * 7) % 251) + " ";
        numbered += "\n";
    }
    write_text(folder / "numbered", numbered);
    const fs::path coldfire = shared_data() / "ckpt/coldfire_tiny_bert";
    check_against_transformers(coldfire, coldfire, folder / "numbered", folder.path(), {"mean.npy", "cls.h5"});
    const CommandResult no_pooler = embed(coldfire, folder / "numbered", folder / "pooled.npy", "--vectors pooled");
    CHECK(no_pooler.exit_code == 4);
    CHECK(missing_words(no_pooler.err, {"no pooler", "--vectors pooled is not possible"}) == "");

    for (const char* made : {"mean.npy", "cls.h5"}) fs::remove(folder / made);
    const fs::path random = folder / "random", vocabulary = shared_data() / "vocab/bert-uncased-vocab.txt";
    const CommandResult saved =
        run_command(WARM_PYTHON
                    " -c 'import sys, torch; from transformers import BertConfig, BertModel; torch.manual_seed(1); "
                    "BertModel(BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, "
                    "intermediate_size=1536)).save_pretrained(sys.argv[1])' " +
                    random.string() + " && cp " + vocabulary.string() + " " + (random / "vocab.txt").string());
    if (saved.exit_code != 0) SKIP_TEST(skip::no_oracle, "no Python with torch and transformers");
    write_text(folder / "text", some_lines(40));
    check_against_transformers(random, random, folder / "text", folder.path());
    const CommandResult exported =
        run_command(train_program + " export " + random.string() + " --format state_dict --output " + (folder / "out").string());
    INFO(exported.err);
    CHECK(exported.exit_code == 0);  // an encoder alone
}

TEST_CASE("ranks, batches, standard input and a kill do not change the file") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    std::string text;
    while (text.size() < 700'000) text += some_lines(400);
    write_text(folder / "text", text);
    const fs::path& model = finished_run().run;
    REQUIRE(embed(model, folder / "text", folder / "alone.npy").exit_code == 0);
    const std::string right = read_text(folder / "alone.npy");

    REQUIRE(embed(model, folder / "text", folder / "three.npy", "--local-ranks 3").exit_code == 0);
    CHECK((read_text(folder / "three.npy") == right));
    REQUIRE(
        run_command("cat " + (folder / "text").string() + " | " + embed_command(model, "-", folder / "piped.npy")).exit_code ==
        0);
    CHECK((read_text(folder / "piped.npy") == right));
    CHECK_FALSE(fs::exists(folder / "piped.npy.partial"));
    write_text(folder / "marked", "\xEF\xBB\xBF" + text);
    REQUIRE(embed(model, folder / "marked", folder / "marked.npy", "--local-ranks 2").exit_code == 0);
    CHECK((read_text(folder / "marked.npy") == right));
    CHECK_FALSE(fs::exists(folder / "marked.npy.partial"));

    const fs::path killed = folder / "killed.npy";
    {
        Process process(embed_command(model, folder / "text", killed));
        REQUIRE(wait_until(process, [&] {  // a part is done: its entry in the list is no longer -1
            const std::string marks = read_text(killed.string() + ".partial/done");
            return marks.find('\0') != std::string::npos;
        }));
        process.send(SIGKILL);
        process.wait();
    }
    CHECK_FALSE(fs::exists(killed));
    const CommandResult other = embed(model, folder / "text", killed, "--vectors cls");
    CHECK(other.exit_code == 2);
    CHECK(missing_words(other.err, {"killed.npy.partial", "begun with a different vectors", "mean", "cls"}) == "");
    const CommandResult resumed = embed(model, folder / "text", killed, "--local-ranks 2");
    INFO(resumed.err);
    REQUIRE(resumed.exit_code == 0);
    CHECK(resumed.err.find("continuing with") != std::string::npos);
    CHECK((read_text(killed) == right));
    CHECK_FALSE(fs::exists(killed.string() + ".partial"));
}

TEST_CASE("embed names the lines that it refuses, and counts those that it truncates") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path &model = finished_run().run, output = folder / "vectors.npy";
    write_text(folder / "text", "short\n" + std::string(5000, 'x') + " and so on\n" + some_lines(3));
    const CommandResult cut = embed(model, folder / "text", output, "--max-length 4 --json");
    INFO(cut.err);
    REQUIRE(cut.exit_code == 0);
    const json said = json::parse(cut.out);
    CHECK(said.at("truncated_lines").get<int>() == said.at("lines").get<int>() - 1);
    CHECK(missing_words(cut.err, {"lines are longer than 4 tokens"}) == "");

    const CommandResult exists = embed(model, folder / "text", output);
    CHECK(exists.exit_code == 2);
    CHECK(missing_words(exists.err, {"vectors.npy", "exists"}) == "");
    const CommandResult ending = embed(model, folder / "text", folder / "vectors.csv");
    CHECK(ending.exit_code == 2);
    CHECK(missing_words(ending.err, {"vectors.csv", ".npy, .h5"}) == "");
    const CommandResult longer = embed(model, folder / "text", folder / "other.npy", "--max-length 65");
    CHECK(longer.exit_code == 2);
    CHECK(missing_words(longer.err, {"--max-length 65", "64 positions"}) == "");
    write_text(folder / "latin", "one\ntwo\ncaf\xE9\n");
    const CommandResult latin = embed(model, folder / "latin", folder / "other.npy");
    CHECK(latin.exit_code == 3);
    CHECK(missing_words(latin.err, {"latin: byte 11 is not UTF-8"}) == "");
    CHECK_FALSE(fs::exists(folder / "other.npy"));
}

TEST_CASE("embed and neighbours warn of words that the model reads as [UNK]") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string vectors = (folder / "vectors.npy").string(), run = finished_run().run.string();
    write_text(folder / "lines.txt", "\u4e2d\u6587 \u6c34\n\u6c34\n");
    const CommandResult embedded = run_command(concat("env OMP_NUM_THREADS=1 ", train_program, " embed ", run, " ",
                                                      (folder / "lines.txt").string(), " --output ", vectors));
    INFO(embedded.err);
    CHECK(embedded.exit_code == 0);
    CHECK(missing_words(embedded.err, {"tokens are [UNK]"}) == "");
    const CommandResult nearest =
        run_command(concat("env OMP_NUM_THREADS=1 ", train_program, " neighbours ", vectors, " '\u4e2d\u6587' --model ", run));
    INFO(nearest.err);
    CHECK(missing_words(nearest.err, {"tokens are [UNK]"}) == "");

    write_text(folder / "unknown.txt", "\u4e2d\u6587\n\u6587\n");
    const std::string command = concat("env OMP_NUM_THREADS=1 ", train_program, " embed ", run, " ",
                                       (folder / "unknown.txt").string(), " --output ", (folder / "others.npy").string());
    const CommandResult refused = run_command(command);
    CHECK(refused.exit_code == 3);
    CHECK(missing_words(refused.err, {"unknown.txt: 100.0 % of the tokens are [UNK]", "--max-unknown 1.00"}) == "");
    CHECK_FALSE(fs::exists(folder / "others.npy"));
    CHECK(run_command(command + " --max-unknown 1").exit_code == 0);
}
