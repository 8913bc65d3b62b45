#pragma once
// A run's checkpoints with their lineage, and mirrors in moto's server.

#include <string>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_mirror.h"
#include "checkpoint/example_state.h"
#include "checkpoint/lineage.h"
#include "checkpoint/training_progress.h"
#include "support/object_server.h"
#include "support/skip.h"

namespace bertpretrain::testing {

/// One server for all tests of a program; each uses a folder of its own.
inline ObjectServer& mirror_server() {
    static ObjectServer one;
    return one;
}

inline CheckpointMirror mirror_at(const std::string& folder, double give_up_seconds = 20) {
    return CheckpointMirror(parse_object_url("s3://bucket/" + folder, "a test"), credentials_by(mirror_server().variables()),
                            {.stall_seconds = 1, .give_up_seconds = give_up_seconds, .warn = [](const std::string&) {}});
}

/// The objects of a mirror, past the faulty proxy.
inline ObjectStore objects_of(const std::string& folder) {
    auto variables = mirror_server().variables();
    variables["AWS_ENDPOINT_URL"] = mirror_server().plain_endpoint();
    return ObjectStore(parse_object_url("s3://bucket/" + folder, "a test"), credentials_by(variables));
}

/// A run that saves as a real one does: a state from which a run can resume, with the lineage of all earlier checkpoints.
struct SavingRun {
    explicit SavingRun(std::string name = "a run") : store(folder / "checkpoints"), about(std::move(name)) {}

    std::filesystem::path save(std::int64_t step) {
        ExampleState example = example_state(step);
        TrainingProgress progress;
        progress.step = step;
        progress.global_batch_sequences = 8;
        progress.data_fingerprint = about;
        example.state.progress = progress.to_json();
        const std::filesystem::path place = store.save(example.state);
        Lineage lineage;
        lineage.step = step;
        lineage.files = digests_of_checkpoint(place);
        lineage.predecessors = predecessors;
        write_text(place / lineage_file, lineage_text(lineage));
        predecessors.push_back({step, digest_of_file(place / lineage_file).sha256});
        return place;
    }

    TemporaryFolder folder;
    CheckpointStore store;
    std::string about;
    std::vector<LineageLink> predecessors;
};

/// The names and contents of a checkpoint's files.
inline std::string content_of(const std::filesystem::path& folder) {
    std::string all;
    for (const std::string& name : names_in(folder)) all += name + "\n" + read_text(folder / name) + "\n";
    return all;
}

}  // namespace bertpretrain::testing
