// Round trips: Python saves a file, we read it and write a copy, and Python compares the two.

#include <algorithm>
#include <cmath>
#include <set>

#include "archive/examples.h"

namespace bertpretrain {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// Reads a file and writes a copy of it.
void copy_pt(const fs::path& from, const fs::path& to) {
    const PtReader reader(from);
    reader.verify();
    PtWriter writer(to, PtLayout(reader.root(), from.stem().string()), PtWriter::Open::create);
    std::vector<WrittenPiece> pieces;
    std::set<std::string> written;
    for_each_tensor(reader.root(), [&](const std::string&, const PtTensor& tensor) {
        if (written.insert(tensor.storage).second)
            pieces.push_back(writer.write_piece(writer.layout().record_of(tensor.storage), 0, reader.storage(tensor)));
    });
    writer.finish(pieces);
}

}  // namespace

TEST_CASE("every kind of file that Python saves is equal bit for bit after our reader and writer copied it", "[system]") {
    const TemporaryFolder copies;
    const std::vector<std::string> names{"types",      "halves",   "views",  "values",  "numbers",
                                         "state_dict", "training", "shared", "ckpt_200"};
    for (const std::string& name : names) copy_pt(python_examples() / (name + ".pt"), copies / (name + ".pt"));
    const CommandResult result = run_command(WARM_PYTHON " tests/archive/compare_copies.py '" +
                                             python_examples().path().string() + "' '" + copies.path().string() + "'");
    CHECK(result.err == "");
    CHECK(std::count(result.out.begin(), result.out.end(), '\n') == static_cast<std::ptrdiff_t>(names.size()));
}

TEST_CASE("storages saved from any device are read as plain numbers") {
    for (const std::string place : {"cuda", "hpu", "xla", "mps"}) {
        INFO(place);
        const PtReader reader(python_examples() / ("device_" + place + ".pt"));
        std::vector<float> values(6);
        reader.read(*reader.root().find("weight")->tensor(), 0, 6, values.data());
        CHECK(values == std::vector<float>{0, 3, 1, 4, 2, 5});
    }
    const PtReader reader(python_examples() / "device_tensor.pt");
    CHECK(reader.root().find("weight")->tensor()->shape == std::vector<std::int64_t>{4});
}

TEST_CASE("integers beyond 64 bits, infinities and tuples are kept unchanged") {
    const PtReader reader(python_examples() / "numbers.pt");
    const PtList& integers = *reader.root().find("integers")->list();
    CHECK(*integers[0].integer() == INT64_MAX);
    CHECK(*integers[1].integer() == INT64_MIN);
    CHECK(std::get<PtBigInteger>(integers[2].content).bytes == std::string("\0\0\0\0\0\0\0\x80\0", 9));
    const PtList& reals = *reader.root().find("reals")->list();
    CHECK(*reals[1].real() == -INFINITY);
    CHECK(std::isnan(*reals[2].real()));
    CHECK(std::signbit(*reals[3].real()));
    CHECK(reader.root().find("sets")->list()->at(1).list()->size() == 1);
}

TEST_CASE("a 5 GB file that Python saved is read", "[.long]") {
    const TemporaryFolder folder;
    const CommandResult saved = run_command(WARM_PYTHON " - '" + (folder / "large.pt").string() + R"(' <<'END'
import sys, torch
large = torch.empty(1_250_000_000)
large.zero_()
large[-1] = 7
torch.save({"large": large, "after": torch.arange(3.0), "view": large[-2:]}, sys.argv[1])
END)");
    REQUIRE(saved.err == "");
    CHECK(fs::file_size(folder / "large.pt") > 5'000'000'000);
    const PtReader reader(folder / "large.pt");
    reader.verify();
    std::vector<float> end(2), after(3);
    reader.read(*reader.root().find("large")->tensor(), 1'249'999'998, 2, end.data());
    CHECK(end == std::vector<float>{0, 7});
    reader.read(*reader.root().find("view")->tensor(), 0, 2, end.data());
    CHECK(end == std::vector<float>{0, 7});
    reader.read(*reader.root().find("after")->tensor(), 0, 3, after.data());
    CHECK(after == std::vector<float>{0, 1, 2});
}

}  // namespace bertpretrain
