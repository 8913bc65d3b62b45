#include "train/make_trainer.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include <dlfcn.h>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "config/write.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/strings.h"
#include "core/threads.h"
#include "kernels/cpu/instruction_set.h"
#include "model/bert_parameters.h"
#include "model/tensor_memory.h"
#include "operations/gemm_roof.h"
#include "parallel/launch_environment.h"
#include "parallel/make_world.h"
#include "parallel/together.h"
#include "shards/manifest.h"
#include "shards/vocabulary_match.h"
#include "tokens/vocabulary.h"
#include "train/checkpoint_space.h"
#include "train/device_batch.h"
#include "train/expandable_segments.h"
#include "train/matmul_choice.h"
#include "train/memory_plan.h"
#include "train/same_run.h"

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

RowFormat row_format(const ExperimentConfig& experiment) {
    return {experiment.data.sequence_length, experiment.model.max_position_embeddings, experiment.model.vocab_size};
}

std::optional<DynamicMasking> make_masking(const ExperimentConfig& experiment) {
    const DataConfig& data = experiment.data;
    if (data.masking == "as_stored") return std::nullopt;
    const std::filesystem::path file = choose_vocabulary(experiment);
    if (file.empty())
        throw ConfigError(concat("data.masking = \"dynamic\" needs the vocabulary, and there is no vocab.txt in ",
                                 data.training_shards, "\n  do: set data.vocabulary to the one that the shards were made with"));
    return dynamic_masking(Vocabulary::read(file), data.masked_lm_prob, data.whole_word_masking, data.sequence_length,
                           experiment.model.vocab_size, experiment.training.seed);
}

/// Ranks of one machine share its cores.
std::size_t loader_threads(const ExperimentConfig& experiment) {
    constexpr std::size_t most = 8;
    if (experiment.data.loader_threads) return static_cast<std::size_t>(*experiment.data.loader_threads);
    const auto ranks_here = static_cast<std::size_t>(read_launch().local_world_size);
    return std::clamp(available_cores() / (2 * ranks_here), std::size_t{1}, most);
}

std::unique_ptr<BatchLoader> make_loader(const ExperimentConfig& experiment, const World& world, std::int64_t global_batch,
                                         at::Device device) {
    BatchLoaderSettings settings;
    settings.seed = experiment.training.seed;
    settings.global_batch_sequences = global_batch;
    settings.micro_batch_size = experiment.batch.pass_size();
    settings.format = row_format(experiment);
    settings.rank = world.rank();
    settings.world_size = world.size();
    settings.device = device;
    settings.threads = loader_threads(experiment);
    settings.masking = make_masking(experiment);
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
    settings.threads = loader_threads(experiment);
    const std::string folder = experiment.data.held_out_shards.value_or(experiment.data.training_shards);
    return std::make_unique<EvaluationBatches>(find_shards(folder, ShardKind::held_out), settings);
}

void announce(const TrainerParts& parts, const Launch& launch, const MemoryPlan& memory, const std::string& space) {
    const ExperimentConfig& experiment = parts.experiment;
    const std::int64_t ranks = parts.world->size(), micro = parts.device_micro_batch;
    const auto global_batch = static_cast<double>(parts.global_batch);
    log_info(settings_table(experiment));
    log_info(concat("parameters        ", with_thousands(parts.parameters->layout().parameter_elements())));
    log_info(concat("ranks             ", ranks,
                    ranks > 1                     ? concat(", started by ", launch.launcher)
                    : parts.world->communicates() ? concat(", connected with itself (", force_world_variable, ")")
                                                  : ""));
    log_info(concat("global batch      ", with_thousands(parts.global_batch), " sequences, on each rank in ",
                    (parts.global_batch + ranks * micro - 1) / (ranks * micro), " micro-batch(es) of up to ", micro));
    log_info(concat("one epoch         ", with_thousands(parts.loader->rows_per_epoch()), " samples; the run takes ",
                    fixed(static_cast<double>(experiment.schedule.total_steps) * global_batch /
                              static_cast<double>(parts.loader->rows_per_epoch()),
                          2),
                    " epochs"));
    log_info(concat("memory per rank   ", memory.text()));
    if (ranks > 1)
        log_info(concat("traffic per rank  ", bytes_text(static_cast<std::uint64_t>(parts.buckets->bytes_per_step())),
                        " sent per step"));
    const at::Device device = parts.parameters->device();
    log_info(concat("device            ", device.str(), ", ", at::get_num_threads(), " threads"));
    if (device.is_cpu()) log_info(concat("instructions      ", cpu::name_of(cpu::instruction_set())));
    log_info(concat("matrix products   ", fixed(parts.gemm_roof * 1e-12, 3), " TFLOP/s in ", experiment.training.precision,
                    ", of which mfu is the share that the model's operations reach"));
    if (!parts.products.is_null()) log_info(concat("multiplied by     ", matmul_text(parts.products)));
    if (!parts.kernels.text.empty()) log_info(concat("GPU kernels       ", parts.kernels.text));
    log_info(concat("checkpoints       ", space));
    log_info(concat("run folder        ", parts.folder->paths().folder().string()));
    const auto apart = std::count(parts.sees_folder.begin(), parts.sees_folder.end(), false);
    if (apart > 0)
        log_info(concat("                  ", apart, " of ", ranks, " ranks do not see it: their part of each checkpoint goes ",
                        "through rank 0"));
}

/// Removes what killed saves left, and compares what is free then with what checkpoints take. @returns both in words
std::string make_space(const TrainerParts& parts, const CheckpointStore& store) {
    parts.folder->require();
    store.remove_unfinished();
    const ExperimentConfig& experiment = parts.experiment;
    if (parts.checkpoint && parts.checkpoint->step >= experiment.schedule.total_steps) return "none is due";
    return compare_space(store.folder(), checkpoint_bytes(experiment.model), experiment.checkpoint);
}

/// The run's folder, held by rank 0. @param sees_folder by rank: whether it has that folder as well
std::unique_ptr<RunFolder> open_folder(World& world, const std::filesystem::path& path, std::vector<bool>& sees_folder) {
    std::unique_ptr<RunFolder> folder;
    together(world, [&] {
        folder = std::make_unique<RunFolder>(path, world.rank() == 0 ? RunFolder::Role::takes : RunFolder::Role::joins);
    });
    const bool sees = folder->has(world.text_of_first(folder->mark()));
    for (const std::string& one : world.all_gather(std::string_view(sees ? "1" : "0"))) sees_folder.push_back(one == "1");
    return folder;
}

void open_data(TrainerParts& parts, at::Device device) {
    const ExperimentConfig& experiment = parts.experiment;
    const std::optional<Manifest> manifest = std::filesystem::is_directory(experiment.data.training_shards)
                                                 ? read_manifest(experiment.data.training_shards)
                                                 : std::nullopt;
    parts.loader = make_loader(experiment, *parts.world, parts.global_batch, device);
    parts.held_out = make_held_out(experiment, *parts.world, device);
    parts.vocabulary = choose_vocabulary(experiment);
    if (parts.held_out) parts.held_out->verify();  // the vocabulary comes first: it explains more
    if (!manifest) return;
    parts.unigram_cross_entropy = manifest->unigram_cross_entropy;
    parts.casing = manifest->settings.casing;
}

MemoryPlan open_model(TrainerParts& parts, const Launch& launch, at::Device device) {
    const ExperimentConfig& experiment = parts.experiment;
    ParameterLayout layout = bert_layout(experiment.model, experiment.parallel.bucket_mib, parts.world->size());
    const MemoryPlan memory = plan_memory(experiment, layout, parts.loader->rows_per_epoch());
    if (device.is_cpu()) refuse_too_large(memory, layout.parameter_elements(), launch.local_world_size);
    const at::ScalarType compute_dtype = experiment.training.precision == "bf16" ? at::kBFloat16 : at::kFloat;
    const auto gradients =
        experiment.keeps_bf16_gradients(parts.world->size()) ? FlatParameters::Gradients::bf16 : FlatParameters::Gradients::fp32;
    parts.parameters = std::make_unique<FlatParameters>(std::move(layout), compute_dtype, device, gradients);
    const TrainingConfig& training = experiment.training;
    parts.bert = std::make_unique<Bert>(experiment.model, *parts.parameters,
                                        Bert::Choices{training.seed_of_dropout(), training.activation_checkpointing});
    const std::int64_t stage = experiment.parallel.zero_stage;
    parts.optimizer = std::make_unique<ShardedOptimizer>(experiment.optimizer, parts.parameters->layout(),
                                                         stage == 0 ? std::nullopt : std::optional(parts.world->rank()), device);
    const at::ScalarType wire = experiment.parallel.reduce_dtype == "bf16" ? at::kBFloat16 : at::kFloat;
    parts.buckets = std::make_unique<GradientBuckets>(*parts.parameters, *parts.world, GradientBuckets::Choices{stage, wire});
    parts.step =
        std::make_unique<TrainStep>(*parts.bert, *parts.parameters, *parts.buckets, *parts.optimizer, *parts.world,
                                    experiment.training.loss_mean == "global" ? LossMean::global : LossMean::micro_batch, stage);
    return memory;
}

/// Merges micro-batches where that is asked for, or where the device holds more at once.
void choose_passes(TrainerParts& parts) {
    const at::Device device = parts.parameters->device();
    const std::int64_t ranks = parts.world->size();
    const auto kept = parts.checkpoint ? parts.checkpoint->progress.device_micro_batch : std::nullopt;
    parts.device_micro_batch = choose_device_micro_batch(
        *parts.world, parts.experiment, (parts.global_batch + ranks - 1) / ranks, !device.is_cpu(), kept,
        [&] { return memory_for_passes(device); },
        [&](std::int64_t sequences) { return trial_pass(*parts.bert, *parts.parameters, parts.experiment.data, sequences); });
    if (parts.device_micro_batch != parts.experiment.batch.pass_size())
        parts.loader->set_micro_batch_size(parts.device_micro_batch);
}

}  // namespace

namespace {

constexpr const char* gpu_driver = "/dev/nvidiactl";  // there where NVIDIA's driver is

/// Before anything else is allocated on the GPU, which is current.
void choose_allocator(at::Device device) {
    constexpr std::int64_t few_bytes = std::int64_t{32} << 20;  // of the pool for large blocks
    try_first_allocation([&] { at::empty({few_bytes}, at::TensorOptions(device).dtype(at::kByte)); });
    c10::getDeviceAllocator(device.type())->emptyCache();
}

/// Whether a GPU can be used. torch's CUDA half is loaded here, so that a run on the CPU starts without its two seconds.
bool has_gpu() {
    if (!std::filesystem::exists(gpu_driver) || ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) return false;
    return at::hasCUDA() && at::detail::getCUDAHooks().deviceCount() > 0;
}

}  // namespace

at::Device device_named(const std::string& name, std::int64_t local_rank) {
    if (name == "cpu") return at::kCPU;
    if (has_gpu()) {
        const auto devices = static_cast<std::int64_t>(at::detail::getCUDAHooks().deviceCount());
        if (local_rank >= devices)
            throw ConfigError(concat("local rank ", local_rank, " has no GPU of its own: this host has ", devices,
                                     "\n  do: start one rank per GPU, or set training.device to \"cpu\""));
        const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(local_rank));
        c10::impl::VirtualGuardImpl(at::kCUDA).setDevice(device);
        static std::once_flag once;
        std::call_once(once, [&] { choose_allocator(device); });
        at::globalContext().setAllowBF16ReductionCuBLAS(false);  // products are summed in fp32, also where they are split
        return device;
    }
    if (name == "cuda") throw ConfigError("training.device = \"cuda\": no GPU is to be had here; set it to \"cpu\" or \"auto\"");
    if (local_rank == 0 && std::filesystem::exists(gpu_driver) && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr)
        log_warning(concat("this host has NVIDIA's driver (", gpu_driver,
                           "), but no GPU that this program can use: it computes on the CPU",
                           "\n  do: run the program where it was built, or the image (what is installed is for CPUs), see ",
                           "`nvidia-smi`, or set training.device to \"cpu\""));
    return at::kCPU;
}

TrainerParts make_trainer_parts(const ExperimentConfig& experiment, const std::filesystem::path& output,
                                const ResumeRequest& resume, const Launch& launch, PhaseClock& clock) {
    clock.enter(Phase::start);
    const at::Device device = device_named(experiment.training.device, launch.local_rank);
    if (device.is_cpu()) keep_tensor_memory();
    const auto timeout = std::chrono::seconds(static_cast<std::int64_t>(experiment.parallel.first_step_timeout_seconds));
    return make_trainer_parts(experiment, output, resume, launch, clock, make_world(launch, timeout, device), device);
}

TrainerParts make_trainer_parts(const ExperimentConfig& experiment, const std::filesystem::path& output,
                                const ResumeRequest& resume, const Launch& launch, PhaseClock& clock,
                                std::unique_ptr<World> world, at::Device device) {
    clock.enter(Phase::start);
    TrainerParts parts;
    parts.experiment = experiment;
    parts.launch = launch;
    parts.resume = resume;
    parts.resume.again = launch.again;
    parts.world = std::move(world);
    parts.folder = open_folder(*parts.world, output, parts.sees_folder);
    const bool leads = parts.world->rank() == 0;
    together(*parts.world, [&] {
        if (!leads) return;
        std::error_code ignored;
        std::filesystem::remove(parts.folder->paths().exit_record(), ignored);  // of an earlier attempt, which has been heard
        log_also_to(parts.folder->paths().log());
    });
    const CheckpointStore store(parts.folder->paths().checkpoints());
    parts.checkpoint =
        choose_checkpoint(*parts.world, store, parts.resume, parts.sees_folder[static_cast<std::size_t>(parts.world->rank())]);
    parts.kernels = choose_kernels(*parts.world, experiment, device,  // before the optimizer takes its own
                                   parts.checkpoint ? parts.checkpoint->progress.gpu_kernels : nullptr);
    clock.enter(Phase::start);
    MemoryPlan memory;
    std::string space;
    together(*parts.world, [&] {
        parts.global_batch = global_batch_of(experiment, parts.world->size(), parts.checkpoint.get());
        open_data(parts, device);
        clock.enter(Phase::start);
        memory = open_model(parts, launch, device);
        if (leads) space = make_space(parts, store);
    });
    refuse_different_runs(*parts.world, experiment,
                          parts.loader->fingerprint() + (parts.held_out ? "; held out " + parts.held_out->fingerprint() : ""));
    choose_passes(parts);
    clock.enter(Phase::start);
    double own_roof = 0;
    together(*parts.world, [&] { own_roof = measured_gemm_roof(device, parts.parameters->compute_dtype()); });
    for (const double roof : parts.world->all_gather(std::span<const double>(&own_roof, 1))) parts.gemm_roof += roof;
    clock.enter(Phase::start);
    parts.products = choose_matmul_libraries(*parts.world, experiment, device.is_cpu(),
                                             parts.checkpoint ? parts.checkpoint->progress.cpu_products : nullptr);
    clock.enter(Phase::start);
    parts.experiment.batch.global_batch_size = parts.global_batch;  // what every later start keeps
    if (leads) announce(parts, launch, memory, space);
    return parts;
}

}  // namespace bertpretrain
