#pragma once
// The measurements of an optimizer step and of an evaluation on held-out text.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/probe_record.h"

namespace bertpretrain {

/// The samples of one source in a step of a run that has several.
struct SourceRecord {
    static constexpr const char* next_sentence_key = "nsp_loss";  ///< recorded only if next_sentence is set

    std::string name;
    std::int64_t sequences = 0;  ///< in this step
    double mlm_loss = 0;         ///< mean over its masked tokens, in nats; NaN if there are none
    double mlm_accuracy = 0;
    bool next_sentence = true;  ///< whether the model predicts next sentences; if not, nsp_loss is not recorded
    double nsp_loss = 0;        ///< mean over its sequences
    std::int64_t samples = 0;   ///< of this source since the run began
    double epochs = 0;          ///< samples / samples of the source's shards

    /// Calls field(key of the metrics file, member) for each number.
    static void fields(auto& self, auto&& field) {
        field("sequences", self.sequences);
        field("mlm_loss", self.mlm_loss);
        field("mlm_accuracy", self.mlm_accuracy);
        if (self.next_sentence) field(next_sentence_key, self.nsp_loss);
        field("samples", self.samples);
        field("epochs", self.epochs);
    }
};

/// One completed optimizer step. Losses are means over the global batch, in nats.
struct StepRecord {
    static constexpr const char* next_sentence_key = "nsp_loss";  ///< recorded only if next_sentence is set

    std::int64_t step = 0;     ///< completed optimizer updates, including this one
    std::int64_t samples = 0;  ///< sequences trained on since the run began
    double loss = 0;           ///< mlm_loss + nsp_loss
    double mlm_loss = 0;
    bool next_sentence = true;  ///< whether the model predicts next sentences; if not, nsp_loss is not recorded
    double nsp_loss = 0;
    double mlm_accuracy = 0;  ///< share of masked tokens predicted correctly, 0 to 1
    double learning_rate = 0;
    double grad_norm = 0;  ///< before clipping
    double sequences_per_second = 0;
    double tokens_per_second = 0;  ///< without padding
    double model_tflops_per_second = 0;
    double mfu = 0;  ///< the same as a share of the matmul throughput measured on the ranks' devices at the start
    double step_seconds = 0;
    double data_wait_seconds = 0;              ///< the part of step_seconds spent waiting for data
    double bytes_sent = 0;                     ///< by one rank to the others
    double communication_seconds = 0;          ///< time with at least one transfer between ranks in flight
    double exposed_communication_seconds = 0;  ///< the part of step_seconds spent waiting for other ranks
    double forward_seconds = 0, backward_seconds = 0, update_seconds = 0;  ///< on the thread that computes
    double saving_seconds = 0;            ///< since the previous step: waiting for checkpoints and for this file
    double evaluation_seconds = 0;        ///< since the previous step
    double device_utilization = 0;        ///< of rank 0's device since the previous step, 0 to 1 (device_usage.h)
    double memory_bytes = 0;              ///< memory in use on that device at the end of the step
    double time = 0;                      ///< end of the step, in seconds since 1970 UTC
    double elapsed_seconds = 0;           ///< end of the step, counted from this start of the run by a monotonic clock
    std::vector<SourceRecord> sources{};  ///< those with samples in the step; empty in a run with one source

    /// Calls field(key of the metrics file, member) for each number.
    static void fields(auto& self, auto&& field) {
        field("step", self.step);
        field("samples", self.samples);
        field("loss", self.loss);
        field("mlm_loss", self.mlm_loss);
        if (self.next_sentence) field(next_sentence_key, self.nsp_loss);
        field("mlm_accuracy", self.mlm_accuracy);
        field("learning_rate", self.learning_rate);
        field("grad_norm", self.grad_norm);
        field("sequences_per_second", self.sequences_per_second);
        field("tokens_per_second", self.tokens_per_second);
        field("model_tflops_per_second", self.model_tflops_per_second);
        field("mfu", self.mfu);
        field("step_seconds", self.step_seconds);
        field("data_wait_seconds", self.data_wait_seconds);
        field("bytes_sent", self.bytes_sent);
        field("communication_seconds", self.communication_seconds);
        field("exposed_communication_seconds", self.exposed_communication_seconds);
        field("forward_seconds", self.forward_seconds);
        field("backward_seconds", self.backward_seconds);
        field("update_seconds", self.update_seconds);
        field("saving_seconds", self.saving_seconds);
        field("evaluation_seconds", self.evaluation_seconds);
        field("device_utilization", self.device_utilization);
        field("memory_bytes", self.memory_bytes);
        field("time", self.time);
        field("elapsed_seconds", self.elapsed_seconds);
    }
};

/// The held-out text of one source in an evaluation of a run that has several.
struct HeldOutSourceRecord {
    static constexpr const char* next_sentence_key = "held_out_nsp_loss";  ///< recorded only if next_sentence is set

    std::string name;
    std::int64_t sequences = 0;
    double mlm_loss = 0;  ///< mean over its masked tokens, in nats
    double mlm_accuracy = 0;
    bool next_sentence = true;  ///< whether the model predicts next sentences; if not, nsp_loss is not recorded
    double nsp_loss = 0;        ///< mean over its sequences

    /// Calls field(key of the metrics file, member) for each number.
    static void fields(auto& self, auto&& field) {
        field("held_out_sequences", self.sequences);
        field("held_out_mlm_loss", self.mlm_loss);
        field("held_out_mlm_accuracy", self.mlm_accuracy);
        if (self.next_sentence) field(next_sentence_key, self.nsp_loss);
    }
};

/// An evaluation after `step` on held-out text.
struct EvaluationRecord {
    static constexpr const char* next_sentence_key = "held_out_nsp_loss";  ///< recorded only if next_sentence is set

    std::int64_t step = 0;
    double mlm_loss = 0;
    double mlm_accuracy = 0;
    double perplexity = 0;      ///< exp(mlm_loss)
    bool next_sentence = true;  ///< whether the model predicts next sentences; if not, the next two are not recorded
    double nsp_loss = 0;
    double nsp_accuracy = 0;
    std::int64_t sequences = 0;
    std::optional<ProbeRecord> probe{};  ///< where the run has evaluation.probe
    double time = 0;                     ///< end of the evaluation, in seconds since 1970 UTC
    double elapsed_seconds = 0;          ///< end of the evaluation, counted from this start of the run by a monotonic clock
    std::vector<HeldOutSourceRecord> sources{};  ///< those with evaluated sequences; empty without several sources

    /// Calls field(key of the metrics file, member) for each member, those of `probe` only if there is one.
    static void fields(auto& self, auto&& field) {
        field("step", self.step);
        field("held_out_mlm_loss", self.mlm_loss);
        field("held_out_mlm_accuracy", self.mlm_accuracy);
        field("held_out_perplexity", self.perplexity);
        if (self.next_sentence) {
            field(next_sentence_key, self.nsp_loss);
            field("held_out_nsp_accuracy", self.nsp_accuracy);
        }
        field("held_out_sequences", self.sequences);
        if (self.probe) ProbeRecord::fields(*self.probe, field);
        field("time", self.time);
        field("elapsed_seconds", self.elapsed_seconds);
    }
};

}  // namespace bertpretrain
