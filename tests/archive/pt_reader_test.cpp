#include "archive/pt_reader.h"

#include <cmath>

#include "archive/examples.h"
#include "core/error.h"
#include "support/shared_data.h"

namespace bertpretrain {
namespace {

using namespace testing;

void check_tensor(const PtReader& reader, const PtTensor& tensor, const nlohmann::json& expected) {
    CHECK(std::string(dtype_name(tensor.dtype)) == expected["dtype"]);
    CHECK(nlohmann::json(tensor.shape) == expected["shape"]);
    const auto count = static_cast<std::int64_t>(expected["values"].size());
    REQUIRE(tensor.elements() == count);
    std::vector<float> values(static_cast<std::size_t>(count));
    reader.read_as_float(tensor, 0, count, values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (expected["values"][i].is_null() || std::isnan(expected["values"][i].get<double>())) CHECK(std::isnan(values[i]));
        else CHECK(values[i] == static_cast<float>(expected["values"][i].get<double>()));
    }
}

void check_value(const PtReader& reader, const PtValue& value, const nlohmann::json& expected) {
    if (value.tensor() != nullptr) return check_tensor(reader, *value.tensor(), expected);
    if (expected.contains("dict")) {
        REQUIRE(value.dict() != nullptr);
        REQUIRE(value.dict()->size() == expected["dict"].size());
        for (std::size_t i = 0; i < expected["dict"].size(); ++i) {
            const auto& [key, item] = (*value.dict())[i];
            const nlohmann::json name = std::visit([](const auto& content) { return nlohmann::json(content); }, key);
            INFO("key " << name);
            CHECK(name == expected["dict"][i][0]);
            check_value(reader, item, expected["dict"][i][1]);
        }
    } else if (expected.contains("list")) {
        REQUIRE(value.list() != nullptr);
        REQUIRE(value.list()->size() == expected["list"].size());
        for (std::size_t i = 0; i < value.list()->size(); ++i) check_value(reader, (*value.list())[i], expected["list"][i]);
    } else if (expected["value"].is_null()) {
        CHECK(std::holds_alternative<std::monostate>(value.content));
    } else if (expected["value"].is_boolean()) {
        CHECK(std::get<bool>(value.content) == expected["value"].get<bool>());
    } else if (expected["value"].is_number_integer()) {
        CHECK(std::get<std::int64_t>(value.content) == expected["value"].get<std::int64_t>());
    } else if (expected["value"].is_number()) {
        CHECK(std::get<double>(value.content) == expected["value"].get<double>());
    } else {
        CHECK(std::get<std::string>(value.content) == expected["value"].get<std::string>());
    }
}

void check_example(const std::string& name) {
    const TemporaryFolder& folder = python_examples();
    INFO(name);
    const PtReader reader(folder / (name + ".pt"));
    reader.verify();
    // Python writes NaN and Infinity, which JSON lacks: null stands for NaN, and a number too large for a double for infinity.
    std::string text = read_text(folder / (name + ".json"));
    for (const auto& [python, json] : {std::pair<std::string, std::string>{"NaN", "null"}, {"Infinity", "1e308"}})
        for (std::size_t at = text.find(python); at != std::string::npos; at = text.find(python))
            text.replace(at, python.size(), json);
    check_value(reader, reader.root(), nlohmann::json::parse(text));
}

}  // namespace

TEST_CASE("tensors of every dtype saved by Python are read bit for bit") {
    check_example("types");
    check_example("halves");
}

TEST_CASE("slices, transposed and expanded views, numbers, empty tensors and Parameters are read") { check_example("views"); }

TEST_CASE("plain values keep their types, and dicts their order") { check_example("values"); }

TEST_CASE("files of PyTorch before 1.6 are read") { check_example("before_1_6"); }

TEST_CASE("values beside the weights that torch.load accepts as safe do not keep a file from being read") {
    check_example("beside");
}

TEST_CASE("state_dicts of modules and optimizers are read, without their _metadata") {
    check_example("state_dict");
    check_example("training");
}

TEST_CASE("tied tensors share one storage") {
    check_example("shared");
    const PtReader reader(python_examples() / "shared.pt");
    CHECK(reader.root().find("decoder")->tensor()->storage == reader.root().find("embedding")->tensor()->storage);
    CHECK(reader.root().find("decoder")->tensor()->is_contiguous());
    CHECK_FALSE(reader.root().find("again")->tensor()->is_contiguous());
}

TEST_CASE("any range read from a strided tensor equals that range of the whole tensor") {
    const PtReader reader(python_examples() / "views.pt");
    for (const char* name : {"transposed", "column", "expanded", "base"}) {
        const PtTensor& tensor = *reader.root().find(name)->tensor();
        std::vector<float> whole(static_cast<std::size_t>(tensor.elements()));
        reader.read(tensor, 0, tensor.elements(), whole.data());
        for (std::int64_t first = 0; first <= tensor.elements(); ++first)
            for (std::int64_t count = 0; first + count <= tensor.elements(); ++count) {
                std::vector<float> part(static_cast<std::size_t>(count) + 1, -1);
                reader.read(tensor, first, count, part.data());
                CHECK(std::equal(part.begin(), part.end() - 1, whole.begin() + first));
                CHECK(part.back() == -1);
            }
        CHECK_THROWS_AS(reader.read(tensor, 1, tensor.elements(), whole.data()), std::logic_error);
        CHECK_THROWS_AS(reader.read(tensor, -1, 1, whole.data()), std::logic_error);
    }
}

TEST_CASE("a checkpoint from the Hugging Face hub is read") {
    NEEDS_SHARED_DATA();
    const PtReader reader(shared_data() / "ckpt" / "camphr_ner_bert" / "pytorch_model.bin");
    reader.verify();
    const PtTensor& words = *reader.root().find("bert.embeddings.word_embeddings.weight")->tensor();
    CHECK(words.shape == std::vector<std::int64_t>{402, 16});
    CHECK(words.dtype == DType::f32);
    CHECK(reader.root().find("bert.embeddings.position_ids")->tensor()->dtype == DType::i64);
    CHECK(reader.root().dict()->size() == 24);
    double squares = 0;
    std::vector<float> values(402 * 16);
    reader.read_as_float(words, 0, 402 * 16, values.data());
    for (const float value : values) squares += double{value} * value;
    CHECK(std::sqrt(squares / static_cast<double>(values.size())) == Approx(0.02).epsilon(0.1));  // as initialised
}

}  // namespace bertpretrain
