#include "checkpoint/find_weights.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <nlohmann/json.hpp>

#include "archive/mapped_file.h"
#include "archive/printable.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "core/files/files.h"
#include "parallel/together.h"
#include "tokens/models/folder_tokenizer.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

using Kind = FoundWeights::Kind;

constexpr std::size_t largest_index = std::size_t{16} << 20;

/// Returns the shards that an index names, which are in the index's folder.
std::vector<fs::path> shards_of(const fs::path& index) {
    const auto refuse = [&](const auto&... what) { throw CheckpointError(concat(index.string(), ": damaged: ", what...)); };
    if (MappedFile(index).bytes().size() > largest_index) refuse("it is larger than 16 MiB, the largest supported index");
    const nlohmann::json json = read_json(index);
    const auto map = json.is_object() ? json.find("weight_map") : json.end();
    if (map == json.end() || !map->is_object()) refuse("it has no weight_map");
    std::set<std::string> names;
    for (const auto& [tensor, file] : map->items()) {
        if (!file.is_string()) refuse("tensor \"", printable(tensor, 300), "\" has no file name");
        const auto name = file.get<std::string>();
        if (name.empty() || name.find('/') != std::string::npos || name == "..")
            refuse("it names the file \"", printable(name), "\", expected one in its own folder");
        names.insert(name);
    }
    if (names.empty()) refuse("it lists no tensors");
    std::vector<fs::path> files;
    for (const std::string& name : names) files.push_back(index.parent_path() / name);
    return files;
}

bool looks_like_safetensors(const fs::path& file) {
    if (file.extension() == ".safetensors") return true;
    const MappedFile mapped(file);
    return mapped.bytes().size() > 8 && mapped.bytes()[8] == std::byte{'{'};
}

void add_neighbours(FoundWeights& found, const fs::path& folder) {
    if (exists_here(folder / "config.json")) found.model = folder / "config.json";
    if (const fs::path file = token_file_in_model_folder(folder); !file.empty()) found.vocabulary = file;
}

FoundWeights in_file(const fs::path& file) {
    FoundWeights found;
    found.what = "a file";
    if (file.string().ends_with(".index.json")) {
        found.index = file;
        found.files = shards_of(file);
        found.kind = looks_like_safetensors(found.files.front()) ? Kind::safetensors : Kind::pt;
    } else {
        found.files = {file};
        found.kind = looks_like_safetensors(file) ? Kind::safetensors : Kind::pt;
    }
    add_neighbours(found, file.parent_path());
    return found;
}

FoundWeights in_checkpoint(const fs::path& folder) {
    FoundWeights found;
    found.what = "a checkpoint of this program";
    found.files = {folder / model_file};
    found.checkpoint = folder;
    found.model = folder / settings_file;
    if (const fs::path file = tokenizer_in_folder(folder); !file.empty()) found.vocabulary = file;
    return found;
}

bool is_ours(const fs::path& folder) {
    if (exists_here(folder / complete_file)) return true;
    if (step_of_folder_name(folder.filename().string())) return true;  // without its mark: reported when it is read
    return has_checkpoints(folder);
}

/// Returns DeepSpeed's model states in the tag folder that `latest` names, or in this folder; nullopt where there are none.
std::optional<fs::path> deepspeed_states(const fs::path& folder) {
    fs::path tag = folder;
    if (exists_here(folder / "latest")) {
        std::string name = read_file(folder / "latest");
        while (!name.empty() && std::isspace(static_cast<unsigned char>(name.back()))) name.pop_back();
        if (name.empty() || name.size() > 200 || name.find('/') != std::string::npos || name == "..")
            throw CheckpointError(
                concat((folder / "latest").string(), ": damaged: it names the folder \"", printable(name), "\""));
        tag = folder / name;
    }
    if (!exists_here(tag / "mp_rank_00_model_states.pt")) return std::nullopt;
    if (exists_here(tag / "mp_rank_01_model_states.pt"))
        throw CheckpointError(concat(tag.string(),
                                     ": its model is split by model parallelism (mp_rank_01_model_states.pt), which is ",
                                     "not supported\n  do: merge the parts with DeepSpeed's tools first"));
    return tag / "mp_rank_00_model_states.pt";
}

/// Returns the ckpt_N.pt with the largest N; nullopt where there is none.
std::optional<fs::path> newest_nvidia(const fs::path& folder) {
    std::optional<fs::path> newest;
    long long largest = -1;
    for (const fs::path& file : list_files(folder, {".pt"})) {
        const std::string name = file.stem().string();
        long long step = -1;
        if (!name.starts_with("ckpt_")) continue;
        const auto [end, failure] = std::from_chars(name.data() + 5, name.data() + name.size(), step);
        if (failure != std::errc{} || end != name.data() + name.size() || step <= largest) continue;
        largest = step;
        newest = file;
    }
    return newest;
}

/// Advice for a path that could be the name of a model on the Hugging Face Hub, MODEL or OWNER/MODEL; "" for any other.
std::string advice_on_hub_name(const fs::path& path) {
    const std::string name = path.string(), letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const bool has_owner = path.has_parent_path() && !fs::exists(path.parent_path());
    const std::string model = path.filename().string(), owner = has_owner ? path.parent_path().string() : "x";
    const auto is_plain = [&](const std::string& part) {
        return !part.empty() && part.find_first_not_of(letters) == part.npos && !part.starts_with('.');
    };
    const std::string ending = path.extension().string();
    const bool is_file = ending == ".pt" || ending == ".bin" || ending == ".safetensors" || ending == ".json";
    if (is_file || (path.has_parent_path() && !has_owner) || !is_plain(model) || !is_plain(owner)) return "";
    return concat("\n  do: give the path of a file or folder. To use the model ", name,
                  " of the Hugging Face Hub, download it first: ", "`hf download ", name, " --local-dir ", model,
                  "` (of the Python package huggingface_hub), then give the folder ", model);
}

/// Refuses a folder whose weights have a format that is not supported, by the format's name.
void refuse_other_weights(const fs::path& folder) {
    struct Format {
        std::string_view part, name, advice;
    };
    constexpr std::string_view converted = "give the same model as model.safetensors or pytorch_model.bin";
    static constexpr std::array<Format, 10> formats{
        {{"adapter_config.json", "an adapter (LoRA) without the model's weights",
          "merge it into its model with merge_and_unload() of peft, and save that"},
         {"adapter_model.", "an adapter (LoRA) without the model's weights",
          "merge it into its model with merge_and_unload() of peft, and save that"},
         {".ckpt.index", "a checkpoint of TensorFlow", converted},
         {".ckpt.data-", "a checkpoint of TensorFlow", converted},
         {"tf_model.h5", "weights of TensorFlow", converted},
         {"flax_model.msgpack", "weights of Flax", converted},
         {".distcp", "a part of a checkpoint of torch.distributed.checkpoint",
          "convert it with `python -m torch.distributed.checkpoint.format_utils "
          "dcp_to_torch FOLDER FILE.pt`"},
         {".nemo", "an archive of NeMo", "unpack it with tar, and give its model_weights.ckpt"},
         {".onnx", "a program of ONNX", converted},
         {".gguf", "weights of GGUF", converted}}};
    for (const Format& format : formats)
        for (const auto& file : fs::directory_iterator(folder))
            if (const std::string name = file.path().filename().string(); name.find(format.part) != std::string::npos)
                throw CheckpointError(
                    concat(file.path().string(), ": is ", format.name, ", which is not supported", "\n  do: ", format.advice));
}

FoundWeights named(FoundWeights found, const std::string& what) {
    found.what = what;
    return found;
}

}  // namespace

FoundWeights find_weights(const fs::path& path) {
    if (!exists_here(path))
        throw CheckpointError(concat(path.string(), ": there is no such file or folder", advice_on_hub_name(path)));
    if (!fs::is_directory(path)) return in_file(path);
    const fs::path folder = path.has_filename() ? path : path.parent_path();
    if (is_ours(folder)) return in_checkpoint(resolve_checkpoint(folder));
    for (const char* name :
         {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"})
        if (exists_here(folder / name)) return named(in_file(folder / name), "a folder of Hugging Face");
    if (const auto states = deepspeed_states(folder)) return named(in_file(*states), "a checkpoint of DeepSpeed");
    if (const auto newest = newest_nvidia(folder)) return named(in_file(*newest), "checkpoints of NVIDIA's script");
    refuse_other_weights(folder);
    throw CheckpointError(concat(folder.string(), ": no known weights found: looked for checkpoints of this program, ",
                                 "model.safetensors or pytorch_model.bin (or the .index.json of either), DeepSpeed's latest or ",
                                 "mp_rank_00_model_states.pt, and NVIDIA's ckpt_N.pt"));
}

fs::path found_by_first(ControlGroup& ranks, const fs::path& path) {
    fs::path found = path;
    together(ranks, [&] {
        if (ranks.rank() != 0) return;
        found = find_weights(path).checkpoint.value_or(path);
        if (!found.has_filename()) found = found.parent_path();  // "best/"
        if (fs::is_symlink(found)) found = found.parent_path() / fs::read_symlink(found);
    });
    return ranks.text_of_first(found.string());
}

}  // namespace bertpretrain
