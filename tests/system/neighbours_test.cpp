// `bertpretrain neighbours`: the nearest vectors to texts, to other vectors and to rows of the file itself.
#include <algorithm>
#include <sstream>

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

CommandResult run_program(const std::string& arguments) {
    return run_command("env OMP_NUM_THREADS=2 " + train_program + " " + arguments);
}

/// Writes a file of vectors with NumPy. @param rows as a Python expression  @returns false if NumPy or h5py is missing
bool write_vectors(const fs::path& file, const std::string& rows) {
    const std::string save = file.extension() == ".h5" ? "h5py.File(\"" + file.string() + "\", \"w\")[\"mean\"] = rows"
                                                       : "numpy.save(\"" + file.string() + "\", rows)";
    return run_command(PYTHON " -c 'import numpy, h5py; rows = numpy.array(" + rows + ", dtype=\"f4\"); " + save + "'")
               .exit_code == 0;
}

/// Embeds by a checkpoint of finished_run().
void embed_by(const std::string& step, const fs::path& input, const fs::path& output, const std::string& options = "") {
    const CommandResult embedded = run_program("embed " + (finished_run().run / "checkpoints" / step).string() + " " +
                                               input.string() + " --output " + output.string() + " " + options);
    INFO(embedded.err);
    REQUIRE(embedded.exit_code == 0);
}

/// Exports the run, with a vocabulary of lower case and a few capital letters, and no file that says which is right.
fs::path model_of_open_casing(const fs::path& folder) {
    const CommandResult exported =
        run_program("export " + finished_run().run.string() + " --format hf --output " + folder.string());
    INFO(exported.err);
    REQUIRE(exported.exit_code == 0);
    for (const char* name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"}) fs::remove(folder / name);
    std::istringstream lines(read_text(folder / "vocab.txt"));
    std::string vocabulary;
    int number = 0;
    for (std::string token; std::getline(lines, token); vocabulary += token + "\n")
        if (token.size() > 3 && token[0] >= 'a' && token[0] <= 'z' && ++number % 16 == 0)
            token[0] = static_cast<char>(token[0] - 'a' + 'A');
    write_text(folder / "vocab.txt", vocabulary);
    return folder;
}

const std::string newest_checkpoint = "step_00000020", early_checkpoint = "step_00000003";

}  // namespace

TEST_CASE("the neighbours of another file's vectors are NumPy's, by cosine and product, from .npy and .h5") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string random = "numpy.random.default_rng(1).normal(size=(5000, 48)) + 0.3";
    if (!write_vectors(folder / "rows.npy", random) || !write_vectors(folder / "rows.h5", random) ||
        !write_vectors(folder / "queries.npy", "numpy.random.default_rng(2).normal(size=(9, 48))"))
        SKIP_TEST(skip::no_oracle, "no Python with NumPy and h5py");
    for (const char* rows : {"rows.npy", "rows.h5"})
        for (const char* by : {"cosine", "dot"}) {
            const CommandResult found = run_program("neighbours " + (folder / rows).string() + " --queries " +
                                                    (folder / "queries.npy").string() + " --top 20 --json --by " + by);
            INFO(found.err);
            REQUIRE(found.exit_code == 0);
            write_text(folder / "found", found.out);
            const CommandResult compared =
                run_command(PYTHON " tests/system/numpy_neighbours.py " + (folder / rows).string() + " " +
                            (folder / "queries.npy").string() + " " + by + " " + (folder / "found").string());
            INFO(compared.err);
            REQUIRE(compared.exit_code == 0);
            CHECK(std::stod(compared.out) < 2e-5);
        }
}

TEST_CASE("with --min-score all rows above it are found as NumPy finds them, and no more than --top if both are given") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string rows = (folder / "rows.npy").string(), queries = (folder / "queries.npy").string();
    if (!write_vectors(rows, "numpy.random.default_rng(3).normal(size=(5000, 6)) + 0.3") ||
        !write_vectors(queries, "numpy.random.default_rng(4).normal(size=(9, 6))"))
        SKIP_TEST(skip::no_oracle, "no Python with NumPy and h5py");
    const std::string search = "neighbours " + rows + " --queries " + queries + " --json ";
    std::size_t longest = 0;
    for (const auto& [by, least] : {std::pair("cosine", "0.8"), std::pair("dot", "6.5")}) {
        const CommandResult found = run_program(search + "--by " + by + " --min-score " + least);
        INFO(found.err);
        REQUIRE(found.exit_code == 0);
        write_text(folder / "found", found.out);
        const CommandResult compared = run_command(PYTHON " tests/system/numpy_neighbours.py " + rows + " " + queries + " " + by +
                                                   " " + (folder / "found").string() + " " + least);
        INFO(compared.err);
        REQUIRE(compared.exit_code == 0);
        CHECK(std::stod(compared.out) < 2e-5);
        std::istringstream lines(found.out);
        for (std::string line; std::getline(lines, line);) longest = std::max(longest, json::parse(line).at("neighbours").size());
    }
    CHECK(longest > 10);
    const CommandResult limited = run_program(search + "--min-score 0.8 --top 3");
    CHECK(json::parse(limited.out.substr(0, limited.out.find('\n'))).at("neighbours").size() <= 3);
    const CommandResult refused = run_program(search + "--min-score 1.5");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"--min-score 1.5", "a cosine is from -1 to 1"}) == "");
}

TEST_CASE("each sentence is printed with the sentence whose centred vector has the largest cosine, never with itself") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    // U+2028 separates lines for Python's splitlines(), but not for `embed`.
    write_text(folder / "text.txt", "one\ntwo\xE2\x80\xA8here\nthree\nfour\n");
    if (!write_vectors(folder / "vectors.npy", "[[9, 1], [9, 0.9], [1, 9], [1, 8]]"))
        SKIP_TEST(skip::no_oracle, "no Python with NumPy and h5py");
    const std::string command = "neighbours " + (folder / "vectors.npy").string() + " --spread 2 --center --top 1 ";
    const CommandResult printed = run_program(command + "--text " + (folder / "text.txt").string());
    INFO(printed.err);
    CHECK(printed.exit_code == 0);
    CHECK(printed.out == "one\n  1.000  two\xE2\x80\xA8here\nthree\n  0.991  four\n");
    CHECK(run_program(command).out == "row 0\n  1.000  row 1\nrow 2\n  0.991  row 3\n");
    write_text(folder / "vectors.ids.txt", "a\nb\nc\nd\n");
    CHECK(run_program(command).out == "a\n  1.000  b\nc\n  0.991  d\n");
    write_text(folder / "text.txt", "one\ntwo\nthree\n");
    const CommandResult refused = run_program(command + "--text " + (folder / "text.txt").string());
    CHECK(refused.exit_code == 3);
    CHECK(missing_words(refused.err, {"text.txt: has 3 texts", "4 rows"}) == "");
}

TEST_CASE("a text through the model finds its own record first, with its id") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "records.jsonl",
               "{\"text\": \"the sun is a star\", \"sku\": 17}\n{\"text\": \"water\\nfreezes\", \"sku\": 4}\n"
               "{\"text\": \"a city of the north\", \"sku\": 99}\n");
    const std::string run = finished_run().run.string(), vectors = (folder / "v.h5").string(),
                      records = (folder / "records.jsonl").string();
    const CommandResult embedded = run_program("embed " + run + " " + records + " --id-field sku --output " + vectors);
    INFO(embedded.err);
    REQUIRE(embedded.exit_code == 0);
    const CommandResult found = run_program("neighbours " + vectors + " \"a city of the north\" \"water freezes\" --model " +
                                            run + " --top 2 --json --text " + records);
    INFO(found.err);
    REQUIRE(found.exit_code == 0);
    const json first = json::parse(found.out.substr(0, found.out.find('\n')));
    CHECK(first.at("query").at("text") == "a city of the north");
    CHECK(first.at("neighbours").size() == 2);
    CHECK(first.at("neighbours")[0].at("row") == 2);
    CHECK(first.at("neighbours")[0].at("id") == "99");
    CHECK(first.at("neighbours")[0].at("text") == "a city of the north");
    CHECK(std::abs(first.at("neighbours")[0].at("score").get<double>() - 1) < 1e-6);
    const json second = json::parse(found.out.substr(found.out.find('\n') + 1));
    CHECK(second.at("neighbours")[0].at("text") == "water\nfreezes");

    CHECK(run_program("neighbours " + vectors).exit_code == 2);
    CHECK(run_program("neighbours " + vectors + " text").exit_code == 2);
    const CommandResult beyond = run_program("neighbours " + vectors + " --rows 0,3");
    CHECK(beyond.exit_code == 2);
    CHECK(missing_words(beyond.err, {"--rows 3", "rows 0 to 2"}) == "");
    const std::string empty = (folder / "empty.npy").string();
    if (run_command(PYTHON " -c 'import numpy, sys; numpy.save(sys.argv[1], numpy.zeros((0, 64), numpy.float32))' " + empty)
            .exit_code == 0)
        CHECK(run_program("neighbours " + vectors + " --queries " + empty).exit_code == 3);
    write_text(folder / "other.npy", "no vectors");
    CHECK(run_program("neighbours " + (folder / "other.npy").string() + " --rows 0").exit_code == 3);
}

TEST_CASE("a model is refused where another one made the vectors, unless --any-model accepts it; exports are the same model") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "text", "the sun is a star\nwater freezes\na city of the north\n");
    const std::string run = finished_run().run.string(), exported = (folder / "exported").string(),
                      early = (finished_run().run / "checkpoints" / early_checkpoint).string();
    REQUIRE(run_program("export " + run + " --format sentence-transformers --vectors cls --output " + exported).exit_code == 0);
    for (const char* name : {"v.npy", "v.h5"}) {
        CAPTURE(name);
        embed_by(newest_checkpoint, folder / "text", folder / name);
        const auto find = [&](const std::string& options) {
            return run_program("neighbours " + (folder / name).string() + " \"water freezes\" --top 1 " + options);
        };
        const CommandResult other = find("--model " + early);
        CHECK(other.exit_code == 2);
        CHECK(missing_words(other.err,
                            {early_checkpoint, name, "encoder_crc32 is ", "recorded with the vectors is", "--any-model"}) == "");
        CHECK(other.out.empty());
        const CommandResult accepted = find("--any-model --model " + early);
        CHECK(accepted.exit_code == 0);
        CHECK(missing_words(accepted.err, {"encoder_crc32", "--any-model accepts it"}) == "");
        const CommandResult same = find("--precision bf16 --model " + exported);  // whose own vectors are cls
        INFO(same.err);
        CHECK(same.exit_code == 0);
        CHECK(same.err.find("warning") == std::string::npos);
        CHECK(find("--model " + run).out == "water freezes\n  1.000  row 1\n");
        const CommandResult pooling = find("--vectors cls --model " + run);
        CHECK(pooling.exit_code == 2);
        CHECK(missing_words(pooling.err, {"--vectors cls", "has vectors of mean", "leave --vectors out"}) == "");
        CHECK(find("--vectors mean --model " + run).exit_code == 0);
    }
    fs::remove(folder / "v.origin.json");
    const CommandResult unknown =
        run_program("neighbours " + (folder / "v.npy").string() + " text --vectors cls --model " + early);
    CHECK(unknown.exit_code == 0);
    CHECK(unknown.err.find("warning") == std::string::npos);  // NumPy may have written it
}

TEST_CASE("a text becomes a vector as the stored ones did: casing, length 1, truncation and prompt come from their record") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string model = model_of_open_casing(folder / "model").string(), run = finished_run().run.string();
    write_text(folder / "text", "The SUN Is A Star\nthe sun is a star\nwater freezes at zero degrees\nwater freezes now\n");
    const auto embed = [&](const std::string& of, const std::string& name, const std::string& options) {
        const CommandResult embedded = run_program("embed " + of + " " + (folder / "text").string() + " --output " +
                                                   (folder / name).string() + " " + options);
        INFO(embedded.err);
        REQUIRE(embedded.exit_code == 0);
    };
    const auto find = [&](const std::string& name, const std::string& text, const std::string& options) {
        return run_program("neighbours " + (folder / name).string() + " \"" + text + "\" --top 1 " + options);
    };
    for (const char* ending : {".npy", ".h5"}) {
        embed(model, std::string("cased") + ending, "--cased");
        CHECK(find(std::string("cased") + ending, "The SUN Is A Star", "--model " + model).out ==
              "The SUN Is A Star\n  1.000  row 0\n");
    }
    const std::string exported = (folder / "exported").string();  // names the casing, which the model's files leave open
    REQUIRE(run_program("export " + model + " --format hf --cased --output " + exported).exit_code == 0);
    CHECK(find("cased.npy", "The SUN Is A Star", "--model " + exported).out == "The SUN Is A Star\n  1.000  row 0\n");
    CHECK(json::parse(read_text(fs::path(exported) / "tokenizer_config.json")).at("do_lower_case") == false);
    embed(model, "uncased.npy", "");
    const CommandResult refused = find("uncased.npy", "The SUN", "--cased --model " + model);
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"--cased", "uncased.npy has vectors of uncased text", "leave --cased out"}) == "");
    CHECK(find("uncased.npy", "The SUN", "--cased --any-model --model " + model).exit_code == 0);

    embed(run, "unit.npy", "--normalize");
    CHECK(find("unit.npy", "water freezes now", "--by dot --model " + run).out == "water freezes now\n  1.000  row 3\n");
    embed(run, "plain.npy", "");
    const std::string queries = "neighbours " + (folder / "plain.npy").string() + " --queries " + (folder / "unit.npy").string();
    CHECK(run_program(queries).exit_code == 0);
    const CommandResult lengths = run_program(queries + " --by dot");
    CHECK(lengths.exit_code == 2);
    CHECK(missing_words(lengths.err, {"--by dot", "unit.npy has vectors of length 1", "plain.npy of any length"}) == "");

    embed(exported, "of_export.npy", "");
    std::string config = read_text(fs::path(exported) / "config.json");
    config.replace(config.find("\"layer_norm_eps\": "), 18, "\"layer_norm_eps\": 1");
    write_text(fs::path(exported) / "config.json", config);
    const CommandResult settings = find("of_export.npy", "water", "--model " + exported);
    CHECK(settings.exit_code == 2);
    CHECK(missing_words(settings.err, {"its settings", "are not those that made", "of_export.npy"}) == "");

    embed(run, "short.npy", "--max-length 4");
    CHECK(find("short.npy", "water freezes at zero degrees", "--min-score 0.99999 --model " + run).out.find("row 2") !=
          std::string::npos);

    const std::string sentences = (folder / "st").string();
    REQUIRE(run_program("export " + run + " --format sentence-transformers --output " + sentences).exit_code == 0);
    const auto set_prompt = [&](const std::string& prompt) {
        write_text(fs::path(sentences) / "config_sentence_transformers.json",
                   json{{"prompts", {{"default", prompt}}}, {"default_prompt_name", "default"}}.dump());
    };
    set_prompt("passage of the north: ");
    embed(sentences, "prompted.npy", "");
    CHECK(find("prompted.npy", "the sun is a star", "--model " + run).out == "the sun is a star\n  1.000  row 0\n");
    set_prompt("query: ");
    const CommandResult prompts = find("prompted.npy", "the sun", "--model " + sentences);
    CHECK(prompts.exit_code == 2);
    CHECK(missing_words(prompts.err, {"puts the prompt \"query: \"", "was made with \"passage of the north: \""}) == "");
    CHECK(find("prompted.npy", "the sun", "--any-model --model " + sentences).exit_code == 0);
}

TEST_CASE("vectors of another model or another pooling are refused as queries") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "text", "the sun is a star\nwater freezes\n");
    embed_by(newest_checkpoint, folder / "text", folder / "v.h5");
    embed_by(newest_checkpoint, folder / "text", folder / "same.npy", "--precision bf16");
    embed_by(newest_checkpoint, folder / "text", folder / "cls.npy", "--vectors cls");
    embed_by(early_checkpoint, folder / "text", folder / "early.npy");
    const auto search = [&](const std::string& name, const std::string& options = "") {
        return run_program("neighbours " + (folder / "v.h5").string() + " --queries " + (folder / name).string() + " " + options);
    };
    CHECK(search("same.npy").exit_code == 0);
    const CommandResult early = search("early.npy"), cls = search("cls.npy");
    CHECK(early.exit_code == 2);
    CHECK(missing_words(early.err, {"early.npy", "another model made it", "v.h5", "encoder_crc32", "--any-model"}) == "");
    CHECK(cls.exit_code == 2);
    CHECK(missing_words(cls.err, {"cls.npy: has vectors of cls", "v.h5 has vectors of mean"}) == "");
    CHECK(search("early.npy", "--any-model").exit_code == 0);
    fs::rename(folder / "early.npy", folder / "unknown.npy");
    CHECK(search("unknown.npy").exit_code == 0);
}

TEST_CASE("a shuffled text, and another field, are refused as the texts of the rows") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "right.jsonl", "{\"text\": \"a star\", \"more\": \"x\"}\n{\"text\": \"water\", \"more\": \"y\"}\n");
    write_text(folder / "shuffled.jsonl", "{\"text\": \"water\", \"more\": \"y\"}\n{\"text\": \"a star\", \"more\": \"x\"}\n");
    write_text(folder / "latin.txt",
               "Stra\xDF"
               "e\nwater\n");
    embed_by(newest_checkpoint, folder / "right.jsonl", folder / "v.npy");
    const auto print = [&](const std::string& vectors, const std::string& options) {
        return run_program("neighbours " + (folder / vectors).string() + " --rows 0 --text " + (folder / options).string());
    };
    CHECK(print("v.npy", "right.jsonl").out.starts_with("a star\n"));
    const CommandResult shuffled = print("v.npy", "shuffled.jsonl"), field = print("v.npy", "right.jsonl --text-field more");
    CHECK(shuffled.exit_code == 3);
    CHECK(shuffled.out.empty());
    CHECK(missing_words(shuffled.err, {"shuffled.jsonl: has", "the vectors were made of", "name the file that was embedded"}) ==
          "");
    CHECK(field.exit_code == 3);
    embed_by(newest_checkpoint, folder / "latin.txt", folder / "latin.h5", "--encoding latin-1");
    CHECK(print("latin.h5", "latin.txt --encoding latin-1")
              .out.starts_with("Stra\xC3\x9F"
                               "e\n"));
    embed_by(newest_checkpoint, folder / "right.jsonl", folder / "apart.h5", "--letters apart");
    CHECK(print("apart.h5", "right.jsonl --letters apart").out.starts_with("a s t a r\n"));
    CHECK(print("apart.h5", "right.jsonl").exit_code == 3);
}
