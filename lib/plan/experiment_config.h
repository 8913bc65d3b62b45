#pragma once
// One file describes one experiment; every section is described where it is used or here.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/field.h"
#include "model/bert_config.h"
#include "optimizer/optimizer_config.h"
#include "optimizer/schedule.h"
#include "plan/origin.h"
#include "plan/watchdog_config.h"

namespace bertpretrain {

struct DataConfig {
    std::string training_shards;
    std::optional<std::string> held_out_shards;
    std::int64_t sequence_length = 128;
    std::optional<std::string> vocabulary;
    std::string masking = "as_stored";
    double masked_lm_prob = 0.15;
    bool whole_word_masking = false;
    std::optional<std::int64_t> loader_threads;

    static void describe(auto& self, auto&& field) {
        field("training_shards", self.training_shards, required(any), "Folder of shards; those named *training* are trained on.",
              Resume::may_change);
        field("held_out_shards", self.held_out_shards, any, "Folder whose *test* shards are evaluated on; null: the same folder.",
              Resume::may_change);
        field("sequence_length", self.sequence_length, between(8, 65536), "Tokens of a sample; the shards must have the same.");
        field("vocabulary", self.vocabulary, any, "vocab.txt that the shards were made with; null: the one beside them, if any.",
              Resume::may_change);
        field("masking", self.masking, one_of({"as_stored", "dynamic"}),
              "as_stored: the shards' masks. dynamic: other ones in each epoch; needs the vocabulary. Evaluation keeps the "
              "shards'.");
        field("masked_lm_prob", self.masked_lm_prob, between(0.01, 0.9),
              "Share of a sample's tokens that dynamic masking hides.");
        field("whole_word_masking", self.whole_word_masking, any, "Dynamic masking hides all pieces of a word or none.");
        field("loader_threads", self.loader_threads, between(1, 1024),
              "Threads that read shards beside the training; auto: half of the cores that this process may use, at most 8.",
              Resume::may_change);
    }
};

struct InitializationConfig {
    std::optional<std::string> init_from;
    std::string init_missing = "refuse";
    std::string init_unexpected = "refuse";
    bool init_moments = false;

    static void describe(auto& self, auto&& field) {
        field("init_from", self.init_from, any,
              "Weights that a fresh start begins with: a run or step of this program, a .pt, .bin or .safetensors file, a folder "
              "of "
              "Hugging Face, DeepSpeed or NVIDIA. null: random ones.");
        field("init_missing", self.init_missing, one_of({"refuse", "random"}),
              "Parameters that the file lacks. random: they are new, and named in the log.");
        field("init_unexpected", self.init_unexpected, one_of({"refuse", "ignore"}),
              "Tensors of the file that the model has not.");
        field("init_moments", self.init_moments, any,
              "Take the optimizer's moments too, and count its updates on; of a checkpoint of this program.");
    }
};

struct BatchConfig {
    std::int64_t micro_batch_size = 16;
    std::int64_t gradient_accumulation_steps = 1;
    std::int64_t global_batch_size = 0;
    std::optional<std::int64_t> device_micro_batch;

    /// Sequences of one forward and backward pass, as far as the settings tell.
    std::int64_t pass_size() const { return device_micro_batch.value_or(micro_batch_size); }

    static void describe(auto& self, auto&& field) {
        field("micro_batch_size", self.micro_batch_size, between(1, 1e5), "Sequences of one forward and backward pass.",
              Resume::may_change);
        field("gradient_accumulation_steps", self.gradient_accumulation_steps, between(1, 1e5),
              "Passes of each rank per optimizer step, where global_batch_size does not tell. A restart on more or fewer ranks "
              "keeps the global batch, with other numbers of passes.",
              Resume::may_change);
        field("global_batch_size", self.global_batch_size, between(0, 1e9),
              "Sequences of one optimizer step over all ranks, which need not divide it; 0: micro_batch_size x "
              "gradient_accumulation_steps x the ranks of the run's first start.",
              Resume::may_change);
        field("device_micro_batch", self.device_micro_batch, between(1, 1e6),
              "Sequences that are computed at once, a multiple of micro_batch_size: the same sums in fewer, larger products. "
              "auto: on "
              "a GPU with training.loss_mean = \"global\" the most that fit, found at the first start; else micro_batch_size.",
              Resume::may_change);
    }
};

struct TrainingConfig {
    std::string precision = "bf16";
    std::string device = "auto";
    std::string cpu_products = "measured";
    std::string gpu_kernels = "auto";
    std::uint64_t seed = 42;
    std::optional<std::int64_t> dropout_seed;
    bool activation_checkpointing = false;
    std::string loss_mean = "global";
    std::int64_t max_skipped_updates = 10;
    double loss_spike_deviations = 10;

    static void describe(auto& self, auto&& field) {
        field("precision", self.precision, one_of({"bf16", "fp32"}),
              "Of products. The optimizer's weights and moments are fp32 in either, and so are gradients, unless "
              "parallel.gradient_dtype is bf16.");
        field("device", self.device, one_of({"auto", "cpu", "cuda"}), "auto: a GPU where there is one.", Resume::may_change);
        field(
            "cpu_products", self.cpu_products, one_of({"measured", "onednn", "mkl", "tiles"}),
            "Which library multiplies bf16 matrices on a CPU; tiles: our own, by AMX. measured: where there is AMX, for each "
            "shape tiles, or what is at least a tenth faster, found at the run's first start and kept by every resume, for they "
            "round differently; elsewhere onednn. Two fresh runs may find differently: name one where they must agree to the "
            "bit.",
            Resume::may_change);
        field(
            "gpu_kernels", self.gpu_kernels, one_of({"auto", "reference", "fused"}),
            "Which kernels compute on a GPU. auto: each start compares all of them with plain ATen on that GPU; the run's first "
            "start chooses the fastest correct ones, and resumes keep them. reference: plain ATen, slower. fused: this "
            "program's own, even where others are faster; the start ends where one is wrong.",
            Resume::may_change);
        field("seed", self.seed, any, "Of initial weights, sample order and dropout.");
        field("dropout_seed", self.dropout_seed, at_least(0), "Of dropout alone; auto: the seed.");
        field("activation_checkpointing", self.activation_checkpointing, any,
              "Keep only each layer's input and compute the rest again: less memory, a third more work.", Resume::may_change);
        field("loss_mean", self.loss_mean, one_of({"global", "micro_batch"}),
              "global: over all masked tokens of the step. micro_batch: the mean of the micro-batches' means, as the references "
              "do.");
        field(
            "max_skipped_updates", self.max_skipped_updates, at_least(0),
            "An update is skipped when the loss or the gradient is not finite; after so many in a row the run ends with exit 6. "
            "0: never.",
            Resume::may_change);
        field("loss_spike_deviations", self.loss_spike_deviations, at_least(0),
              "A loss so many (robust) standard deviations above the median of the last 64 is reported; 0: none.",
              Resume::may_change);
    }
};

struct ParallelConfig {
    std::int64_t zero_stage = 1;
    double bucket_mib = 64;
    std::string reduce_dtype = "fp32";
    std::string gradient_dtype = "fp32";
    double first_step_timeout_seconds = 1800;
    double timeout_seconds = 600;
    std::int64_t straggler_report_steps = 100;

    static void describe(auto& self, auto&& field) {
        field("zero_stage", self.zero_stage, between(0, 1),
              "0: every rank keeps the whole optimizer state. 1: the ranks share it.", Resume::may_change);
        field("bucket_mib", self.bucket_mib, between(0.001, 16384), "fp32 gradients that are reduced as one, in MiB.",
              Resume::may_change);
        field("reduce_dtype", self.reduce_dtype, one_of({"fp32", "bf16"}),
              "Of gradients between ranks. bf16 halves their traffic; they are added up in fp32 either way.");
        field(
            "gradient_dtype", self.gradient_dtype, one_of({"fp32", "bf16"}),
            "In which matrices' gradients are kept until they leave. bf16 halves their memory and their traffic, but rounds them "
            "after every micro-batch: for models that would not fit otherwise. Needs precision bf16 and zero_stage 1; a run on "
            "one rank keeps fp32.");
        field("first_step_timeout_seconds", self.first_step_timeout_seconds, between(1, 1e6),
              "How long a rank waits for the others while the run starts, its first step included.", Resume::may_change);
        field(
            "timeout_seconds", self.timeout_seconds, between(1, 1e6),
            "How long a rank waits for the others afterwards, before it gives them up for lost; longer than a checkpoint takes.",
            Resume::may_change);
        field("straggler_report_steps", self.straggler_report_steps, at_least(0),
              "Name the slowest rank every so many steps; 0: never.", Resume::may_change);
    }
};

struct CheckpointConfig {
    std::int64_t save_every_steps = 200;
    std::int64_t keep_last = 3;
    std::int64_t keep_every_steps = 0;
    bool keep_best = true;
    bool background = true;
    std::string on_save_error = "retry";
    std::string after_save;
    double after_save_seconds = 600;
    double stop_grace_seconds = 25;

    static void describe(auto& self, auto&& field) {
        field("save_every_steps", self.save_every_steps, at_least(0), "0: only at the end.", Resume::may_change);
        field("keep_last", self.keep_last, at_least(1),
              "So many of the newest checkpoints are kept. Only those that are known to be whole count; older ones are deleted.",
              Resume::may_change);
        field("keep_every_steps", self.keep_every_steps, at_least(0),
              "Checkpoints of multiples of this are never deleted; 0: none.", Resume::may_change);
        field("keep_best", self.keep_best, any,
              "Never delete the one with the lowest held-out MLM loss of those saved at an evaluated step; checkpoints/best "
              "leads to "
              "it. For that, let save_every_steps be a multiple of evaluation.every_steps.",
              Resume::may_change);
        field("background", self.background, any,
              "Write a snapshot while training goes on; it takes as much memory as the optimizer's state. false: training waits.",
              Resume::may_change);
        field("on_save_error", self.on_save_error, one_of({"retry", "stop"}),
              "retry: go on, and try again when the next save is due; the last save of a run must succeed. stop: exit 4 at once.",
              Resume::may_change);
        field("after_save", self.after_save, any,
              "Shell command run in the background on each complete checkpoint, whose folder is $1: to copy it elsewhere, say. "
              "Training does not wait for it, only the end of the run does. While it runs, its checkpoint is not deleted, also "
              "after a restart. Its failure is logged. At most two run at a time; a third waits, and gives way to a newer one.",
              Resume::may_change);
        field("after_save_seconds", self.after_save_seconds, between(0.1, 1e6),
              "How long an after_save command may run. Then it is reported and ended: SIGTERM, and SIGKILL 10 s later.",
              Resume::may_change);
        field("stop_grace_seconds", self.stop_grace_seconds, between(0, 1e6),
              "How long after a stop signal the run may still wait for after_save commands, the last save included; below the "
              "time after which the sender of the signal kills the run. Commands that run longer are left running.",
              Resume::may_change);
    }
};

struct EvaluationConfig {
    std::int64_t every_steps = 0;
    std::int64_t micro_batch_size = 32;
    std::int64_t max_sequences = 0;

    static void describe(auto& self, auto&& field) {
        field("every_steps", self.every_steps, at_least(0), "0: never.", Resume::may_change);
        field("micro_batch_size", self.micro_batch_size, between(1, 1e6), "Sequences of one forward pass.", Resume::may_change);
        field("max_sequences", self.max_sequences, at_least(0), "Held-out sequences used, spread over the shards; 0: all.",
              Resume::may_change);
    }
};

struct ExperimentConfig {
    std::string about;
    BertConfig model;
    DataConfig data;
    InitializationConfig initialization;
    BatchConfig batch;
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    TrainingConfig training;
    ParallelConfig parallel;
    CheckpointConfig checkpoint;
    EvaluationConfig evaluation;
    WatchdogConfig watchdog;

    static void describe(auto& self, auto&& field) {
        field("about", self.about, any, "What this experiment is, for people.", Resume::may_change);
        field("model", self.model, required(any), "The shape of the model, as in HF's BertConfig.");
        field("data", self.data, required(any), "What is trained and evaluated on.");
        field("initialization", self.initialization, any, "What a fresh start begins with.");
        field("batch", self.batch, any, "How many sequences make one optimizer step.");
        field("optimizer", self.optimizer, required(any), "How weights are updated.");
        field("schedule", self.schedule, required(any), "How the learning rate moves.");
        field("training", self.training, any, "How it is computed.");
        field("parallel", self.parallel, any, "How ranks share the work.");
        field("checkpoint", self.checkpoint, any, "What is saved when.");
        field("evaluation", self.evaluation, any, "Held-out loss while training.");
        field("watchdog", self.watchdog, any, "How long what may take before the run is taken for hung.");
    }
};

/// An experiment with the origin of each of its settings.
struct RequestedExperiment {
    ExperimentConfig settings;
    Origins origins;  ///< of the settings that the file or --set names

    RequestedExperiment() = default;
    /// Settings of unknown origin.
    RequestedExperiment(ExperimentConfig given) : settings(std::move(given)) {}
};

/// Reads a file strictly, with command-line overrides, and checks what no single rule can.
/// @throws ConfigError with everything that is wrong at once
RequestedExperiment request_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides);

/// The same without origins.
ExperimentConfig load_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides);

}  // namespace bertpretrain
