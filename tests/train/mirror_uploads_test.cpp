// Uploads in the background: skipped where the store is slow, reported where they fail, ended in time.

#include "train/save/mirror_uploads.h"

#include "checkpoint/example_mirror.h"
#include "core/clock.h"

namespace bertpretrain {
namespace {

using namespace testing;

std::shared_ptr<CheckpointMirror> shared_mirror(const std::string& folder, double give_up_seconds = 20) {
    return std::shared_ptr<CheckpointMirror>(new CheckpointMirror(mirror_at(folder, give_up_seconds)));
}

std::string texts_of(const std::vector<MirrorUploads::Result>& results) {
    std::string text;
    for (const MirrorUploads::Result& one : results)
        text += std::to_string(one.step) + (one.is_skipped ? " skipped; " : one.failure.empty() ? "; " : " failed; ");
    return text;
}

std::function<double()> in_seconds(double seconds) {
    return [end = seconds_now() + seconds] { return end; };
}

}  // namespace

TEST_CASE("a slow store skips older checkpoints, and the newest is in the mirror at the end", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    for (const std::int64_t step : {10, 20, 30, 40}) run.save(step);
    const auto folder = [&](std::int64_t step) { return run.store.folder() / step_folder_name(step); };
    mirror_server().set_faults(R"([{"fault": "slow", "contains": "slow/step_00000010", "method": "GET"}])");
    MirrorUploads uploads(shared_mirror("slow"), 3);
    uploads.start(10, folder(10));
    while (mirror_server().count("slow/step_00000010") == 0) sleep_seconds(0.01);
    for (const std::int64_t step : {20, 30, 40}) uploads.start(step, folder(step));  // does not wait: 10 is still being uploaded
    CHECK(uploads.in_use() == std::set<std::int64_t>{10, 40});
    uploads.finish(in_seconds(60));
    CHECK(texts_of(uploads.take_results()) == "20 skipped; 30 skipped; 10; 40; ");
    CHECK(uploads.in_use().empty());
}

TEST_CASE("an upload that fails is reported, and the newest is uploaded again at the end") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    const auto place = run.save(10);
    mirror_server().set_faults(R"([{"fault": "503", "contains": "failing/"}])");
    MirrorUploads uploads(shared_mirror("failing", 0.1), 3);
    uploads.start(10, place);
    std::string first;
    while (first.empty()) {
        sleep_seconds(0.01);
        first = texts_of(uploads.take_results());
    }
    CHECK(first == "10 failed; ");
    mirror_server().set_faults("[]");
    uploads.finish(in_seconds(60));
    CHECK(texts_of(uploads.take_results()) == "10; ");
}

TEST_CASE("the last upload is repeated while there is time, and only the last failure of a step is a result", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    const auto place = run.save(10);
    mirror_server().set_faults(R"([{"fault": "503", "contains": "again/", "times": 3}])");
    {
        MirrorUploads uploads(shared_mirror("again", 0), 3);  // gives up at the first failure
        uploads.start(10, place);
        uploads.finish(in_seconds(60));
        CHECK(texts_of(uploads.take_results()) == "10; ");
    }
    mirror_server().set_faults(R"([{"fault": "503", "contains": "again/", "times": 1000000}])");
    {
        MirrorUploads uploads(shared_mirror("again", 0), 3);
        uploads.start(10, place);
        uploads.finish(in_seconds(0.5));
        CHECK(texts_of(uploads.take_results()) == "10 failed; ");
    }
    mirror_server().set_faults("[]");
}

TEST_CASE("an upload that is refused is repeated once at the end, and no more") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    const auto place = run.save(10);
    mirror_server().set_faults(R"([{"fault": "error", "status": 403, "code": "AccessDenied", "contains": "refused/"}])");
    MirrorUploads uploads(shared_mirror("refused", 0), 3);
    uploads.start(10, place);
    const double begin = seconds_now();
    uploads.finish(in_seconds(600));
    CHECK(seconds_now() - begin < 60);
    CHECK(texts_of(uploads.take_results()) == "10 failed; ");
    CHECK(mirror_server().count("refused/") == 2);
    mirror_server().set_faults("[]");
}

TEST_CASE("the end of a run interrupts an upload at its time limit, and counts it as failed") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    const auto place = run.save(10);
    mirror_server().set_faults(R"([{"fault": "503", "contains": "never/"}])");
    const double begin = seconds_now();
    {
        MirrorUploads uploads(shared_mirror("never", 600), 3);
        uploads.start(10, place);
        uploads.finish(in_seconds(0.3));
        const auto results = uploads.take_results();
        REQUIRE(results.size() == 1);
        CHECK(results[0].failure == "the time limit for the end of the run was reached");
    }
    CHECK(seconds_now() - begin < 300);  // of 600, in which the upload would be tried again
    mirror_server().set_faults("[]");
}

TEST_CASE("uploads of later steps are interrupted and marked when the run continues from an earlier step") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    const auto first = run.save(10), second = run.save(20), third = run.save(30);
    const auto mirror = shared_mirror("left");
    mirror->send(10, first, 3);
    mirror->send(20, second, 3);
    MirrorUploads uploads(mirror, 3);
    uploads.start(30, third);
    CHECK(uploads.abandon_after(10) == "");
    CheckpointMirror later = mirror_at("left");
    later.open();
    CHECK(later.steps() == std::vector<std::int64_t>{10});
}

}  // namespace bertpretrain
