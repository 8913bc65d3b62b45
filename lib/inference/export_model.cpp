#include "inference/export_model.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/lineage.h"
#include "checkpoint/lineage_check.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/files.h"
#include "inference/hf_folder.h"
#include "inference/model_card.h"
#include "inference/pt_export.h"
#include "inference/sentence_folder.h"
#include "inference/torchscript_module.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

void export_torchscript(const LoadedModel& model, const fs::path& file) {
    std::map<std::string, std::string> extra = {{"config.json", hf_config(model).dump(2)}};
    if (!model.vocabulary.empty()) extra[std::string(carried_name(model.vocabulary))] = carried_content(model.vocabulary);
    const bool has_heads = !model.lacks(ModelPart::masked_words_head) && !model.lacks(ModelPart::next_sentences_head);
    write_torchscript(file, model.config, *model.parameters, extra, has_heads);
    check_torchscript(file, *model.model, model.config, has_heads);
}

void write_and_check(const LoadedModel& model, const std::string& format, const SentenceSettings& sentences,
                     const fs::path& place) {
    if (format == "hf") write_hf_folder(model, place);
    else if (format == "sentence-transformers") write_sentence_folder(model, sentences, place);
    else if (format == "nvidia") write_nvidia(model, place);
    else if (format == "state_dict") write_state_dict(model, place);
    else if (format == "torchscript") export_torchscript(model, place);
    else
        throw ConfigError(concat("--format ", format, ": expected hf, sentence-transformers, nvidia, state_dict or torchscript"));
}

/// Writes README.md into a folder for Hugging Face's hub. @param name of the folder's final place
void write_card(const LoadedModel& model, const std::string& format, const SentenceSettings& sentences, const fs::path& folder,
                const std::string& name) {
    if (format == "hf") write_atomically(folder / "README.md", model_card(model, name, std::nullopt));
    if (format == "sentence-transformers") write_atomically(folder / "README.md", model_card(model, name, sentences));
}

/// Returns the regular files below a folder, sorted by path.
std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

/// The digests of an exported file, or of a folder's files by their paths in it.
std::vector<FileDigest> digests_of_export(const fs::path& written, const fs::path& output) {
    if (!fs::is_directory(written)) return {digest_of_file(written, output.filename().string())};
    std::vector<FileDigest> digests;
    for (const fs::path& file : files_below(written))
        digests.push_back(digest_of_file(file, file.lexically_relative(written).string()));
    return digests;
}

/// Whether the model's folder is a checkpoint with lineage.json.
bool has_lineage(const LoadedModel& model) {
    return exists_here(model.folder / complete_file) && exists_here(model.folder / lineage_file);
}

/// Writes the checkpoint's lineage.json, unchanged, and export.json (lineage_check.h), which names its digest and those of the
/// exported files: into an exported folder, or as FILE.lineage.json and FILE.export.json beside an exported file. Does nothing
/// for weights of other programs and for checkpoints without lineage.json.
/// @param written the files, complete  @param output their final place, by which the records are named
/// @throws DataError
void write_export_lineage(const LoadedModel& model, const std::string& format, const fs::path& written, const fs::path& output) {
    if (!has_lineage(model)) return;
    const nlohmann::ordered_json record{{"format_version", 1},
                                        {"format", format},
                                        {"step", model.step},
                                        {"lineage_sha256", digest_of_file(model.folder / lineage_file).sha256},
                                        {"files", to_json(digests_of_export(written, output))}};
    const bool is_folder = fs::is_directory(written);
    const fs::path& place = is_folder ? written : output;
    write_atomically(record_of_export(place, lineage_file), read_file(model.folder / lineage_file));
    write_atomically(record_of_export(place, export_record), record.dump(2) + "\n");
}

}  // namespace

void export_model(const LoadedModel& model, const std::string& format, const fs::path& output,
                  const SentenceSettings& sentences) {
    if (fs::exists(output))
        throw ConfigError(concat("--output ", output.string(), ": already exists\n  do: remove it, or choose another name"));
    if (output.has_parent_path()) make_writable_folder(output.parent_path());
    const fs::path partial = output.string() + ".partial";
    if (fs::exists(fs::symlink_status(partial)))
        throw ConfigError(concat(partial.string(), ": already exists; the export would be written there first",
                                 "\n  do: remove it if an interrupted export left it, or choose another --output"));
    bool has_records = false;  // beside the exported file
    const auto remove_all = [&] {
        std::error_code ignored;
        fs::remove_all(partial, ignored);
        if (!has_records) return;
        fs::remove(record_of_export(output, lineage_file), ignored);
        fs::remove(record_of_export(output, export_record), ignored);
    };
    try {
        write_and_check(model, format, sentences, partial);
        write_card(model, format, sentences, partial,
                   fs::absolute(output / "").lexically_normal().parent_path().filename().string());
        has_records = has_lineage(model) && !fs::is_directory(partial);
        write_export_lineage(model, format, partial, output);
        if (fs::is_directory(partial))
            for (const auto& entry : fs::recursive_directory_iterator(partial)) flush_to_disk(entry.path());
        flush_to_disk(partial);
        fs::rename(partial, output);
        flush_to_disk(fs::absolute(output).parent_path());
    } catch (const fs::filesystem_error& error) {
        remove_all();
        throw CheckpointError(failed_write(output, error.code().value()));
    } catch (...) {
        remove_all();
        throw;
    }
}

}  // namespace bertpretrain
