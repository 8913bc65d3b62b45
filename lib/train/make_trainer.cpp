#include "train/make_trainer.h"

#include <cmath>
#include <cstdlib>

#include <dlfcn.h>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <unistd.h>

#include "config/write.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/strings.h"
#include "model/initialize.h"
#include "shards/manifest.h"
#include "shards/vocabulary_match.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {
namespace {

/// The vocabulary that travels with the checkpoints, checked against the shards and the model.
std::filesystem::path choose_vocabulary(const ExperimentConfig& experiment) {
    const DataConfig& data = experiment.data;
    std::filesystem::path file =
        data.vocabulary ? std::filesystem::path(*data.vocabulary) : std::filesystem::path(data.training_shards) / "vocab.txt";
    if (!data.vocabulary && !std::filesystem::exists(file)) return {};
    const Vocabulary vocabulary = Vocabulary::read(file);
    refuse_other_vocabulary(data.training_shards, file);
    if (data.held_out_shards && experiment.evaluation.every_steps > 0) refuse_other_vocabulary(*data.held_out_shards, file);
    if (vocabulary.size() > experiment.model.vocab_size)
        throw ConfigError(concat("model.vocab_size = ", experiment.model.vocab_size, ": the vocabulary ", file.string(), " has ",
                                 vocabulary.size(), " tokens; set it to at least that"));
    return file;
}

/// Refused before the memory is asked for: the system would end the process without a word.
void refuse_too_large(const ExperimentConfig& experiment, std::int64_t parameters) {
    const double bytes = static_cast<double>(parameters) * (experiment.training.precision == "bf16" ? 18 : 20);
    const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    if (bytes > there)
        throw ConfigError(concat("model: ", with_thousands(parameters), " parameters need ",
                                 bytes_text(static_cast<std::uint64_t>(bytes)),
                                 " of memory for weights, gradients and optimizer state, and this machine has ",
                                 bytes_text(static_cast<std::uint64_t>(there)), "; make the model smaller"));
}

RowFormat row_format(const ExperimentConfig& experiment) {
    return {experiment.data.sequence_length, experiment.model.max_position_embeddings, experiment.model.vocab_size};
}

std::unique_ptr<BatchLoader> make_loader(const ExperimentConfig& experiment, const World& world, at::Device device) {
    BatchLoaderSettings settings;
    settings.seed = experiment.training.seed;
    settings.global_batch_sequences = experiment.global_batch(world.size());
    settings.micro_batch_size = experiment.batch.micro_batch_size;
    settings.format = row_format(experiment);
    settings.rank = world.rank();
    settings.world_size = world.size();
    settings.device = device;
    return std::make_unique<BatchLoader>(find_shards(experiment.data.training_shards, ShardKind::training), settings);
}

std::unique_ptr<EvaluationBatches> make_held_out(const ExperimentConfig& experiment, const World& world, at::Device device) {
    if (experiment.evaluation.every_steps == 0) return nullptr;
    EvaluationSettings settings;
    settings.format = row_format(experiment);
    settings.micro_batch_size = experiment.evaluation.micro_batch_size;
    settings.max_sequences = experiment.evaluation.max_sequences;
    settings.rank = world.rank();
    settings.world_size = world.size();
    settings.device = device;
    const std::string folder = experiment.data.held_out_shards.value_or(experiment.data.training_shards);
    return std::make_unique<EvaluationBatches>(find_shards(folder, ShardKind::held_out), settings);
}

std::unique_ptr<World> make_world() {
    const char* size = std::getenv("WORLD_SIZE");
    if (size != nullptr && std::string(size) != "1")
        throw ConfigError(concat("WORLD_SIZE = ", size, ": this version trains with one process; unset it or set it to 1"));
    return std::make_unique<SingleProcess>();
}

void announce(const TrainerParts& parts) {
    const ExperimentConfig& experiment = parts.experiment;
    const std::int64_t parameters = parts.parameters->layout().parameter_elements();
    const auto bytes = static_cast<std::uint64_t>(parameters);
    const std::uint64_t working_bytes = experiment.training.precision == "bf16" ? 2 : 4;
    log_info(settings_table(experiment));
    log_info(concat("parameters        ", with_thousands(parameters)));
    log_info(concat("global batch      ", experiment.batch.micro_batch_size, " sequences x ",
                    experiment.batch.gradient_accumulation_steps, " accumulation steps x ", parts.world->size(),
                    " rank(s) = ", with_thousands(experiment.global_batch(parts.world->size()))));
    log_info(concat("one epoch         ", with_thousands(parts.loader->rows_per_epoch()), " samples; the run takes ",
                    fixed(static_cast<double>(experiment.schedule.total_steps * experiment.global_batch(parts.world->size())) /
                              static_cast<double>(parts.loader->rows_per_epoch()),
                          2),
                    " epochs"));
    log_info(concat("memory            weights ", bytes_text(bytes * working_bytes), ", gradients ", bytes_text(bytes * 4),
                    ", optimizer ", bytes_text(bytes * 12), ", and activations"));
    log_info(concat("device            ", parts.parameters->device().str(), ", ", at::get_num_threads(), " threads"));
    log_info(concat("run folder        ", parts.folder->path().string()));
}

}  // namespace

namespace {

/// Whether a GPU can be used. torch's CUDA half is loaded here, so that a run on the CPU starts without its two seconds.
bool has_gpu() {
    if (!std::filesystem::exists("/dev/nvidiactl") || ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr)
        return false;
    return at::hasCUDA() && at::detail::getCUDAHooks().deviceCount() > 0;
}

}  // namespace

at::Device device_named(const std::string& name) {
    if (name == "cpu") return at::kCPU;
    if (has_gpu()) return {at::kCUDA, 0};
    if (name == "cuda") throw ConfigError("training.device = \"cuda\": no GPU is to be had here; set it to \"cpu\" or \"auto\"");
    return at::kCPU;
}

TrainerParts make_trainer_parts(const ExperimentConfig& experiment, const std::filesystem::path& output) {
    TrainerParts parts;
    parts.experiment = experiment;
    parts.world = make_world();
    const at::Device device = device_named(experiment.training.device);
    const std::optional<Manifest> manifest = std::filesystem::is_directory(experiment.data.training_shards)
                                                 ? read_manifest(experiment.data.training_shards)
                                                 : std::nullopt;
    parts.loader = make_loader(experiment, *parts.world, device);
    parts.held_out = make_held_out(experiment, *parts.world, device);
    parts.vocabulary = choose_vocabulary(experiment);
    if (parts.held_out) parts.held_out->verify();  // the vocabulary comes first: it explains more
    if (manifest) parts.unigram_cross_entropy = manifest->unigram_cross_entropy;
    parts.folder = std::make_unique<RunFolder>(output);
    log_also_to(parts.folder->log());

    const auto bucket_elements = static_cast<std::int64_t>(experiment.parallel.bucket_mib * 1024 * 1024 / 4);
    ParameterLayout layout(bert_parameters(experiment.model).layout_order, std::max<std::int64_t>(1, bucket_elements),
                           parts.world->size());
    if (device.is_cpu()) refuse_too_large(experiment, layout.parameter_elements());
    const at::ScalarType working = experiment.training.precision == "bf16" ? at::kBFloat16 : at::kFloat;
    parts.parameters = std::make_unique<FlatParameters>(std::move(layout), working, device);
    const ParameterLayout& placed = parts.parameters->layout();
    parts.bert = std::make_unique<Bert>(experiment.model, *parts.parameters,
                                        Bert::Choices{experiment.training.seed, experiment.training.activation_checkpointing});
    parts.optimizer = std::make_unique<ShardedOptimizer>(experiment.optimizer, placed, parts.world->rank(), device);
    parts.buckets =
        std::make_unique<GradientBuckets>(placed, *parts.world, parts.parameters->gradients(), parts.parameters->working());
    parts.step =
        std::make_unique<TrainStep>(*parts.bert, *parts.parameters, *parts.buckets, *parts.optimizer, *parts.world,
                                    experiment.training.loss_mean == "global" ? LossMean::global : LossMean::micro_batch);
    announce(parts);
    return parts;
}

}  // namespace bertpretrain
