#include "inference/torchscript_module.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "model/small_model.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("the TorchScript source computes what the model does, for every norm placement and activation") {
    BertConfig config = odd_config(GENERATE("post_ln", "pre_ln", "pre_ln_zero_residual"));
    config.hidden_act = GENERATE(HiddenAct::gelu, HiddenAct::gelu_new);
    CAPTURE(name_of(config.norm_placement), name_of(config.hidden_act));
    OwnedModel model(config);
    model.randomize(6);
    const TemporaryFolder folder;
    write_torchscript(folder / "model.pt", as_model(config), model.parameters, {{"config.json", "{}"}});
    CHECK_NOTHROW(check_torchscript(folder / "model.pt", *model, as_model(config)));

    model.parameters.weight("bert.encoder.layer.1.output.dense.bias").select(0, 0).add_(0.01);
    CHECK_THROWS_AS(check_torchscript(folder / "model.pt", *model, as_model(config)), CheckpointError);
}

TEST_CASE("the TorchScript source computes what NeoBERT does") {
    const ModelConfig config = odd_neobert();
    OwnedModel model(config);
    model.randomize(6);
    const TemporaryFolder folder;
    write_torchscript(folder / "model.pt", config, model.parameters, {{"config.json", "{}"}});
    CHECK_NOTHROW(check_torchscript(folder / "model.pt", *model, config));

    model.parameters.weight("decoder.weight").select(0, 0).add_(0.01);
    CHECK_THROWS_AS(check_torchscript(folder / "model.pt", *model, config), CheckpointError);
}

TEST_CASE("the TorchScript source computes what ModernBERT does, for every activation") {
    ModelConfig config = odd_modernbert();
    config.modernbert.hidden_activation = GENERATE(GateActivation::gelu, GateActivation::gelu_pytorch_tanh, GateActivation::silu);
    CAPTURE(name_of(config.modernbert.hidden_activation));
    OwnedModel model(config);
    model.randomize(6);
    const TemporaryFolder folder;
    write_torchscript(folder / "model.pt", config, model.parameters, {{"config.json", "{}"}});
    CHECK_NOTHROW(check_torchscript(folder / "model.pt", *model, config));

    model.parameters.weight("model.layers.1.mlp.Wo.weight").select(0, 0).add_(0.01);
    CHECK_THROWS_AS(check_torchscript(folder / "model.pt", *model, config), CheckpointError);
}
