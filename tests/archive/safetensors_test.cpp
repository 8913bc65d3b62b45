#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "archive/examples.h"
#include "archive/pt_reader.h"
#include "archive/safetensors_reader.h"
#include "archive/safetensors_writer.h"

namespace bertpretrain {
namespace {

using namespace testing;

std::string little_endian(std::uint64_t number) { return {reinterpret_cast<const char*>(&number), sizeof number}; }

/// A file with this header and `bytes` bytes after it.
std::string file_of(const std::string& header, std::size_t bytes) {
    return little_endian(header.size()) + header + std::string(bytes, '\1');
}

std::string refusal_of(const std::string& content) {
    const TemporaryFolder folder;
    write_text(folder / "odd.safetensors", content);
    try {
        const SafetensorsReader reader(folder / "odd.safetensors");
    } catch (const CheckpointError& error) { return error.what(); }
    return "";
}

std::string refusal_of(const std::string& header, std::size_t bytes) { return refusal_of(file_of(header, bytes)); }

}  // namespace

TEST_CASE("safetensors files written by Python are read bit for bit, in every dtype", "[system]") {
    const TemporaryFolder folder;
    const CommandResult python = run_command(WARM_PYTHON " - '" + folder.path().string() + R"(' <<'END'
import json, sys, torch
from safetensors.torch import save_file
torch.manual_seed(3)
tensors = {}
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
    tensors[str(dtype)] = torch.randn(3, 5, dtype=torch.float64).to(dtype)
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
    tensors[str(dtype)] = torch.randint(0, 100, (7,)).to(dtype)
tensors["torch.bool"] = torch.tensor([True, False, True])
tensors["number"] = torch.tensor(2.5)
tensors["empty"] = torch.empty(0, 3)
tensors["naïve"] = torch.tensor([1e-45, -0.0, float("inf")])
save_file(tensors, sys.argv[1] + "/python.safetensors", metadata={"format": "pt", "note": "é"})
json.dump({name: {"shape": list(t.shape), "values": [None if v == float("inf") else v for v in t.double().flatten().tolist()]} for name, t in tensors.items()},
          open(sys.argv[1] + "/values.json", "w"))
END)");
    REQUIRE(python.err == "");
    const SafetensorsReader reader(folder / "python.safetensors");
    const nlohmann::json expected = nlohmann::json::parse(read_text(folder / "values.json"));
    CHECK(reader.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"note", "é"}});
    CHECK(reader.tensors().size() == expected.size());
    for (const auto& [name, item] : expected.items()) {
        INFO(name);
        const SafetensorsEntry* tensor = reader.find(name);
        REQUIRE(tensor != nullptr);
        CHECK(nlohmann::json(tensor->shape) == item["shape"]);
        if (name.starts_with("torch.")) CHECK("torch." + std::string(dtype_name(tensor->dtype)) == name);
        const auto count = static_cast<std::int64_t>(item["values"].size());
        REQUIRE(tensor->elements() == count);
        for (std::int64_t i = 0; i < count; ++i) {
            float value = 0;
            reader.read_as_float(*tensor, i, 1, &value);
            const nlohmann::json& number = item["values"][static_cast<std::size_t>(i)];
            CHECK(value == (number.is_null() ? INFINITY : static_cast<float>(number.get<double>())));
        }
    }
    CHECK(reader.find("absent") == nullptr);
    CHECK_THROWS_AS(reader.read_as_float(*reader.find("number"), 0, 2, nullptr), std::logic_error);
}

TEST_CASE("Python reads our safetensors files bit for bit, with names, order and metadata", "[system]") {
    const TemporaryFolder folder;
    const std::vector<float> numbers = counting(6);
    const std::array<std::uint16_t, 3> halves{0x3C00, 0x7C00, 0x0001};
    const std::array<std::uint8_t, 2> truths{1, 0};
    const auto bytes = std::as_bytes(std::span(numbers));
    write_safetensors(folder / "ours.safetensors", {{"truths", DType::boolean, {2}, std::as_bytes(std::span(truths))},
                                                    {"words", DType::f32, {2, 3}, bytes},
                                                    {"halves", DType::f16, {3, 1}, std::as_bytes(std::span(halves))},
                                                    {"number \"é\"", DType::f32, {}, bytes.subspan(4, 4)},
                                                    {"empty", DType::f32, {0, 3}, {}},
                                                    {"again", DType::f32, {6}, bytes}});
    const CommandResult python = run_command(WARM_PYTHON " - '" + (folder / "ours.safetensors").string() + R"(' <<'END'
import sys, torch
from safetensors import safe_open
from safetensors.torch import load_file
tensors = load_file(sys.argv[1])
assert torch.equal(tensors["words"], (torch.arange(6) + 0.5).view(2, 3)) and torch.equal(tensors["again"], torch.arange(6) + 0.5)
assert torch.equal(tensors["halves"].view(torch.int16).flatten(), torch.tensor([0x3C00, 0x7C00, 1], dtype=torch.int16))
assert tensors["halves"].dtype == torch.float16 and tensors["halves"].shape == (3, 1)
assert tensors["truths"].tolist() == [True, False]
assert tensors['number "é"'].shape == () and tensors['number "é"'].item() == 1.5 and tensors["empty"].shape == (0, 3)
assert len(tensors) == 6
assert safe_open(sys.argv[1], "pt").metadata() == {"format": "pt"}
END)");
    CHECK(python.err == "");
    CHECK(python.exit_code == 0);
    const SafetensorsReader reader(folder / "ours.safetensors");
    CHECK(reader.tensors().size() == 6);
    CHECK(reader.find("words")->offset % 4 == 0);
    CHECK_THROWS_AS(write_safetensors(folder / "twice", {{"a", DType::f32, {0}, {}}, {"a", DType::f32, {0}, {}}}),
                    std::logic_error);
    CHECK_THROWS_AS(write_safetensors(folder / "wrong", {{"a", DType::f32, {2}, bytes}}), std::logic_error);
}

TEST_CASE("a file that stands in the place of weights is named, with what to do") {
    const TemporaryFolder folder;
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 438000000\n";
    for (const auto& [content, words] : std::vector<std::pair<std::string, std::string>>{
             {pointer, "is a Git LFS pointer, which stands for the file, expected a "},
             {"<!DOCTYPE html>\n<html>\n", "is an HTML page, perhaps the answer of a server"},
             {"\x1F\x8B\x08 and more", "is compressed with gzip, expected a "},
             {"\x89HDF\r\n\x1A\n and more", "is an HDF5 file, expected a "}}) {
        write_text(folder / "weights", content);
        CHECK_THROWS_WITH(SafetensorsReader(folder / "weights"), Says(words) && Says("do: "));
        CHECK_THROWS_WITH(PtReader(folder / "weights"), Says(words) && Says("do: "));
    }
}

TEST_CASE("safetensors files with wrong headers are refused, naming the tensor") {
    const std::string good =
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[],"data_offsets":[8,12]}})";
    CHECK(refusal_of(good, 12) == "");
    CHECK_THAT(refusal_of("short"), Says("too short"));
    CHECK_THAT(refusal_of(good, 11), Says("tensor \"b\" reaches beyond the file"));
    CHECK_THAT(refusal_of(good, 13), Says("take 12 of 13 bytes"));
    CHECK_THAT(refusal_of(little_endian(100'000'001) + good), Says("header of 100000001 bytes"));
    CHECK_THAT(refusal_of(little_endian(~std::uint64_t{0}) + good), Says("header of 18446744073709551615 bytes"));
    CHECK_THAT(refusal_of(little_endian(1000) + good), Says("reaches beyond the file"));
    CHECK_THAT(refusal_of("", 12), Says("does not begin with {"));
    CHECK_THAT(refusal_of(" " + good, 12), Says("does not begin with {"));
    const auto refused = [&](const std::string& header, std::size_t bytes, const std::string& why) {
        INFO(header.substr(0, 200));
        CHECK_THAT(refusal_of(header, bytes), Says(why));
    };
    const auto one = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
    refused(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8, "not its dtype x shape");
    refused(one(R"("dtype":"F64","shape":[2],"data_offsets":[0,8])"), 8, "not its dtype x shape");
    refused(one(R"("dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,8])"), 8, "not its dtype x shape");
    refused(one(R"("dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8])"), 8, "not its dtype x shape");
    refused(one(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])"), 8, "a size above 2^63 - 1");
    refused(one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), 8, "not laid out");
    refused(one(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), 8, "not laid out");
    refused(one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8, "not [begin, end]");
    refused(one(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), 8, "not [begin, end]");
    refused(one(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"), 12, "a gap of 4 bytes");
    refused(one(R"("dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615])"), 8, "beyond the file");
    refused(one(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])"), 8, "its dtype F8_E4M3 is not supported");
    refused(one(R"("dtype":"F32","shape":[2])"), 8, "lacks dtype, shape or data_offsets");
    refused(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1)"), 8, "a field \"more\"");
    refused(one(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"), 8, "the key \"dtype\" twice");
    refused(one(R"("dtype":["F32"],"shape":[2],"data_offsets":[0,8])"), 8, "not laid out");
    refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
            "the key \"a\" twice");
    refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
            "tensor \"b\" shares bytes");
    refused(R"({"__metadata__":{"format":1}})", 0, "not laid out");
    refused(R"({"__metadata__":{"format":{"a":"b"}}})", 0, "not laid out");
    refused(R"({"__metadata__":{"a":"b","a":"c"}})", 0, "the key \"a\" twice");
    refused(R"({"a":7})", 0, "not laid out");
    refused(R"({"a":[1]})", 0, "not laid out");
    refused(good.substr(0, 60), 12, "not valid JSON at byte");
    refused(good + "x", 12, "not valid JSON at byte");
    refused("{\"a\xff\":{}}", 0, "not valid JSON at byte");
    refused("{" + std::string(1'000'000, '['), 0, "not valid JSON at byte");
    refused("{\"a\":" + std::string(1'000'000, '['), 0, "not laid out");
    std::string many_axes = "1";
    for (int i = 0; i < 70; ++i) many_axes += ",1";
    refused(one("\"dtype\":\"U8\",\"shape\":[" + many_axes + "],\"data_offsets\":[0,1]"), 1, "more than 64 axes");
    std::string many = "{";
    for (int i = 0; i < 200'001; ++i)
        many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    refused(many + "}", 0, "more tensors than any model has");
}

TEST_CASE("every prefix of a safetensors file is refused, and every flipped bit in its header is read or refused", "[system]") {
    const TemporaryFolder folder;
    const std::vector<float> numbers = counting(6);
    write_safetensors(folder / "small.safetensors", {{"a", DType::f32, {2, 3}, std::as_bytes(std::span(numbers))},
                                                     {"b", DType::f32, {6}, std::as_bytes(std::span(numbers))}});
    const std::string original = read_text(folder / "small.safetensors");
    for (std::size_t size = 0; size < original.size(); ++size) CHECK(refusal_of(original.substr(0, size)) != "");
    int refused = 0;
    for (std::size_t bit = 0; bit < 8 * (original.size() - 48); ++bit) {
        std::string flipped = original;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
        refused += refusal_of(flipped).empty() ? 0 : 1;
    }
    CHECK(refused > 1000);
}

}  // namespace bertpretrain
