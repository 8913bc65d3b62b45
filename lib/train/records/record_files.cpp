#include "train/records/record_files.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "telemetry/loss_picture.h"

namespace bertpretrain {

std::string run_name(const RunPaths& paths) {
    return displayable(std::filesystem::absolute(paths.folder() / "").parent_path().filename().string());
}

RecordFiles::RecordFiles(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy,
                         const std::string& command)
    : metrics(folder.paths().metrics()),
      events(folder.paths().events()),
      devices(folder.paths().devices()),
      reader(command, folder.paths().folder()),
      tensorboard(folder.paths().tensorboard()),
      prometheus(folder.paths().prometheus(), run_name(folder.paths()), total_steps),
      folder_(folder),
      total_steps_(total_steps),
      unigram_cross_entropy_(unigram_cross_entropy) {
    const auto pass_on = [this](std::string_view line) { reader.send(line); };
    metrics.pass_on(pass_on);
    events.pass_on(pass_on);
    devices.pass_on(pass_on);
}

RecordFiles::~RecordFiles() {
    if (!may_write_at_path()) prometheus.give_up();
}

std::optional<LostFolder> RecordFiles::look() {
    if (const auto before = lost()) return before;
    auto now = folder_.lost();  // outside the lock, because it may block on a disk
    const std::lock_guard lock(mutex_);
    if (!lost_) lost_ = std::move(now);
    return lost_;
}

bool RecordFiles::may_write_lines() {
    const auto lost = look();
    return !lost || !lost->is_taken;
}

bool RecordFiles::may_write_at_path() { return !look(); }

std::optional<LostFolder> RecordFiles::lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
}

std::string RecordFiles::retry_lines() {
    const RunPaths& paths = folder_.paths();
    if (!metrics.retry()) return paths.metrics().string();
    if (!events.retry()) return paths.events().string();
    return devices.retry() ? "" : paths.devices().string();
}

void RecordFiles::draw() {
    LossPictureOptions options;
    options.unigram_loss = unigram_cross_entropy_;
    options.smoothing_steps = std::max<std::int64_t>(1, total_steps_ / 100);
    try {
        if (!losses.training().empty()) write_atomically(folder_.paths().loss_picture(), loss_picture(losses, options));
    } catch (const DataError& error) {  // a full disk, for example: the next picture may succeed
        if (!std::exchange(drawing_failed_, true)) log_warning(concat("could not draw the loss picture: ", error.what()));
    }
}

}  // namespace bertpretrain
