// bertpretrain export MODEL --format hf|sentence-transformers|nvidia|state_dict|torchscript --output PATH

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/signals.h"
#include "inference/export_model.h"
#include "inference/hf_folder.h"
#include "inference/loaded_model.h"
#include "inference/model_tokenizer.h"
#include "inference/sentence_folder.h"

namespace bertpretrain {
namespace {

struct ExportArguments {
    std::string model, format, output, vectors;
    bool cased = false, normalize = false;
    bool sets_normalize = false;  ///< --normalize or --no-normalize was given
};

/// How a folder of sentence-transformers makes vectors: as the options say, else as `embed` does without them.
SentenceSettings sentences_of(const ExportArguments& arguments, const LoadedModel& model) {
    const ModelTokenizer tokenizer = tokenizer_of(model, arguments.cased);
    const auto normalize = arguments.sets_normalize ? std::optional(arguments.normalize) : std::nullopt;
    return decide_sentence_settings(model, arguments.vectors, normalize, tokenizer.max_length);
}

void run(const ExportArguments& arguments) {
    const bool is_of_sentences = arguments.format == "sentence-transformers";
    if (!is_of_sentences && (!arguments.vectors.empty() || arguments.sets_normalize))
        throw ConfigError(concat("--vectors and --normalize describe the vectors of --format sentence-transformers; --format ",
                                 arguments.format, " does not record them\n  do: leave them out"));
    note_when_interrupted(concat("interrupted: ", displayable(arguments.output), " is not complete\n  do: remove ",
                                 displayable(arguments.output), ".partial, then run the same command again"));
    LoadedModel model = load_model(arguments.model, at::kFloat, at::kCPU);
    if (!model.vocabulary.empty() && (arguments.cased || !copies_tokenizer_files(model)))
        model.casing = tokenizer_of(model, arguments.cased).casing;
    export_model(model, arguments.format, arguments.output,
                 is_of_sentences && !model.vocabulary.empty() ? sentences_of(arguments, model) : SentenceSettings{});
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
                     "hf: a folder for from_pretrained of Hugging Face. sentence-transformers: a folder for "
                     "SentenceTransformer(). nvidia: ckpt_N.pt of NVIDIA's script. state_dict: a "
                     "PyTorch file of tensors. torchscript: a module that runs without Python")
        ->required()
        ->check(CLI::IsMember({"hf", "sentence-transformers", "nvidia", "state_dict", "torchscript"}));
    command->add_option("--output", arguments->output, "The new folder (hf, sentence-transformers) or file")->required();
    command->add_flag("--cased", arguments->cased,
                      "The tokenizer keeps case and accents. Default: as the model records, else as its vocabulary's tokens do");
    command
        ->add_option("--vectors", arguments->vectors,
                     "With sentence-transformers, the vector of a text. mean: the mean over all tokens. cls: the first token's. "
                     "Default: what a sentence-transformers folder says, else mean")
        ->check(CLI::IsMember({"mean", "cls"}));
    const CLI::Option* normalize =
        command->add_flag("--normalize,!--no-normalize", arguments->normalize,
                          "With sentence-transformers, scale vectors to length 1. Default: what a sentence-transformers folder "
                          "says, else no");
    command->callback([arguments, normalize] {
        arguments->sets_normalize = normalize->count() > 0;
        run(*arguments);
    });
}

}  // namespace bertpretrain
