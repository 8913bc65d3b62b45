#include "inference/pt_export.h"

#include <cstring>
#include <functional>

#include <ATen/ATen.h>

#include "archive/pt_layout.h"
#include "archive/pt_reader.h"
#include "archive/pt_writer.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

/// Returns the name under which a parameter is written; "": it is not written.
using NamesInFile = std::function<std::string(const std::string& name)>;

std::span<const std::byte> bytes_of(const LoadedModel& model, const std::string& name) {
    const at::Tensor values = model.parameters->weight(name);
    check(values.is_cpu() && values.is_contiguous() && values.scalar_type() == at::kFloat,
          "an export needs fp32 weights on the CPU");
    return {static_cast<const std::byte*>(values.data_ptr()), values.nbytes()};
}

/// Returns the dict of tensors to write. A storage's key is the parameter's name.
PtDict weights_tree(const LoadedModel& model, const NamesInFile& name_in_file) {
    PtDict tree;
    const auto add = [&](const std::string& name, const ParameterSpec& spec) {
        if (model.lacks(spec.name)) return;
        if (const std::string written = name_in_file(name); !written.empty())
            tree.push_back({written, PtTensor::whole(DType::f32, spec.shape, spec.name)});
    };
    const std::vector<ParameterSpec> specs = parameters_of(model.config).checkpoint_order;
    for (const ParameterSpec& spec : specs) add(spec.name, spec);
    for (const ParameterSpec& spec : specs)
        if (!spec.tied_name.empty()) add(spec.tied_name, spec);
    return tree;
}

void write(const LoadedModel& model, const PtValue& tree, const std::string& archive, const std::filesystem::path& file) {
    PtWriter writer(file, PtLayout(tree, archive), PtWriter::Open::create);
    std::vector<WrittenPiece> pieces;
    for (const ParameterSpec& spec : parameters_of(model.config).checkpoint_order)
        if (!model.lacks(spec.name))
            pieces.push_back(writer.write_piece(writer.layout().record_of(spec.name), 0, bytes_of(model, spec.name)));
    writer.finish(std::move(pieces));
}

/// @throws CheckpointError unless the file has every tensor of `expected` with its parameter's bytes
void read_back(const LoadedModel& model, const PtDict& expected, const PtReader& reader, const PtValue* found) {
    for (const auto& [key, value] : expected) {
        const auto& name = std::get<std::string>(key);
        const PtValue* tensor = found == nullptr ? nullptr : found->find(name);
        const std::span<const std::byte> right = bytes_of(model, value.tensor()->storage);
        const auto same = [&](std::span<const std::byte> stored) {
            return stored.size() == right.size() && std::memcmp(stored.data(), right.data(), right.size()) == 0;
        };
        if (tensor == nullptr || tensor->tensor() == nullptr || tensor->tensor()->shape != value.tensor()->shape ||
            !same(reader.storage(*tensor->tensor())))
            throw CheckpointError(concat(reader.file().string(), ": ", name, " differs from what was written when read back"));
    }
}

}  // namespace

void write_state_dict(const LoadedModel& model, const std::filesystem::path& file) {
    const PtDict tree = weights_tree(model, [](const std::string& name) { return name; });
    write(model, tree, "model", file);
    const PtReader reader(file);
    read_back(model, tree, reader, &reader.root());
}

void write_nvidia(const LoadedModel& model, const std::filesystem::path& file) {
    if (const std::string why = why_not_nvidia(model.config); !why.empty())
        throw ConfigError(concat("--format nvidia: ", why, "\n  do: use --format hf, state_dict or torchscript"));
    const PtDict tree = weights_tree(model, [&](const std::string& name) { return nvidia_name(model.config, name); });
    write(model, PtDict{{"model", tree}, {"epoch", std::int64_t{0}}, {"files", PtList{}}}, "ckpt", file);
    const PtReader reader(file);
    read_back(model, tree, reader, reader.root().find("model"));
}

}  // namespace bertpretrain
