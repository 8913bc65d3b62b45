// bertpretrain export MODEL --format hf|nvidia|state_dict|torchscript --output PATH

#include <iostream>
#include <memory>
#include <string>

#include "commands.h"

#include "core/output/displayable.h"
#include "inference/export_model.h"
#include "inference/hf_folder.h"
#include "inference/loaded_model.h"
#include "inference/model_tokenizer.h"

namespace bertpretrain {
namespace {

struct ExportArguments {
    std::string model, format, output;
    bool cased = false;
};

void run(const ExportArguments& arguments) {
    LoadedModel model = load_model(arguments.model, at::kFloat, at::kCPU);
    if (!model.vocabulary.empty() && !copies_tokenizer_files(model)) model.casing = tokenizer_of(model, arguments.cased).casing;
    export_model(model, arguments.format, arguments.output);
    std::cout << displayable(arguments.output) << std::endl;
}

}  // namespace

void add_export_command(CLI::App& app) {
    const auto arguments = std::make_shared<ExportArguments>();
    CLI::App* command =
        app.add_subcommand("export", "Writes a trained model in another program's format, and verifies it by reading it back");
    command->add_option("model", arguments->model, "A checkpoint's folder, or a run's folder (its newest checkpoint)")
        ->required();
    command
        ->add_option("--format", arguments->format,
                     "hf: a folder for from_pretrained of Hugging Face. nvidia: ckpt_N.pt of NVIDIA's script. state_dict: a "
                     "PyTorch file of tensors. torchscript: a module that runs without Python")
        ->required()
        ->check(CLI::IsMember({"hf", "nvidia", "state_dict", "torchscript"}));
    command->add_option("--output", arguments->output, "The new folder (hf) or file")->required();
    command->add_flag("--cased", arguments->cased,
                      "The tokenizer keeps case and accents. Default: as the model records, else as its vocabulary's tokens do");
    command->callback([arguments] { run(*arguments); });
}

}  // namespace bertpretrain
