#include "inference/torchscript_module.h"

#include <cerrno>
#include <fstream>
#include <memory>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import.h>

#include "batches/build_batch.h"
#include "core/error.h"
#include "core/files/disk.h"

namespace bertpretrain {
namespace {

namespace jit = torch::jit;

/// Modules by their dotted names, created on demand; the root's name is "".
class ModuleTree {
public:
    jit::Module module(const std::string& name) {
        if (const auto found = modules_.find(name); found != modules_.end()) return found->second;
        jit::Module made(type_name(name), unit_, /*shouldMangle=*/true);
        made.register_attribute("training", c10::BoolType::get(), false);  // Python reads it on every module
        modules_.emplace(name, made);
        if (name.empty()) return made;
        const std::size_t dot = name.rfind('.');
        module(dot == name.npos ? "" : name.substr(0, dot)).register_module(name.substr(dot == name.npos ? 0 : dot + 1), made);
        return made;
    }

    void add(const std::string& name, const at::Tensor& values) {
        const std::size_t dot = name.rfind('.');
        module(name.substr(0, dot)).register_parameter(name.substr(dot + 1), values, /*is_buffer=*/false);
    }

private:
    /// Type names are parsed as Python names, in which no part may be a number.
    static c10::QualifiedName type_name(std::string module_name) {
        for (char& c : module_name)
            if (c == '.') c = '_';
        return {"__torch__.bertpretrain.Model" + (module_name.empty() ? "" : "_" + module_name)};
    }

    std::shared_ptr<jit::CompilationUnit> unit_ = std::make_shared<jit::CompilationUnit>();
    std::unordered_map<std::string, jit::Module> modules_;
};

jit::Module make_module(const ModelConfig& config, const FlatParameters& parameters, bool has_heads) {
    ModuleTree tree;
    for (const ParameterSpec& spec : parameters_of(config).checkpoint_order)
        if (has_heads || spec.part == ModelPart::encoder || spec.part == ModelPart::pooler)
            tree.add(spec.name, parameters.weight(spec.name).to(at::kCPU, at::kFloat, false, /*copy=*/true));
    for (const TorchscriptModule& module : torchscript_of(config, has_heads)) tree.module(module.name).define(module.source);
    return tree.module("");
}

/// Texts of different lengths, both without padding (batch) and with it (*_BS).
struct RaggedTexts {
    MicroBatch batch;
    at::Tensor ids_BS, mask_BS, types_BS;
    std::vector<at::Tensor> padded(const at::Tensor& x_BSX) const {  // the rows of each text without padding
        std::vector<at::Tensor> rows;
        for (std::int64_t b = 0; b < batch.sequences(); ++b)
            rows.push_back(x_BSX.select(0, b).narrow(0, 0, batch.layout.length(b)));
        return rows;
    }
};

RaggedTexts ragged_texts(const ModelConfig& config) {
    constexpr std::int64_t texts = 3;
    const std::int64_t longest = std::min<std::int64_t>(48, shape_of(config).longest_sequence);
    at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(17);
    RaggedTexts ragged;
    ragged.ids_BS = at::randint(shape_of(config).vocab_size, {texts, longest}, generator, at::TensorOptions(at::kLong));
    ragged.types_BS = at::randint(2, {texts, longest}, generator, at::TensorOptions(at::kLong));
    ragged.mask_BS = at::zeros({texts, longest}, at::kLong);
    UnpaddedSamples samples;
    for (std::int64_t b = 0; b < texts; ++b) {
        const std::int64_t length = std::max<std::int64_t>(1, longest * (b + 1) / texts);
        ragged.mask_BS.select(0, b).narrow(0, 0, length).fill_(1);
        const auto append = [&](const at::Tensor& from_BS, std::vector<std::int64_t>& to_T) {
            const auto* values = from_BS.select(0, b).const_data_ptr<std::int64_t>();
            to_T.insert(to_T.end(), values, values + length);
        };
        append(ragged.ids_BS, samples.input_ids_T);
        append(ragged.types_BS, samples.token_type_ids_T);
        samples.lengths_B.push_back(length);
        samples.numbers_B.push_back(b);
    }
    samples.masked_rows_M.resize(samples.input_ids_T.size());  // every row, to compare all logits
    std::iota(samples.masked_rows_M.begin(), samples.masked_rows_M.end(), std::int64_t{0});
    samples.masked_labels_M.resize(samples.masked_rows_M.size());
    ragged.batch = build_batch(samples);
    return ragged;
}

void check_close(const std::filesystem::path& file, const char* what, const at::Tensor& found, const at::Tensor& expected) {
    const double difference = (found - expected).abs().max().item<double>();
    const double size = std::max(1.0, expected.abs().max().item<double>());
    if (!(difference <= torchscript_tolerance * size))
        throw CheckpointError(concat(file.string(), ": the exported file does not compute what the model does: ", what,
                                     " differ by ", difference, ", expected at most ", torchscript_tolerance * size));
}

}  // namespace

void write_torchscript(const std::filesystem::path& file, const ModelConfig& config, const FlatParameters& parameters,
                       const std::map<std::string, std::string>& extra_files, bool has_heads) {
    std::ofstream out(file, std::ios::binary);
    // libtorch's writer ends the process if this throws, so a failed write is reported afterwards.
    int failure = out ? 0 : errno;
    const auto write = [&](const void* bytes, std::size_t size) {
        if (failure == 0 && !out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size)).flush())
            failure = errno;
        return size;
    };
    jit::ExportModule(make_module(config, parameters, has_heads), write, {extra_files.begin(), extra_files.end()});
    if (failure != 0) throw CheckpointError(failed_write(file, failure));
}

void check_torchscript(const std::filesystem::path& file, const Model& model, const ModelConfig& config, bool has_heads) {
    const c10::InferenceMode inference;
    const RaggedTexts texts = ragged_texts(config);
    jit::Module module = jit::load(file.string(), at::Device(at::kCPU));
    const std::vector<c10::IValue> arguments{texts.ids_BS, texts.mask_BS, texts.types_BS};
    const auto run = [&](const char* method) { return module.get_method(method)(arguments); };
    const auto output = [](const c10::IValue& value, std::size_t i) {
        return value.isTensor() ? value.toTensor() : value.toTuple()->elements()[i].toTensor();
    };
    const c10::IValue encoded = run("forward");
    check_close(file, "hidden states", at::cat(texts.padded(output(encoded, 0))), model.encode(texts.batch));
    if (model.shape().next_sentence)
        check_close(file, "pooled vectors", output(encoded, 1), model.pool(model.encode_first(texts.batch)));
    if (!has_heads) return;
    const c10::IValue logits = run("pretraining");
    const Logits expected = model.logits(texts.batch);
    check_close(file, "logits of masked tokens", at::cat(texts.padded(output(logits, 0))), expected.mlm_MV);
    if (model.shape().next_sentence)
        check_close(file, "logits of the next sentence", output(logits, 1), expected.next_sentence_B2);
}

}  // namespace bertpretrain
