#pragma once
// All settings of an experiment file. A section that one part of the program owns is described there, the others here.

#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "batches/batch_sizes.h"
#include "config/field.h"
#include "config/known_names.h"
#include "model/architecture.h"
#include "optimizer/optimizer_config.h"
#include "optimizer/schedule.h"
#include "plan/origin.h"
#include "plan/watchdog_config.h"
#include "shards/mask_spans.h"

namespace bertpretrain {

enum class ChangedWeights { refuse, accept };
template <>
inline constexpr auto choice_names<ChangedWeights> = choices("refuse", "accept");

enum class Objective { mlm_nsp, mlm };
template <>
inline constexpr auto choice_names<Objective> = choices("mlm_nsp", "mlm");

enum class Masking { as_stored, dynamic };
template <>
inline constexpr auto choice_names<Masking> = choices("as_stored", "dynamic");

struct DataConfig {
    WeightedPaths training_shards;
    ChangedWeights changed_weights = ChangedWeights::refuse;
    std::optional<std::string> held_out_shards;
    Objective objective = Objective::mlm_nsp;
    bool block_diagonal = false;
    std::int64_t sequence_length = 128;
    std::optional<std::string> vocabulary;
    Masking masking = Masking::as_stored;
    double masked_lm_prob = 0.15;
    bool whole_word_masking = false;
    std::int64_t mask_span = 1;
    SpanLengths mask_span_lengths = SpanLengths::fixed;
    bool mask_special_tokens = false;
    std::optional<std::int64_t> loader_threads;
    std::optional<std::string> cache_folder;
    double cache_gib = 50;

    MaskSpans mask_spans() const { return {mask_span, mask_span_lengths}; }

    static void describe(auto& self, auto&& field) {
        field(
            "training_shards", self.training_shards,
            required(any, "name the folder of shards; `bertpretrain_data shard` makes one (data_tools/README.md)"),
            "Folder of shards. Training reads the files with \"training\" in their names. To train on several sources, give a "
            "list: [{\"path\": FOLDER, \"weight\": NUMBER}, ...]. Each source then gives its weight's share of the samples, also "
            "within short parts of the run, and starts its next epoch when its own samples are used up. A resumed run needs "
            "the same sources in the same order, and refuses other shards; for the weights see changed_weights. A folder may be "
            "in an object store: "
            "s3://BUCKET/FOLDER or https://HOST/FOLDER, with the manifest that `shard` writes; see cache_folder.",
            Resume::only_path);
        field("changed_weights", self.changed_weights, any,
              "What to do if the weights of training_shards differ from those of the checkpoint that a run resumes from. accept: "
              "use them from the next step on, and record the event weights_changed with that step.",
              Resume::may_change);
        field("held_out_shards", self.held_out_shards, any,
              "Folder of held-out shards. Evaluation reads the files with \"test\" in their names. null: the folder of the "
              "training shards, or all folders of a list.",
              Resume::may_change);
        field("objective", self.objective, any,
              "What the model learns to predict. mlm_nsp: masked words and next sentences, as BERT. mlm: masked words alone, as "
              "RoBERTa; the model then has no pooler and no head for next sentences, and labels in the shards are ignored.");
        field("block_diagonal", self.block_diagonal, any,
              "With objective mlm, whether attention stays inside each document of a row that holds several (shard "
              "--across-documents): no token attends beyond the [SEP]s around it. Positions still count from the row's start. In "
              "packed rows (shard --best-fit) attention stays inside each document without it.");
        field("sequence_length", self.sequence_length, between(8, 65536),
              "Tokens per sample, padding included. Must equal that of the shards.");
        field("vocabulary", self.vocabulary, any,
              "The vocab.txt, tokenizer.json or tokenizer.model that the shards were made with. null: the one in the folder of "
              "the shards, if there is one.",
              Resume::only_path);
        field("masking", self.masking, any,
              "Where masks come from. as_stored: from the shards. dynamic: new masks in each epoch, which needs the vocabulary. "
              "Evaluation always uses the shards' masks.");
        field("masked_lm_prob", self.masked_lm_prob, between(0.01, 0.9),
              "Share of a sample's tokens that dynamic masking masks: BERT 0.15, ModernBERT 0.3. Each sample has exactly this "
              "share.");
        field("whole_word_masking", self.whole_word_masking, any,
              "Whether dynamic masking masks either all pieces of a word or none.");
        field("mask_span", self.mask_span, between(1, 64),
              "Number of neighbouring tokens, or with whole_word_masking words, that dynamic masking masks together. For "
              "overlapping k-mers it is k, as in DNABERT, because the neighbours of a k-mer reveal it. The share of masked "
              "tokens stays masked_lm_prob.");
        field("mask_span_lengths", self.mask_span_lengths, any,
              "Lengths of the spans of mask_span. fixed: each drawn token is masked with its neighbours on both sides, mask_span "
              "in all. geometric: spans begin at the drawn tokens and have random lengths of at most mask_span, shorter ones "
              "more often, as in SpanBERT (0.2 * 0.8^(l - 1), mask_span 10).");
        field("mask_special_tokens", self.mask_special_tokens, any,
              "Whether dynamic masking may also mask [CLS] and [SEP], as in the published runs of ModernBERT. Those draw each "
              "token "
              "by itself, so their share varies per sample; and their random tokens have ids up to the batch's largest, where "
              "ours are drawn from the whole vocabulary.");
        field("loader_threads", self.loader_threads, between(1, 1024),
              "Threads that read shards while the model trains. auto: half of the cores that this rank may use, at most 8.",
              Resume::may_change);
        field("cache_folder", self.cache_folder, any,
              "Folder on a local disk for shards fetched from an object store. It must be new, empty or such a folder already. "
              "Processes and runs may share it. auto: "
              "bertpretrain_cache_UID in TMPDIR or /tmp.",
              Resume::may_change);
        field(
            "cache_gib", self.cache_gib, between(0.0001, 1e6),
            "Size limit of cache_folder in GiB, besides the held-out shards, which stay there. If all training shards fit, each "
            "is fetched once; else those that are needed last are evicted and fetched again in each epoch.",
            Resume::may_change);
    }
};

enum class InitMissing { refuse, random };
template <>
inline constexpr auto choice_names<InitMissing> = choices("refuse", "random");

enum class InitUnexpected { refuse, ignore };
template <>
inline constexpr auto choice_names<InitUnexpected> = choices("refuse", "ignore");

enum class InitSmaller { refuse, tile };
template <>
inline constexpr auto choice_names<InitSmaller> = choices("refuse", "tile");

struct InitializationConfig {
    std::optional<std::string> init_from;
    InitMissing init_missing = InitMissing::refuse;
    InitUnexpected init_unexpected = InitUnexpected::refuse;
    InitSmaller init_smaller = InitSmaller::refuse;
    bool init_moments = false;
    std::vector<std::string> init_changes;

    static void describe(auto& self, auto&& field) {
        field(
            "init_from", self.init_from, any,
            "Weights to start a new run from: a run or checkpoint of this program, a .pt, .bin or .safetensors file, or a "
            "folder that Hugging Face, DeepSpeed or NVIDIA's scripts wrote. Settings of model that are not set have this model's "
            "values, if its config.json or settings.json is there. null: random weights.");
        field("init_missing", self.init_missing, any,
              "What to do about parameters that init_from lacks. random: initialize them at random, and log their names.");
        field("init_unexpected", self.init_unexpected, any,
              "What to do about tensors in init_from that the model lacks. ignore: log their names.");
        field("init_smaller", self.init_smaller, any,
              "What to do about weights of a smaller model. tile: repeat its layers and, from the centre of each matrix on, its "
              "rows and columns, as ModernBERT-large began with ModernBERT-base. Heads must have as many features.");
        field("init_moments", self.init_moments, any,
              "Load the optimizer's moments and its number of updates too. Needs a checkpoint of this program.");
        field(
            "init_changes", self.init_changes, any,
            "Settings of model that may differ from those of init_from although the model then computes something else, such as "
            "[\"global_rope_theta\"] for longer sequences. Without: refused.");
    }
};

struct BatchConfig {
    std::int64_t micro_batch_size = 16;
    std::int64_t gradient_accumulation_steps = 1;
    std::int64_t global_batch_size = 0;
    std::int64_t warmup_steps = 0, warmup_from = 0, warmup_increment = 0;
    std::optional<std::int64_t> device_micro_batch;

    /// The sequences of every step, once global_batch_size is decided.
    BatchSizes sizes() const { return {global_batch_size, {warmup_steps, warmup_from, warmup_increment}}; }

    /// Sequences per forward and backward pass; micro_batch_size where device_micro_batch is not decided yet.
    std::int64_t pass_size() const { return device_micro_batch.value_or(micro_batch_size); }

    static void describe(auto& self, auto&& field) {
        field("micro_batch_size", self.micro_batch_size, between(1, 1e5), "Sequences per forward and backward pass on one rank.",
              Resume::may_change);
        field("gradient_accumulation_steps", self.gradient_accumulation_steps, between(1, 1e5),
              "Passes of each rank per optimizer step of a new run whose global_batch_size is 0. A run that resumes on another "
              "number of ranks keeps its global batch and changes the number of passes.",
              Resume::may_change);
        field("global_batch_size", self.global_batch_size, between(0, 1e9),
              "Sequences per optimizer step over all ranks; need not be a multiple of their number. 0: micro_batch_size x "
              "gradient_accumulation_steps x the ranks of the run's first start. A run keeps the number that it started with.");
        field(
            "warmup_steps", self.warmup_steps, between(0, 1e9),
            "Steps of a batch warm-up: the batch grows from warmup_from to global_batch_size sequences by warmup_increment at a "
            "time, and each size has the same number of these steps. The learning rate follows the steps as without. 0: all "
            "batches are equally large.");
        field("warmup_from", self.warmup_from, between(0, 1e9), "Sequences of the first step of a batch warm-up.");
        field("warmup_increment", self.warmup_increment, between(0, 1e9),
              "By how many sequences the batch grows at a time in a batch warm-up. ModernBERT's grew by one pass of each rank.");
        field("device_micro_batch", self.device_micro_batch, between(1, 1e6),
              "Sequences that a device computes at once, a multiple of micro_batch_size. The sums stay the same; matrix "
              "multiplications get fewer and larger. auto: on a GPU with training.loss_mean = \"global\", as many as fit, "
              "measured at the first start; else micro_batch_size.",
              Resume::may_change);
    }
};

enum class Precision { bf16, fp32 };
template <>
inline constexpr auto choice_names<Precision> = choices("bf16", "fp32");

enum class KernelPolicy { automatic, reference, fused, warpgroup };
template <>
inline constexpr auto choice_names<KernelPolicy> = choices("auto", "reference", "fused", "warpgroup");

enum class LossMean { global, micro_batch };
template <>
inline constexpr auto choice_names<LossMean> = choices("global", "micro_batch");

struct TrainingConfig {
    Precision precision = Precision::bf16;
    Precision residual_dtype = Precision::fp32;
    bool fp8_matmuls = false;
    std::string device = "auto";
    std::string cpu_matmul = "measured";
    KernelPolicy gpu_kernels = KernelPolicy::automatic;
    bool early_launches = false;
    std::uint64_t seed = 42;
    std::optional<std::int64_t> dropout_seed;
    bool activation_checkpointing = false;
    LossMean loss_mean = LossMean::global;
    std::int64_t max_skipped_updates = 10;
    double loss_spike_deviations = 10;
    std::int64_t cross_check_every_steps = 0;

    static void describe(auto& self, auto&& field) {
        field("precision", self.precision, any,
              "Precision of matrix multiplications. The optimizer's weights and moments are always fp32. Gradients are fp32 "
              "unless parallel.gradient_dtype is bf16.");
        field("residual_dtype", self.residual_dtype, any,
              "Type in which layers pass on the residual stream and its gradient. bf16 needs training.precision bf16: LayerNorms "
              "move a third less memory, and each sublayer's sum is rounded. Sums and statistics are computed in fp32 either "
              "way, and evaluation keeps fp32.");
        field("fp8_matmuls", self.fp8_matmuls, any,
              "Round the operands of the layers' matmuls to fp8: e4m3, gradients e5m2, with a power of two per tensor from the "
              "step before. Heads, attention and evaluation stay in bf16. Needs training.precision bf16 and a GPU of compute "
              "capability 8.9 or more; a CPU emulates it slowly, to show what it costs in quality.");
        field("device", self.device, one_of({"auto", "cpu", "cuda"}), "Where to compute. auto: on a GPU if there is one.",
              Resume::may_change);
        field("cpu_matmul", self.cpu_matmul,
              renamed("cpu_products", renamed_choice("tiles", "amx", one_of({"measured", "onednn", "mkl", "amx", "vector"}))),
              "The library that multiplies bf16 matrices on a CPU. amx, vector: this program's own kernels, for AMX and for "
              "AVX-512. measured: on a CPU with AMX, for each shape amx or a library that is at least 10 % faster; elsewhere "
              "vector, or onednn where vector is missing. The choice is measured at the "
              "run's first start and kept on resume, because libraries round differently. Name a library if two new runs must "
              "agree bit for bit.",
              Resume::may_change);
        field("gpu_kernels", self.gpu_kernels, any,
              "The kernels that a GPU uses. auto: each start compares all kernels with plain ATen on that GPU; the run's first "
              "start picks the fastest correct ones, and resumes keep them. reference: plain ATen, which is slower. fused: this "
              "program's own kernels even where others are faster; the start fails if one is wrong. warpgroup: for an H100 or "
              "H200; the first correct kernels, untimed, and for attention beyond 128 tokens with heads of 64 those that use "
              "its own matrix instructions. These have passed an emulator's tests and have not yet run on a GPU.",
              Resume::may_change);
        field(
            "early_launches", self.early_launches, any,
            "On GPUs of compute capability 9.0 or more, start this program's own kernels while the kernel before them ends: they "
            "wait for it themselves. Saves about a microsecond per kernel and changes no result. Has passed an emulator's tests "
            "and has not yet run on a GPU.",
            Resume::may_change);
        field("seed", self.seed, any, "Seed of initial weights, sample order and dropout.");
        field("dropout_seed", self.dropout_seed, at_least(0), "Seed of dropout alone. auto: training.seed.");
        field("activation_checkpointing", self.activation_checkpointing, any,
              "Keep only each layer's input and recompute the other activations in the backward pass: less memory, a third more "
              "computation.",
              Resume::may_change);
        field("loss_mean", self.loss_mean, any,
              "How a step's MLM loss is averaged. global: over all masked tokens of the step. micro_batch: the mean of the "
              "micro-batches' means, as NVIDIA's and Habana's scripts do.");
        field("max_skipped_updates", self.max_skipped_updates, at_least(0),
              "Updates in a row that may be skipped. An update is skipped if the loss or the gradient is not finite; when this "
              "many in a row were skipped, the run ends with exit code 6. 0: never.",
              Resume::may_change);
        field("loss_spike_deviations", self.loss_spike_deviations, at_least(0),
              "Warn about a loss that is this many robust standard deviations above the median of the last 64. 0: never.",
              Resume::may_change);
        field("cross_check_every_steps", self.cross_check_every_steps, at_least(0),
              "Look for hardware that computes wrongly every so many steps: each rank also computes another rank's first "
              "micro-batch, and the bits of losses and gradients must be equal. A single rank compares its kernels with plain "
              "ATen instead. The run ends with exit code 5 and names the host. 0: never.",
              Resume::may_change);
    }
};

enum class ReduceType { automatic, bf16, fp32 };
template <>
inline constexpr auto choice_names<ReduceType> = choices("auto", "bf16", "fp32");

struct ParallelConfig {
    std::int64_t zero_stage = 1;
    double bucket_mib = 64;
    ReduceType reduce_dtype = ReduceType::fp32;
    Precision gradient_dtype = Precision::fp32;
    double first_step_timeout_seconds = 1800;
    double timeout_seconds = 600;
    std::int64_t straggler_report_steps = 100;

    static void describe(auto& self, auto&& field) {
        field("zero_stage", self.zero_stage, between(0, 1),
              "ZeRO stage. 0: every rank holds the whole optimizer state. 1: it is sharded over the ranks.", Resume::may_change);
        field("bucket_mib", self.bucket_mib, between(0.001, 16384),
              "Size of a gradient bucket, which is reduced as one message, in MiB of fp32.", Resume::may_change);
        field("reduce_dtype", self.reduce_dtype, any,
              "Type of gradients on the wire. bf16 halves the traffic. Sums are fp32 either way; on several hosts with several "
              "ranks each, the sum of a host is sent to the other hosts in this type. auto: bf16 on several hosts with equally "
              "many ranks, else fp32.");
        field("gradient_dtype", self.gradient_dtype, any,
              "Type in which the gradients of matrices are accumulated. bf16 halves their memory and traffic, but rounds them "
              "after every micro-batch: use it for models that do not fit otherwise. Needs training.precision bf16 and "
              "zero_stage 1. A run on one rank uses fp32 anyway.");
        field("first_step_timeout_seconds", self.first_step_timeout_seconds, between(1, 1e6),
              "How long a rank waits for the others from the start to the end of the first step.", Resume::may_change);
        field("timeout_seconds", self.timeout_seconds, between(1, 1e6),
              "How long a rank waits for another after the first step before it reports that rank as lost. Must be longer than "
              "a checkpoint takes.",
              Resume::may_change);
        field("straggler_report_steps", self.straggler_report_steps, at_least(0),
              "Log the slowest rank every so many steps. 0: never.", Resume::may_change);
    }
};

enum class OnSaveError { retry, stop };
template <>
inline constexpr auto choice_names<OnSaveError> = choices("retry", "stop");

struct CheckpointConfig {
    std::int64_t save_every_steps = 200;
    std::int64_t keep_last = 3;
    std::int64_t keep_every_steps = 0;
    bool keep_best = true;
    bool background = true;
    OnSaveError on_save_error = OnSaveError::retry;
    std::string after_save;
    double after_save_seconds = 600;
    double stop_grace_seconds = 25;
    std::optional<std::string> mirror;
    double mirror_seconds = 600;

    static void describe(auto& self, auto&& field) {
        field("save_every_steps", self.save_every_steps, at_least(0),
              "Steps between two checkpoints. The end of a run is always saved. 0: save only at the end.", Resume::may_change);
        field("keep_last", self.keep_last, at_least(1),
              "Number of newest checkpoints to keep. Only verified ones count; older ones are deleted.", Resume::may_change);
        field("keep_every_steps", self.keep_every_steps, at_least(0),
              "Never delete checkpoints whose step is a multiple of this. 0: none.", Resume::may_change);
        field("keep_best", self.keep_best, any,
              "Never delete the checkpoint with the lowest held-out MLM loss; checkpoints/best links to it. Only checkpoints of "
              "evaluated steps count, so save_every_steps should be a multiple of evaluation.every_steps.",
              Resume::may_change);
        field("background", self.background, any,
              "Write a snapshot while training continues, which takes as much memory as the optimizer state. false: training "
              "waits.",
              Resume::may_change);
        field(
            "on_save_error", self.on_save_error, any,
            "What to do if a save fails. retry: continue, and try again after a tenth of save_every_steps, then a fifth, and so "
            "on; the last save of a run "
            "must succeed. stop: end with exit code 4 at once. On a full disk the oldest checkpoints are deleted first, but not "
            "the newest, the best, or one that keep_every_steps keeps.",
            Resume::may_change);
        field("after_save", self.after_save, any,
              "Shell command to run in the background after each complete checkpoint, whose folder is $1: to copy it elsewhere, "
              "for example. Only the end of the run waits for it. Its checkpoint is not deleted while it runs, except by a "
              "restarted run. A failure is logged. At most two commands run at a time; a third waits, and is dropped for a newer "
              "one.",
              Resume::may_change);
        field("after_save_seconds", self.after_save_seconds, between(0.1, 1e6),
              "Time limit of an after_save command. After it, the command gets SIGTERM, and SIGKILL 10 s later.",
              Resume::may_change);
        field("stop_grace_seconds", self.stop_grace_seconds, between(0, 1e6),
              "How long the run may wait for after_save commands and the mirror after a stop signal, the last save included. "
              "Choose less than the time after which your scheduler kills the run. Commands that take longer are left running.",
              Resume::may_change);
        field("mirror", self.mirror, any,
              "Folder of an object store, s3://BUCKET/FOLDER or http(s)://HOST/FOLDER, to which each complete checkpoint is "
              "copied in the background. Each run needs one of its own. The newest keep_last copies stay. A start that finds no "
              "local checkpoint, or only older ones, resumes from it. null: none.",
              Resume::may_change);
        field("mirror_seconds", self.mirror_seconds, between(0, 1e6),
              "How long the end of a run waits until its last checkpoint is in the mirror.", Resume::may_change);
    }
};

struct EvaluationConfig {
    std::int64_t every_steps = 0;
    std::int64_t micro_batch_size = 32;
    std::int64_t max_sequences = 0;
    std::optional<std::string> probe;

    static void describe(auto& self, auto&& field) {
        field("every_steps", self.every_steps, at_least(0), "Steps between two evaluations. 0: never evaluate.",
              Resume::may_change);
        field("micro_batch_size", self.micro_batch_size, between(1, 1e6), "Sequences per forward pass.", Resume::may_change);
        field("max_sequences", self.max_sequences, at_least(0),
              "Held-out sequences to evaluate, spread evenly over the shards. 0: all.", Resume::may_change);
        field("probe", self.probe, any,
              "A TSV file of lines \"label<tab>text\": at each evaluation, predict its labels from frozen vectors (as `evaluate "
              "--probe` does). Needs the vocabulary. Each text costs a forward pass. null: none.",
              Resume::may_change);
    }
};

struct TelemetryConfig {
    std::string command;

    static void describe(auto& self, auto&& field) {
        field(
            "command", self.command, any,
            "Shell command that gets every line of metrics.jsonl, events.jsonl and devices.jsonl on its standard input as it is "
            "written, with the run's folder as $1: to send them to a service. Rank 0 starts it with the run and never waits "
            "for it. If it reads too slowly, lines are dropped.",
            Resume::may_change);
    }
};

struct ExperimentConfig {
    std::string about;
    ModelConfig model;
    DataConfig data;
    InitializationConfig initialization;
    BatchConfig batch;
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    TrainingConfig training;
    ParallelConfig parallel;
    CheckpointConfig checkpoint;
    EvaluationConfig evaluation;
    TelemetryConfig telemetry;
    WatchdogConfig watchdog;

    static void describe(auto& self, auto&& field) {
        field("about", self.about, any, "A description for people; the program does not use it.", Resume::may_change);
        field("model", self.model, any,
              "The architecture and the shape of the model, under the names of transformers' configurations. With "
              "initialization.init_from, settings that are not set have the values of that model.");
        field("data", self.data, any, "The samples to train on and to evaluate on.");
        field("initialization", self.initialization, any, "The weights that a new run starts from.");
        field("batch", self.batch, any, "The number of sequences per optimizer step.");
        field("optimizer", self.optimizer, any, "How weights are updated.");
        field("schedule", self.schedule, any, "The learning rate over the run, and the run's length.");
        field("training", self.training, any, "Precision, device, kernels, seeds and loss.");
        field("parallel", self.parallel, any, "How ranks share the work.");
        field("checkpoint", self.checkpoint, any, "When checkpoints are saved and which are kept.");
        field("evaluation", self.evaluation, any, "Held-out loss during training.");
        field("telemetry", self.telemetry, any, "Where the run's numbers go, besides its folder.");
        field("watchdog", self.watchdog, any, "Time limits: a phase that exceeds its limit ends the run as hung.");
    }

    /// What other programs call these settings; for advice on unknown names only.
    static std::span<const ForeignName> foreign_names();
};

/// An experiment with the origin of each of its settings.
struct RequestedExperiment {
    ExperimentConfig settings;
    Origins origins;                         ///< of the settings that the file, --set or init_from names
    std::int64_t vocab_size_of_weights = 0;  ///< rows of the word embedding in initialization.init_from; 0: unknown
    /// Why the model of init_from, which gives settings that are not set, cannot be read; null: it was read. A run that resumes
    /// does not need it (resolve()).
    std::exception_ptr unread_model;
    bool has_model_of_run = false;  ///< init_from is a run of this program, whose model gives settings that are not set

    RequestedExperiment() = default;
    /// Settings of unknown origin.
    RequestedExperiment(ExperimentConfig given) : settings(std::move(given)) {}
};

/// Reads an experiment file with command-line overrides and checks all settings, also against each other. Settings of the section
/// "model" that neither names have the values of the model in initialization.init_from (inherited_model.h).
/// @throws ConfigError that lists everything that is wrong; also for a file with phases, which plan/training_phases.h reads
RequestedExperiment request_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides);
/// The same for the settings of a file that was read. @param place as in read_config(); settings of overrides are placed at --set
RequestedExperiment request_experiment(nlohmann::json settings, const std::string& file,
                                       const std::vector<std::string>& overrides, const NamePlace& place = {});

/// The same without origins. @throws CheckpointError if init_from's model is needed and cannot be read
ExperimentConfig load_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides);

}  // namespace bertpretrain
