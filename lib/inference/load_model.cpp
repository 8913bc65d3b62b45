#include "inference/load_model.h"

#include <ATen/ATen.h>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/described_model.h"
#include "checkpoint/find_weights.h"
#include "checkpoint/training_progress.h"
#include "core/error.h"
#include "inference/imported_model.h"
#include "inference/proven_kernels.h"
#include "model/tensor_memory.h"
#include "tokens/vocabulary.h"
#include "tokens/vocabulary_file.h"

namespace bertpretrain {
namespace {

LoadedModel load_checkpoint(const std::filesystem::path& checkpoint, at::ScalarType compute_dtype, at::Device device) {
    LoadedModel loaded;
    loaded.folder = checkpoint;
    const CheckpointReader reader(loaded.folder);
    const std::string file = (loaded.folder / settings_file).string();
    bool divides = false;
    try {
        loaded.config = trained_model(reader.settings(), file);
        divides = reader.settings().at("data").value("block_diagonal", false);
        loaded.sequence_length = reader.settings().at("data").at("sequence_length").get<std::int64_t>();
    } catch (const nlohmann::json::exception& error) {
        throw CheckpointError(concat(file, ": does not contain the settings of a run (", error.what(), ")"));
    }
    loaded.step = reader.step();
    const std::string casing = TrainingProgress::read(reader.progress(), loaded.folder / progress_file).casing;
    if (!casing.empty()) loaded.casing = casing == "cased" ? Casing::cased : Casing::uncased;
    loaded.vocabulary = tokenizer_in_folder(loaded.folder);
    if (divides) loaded.document_end = Vocabulary::read(loaded.vocabulary).specials().sep;
    loaded.parameters = new_parameters(loaded.config, compute_dtype, device);
    for (const PlacedParameter& parameter : loaded.parameters->layout().parameters()) {
        const at::Tensor values = at::empty(parameter.spec.shape, at::kFloat);
        reader.read_parameter(parameter.spec.name, 0, values.data_ptr<float>(), values.numel());
        at::Tensor weight = loaded.parameters->weight(parameter.spec.name);
        weight.copy_(values);
    }
    loaded.bert = std::make_unique<Bert>(loaded.config, *loaded.parameters, Bert::Choices{});
    return loaded;
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& path, at::ScalarType compute_dtype, at::Device device) {
    if (device.is_cpu()) keep_tensor_memory();  // a batch reuses the memory of the previous one's activations
    const FoundWeights found = find_weights(path);
    LoadedModel loaded =
        found.checkpoint ? load_checkpoint(*found.checkpoint, compute_dtype, device) : import_model(found, compute_dtype, device);
    use_proven_kernels(loaded.config, loaded.sequence_length > 0 ? loaded.sequence_length : loaded.config.max_position_embeddings,
                       compute_dtype, device);
    return loaded;
}

}  // namespace bertpretrain
