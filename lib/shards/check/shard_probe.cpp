#include "shards/check/shard_probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files/files.h"
#include "core/threads/threads.h"
#include "shards/shard_reader.h"

namespace bertpretrain {
namespace {

constexpr const char* probe_argument = "--read-shards-and-report";
constexpr unsigned longest_seconds = 600;  // per file
constexpr rlim_t most_memory_bytes = rlim_t{4} << 30;
constexpr std::size_t files_of_a_child = 200;
constexpr std::string_view message_prefix = "data error: ", sound_prefix = "crc32 ";

std::atomic<bool> main_answers_probes{false};

void read_whole(const std::filesystem::path& file) {
    const ShardReader reader(file);
    for (std::int64_t first = 0; first < reader.rows(); first += reader.band_rows())
        reader.read(first, std::min(reader.band_rows(), reader.rows() - first));
}

/// Returns the problem with a file, or sound_prefix and its checksum. The caller sends it with a terminating 0 byte.
std::string report_of(const char* file) {
    try {
        read_whole(file);
        return concat(sound_prefix, crc32_of_file(file));
    } catch (const DataError& error) {
        return std::string(error.what()).substr(message_prefix.size());
    } catch (const std::bad_alloc&) {
        return concat(file,
                      ": reading it needs more than 4 GiB of memory; the file is damaged\n  do: copy or build this shard again");
    }
}

/// Parses the output of report_of.
ProbedShard parse_report(const std::string& report) {
    ProbedShard probed;
    const char* const end = report.data() + report.size();
    const bool is_sound =
        report.starts_with(sound_prefix) && std::from_chars(report.data() + sound_prefix.size(), end, probed.crc32).ptr == end;
    if (!is_sound) probed.problem = DataError(report);
    return probed;
}

void limit_this_process() {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers reserve terabytes of address space
    const rlimit memory{most_memory_bytes, most_memory_bytes};
    ::setrlimit(RLIMIT_DATA, &memory);
#endif
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM}) std::signal(number, SIG_DFL);
}

/// Starts this program as a child. @param output becomes the child's standard output; closed in this process
pid_t start_child(const std::vector<std::string>& files, int output) {
    std::vector<std::string> texts{"bertpretrain", probe_argument};
    texts.insert(texts.end(), files.begin(), files.end());
    std::vector<char*> arguments;
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    pid_t process = -1;
    const int failure = ::posix_spawn(&process, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(output);
    if (failure == 0) return process;
    throw DataError(concat(files.front(), ": cannot start a process to test-read this file (", std::strerror(failure), ")"));
}

/// Reads until the other end is closed, then closes `descriptor`.
std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t bytes = ::read(descriptor, buffer.data(), buffer.size());
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(bytes));
    }
    ::close(descriptor);
    return text;
}

std::string end_of(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return WIFSIGNALED(status) ? concat("signal ", WTERMSIG(status)) : concat("exit code ", WEXITSTATUS(status));
}

/// Reads files in one child, in order, until it ends. @returns results for the files it reached, at least one
std::vector<ProbedShard> try_in_child(const std::vector<std::string>& files) {
    std::array<int, 2> pipe{-1, -1};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        throw DataError(concat(files.front(), ": cannot create a pipe to test-read this file (", std::strerror(errno), ")"));
    const pid_t child = start_child(files, pipe[1]);
    const std::string reports = read_all(pipe[0]);
    const std::string end = end_of(child);
    std::vector<ProbedShard> answers;
    for (std::size_t begin = 0; begin < reports.size() && answers.size() < files.size();) {
        const std::size_t stop = reports.find('\0', begin);
        if (stop == std::string::npos) break;
        answers.push_back(parse_report(reports.substr(begin, stop - begin)));
        begin = stop + 1;
    }
    if (answers.size() < files.size())
        answers.push_back({DataError(concat(files[answers.size()], ": is damaged, and reading it crashes the HDF5 library (", end,
                                            ")\n  do: copy or build this shard again"))});
    return answers;
}

}  // namespace

std::optional<int> answer_probe(int argc, char** argv) {
    main_answers_probes = true;
    if (argc < 2 || std::string_view(argv[1]) != probe_argument) return std::nullopt;
    limit_this_process();
    for (int i = 2; i < argc; ++i) {
        ::alarm(longest_seconds);
        const std::string report = report_of(argv[i]);
        std::size_t written = 0;
        while (written < report.size() + 1) {
            const ssize_t bytes = ::write(STDOUT_FILENO, report.c_str() + written, report.size() + 1 - written);
            if (bytes <= 0) return 1;
            written += static_cast<std::size_t>(bytes);
        }
    }
    return 0;
}

std::vector<ProbedShard> probe_shards(const std::vector<std::filesystem::path>& files, std::size_t processes) {
    check(main_answers_probes, "main() calls answer_probe() first");
    std::vector<ProbedShard> answers(files.size());
    const std::size_t parts = std::min(files.size(), std::max(processes, files.size() / files_of_a_child + 1));
    for_each_index(parts, processes, [&](std::size_t part) {
        const std::size_t end = files.size() * (part + 1) / parts;
        for (std::size_t next = files.size() * part / parts; next < end;) {
            std::vector<std::string> names;
            for (std::size_t i = next; i < end; ++i) names.push_back(files[i].string());
            for (ProbedShard& answer : try_in_child(names)) answers[next++] = std::move(answer);
        }
    });
    return answers;
}

}  // namespace bertpretrain
