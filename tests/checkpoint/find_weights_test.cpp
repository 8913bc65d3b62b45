#include "checkpoint/find_weights.h"

#include "archive/pt_reader.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;

namespace {

std::string complaint(const std::string& path) {
    try {
        find_weights(path);
    } catch (const CheckpointError& error) { return error.what(); }
    return "";
}

}  // namespace

TEST_CASE("a missing path that could be a model's name on the Hub is answered with how to download it") {
    using Catch::Matchers::Contains;
    for (const std::string name : {"bert-base-uncased", "google-bert/bert-base-uncased"})
        CHECK_THAT(complaint(name), Contains(name + ": there is no such file or folder") &&
                                        Contains("`hf download " + name + " --local-dir bert-base-uncased`"));
}

TEST_CASE("a missing path that cannot be a model's name is only said to be missing") {
    const testing::TemporaryFolder folder;
    for (const std::string& path :
         {(folder / "none").string(), std::string("none.pt"), std::string("./none"), std::string("a/b/c")})
        CHECK_THAT(complaint(path), Catch::Matchers::EndsWith(path + ": there is no such file or folder"));
}

TEST_CASE("folders with weights of other formats only are refused by the format's name") {
    for (const auto& [name, words] : std::map<std::string, std::string>{{"bert_model.ckpt.index", "TensorFlow"},
                                                                        {"tf_model.h5", "TensorFlow"},
                                                                        {"flax_model.msgpack", "Flax"},
                                                                        {"adapter_model.safetensors", "LoRA"},
                                                                        {"__0_0.distcp", "torch.distributed.checkpoint"},
                                                                        {"model.nemo", "NeMo"},
                                                                        {"model.gguf", "GGUF"}}) {
        const testing::TemporaryFolder folder;
        testing::write_text(folder / name, "x");
        CHECK_THROWS_WITH(find_weights(folder.path()), Catch::Contains(name) && Catch::Contains(words));
    }
}

TEST_CASE("an archive of NeMo is named as that, and not as a file of PyTorch's oldest format") {
    const testing::TemporaryFolder folder;
    std::string tar(1024, '\0');
    tar.replace(257, 5, "ustar");
    testing::write_text(folder / "bert.nemo", tar);
    CHECK_THROWS_WITH(PtReader(folder / "bert.nemo"), Catch::Contains("NeMo") && Catch::Contains("model_weights.ckpt"));
    testing::write_text(folder / "bert.pt", tar);
    CHECK_THROWS_WITH(PtReader(folder / "bert.pt"), Catch::Contains("oldest format of PyTorch"));
}
