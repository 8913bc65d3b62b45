#include "inference/load_model.h"

#include <ATen/ATen.h>

#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "config/read.h"
#include "core/error.h"

namespace bertpretrain {

LoadedModel load_model(const std::filesystem::path& checkpoint, at::ScalarType working, at::Device device) {
    LoadedModel loaded;
    loaded.folder = resolve_checkpoint(checkpoint);
    const CheckpointReader reader(loaded.folder);
    const std::string file = (loaded.folder / "settings.json").string();
    try {
        loaded.config = read_config<BertConfig>(reader.settings().at("model"), file + ": model");
        loaded.sequence_length = reader.settings().at("data").at("sequence_length").get<std::int64_t>();
    } catch (const nlohmann::json::exception& error) {
        throw CheckpointError(concat(file, ": not the settings of a run (", error.what(), ")"));
    }
    loaded.step = reader.step();
    ParameterLayout layout(bert_parameters(loaded.config).layout_order, std::int64_t{1} << 40, 1);
    loaded.parameters = std::make_unique<FlatParameters>(layout, working, device, FlatParameters::Gradients::none);
    for (const PlacedParameter& parameter : layout.parameters()) {
        const at::Tensor values = at::empty(parameter.spec.shape, at::kFloat);
        reader.read_parameter(parameter.spec.name, 0, values.data_ptr<float>(), values.numel());
        at::Tensor weight = loaded.parameters->weight(parameter.spec.name);
        weight.copy_(values);
    }
    loaded.bert = std::make_unique<Bert>(loaded.config, *loaded.parameters, Bert::Choices{});
    return loaded;
}

}  // namespace bertpretrain
