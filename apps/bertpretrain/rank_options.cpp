#include "rank_options.h"

#include "core/error.h"
#include "core/output/log.h"
#include "parallel/local_ranks.h"
#include "parallel/make_world.h"

namespace bertpretrain {

void add_set_option(CLI::App& command, std::vector<std::string>& overrides) {
    command.add_option(
        "--set", overrides,
        "section.key=value: use this value instead of the file's. May be given several times; `config explain` lists "
        "the settings");
}

void add_local_ranks_option(CLI::App& command, std::int64_t& local_ranks) {
    command.add_option("--local-ranks", local_ranks, "Start this many processes on this host, which share the work")
        ->check(CLI::Range(1, 4096));
}

void add_device_options(CLI::App& command, std::string& precision, std::string& device) {
    command.add_option("--precision", precision, "Precision of matrix multiplications")
        ->check(CLI::IsMember({"fp32", "bf16"}))
        ->capture_default_str();
    command.add_option("--device", device, "The device to compute on")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
}

void add_text_options(CLI::App& command, InputSettings& settings) {
    command
        .add_option(
            "--format", settings.format,
            "Format of the text: text (a text per line), jsonl, csv, tsv, parquet, fasta or wikipedia; auto recognizes it by "
            "content")
        ->check(CLI::IsMember({"auto", "text", "jsonl", "csv", "tsv", "parquet", "fasta", "wikipedia"}))
        ->capture_default_str();
    command
        .add_option("--letters", settings.letters,
                    "apart: put a space after each letter, as `bertpretrain_data shard --letters apart`; together: leave the "
                    "text as it is; auto: apart in FASTA")
        ->check(CLI::IsMember({"auto", "apart", "together"}))
        ->capture_default_str();
    command.add_option(
        "--encoding", settings.encoding,
        "Encoding of the text, such as latin-1 or utf-16le, if it is not UTF-8. Dumps and Parquet have their own, and "
        "a byte order mark counts more");
    command.add_option("--text-field", settings.text_field, "Field of JSONL, CSV, TSV and Parquet that holds the text")
        ->capture_default_str();
}

std::optional<int> run_as_local_ranks(std::int64_t local_ranks, const Launch& launch, std::int64_t max_restarts,
                                      const WhenKilled& when_killed) {
    if (local_ranks > 0 && launch.launcher == "none") return run_local_ranks(local_ranks, max_restarts, when_killed);
    if (local_ranks > 0 && launch.world_size != local_ranks)
        throw ConfigError(concat("--local-ranks ", local_ranks, ": ", launch.launcher, " has started this process as rank ",
                                 launch.rank, " of ", launch.world_size, "; do not use both"));
    if (local_ranks == 0 && launch.unused_tasks > 1)
        log_warning(
            concat("this process works alone: SLURM_NTASKS = ", launch.unused_tasks,
                   ", but srun did not start it\n  do: start it with srun, or use --local-ranks N for ranks on this host"));
    return std::nullopt;
}

std::unique_ptr<World> patient_world(const Launch& launch) {
    constexpr std::chrono::minutes to_connect(30);
    constexpr std::chrono::hours to_work(24 * 7);
    std::unique_ptr<World> world = make_world(launch, to_connect);
    world->set_timeout(to_work);
    return world;
}

}  // namespace bertpretrain
