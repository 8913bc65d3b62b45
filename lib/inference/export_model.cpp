#include "inference/export_model.h"

#include <system_error>

#include "core/error.h"
#include "core/files.h"
#include "inference/export_lineage.h"
#include "inference/hf_folder.h"
#include "inference/pt_export.h"
#include "inference/torchscript_module.h"
#include "tokens/vocabulary_file.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

void export_torchscript(const LoadedModel& model, const fs::path& file) {
    std::map<std::string, std::string> extra = {{"config.json", hf_config(model).dump(2)}};
    if (!model.vocabulary.empty()) extra[std::string(carried_name(model.vocabulary))] = read_file(model.vocabulary);
    const bool has_heads = !model.lacks(ModelPart::masked_words_head) && !model.lacks(ModelPart::next_sentences_head);
    write_torchscript(file, model.config, *model.parameters, extra, has_heads);
    check_torchscript(file, *model.model, model.config, has_heads);
}

void write_and_check(const LoadedModel& model, const std::string& format, const fs::path& place) {
    if (format == "hf") write_hf_folder(model, place);
    else if (format == "nvidia") write_nvidia(model, place);
    else if (format == "state_dict") write_state_dict(model, place);
    else if (format == "torchscript") export_torchscript(model, place);
    else throw ConfigError(concat("--format ", format, ": expected hf, nvidia, state_dict or torchscript"));
}

}  // namespace

void export_model(const LoadedModel& model, const std::string& format, const fs::path& output) {
    if (fs::exists(output))
        throw ConfigError(concat("--output ", output.string(), ": already exists\n  do: remove it, or choose another name"));
    if (output.has_parent_path()) make_writable_folder(output.parent_path());
    const fs::path partial = output.string() + ".partial";
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    try {
        write_and_check(model, format, partial);
        write_export_lineage(model, format, partial, output);
        if (fs::is_directory(partial))
            for (const auto& entry : fs::directory_iterator(partial)) flush_to_disk(entry.path());
        flush_to_disk(partial);
        fs::rename(partial, output);
        flush_to_disk(fs::absolute(output).parent_path());
    } catch (const fs::filesystem_error& error) {
        fs::remove_all(partial, ignored);
        throw CheckpointError(concat(output.string(), ": cannot be written (", error.code().message(), ")"));
    } catch (...) {
        fs::remove_all(partial, ignored);
        throw;
    }
}

}  // namespace bertpretrain
