#include <chrono>

#include <sys/stat.h>

#include "archive/examples.h"
#include "archive/pt_writer.h"
#include "archive/unpickler.h"
#include "core/error.h"
#include "core/random.h"

namespace bertpretrain {
namespace {

using namespace testing;

PtValue read_pickle(const std::string& pickle) { return unpickle(std::as_bytes(std::span(pickle))); }

/// Reads up to 1000 elements from each end of every tensor in the file.
void read_all(const std::filesystem::path& file, PtReader::Checksums checksums) {
    const PtReader reader(file, checksums);
    for_each_tensor(reader.root(), [&](const std::string&, const PtTensor& tensor) {
        const std::int64_t count = std::min<std::int64_t>(tensor.elements(), 1000);
        std::vector<float> values(static_cast<std::size_t>(count));
        reader.read_as_float(tensor, 0, count, values.data());
        reader.read_as_float(tensor, tensor.elements() - count, count, values.data());
    });
}

/// Makes `rounds` deterministic mutations of `original`. Each file must be read or refused with a CheckpointError.
/// @returns how many were refused
int mutate_and_read(const std::string& original, int rounds) {
    const TemporaryFolder folder;
    int refused = 0;
    for (int round = 0; round < rounds; ++round) {
        RandomSequence random(1, Purpose::masking, static_cast<std::uint64_t>(round));
        std::string bytes = original;
        for (std::uint32_t edit = random.below(4) + 1; edit > 0; --edit) {
            std::size_t at = random.below(static_cast<std::uint32_t>(bytes.size()));
            for (int tries = 0; tries < 20 && bytes[at] == 'Z'; ++tries)  // skips padding, which is long and has no meaning
                at = random.below(static_cast<std::uint32_t>(bytes.size()));
            switch (random.below(5)) {
                case 0:
                    bytes[at] = static_cast<char>(random.below(256));
                    break;
                case 1:
                    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
                    break;
                case 2:
                    bytes[at] = '\xff';
                    break;
                case 3:
                    bytes.insert(at, 1 + random.below(8), static_cast<char>(random.below(256)));
                    break;
                default:
                    bytes.erase(at, 1 + random.below(8));
                    break;
            }
        }
        if (random.below(10) == 0) bytes.resize(random.below(static_cast<std::uint32_t>(bytes.size())));
        write_text(folder / "mutated.pt", bytes);
        try {
            read_all(folder / "mutated.pt", PtReader::Checksums::never);
        } catch (const CheckpointError&) { ++refused; }
    }
    return refused;
}

std::string small_file() {
    const TemporaryFolder folder;
    const PtValue tree =
        PtDict{{"a", PtTensor::whole(DType::f32, {2, 3}, "0")}, {"b", PtList{std::int64_t{1}, 2.0, true, std::string("x")}}};
    PtWriter writer(folder / "small.pt", PtLayout(tree, "small"), PtWriter::Open::create);
    writer.finish({write_counting(writer, "0", 6)});
    return read_text(folder / "small.pt");
}

}  // namespace

TEST_CASE("a class that is not plain data is refused by name, and nothing is run", "[system]") {
    const TemporaryFolder& folder = python_examples();
    CHECK_THAT(refusal(folder / "object.pt"), Says("object.pt") && Says("torch.utils.data.dataloader.DataLoader"));
    CHECK_THAT(refusal(folder / "attack.pt"), Says("posix.system"));
    CHECK_FALSE(std::filesystem::exists(folder / "attacked"));
    CHECK_THAT(refusal(folder / "complex.pt"), Says("torch.ComplexFloatStorage"));
    CHECK_THAT(refusal(folder / "quantized.pt"), Says("quantized"));
}

TEST_CASE("files of other formats are refused, naming the format", "[system]") {
    const TemporaryFolder& folder = python_examples();
    CHECK_THAT(refusal(folder / "script.pt"), Says("TorchScript"));
    CHECK_THAT(refusal(folder / "oldest.pt"), Says("tar"));
    CHECK_THAT(refusal(folder / "values.json"), Says("is JSON, expected a .pt file"));
    CHECK_THAT(refusal(folder / "absent.pt"), Says("absent.pt: cannot be opened (No such file or directory)"));
    CHECK_THAT(refusal(folder.path()), Says("is not a regular file"));
    REQUIRE(::mkfifo((folder / "pipe.pt").c_str(), 0600) == 0);
    CHECK_THAT(refusal(folder / "pipe.pt"), Says("is not a regular file"));  // without waiting for a writer
    write_text(folder / "nothing.pt", "");
    CHECK_THAT(refusal(folder / "nothing.pt"), Says("is empty, expected a .pt file"));
}

TEST_CASE("values that contain themselves, or repeat until they would fill the memory, are refused early") {
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THAT(refusal(python_examples() / "cycle.pt"), Says("contain themselves"));
    CHECK_THAT(refusal(python_examples() / "repeated.pt"), Says("holds or repeats more values"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(120));
}

TEST_CASE("a flipped bit in a tensor is detected, with the tensor's name, before any of its elements is returned") {
    const TemporaryFolder folder;
    const std::string original = read_text(python_examples() / "training.pt");
    const PtReader reader(python_examples() / "training.pt");
    const PtTensor& moment = *reader.root().find("optimizer")->find("state")->dict()->at(3).value.find("exp_avg")->tensor();
    float first = 0;
    reader.read(moment, 0, 1, &first);
    const auto storage = reader.storage(moment);
    std::string flipped = original;
    const std::size_t at = original.find(std::string(reinterpret_cast<const char*>(storage.data()), storage.size()));
    REQUIRE(at != std::string::npos);
    flipped[at + 5] = static_cast<char>(flipped[at + 5] ^ 4);
    write_text(folder / "flipped.pt", flipped);
    const PtReader damaged(folder / "flipped.pt");  // opens: the tensor has not been read yet
    CHECK_THROWS_WITH(damaged.read(moment, 0, 1, &first), Says("flipped.pt") && Says("optimizer.state.3.exp_avg"));
    CHECK_THROWS_AS(damaged.verify(), CheckpointError);
    float weight = 0;
    damaged.read(*damaged.root().find("model")->find("0.weight")->tensor(), 0, 1, &weight);  // the other tensors are intact
}

TEST_CASE("every prefix of a file is refused") {
    const TemporaryFolder folder;
    const std::string original = small_file();
    for (std::size_t size = 0; size < original.size(); size += 1 + size / 40) {
        write_text(folder / "cut.pt", original.substr(0, size));
        CHECK_THROWS_AS(read_all(folder / "cut.pt", PtReader::Checksums::never), CheckpointError);
    }
}

TEST_CASE("every prefix of a file of PyTorch before 1.6 is refused, and thousands of mutations are either read or refused") {
    const TemporaryFolder folder;
    const std::string original = read_text(python_examples() / "before_1_6.pt");
    for (std::size_t size = 0; size < original.size(); size += 1 + size / 40) {
        write_text(folder / "cut.pt", original.substr(0, size));
        CHECK_THROWS_AS(read_all(folder / "cut.pt", PtReader::Checksums::never), CheckpointError);
    }
    CHECK(mutate_and_read(original, 3000) > 500);
}

TEST_CASE("verify() detects any flipped bit in our own files, except in fields without effect", "[system]") {
    const TemporaryFolder folder;
    const std::string original = small_file();
    int unnoticed = 0;
    for (std::size_t at = 0; at < original.size(); ++at) {
        if (original[at] == 'Z') continue;  // padding
        std::string flipped = original;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
        write_text(folder / "flipped.pt", flipped);
        if (!refusal(folder / "flipped.pt").empty()) continue;
        ++unnoticed;
        const PtReader reader(folder / "flipped.pt");
        std::vector<float> values(6);
        reader.read(*reader.root().find("a")->tensor(), 0, 6, values.data());
        CHECK(values == counting(6));
    }
    CHECK(unnoticed < 120);  // versions, dates, attributes of four entries
}

TEST_CASE("a compressed zip is refused without reading its pickle") {
    const TemporaryFolder folder;
    const CommandResult zipped = run_command(PYTHON " -c \"import zipfile; zipfile.ZipFile('" + (folder / "packed.pt").string() +
                                             "', 'w', zipfile.ZIP_DEFLATED).writestr('a/data.pkl', b'N' * 100)\"");
    REQUIRE(zipped.exit_code == 0);
    CHECK_THAT(refusal(folder / "packed.pt"), Says("a/data.pkl is compressed"));
}

TEST_CASE("storages that are longer or shorter than declared are refused") {
    const TemporaryFolder folder;
    for (const char replaced : {'\x07', '\x05', '\xff'}) {
        std::string bytes = small_file();
        const std::size_t at = bytes.find(std::string("cpuJ\x06\0\0\0", 8));
        REQUIRE(at != std::string::npos);
        bytes[at + 4] = replaced;
        write_text(folder / "storage.pt", bytes);
        CHECK_THROWS_AS(read_all(folder / "storage.pt", PtReader::Checksums::never), CheckpointError);
    }
}

TEST_CASE("malformed pickles are refused and cost no more than their length") {
    using namespace std::string_literals;
    const std::string proto("\x80\x02", 2);
    const auto refused = [&](const std::string& rest, const std::string& why) {
        INFO(why);
        CHECK_THROWS_WITH(read_pickle(proto + rest), Says(why));
    };
    refused(""s, "middle of a value");
    refused("."s, "pops from an empty stack");
    refused("(."s, "pops from an empty stack");
    refused("t."s, "a mark is missing");
    refused("h\x05."s, "reads a memo entry that was never stored");
    refused("X\xff\xff\xff\xff."s, "middle of a value");
    refused("}K\x01u."s, "a mark is missing");
    refused("}(K\x01u."s, "no value");
    refused("}(K\x01K\x01K\x01K\x02u."s, "key twice");
    refused("]K\x01K\x02s."s, "dict");
    refused("cos\nsystem\nX\x02\0\0\0ls\x85R."s, "os.system");
    refused("c\x1b[31mevil\nname\n."s, "\\x1b[31mevil.name");
    refused("ccollections\nOrderedDict\n."s, "collections.OrderedDict");
    refused("ccollections\nOrderedDict\nK\x01\x85R."s, "collections.OrderedDict");
    refused("K\x01K\x01R."s, "function");
    refused("K\x01}b."s, "attributes");
    refused("(X\x07\0\0\0storageQ."s, "malformed");
    refused("I1\n."s, "pickle opcode 'I'");
    refused("\x95\x01\0\0\0\0\0\0\0."s, "pickle opcode");
    refused(std::string(100'000, '('), "nested too deep");
    refused(std::string(1000, ']') + std::string(999, 'a') + ".", "nested deeper");
    refused("cx" + std::string(100'000, 'y'), "middle of a class name");
    CHECK_THROWS_WITH(read_pickle(std::string("\x80\x01N.", 4)), Says("protocol 1"));
    const std::string far = proto + "]r\xff\xff\xff\xff.";
    CHECK(read_pickle(far).list()->empty());  // a large memo index costs no memory
}

TEST_CASE("thousands of mutations of a small file are either read or refused", "[system]") {
    CHECK(mutate_and_read(small_file(), 3000) > 1500);
}

TEST_CASE("thousands of mutations of a file saved by Python are either read or refused", "[system]") {
    CHECK(mutate_and_read(read_text(python_examples() / "views.pt"), 3000) > 1000);
}

TEST_CASE("mutations of the pickle alone are either read or refused") {
    const std::string bytes = read_text(python_examples() / "training.pt");
    const std::size_t begin = bytes.find("\x80\x02"), end = bytes.find("PK", begin);
    const std::string pickle = bytes.substr(begin, end - begin);
    int refused = 0;
    for (std::uint64_t round = 0; round < 5000; ++round) {
        RandomSequence random(2, Purpose::masking, round);
        std::string mutated = pickle;
        for (std::uint32_t edit = random.below(3) + 1; edit > 0; --edit)
            mutated[random.below(static_cast<std::uint32_t>(mutated.size()))] =
                random.below(2) == 0 ? static_cast<char>(random.below(256)) : "(tqhJKRQcbsue.\x85\x86"[random.below(16)];
        try {
            read_pickle(mutated);
        } catch (const PickleRefusal&) { ++refused; }
    }
    CHECK(refused > 2000);
}

}  // namespace bertpretrain
