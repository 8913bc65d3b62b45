// Checkpoints in a mirror: sent and fetched through faults, and never taken for complete when they are not.

#include "checkpoint/example_mirror.h"
#include "core/error.h"
#include "train/start/resume.h"

namespace bertpretrain {
namespace {

using namespace testing;
namespace fs = std::filesystem;

std::string words_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) { return error.what(); }
    return "";
}

std::string steps_in(const std::string& folder) {
    CheckpointMirror mirror = mirror_at(folder);
    mirror.open();
    std::string text;
    for (const std::int64_t step : mirror.steps()) text += std::to_string(step) + " ";
    return text;
}

/// Returns the folders of a mirror that have objects.
std::set<std::string> folders_in(const std::string& folder) {
    std::set<std::string> folders;
    for (const ListedObject& object : objects_of(folder).list("step_"))
        folders.insert(object.name.substr(0, object.name.find('/')));
    return folders;
}

/// Fetches the newest checkpoint into an empty folder. @returns its folder
fs::path resume_in(const TemporaryFolder& empty, CheckpointMirror& mirror) {
    mirror.open();
    return choose_checkpoint(CheckpointStore(empty / "checkpoints"), {}, &mirror)->folder();
}

}  // namespace

TEST_CASE("a checkpoint sent and fetched through 503, cut transfers and wrong bytes has the same bytes", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    const TemporaryFolder empty;
    const fs::path saved = run.save(10);
    mirror_server().set_faults(R"([{"fault": "503", "contains": "faults/", "every": 5},
                                   {"fault": "cut", "contains": "faults/step_00000010/model", "times": 1, "method": "PUT"},
                                   {"fault": "wrong", "contains": "faults/step_00000010/optim", "times": 1, "method": "PUT"},
                                   {"fault": "wrong", "contains": "faults/step_00000010/train", "times": 1, "method": "GET"},
                                   {"fault": "cut", "contains": "faults/step_00000010/model", "times": 1, "method": "GET"},
                                   {"fault": "slow", "contains": "faults/step_00000010/set", "times": 1, "method": "GET"}])");
    CheckpointMirror mirror = mirror_at("faults");
    const auto sent = mirror.send(10, saved, 2);
    CHECK(sent.trouble == "");
    mirror_server().set_faults(R"([{"fault": "wrong", "contains": "faults/step_00000010/train", "times": 1, "method": "GET"},
                                   {"fault": "503", "contains": "faults/", "every": 3}])");
    CheckpointMirror later = mirror_at("faults");
    CHECK(content_of(resume_in(empty, later)) == content_of(saved));
    CHECK(mirror_server().count("faults/step_00000010/optimizer.pt - wrong") == 1);
    CHECK(mirror_server().count("PUT /bucket/faults/step_00000010/model.pt - cut") == 1);
    mirror_server().set_faults("[]");
    CHECK(mirror.send(10, saved, 2).bytes == 0);
}

TEST_CASE("where a store keeps wrong bytes, the upload fails and the mirror keeps the checkpoint before", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    CheckpointMirror mirror = mirror_at("keeps wrong");
    mirror.send(10, run.save(10), 1);
    mirror_server().set_faults(R"([{"fault": "wrong", "contains": "step_00000020/model.pt", "method": "PUT"}])");
    const fs::path newer = run.save(20);
    CHECK_THAT(words_of([&] { mirror.send(20, newer, 1); }),
               Says("keeps wrong/step_00000020/model.pt: was read back with SHA-256") && Says("after 3 uploads"));
    mirror_server().set_faults("[]");
    CHECK(steps_in("keeps wrong") == "10 ");
    mirror.send(20, newer, 1);
    CHECK(steps_in("keeps wrong") == "20 ");
    CHECK(folders_in("keeps wrong") == std::set<std::string>{"step_00000020"});
}

TEST_CASE("an upload that is stopped in the middle is not listed, and the next one deletes or replaces its objects", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    mirror_at("stopped").send(10, run.save(10), 2);
    mirror_server().set_faults(R"([{"fault": "503", "contains": "stopped/step_00000020/optimizer.pt"}])");
    const fs::path newer = run.save(20);
    std::stop_source stop;
    std::jthread stopper([&] {
        while (mirror_server().count("stopped/step_00000020/optimizer.pt") == 0) sleep_seconds(0.01);
        stop.request_stop();
    });
    CHECK_THAT(words_of([&] { mirror_at("stopped").send(20, newer, 2, stop.get_token()); }), Says("was stopped"));
    CHECK(folders_in("stopped").size() == 2);
    CHECK(steps_in("stopped") == "10 ");
    mirror_server().set_faults("[]");
    mirror_at("stopped").send(30, run.save(30), 2);
    CHECK(steps_in("stopped") == "10 30 ");
    CHECK(folders_in("stopped") == std::set<std::string>{"step_00000010", "step_00000030"});
}

TEST_CASE("the mirror keeps the newest checkpoints, and never deletes its only one", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    CheckpointMirror mirror = mirror_at("newest");
    for (const std::int64_t step : {10, 20, 30}) mirror.send(step, run.save(step), 2);
    CHECK(steps_in("newest") == "20 30 ");
    CHECK(folders_in("newest") == std::set<std::string>{"step_00000020", "step_00000030"});
    mirror.abandon_after(10);
    CHECK(steps_in("newest") == "");
    CHECK(folders_in("newest").size() == 2);
    mirror.send(15, run.save(15), 2);
    CHECK(steps_in("newest") == "15 ");
    CHECK(folders_in("newest") == std::set<std::string>{"step_00000015"});
}

TEST_CASE("a damaged copy is refused and the one before it is taken; without any whole one the start is refused", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    CheckpointMirror mirror = mirror_at("damaged");
    mirror.send(10, run.save(10), 2);
    const fs::path newer = run.save(20);
    mirror.send(20, newer, 2);
    std::string bytes = read_text(newer / "optimizer.pt");
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    ObjectStore objects = objects_of("damaged");
    objects.write("step_00000020/optimizer.pt", bytes);
    const TemporaryFolder empty;
    CHECK(resume_in(empty, mirror).filename() == "step_00000010");
    objects.remove("step_00000010/model.pt");
    const TemporaryFolder other;
    CHECK_THAT(words_of([&] { resume_in(other, mirror); }), Says("all 2 checkpoints are damaged") && Says("checkpoint.mirror"));
}

TEST_CASE("a local checkpoint is preferred to its copy and to older ones; a damaged one is replaced by its copy", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    CheckpointMirror mirror = mirror_at("local");
    mirror.send(10, run.save(10), 2);
    const fs::path newer = run.save(20);
    mirror.send(20, newer, 2);
    const std::string whole = content_of(newer);
    run.save(30);
    CHECK(choose_checkpoint(run.store, {}, &mirror)->step() == 30);
    fs::remove_all(run.store.folder() / step_folder_name(30));
    const std::size_t before = mirror_server().count("GET /bucket/local/step_");
    CHECK(choose_checkpoint(run.store, {}, &mirror)->step() == 20);
    CHECK(mirror_server().count("GET /bucket/local/step_") == before);

    write_text(newer / "model.pt", "damage");
    CHECK(choose_checkpoint(run.store, {}, &mirror)->step() == 20);
    CHECK(content_of(newer) == whole);
    CHECK(read_text(run.store.folder() / "damaged_step_00000020/model.pt") == "damage");

    fs::remove_all(newer);
    CHECK(choose_checkpoint(run.store, {ResumeRequest::Kind::step, 20}, &mirror)->step() == 20);
    CHECK_THAT(words_of([&] { choose_checkpoint(CheckpointStore(run.folder / "none"), {ResumeRequest::Kind::never}, &mirror); }),
               Says("the mirror holds checkpoints of an earlier run (newest step 20)"));
}

TEST_CASE("an interrupted download of a checkpoint continues at the next start") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    CheckpointMirror mirror = mirror_at("continued");
    const fs::path saved = run.save(10);
    mirror.send(10, saved, 1);
    const TemporaryFolder empty;
    const fs::path partial = empty / "checkpoints/step_00000010.fetched.partial";
    fs::create_directories(partial);
    write_text(partial / "model.pt", read_text(saved / "model.pt").substr(0, 1000));
    CHECK(content_of(resume_in(empty, mirror)) == content_of(saved));
    CHECK(mirror_server().count("continued/step_00000010/model.pt bytes=1000-") == 1);
}

TEST_CASE("another run's mirror is refused, and one that another process has written meanwhile", "[system]") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run, other("another run");
    mirror_at("owned").send(10, run.save(10), 2);
    const fs::path foreign = other.save(10);
    CHECK_THAT(words_of([&] { mirror_at("owned").send(10, foreign, 2); }),
               Says("is the mirror of another run: its checkpoints (steps 10)") && Says("give each run a mirror of its own"));

    CheckpointMirror first = mirror_at("owned"), second = mirror_at("owned");
    first.open();
    second.open();
    second.require_same_run(run.store.folder());
    const fs::path newer = run.save(20);
    first.send(20, newer, 2);
    CHECK_THAT(words_of([&] { second.send(20, newer, 2); }), Says("another process has changed it"));
    fs::remove_all(run.store.folder() / step_folder_name(10));
    fs::remove_all(newer);
    first.send(30, run.save(30), 1);  // a predecessor in common suffices
    CHECK(steps_in("owned") == "30 ");
}

TEST_CASE("a folder with checkpoints that no mirror has written is refused, and nothing in it is changed") {
    NEEDS_OBJECT_SERVER(mirror_server());
    objects_of("by hand").write("step_00000010/model.pt", "mine");
    SavingRun run;
    const fs::path saved = run.save(10);
    CHECK_THAT(words_of([&] { mirror_at("by hand").send(10, saved, 1); }), Says("has folders step_N but no mirror.json"));
    CHECK(objects_of("by hand").list().size() == 1);
}

TEST_CASE("an HTTP server that accepts PUT and DELETE can be a mirror") {
    NEEDS_OBJECT_SERVER(mirror_server());
    SavingRun run;
    CheckpointMirror mirror(parse_object_url(mirror_server().endpoint() + "/bucket/http", "a test"), credentials_by({}));
    mirror.send(10, run.save(10), 1);
    const fs::path newer = run.save(20);
    mirror.send(20, newer, 1);
    const TemporaryFolder empty;
    CHECK(content_of(resume_in(empty, mirror)) == content_of(newer));
    CHECK(folders_in("http") == std::set<std::string>{"step_00000020"});
}

TEST_CASE("a damaged mirror.json, or one that names files outside of its folders, is refused") {
    const std::string digest(64, 'a');
    const auto with = [&](const std::string& folder, const std::string& file) {
        return R"({"format_version": 1, "unfinished": {}, "checkpoints": [{"step": 1, "folder": ")" + folder +
               R"(", "abandoned": false, "files": [{"file": ")" + file + R"(", "bytes": 1, "sha256": ")" + digest +
               R"("}, {"file": "COMPLETE.json", "bytes": 1, "sha256": ")" + digest + R"("}]}]})";
    };
    CHECK(parse_mirror(with("step_1", "model.pt"), "here").checkpoints.size() == 1);
    CHECK(mirror_text(parse_mirror(mirror_text(parse_mirror(with("a", "b"), "here")), "here")) ==
          mirror_text(parse_mirror(with("a", "b"), "here")));
    MirrorIndex known = parse_mirror(with("a", "b"), "here");
    CHECK(known.run_id.empty());
    known.run_id = "0f1e2d3c4b5a6978";
    CHECK(parse_mirror(mirror_text(known), "here").run_id == known.run_id);
    for (const std::string& text : {with("../x", "model.pt"), with("step_1", "../../etc/passwd"), with("step_1", ".lock"),
                                    with("step_1", ""), std::string("{"), std::string("[]"), std::string("{}")})
        CHECK_THAT(words_of([&] { parse_mirror(text, "here"); }), Says("here: damaged"));
    CHECK_THAT(words_of([&] { parse_mirror(R"({"format_version": 2})", "here"); }), Says("use the newer program"));
}

}  // namespace bertpretrain
