#include "archive/pt_writer.h"

#include <algorithm>
#include <fstream>

#include "archive/checksum.h"
#include "archive/examples.h"
#include "core/error.h"
#include "core/files/files.h"

namespace bertpretrain {
namespace {

using namespace testing;

PtValue example_tree() {
    return PtDict{{"words", PtTensor::whole(DType::f32, {3000, 2}, "0")},
                  {"bias", PtTensor::whole(DType::f32, {5}, "1")},
                  {"tied", PtTensor::whole(DType::f32, {3000, 2}, "0")},
                  {"number", PtTensor::whole(DType::f32, {}, "2")},
                  {"empty", PtTensor::whole(DType::f32, {0, 3}, "3")},
                  {"plain", PtList{true, false, PtValue(), std::int64_t{-7}, std::int64_t{1} << 40, -2.5, std::string("é"),
                                   PtDict{}, PtDict{{std::int64_t{3}, PtList{}}}}}};
}

std::vector<WrittenPiece> write_all(PtWriter& writer) {
    return {write_counting(writer, "1", 5), write_counting(writer, "0", 6000), write_counting(writer, "2", 1)};
}

}  // namespace

TEST_CASE("Python loads our files with weights_only, mapped or not, with equal values and aliases", "[system]") {
    const TemporaryFolder folder;
    PtWriter writer(folder / "ours.pt", PtLayout(example_tree(), "ours"), PtWriter::Open::create);
    writer.finish(write_all(writer));
    const CommandResult result = run_command(WARM_PYTHON " - '" + (folder / "ours.pt").string() + R"(' <<'END'
import sys, torch, zipfile
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
for mmap in (False, True):
    tree = torch.load(sys.argv[1], weights_only=True, mmap=mmap)
    assert list(tree) == ["words", "bias", "tied", "number", "empty", "plain"]
    assert torch.equal(tree["words"], (torch.arange(6000) + 0.5).view(3000, 2))
    assert torch.equal(tree["bias"], torch.arange(5) + 0.5)
    assert tree["tied"].data_ptr() == tree["words"].data_ptr()
    assert tree["number"].shape == () and tree["number"].item() == 0.5
    assert tree["empty"].shape == (0, 3)
    assert tree["plain"] == [True, False, None, -7, 2**40, -2.5, "é", {}, {3: []}]
    assert [type(item) for item in tree["plain"][:4]] == [bool, bool, type(None), int]
END)");
    CHECK(result.err == "");
    CHECK(result.exit_code == 0);
}

TEST_CASE("our reader reads our files, and every tensor starts on a page of its own") {
    const TemporaryFolder folder;
    PtWriter writer(folder / "ours.pt", PtLayout(example_tree(), "ours"), PtWriter::Open::create);
    const FileSummary summary = writer.finish(write_all(writer));
    CHECK(summary.bytes == std::filesystem::file_size(folder / "ours.pt"));
    CHECK(summary.crc32 == crc32_of_file(folder / "ours.pt"));
    for (const PtRecord& record : writer.layout().records())
        if (!record.tensor.empty()) CHECK(record.file_offset % 4096 == 0);
    const PtReader reader(folder / "ours.pt");
    reader.verify();
    std::vector<float> values(6000);
    reader.read(*reader.root().find("tied")->tensor(), 0, 6000, values.data());
    CHECK(values == counting(6000));
}

TEST_CASE("a file written in pieces by several writers equals the file written at once") {
    const TemporaryFolder folder;
    const PtLayout layout(example_tree(), "ours");
    PtWriter whole(folder / "whole.pt", layout, PtWriter::Open::create);
    const FileSummary expected = whole.finish(write_all(whole));
    PtWriter first(folder / "pieces.pt", layout, PtWriter::Open::create);
    std::vector<WrittenPiece> pieces;
    const auto bytes = counting(6000);
    for (const auto& [storage, total] : {std::pair{"0", 24000}, {"1", 20}, {"2", 4}})
        for (int begin = 0, length = 1; begin < total; begin += length, length = length * 3 % 4093 + 1) {
            PtWriter rank(folder / "pieces.pt", layout, PtWriter::Open::existing);
            const auto part =
                std::as_bytes(std::span(bytes))
                    .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(std::min(length, total - begin)));
            pieces.push_back(rank.write_piece(layout.record_of(storage), static_cast<std::uint64_t>(begin), part));
            rank.flush();
        }
    std::reverse(pieces.begin(), pieces.end());
    const FileSummary summary = first.finish(pieces);
    CHECK(summary.crc32 == expected.crc32);
    CHECK(read_text(folder / "pieces.pt") == read_text(folder / "whole.pt"));

    SECTION("a gap, an overlap or a piece beyond its record is an internal error with a message") {
        const WrittenPiece one = pieces.back();
        pieces.pop_back();
        CHECK_THROWS_WITH(first.finish(pieces), Says("words"));
        pieces.insert(pieces.end(), {one, one});
        CHECK_THROWS_WITH(first.finish(pieces), Says("gap or overlap"));
        CHECK_THROWS_AS(first.write_piece(layout.record_of("1"), 8, std::as_bytes(std::span(bytes).first(4))), std::logic_error);
    }
}

TEST_CASE("files beyond 4 GiB are written with 64-bit numbers that Python and our reader read", "[system]") {
    const TemporaryFolder folder;
    const std::int64_t large = (std::int64_t{5} << 28) + 1024;  // elements: 5 GiB + 4 KiB, left as a hole in the file
    const PtValue tree =
        PtDict{{"large", PtTensor::whole(DType::f32, {large}, "0")}, {"after", PtTensor::whole(DType::f32, {3}, "1")}};
    const std::vector<float> numbers = counting(3);
    const auto bytes = std::as_bytes(std::span(numbers));
    PtWriter writer(folder / "large.pt", PtLayout(tree, "large"), PtWriter::Open::create);
    const std::uint64_t hole = static_cast<std::uint64_t>(large) * 4 - 12;
    std::uint32_t zeros = crc32_of(std::vector<std::byte>(4096 - 12));
    const std::uint32_t page = crc32_of(std::vector<std::byte>(4096));
    for (std::uint64_t done = 4096 - 12, length = 4096, crc = page; done < hole;) {  // doubles the length while it fits
        zeros = crc32_joined(zeros, static_cast<std::uint32_t>(crc), length);
        done += length;
        if (length * 2 <= hole - done) {
            crc = crc32_joined(static_cast<std::uint32_t>(crc), static_cast<std::uint32_t>(crc), length);
            length *= 2;
        } else if (length > hole - done) {
            length = 4096;
            crc = page;
        }
    }
    const std::size_t record = writer.layout().record_of("0");
    const FileSummary summary = writer.finish(
        {{record, 0, hole, zeros}, writer.write_piece(record, hole, bytes), writer.write_piece(record + 1, 0, bytes)});
    CHECK(summary.bytes == std::filesystem::file_size(folder / "large.pt"));
    const PtReader reader(folder / "large.pt");
    std::vector<float> after(3), end(3);
    reader.read(*reader.root().find("after")->tensor(), 0, 3, after.data());
    CHECK(after == numbers);
    const PtReader unchecked(folder / "large.pt", PtReader::Checksums::never);
    unchecked.read(*unchecked.root().find("large")->tensor(), large - 3, 3, end.data());
    CHECK(end == numbers);
    const CommandResult result = run_command(WARM_PYTHON " - '" + (folder / "large.pt").string() + R"(' <<'END'
import sys, torch, zipfile
tree = torch.load(sys.argv[1], weights_only=True, mmap=True)
assert tree["large"].shape == (5 * 2**28 + 1024,) and tree["large"][-3:].tolist() == [0.5, 1.5, 2.5] and tree["large"][5] == 0
assert tree["after"].tolist() == [0.5, 1.5, 2.5]
assert [i.file_size for i in zipfile.ZipFile(sys.argv[1]).infolist()][2] == 5 * 2**30 + 4096
assert zipfile.ZipFile(sys.argv[1]).open("large/data/1").read(4)
END)");
    CHECK(result.err == "");
    CHECK(result.exit_code == 0);
}

TEST_CASE("a file that cannot be created is reported with the reason") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH(PtWriter(folder / "none" / "a.pt", PtLayout(PtDict{}, "a"), PtWriter::Open::create),
                      Says("none/a.pt: cannot be created (No such file or directory)"));
}

TEST_CASE("the CRC-32 of joined bytes follows from those of the parts") {
    const std::vector<float> numbers = counting(1000);
    const auto bytes = std::as_bytes(std::span(numbers));
    for (const std::size_t cut : {0UL, 1UL, 999UL, 4000UL})
        CHECK(crc32_joined(crc32_of(bytes.first(cut)), crc32_of(bytes.subspan(cut)), 4000 - cut) == crc32_of(bytes));
}

}  // namespace bertpretrain
