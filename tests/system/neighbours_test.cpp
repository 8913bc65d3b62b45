// `bertpretrain neighbours`: the nearest vectors to texts, to other vectors and to rows of the file itself.
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
