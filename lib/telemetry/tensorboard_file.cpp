#include "telemetry/tensorboard_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include <isa-l/crc.h>
#include <unistd.h>

#include "core/concat.h"
#include "core/host_name.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

static_assert(std::endian::native == std::endian::little, "TFRecord and protobuf numbers are little-endian");

template <class Number>
std::string bytes_of(Number number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

/// Masks a CRC-32C by rotation and an offset, because a CRC of data that contains CRCs is weak. Source: TensorFlow's crc32c.h.
std::uint32_t masked_crc32c(std::string bytes) {
    auto* data = reinterpret_cast<unsigned char*>(bytes.data());
    const std::uint32_t crc = ~::crc32_iscsi(data, static_cast<int>(bytes.size()), 0xffffffffU);
    return std::rotr(crc, 15) + 0xa282ead8U;
}

std::string tf_record(const std::string& content) {
    const std::string length = bytes_of(std::uint64_t{content.size()});
    return length + bytes_of(masked_crc32c(length)) + content + bytes_of(masked_crc32c(content));
}

// Protocol buffers encode a field as its number and wire type in one varint, then its value.
enum Kind : std::uint64_t { varint_kind = 0, double_kind = 1, bytes_kind = 2, float_kind = 5 };

std::string varint(std::uint64_t number) {
    std::string bytes;
    for (; number >= 128; number >>= 7) bytes += static_cast<char>(number | 128);
    return bytes + static_cast<char>(number);
}

std::string field(std::uint64_t number, Kind kind, const std::string& value) { return varint(number << 3 | kind) + value; }
std::string bytes_field(std::uint64_t number, std::string_view value) {
    return field(number, bytes_kind, varint(value.size()) + std::string(value));
}

/// Field numbers of tensorflow/core/util/event.proto and framework/summary.proto.
std::string version_content() { return bytes_field(3, "brain.Event:2"); }
std::string restart_content() { return bytes_field(7, field(1, varint_kind, varint(1))); }  // session_log {status: START}
std::string scalar_value(const std::string& tag, double value) {
    return bytes_field(1, bytes_field(1, tag) + field(2, float_kind, bytes_of(static_cast<float>(value))));
}

constexpr std::string_view name_begin = "events.out.tfevents.";

/// Returns the time in whole seconds, but later than in the names of all existing files. TensorBoard reads files in the order of
/// their names, and the clock may have been set back since an earlier start.
std::int64_t seconds_for_name(const std::filesystem::path& folder, double time) {
    auto seconds = static_cast<std::int64_t>(time);
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(name_begin)) continue;
        std::int64_t earlier = 0;
        std::from_chars(name.data() + name_begin.size(), name.data() + name.size(), earlier);
        if (earlier < std::numeric_limits<std::int64_t>::max()) seconds = std::max(seconds, earlier + 1);
    }
    return seconds;
}

std::string file_name(const std::filesystem::path& folder, double time) {
    return concat(name_begin, seconds_for_name(folder, time), ".", host_name(), ".", ::getpid());
}

}  // namespace

void TensorboardFile::open(double time) {
    if (out_.is_open()) return;
    std::error_code failure;  // ignored: without the folder, opening the file fails
    std::filesystem::create_directories(folder_, failure);
    out_.open(folder_ / file_name(folder_, time), std::ios::binary | std::ios::app);
    write_event(time, 0, version_content());
    if (cut_to_ >= 0) write_event(time, cut_to_ + 1, restart_content());
}

void TensorboardFile::write_event(double time, std::int64_t step, const std::string& content) {
    out_ << tf_record(field(1, double_kind, bytes_of(time)) + field(2, varint_kind, varint(static_cast<std::uint64_t>(step))) +
                      content);
}

void TensorboardFile::write_scalars(double time, std::int64_t step, const std::vector<std::pair<std::string, double>>& scalars) {
    constexpr double seconds_between_attempts = 60;
    if (failed_at_ && std::fabs(time - *failed_at_) < seconds_between_attempts) return;
    open(time);
    std::string summary;
    for (const auto& [tag, value] : scalars) summary += scalar_value(tag, value);
    write_event(time, step, bytes_field(5, summary));
    out_.flush();
    if (out_) {
        failed_at_.reset();
        cut_to_ = -1;  // a later file of this start must not hide what this one shows
        return;
    }
    failed_at_ = time;
    out_.close();
    out_.clear();
    if (!std::exchange(has_warned_, true))
        log_warning(concat(folder_.string(), ": TensorBoard's events cannot be written here; the run continues, and begins ",
                           "another file when that works"));
}

void TensorboardFile::append(const StepRecord& record) {
    std::vector<std::pair<std::string, double>> scalars;
    StepRecord::fields(record, [&](const std::string& key, const auto& value) {
        if (key != "step" && key != "time" && key != "elapsed_seconds")
            scalars.emplace_back("train/" + key, static_cast<double>(value));
    });
    for (const SourceRecord& source : record.sources) {
        scalars.emplace_back("sources/" + source.name + "/mlm_loss", source.mlm_loss);
        scalars.emplace_back("sources/" + source.name + "/epochs", source.epochs);
    }
    write_scalars(record.time, record.step, scalars);
}

void TensorboardFile::append(const EvaluationRecord& record) {
    std::vector<std::pair<std::string, double>> scalars;
    EvaluationRecord::fields(record, [&](const std::string& key, const auto& value) {
        for (const std::string group : {"held_out", "probe"})
            if (key.starts_with(group + "_"))
                scalars.emplace_back(group + "/" + key.substr(group.size() + 1), static_cast<double>(value));
    });
    for (const HeldOutSourceRecord& source : record.sources)
        scalars.emplace_back("sources/" + source.name + "/held_out_mlm_loss", source.mlm_loss);
    write_scalars(record.time, record.step, scalars);
}

}  // namespace bertpretrain
