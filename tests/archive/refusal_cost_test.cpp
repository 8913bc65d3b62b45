// Hostile files must be refused in less than a second and 100 MB each, measured in a process of their own.

#include <array>
#include <fstream>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/checksum.h"
#include "archive/examples.h"
#include "archive/zip_format.h"

namespace bertpretrain {
namespace {

using namespace testing;
using namespace std::string_literals;

struct Record {
    std::string name, content;
};

std::string zip_of(const std::vector<Record>& records) {
    std::string out, directory;
    for (const auto& [name, content] : records) {
        const zip::Header header{name, content.size(), out.size(), crc32_of(std::as_bytes(std::span(content)))};
        out += zip::local_header(header, zip::least_local_bytes(header)) + content;
        directory += zip::central_header(header);
    }
    return out + directory + zip::directory_end(records.size(), out.size(), directory.size());
}

std::string pt_of(const std::string& pickle, const std::string& storage = "") {
    return zip_of({{"a/data.pkl", pickle}, {"a/data/0", storage}});
}

std::string little(std::uint64_t number, std::size_t bytes) { return {reinterpret_cast<const char*>(&number), bytes}; }

/// A pickle of one fp32 tensor, with its numbers as LONG1.
std::string tensor_pickle(std::int64_t elements, std::int64_t offset, const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides) {
    const auto number = [](std::int64_t value) { return "\x8a\x08"s + little(static_cast<std::uint64_t>(value), 8); };
    const auto tuple = [&](const std::vector<std::int64_t>& values) {
        std::string out = "(";
        for (const std::int64_t value : values) out += number(value);
        return out + "t";
    };
    return "\x80\x02"s + "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"s + "0" +
           "X\x03\0\0\0cpu"s + number(elements) + "tQ" + number(offset) + tuple(shape) + tuple(strides) + "\x89}tR.";
}

std::size_t memory_line(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return std::stoul(line.substr(name.size())) << 10;
    return 0;
}

struct Cost {
    std::string message;  ///< "" when the file was read
    double cpu_seconds = 0, megabytes = 0;
};

/// Runs refusal() in a child process and measures its CPU time and the growth of its peak resident memory.
Cost cost_of(const std::filesystem::path& file) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::malloc_trim(0);
        std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
        const std::size_t before = memory_line("VmRSS:");
        const std::string message = refusal(file).substr(0, 2000);
        const std::size_t peak = memory_line("VmHWM:");
        struct rusage usage {};
        ::getrusage(RUSAGE_SELF, &usage);
        const double seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
        const std::string report = concat(seconds, " ", static_cast<double>(peak - std::min(before, peak)) / 1e6, "\n", message);
        if (::write(ends[1], report.data(), report.size()) < 0) ::_exit(1);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string report;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;)
        report.append(part.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(status == 0);
    Cost cost;
    std::istringstream in(report);
    in >> cost.cpu_seconds >> cost.megabytes;
    cost.message = report.substr(report.find('\n') + 1);
    return cost;
}

/// Checks that the content is refused for this reason, in less than a second of CPU time and 150 MB: the budget of 40 MiB
/// (unpickler_values.h) takes up to 100 MB with what the allocator adds, and not the same in each process.
void check_refused(const std::string& content, const std::string& why) {
    const TemporaryFolder folder;
    write_text(folder / "hostile.pt", content);
    const Cost cost = cost_of(folder / "hostile.pt");
    INFO(why << ": " << cost.cpu_seconds << " s, " << cost.megabytes << " MB");
    CHECK_THAT(cost.message, Says(why));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they take several times of both
    CHECK(cost.cpu_seconds < 1);
    CHECK(cost.megabytes < 150);
#endif
}

std::string repeated(const std::string& part, std::size_t bytes) {
    std::string out;
    out.reserve(bytes + part.size());
    while (out.size() < bytes) out += part;
    return out;
}

constexpr std::size_t large = std::size_t{12} << 20, too_large = std::size_t{17} << 20;  ///< bytes of a pickle

}  // namespace

TEST_CASE("tensors that declare more elements than the file holds are refused at little cost") {
    CHECK(cost_of([] {
              static const TemporaryFolder folder;
              write_text(folder / "good.pt", pt_of(tensor_pickle(6, 0, {2, 3}, {3, 1}), std::string(24, '\0')));
              return folder / "good.pt";
          }())
              .message == "");
    const std::string bytes(24, '\0');
    check_refused(pt_of(tensor_pickle(7, 0, {2, 3}, {3, 1}), bytes), "its storage has 7 elements of 4 bytes");
    check_refused(pt_of(tensor_pickle(1 << 30, 0, {1 << 30}, {1}), bytes), "its storage has 1073741824 elements");
    check_refused(pt_of(tensor_pickle(INT64_MAX, 0, {INT64_MAX}, {1}), bytes), "its storage has 9223372036854775807");
    check_refused(pt_of(tensor_pickle(6, 0, {7}, {1}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(6, 5, {2}, {1}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(6, 0, {2}, {6}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(6, -1, {2}, {1}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(-6, 0, {2}, {1}), bytes), "negative size");
    check_refused(pt_of(tensor_pickle(6, 0, {-2}, {1}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(6, 0, {2}, {-1}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(6, 0, {INT64_MAX, INT64_MAX}, {1, 1}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(6, 0, {1 << 30, 1 << 30, 1 << 30}, {0, 0, 0}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(6, INT64_MAX, {2}, {1}), bytes), "reaches beyond its storage");
    check_refused(pt_of(tensor_pickle(6, 0, {2, 3}, {3}), bytes), "shape and strides differ in length");
    check_refused(pt_of(tensor_pickle(6, 0, std::vector<std::int64_t>(65, 1), std::vector<std::int64_t>(65, 1)), bytes),
                  "more than 64 axes");
}

TEST_CASE("zip archives with wrong offsets or sizes of records are refused at little cost") {
    const std::string good = pt_of(tensor_pickle(6, 0, {6}, {1}), std::string(24, '\0'));
    const std::size_t directory = good.find("PK\1\2"), second = good.find("PK\1\2", directory + 1);
    const auto with = [&](std::size_t at, const std::string& bytes) {
        return std::string(good).replace(at, bytes.size(), bytes);
    };
    check_refused(with(second + 24, little(0xFFFFFFF0, 4)), "its compressed and uncompressed sizes differ");
    check_refused(with(second + 20, little(0xFFFFFFF0, 4) + little(0xFFFFFFF0, 4)), "its bytes reach beyond the file");
    check_refused(with(second + 20, little(0xFFFFFFFF, 4) + little(0xFFFFFFFF, 4)), "its bytes reach beyond the file");
    check_refused(with(second + 42, little(0, 4)), "its local header and the directory differ");
    check_refused(with(second + 42, little(0xFFFFFFF0, 4)), "no local header at the offset in the directory");
    check_refused(with(second + 42, little(good.size() - 30, 4)), "no local header at the offset in the directory");
    check_refused(with(good.size() - 10, little(0x7FFFFFFF, 4)), "the directory reaches beyond the file");
    check_refused(with(good.size() - 12, little(0xFFFF, 2)), "more entries than the directory has room for");
    check_refused(with(good.size() - 6, little(0x7FFFFFFF, 4)), "the directory reaches beyond the file");
    check_refused(good.substr(0, good.size() / 2), "no zip directory");
    const std::string twice = good.substr(directory, second - directory);  // two entries for one record
    check_refused(good.substr(0, directory) + twice + twice + zip::directory_end(2, directory, 2 * twice.size()),
                  "two entries share bytes");
    const std::string inner = zip_of({{"a/data/1", "x"}});  // a record inside another record
    const std::string outer = zip_of({{"a/data.pkl", "\x80\x02}."s}, {"a/data/0", inner}});
    const std::size_t at = outer.find("PK\1\2", outer.find(inner) + inner.size());
    const zip::Header hidden{"a/data/1", 1, outer.find(inner), crc32_of(std::as_bytes(std::span("x", 1)))};
    const std::string entries = outer.substr(at, outer.size() - at - 22) + zip::central_header(hidden);
    check_refused(outer.substr(0, at) + entries + zip::directory_end(3, at, entries.size()), "two entries share bytes");
    std::vector<Record> many(120'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i].name = "a/data/" + std::to_string(i);
    check_refused(zip_of({many.begin(), many.begin() + 100'000}), "holds no data.pkl");
    for (Record& record : many) record.name += std::string(40, 'x');
    check_refused(zip_of(many), "its directory is larger");
}

TEST_CASE("compressed bombs are not decompressed") {
    const TemporaryFolder folder;
    const CommandResult zipped =
        run_command(PYTHON " -c \"import zipfile; z = zipfile.ZipFile('" + (folder / "bomb.pt").string() +
                    "', 'w', zipfile.ZIP_DEFLATED); z.writestr('a/data.pkl', b']' * 2**26)\"");
    REQUIRE(zipped.err == "");
    check_refused(read_text(folder / "bomb.pt"), "a/data.pkl is compressed");
}

TEST_CASE("pickles that would take much memory are refused at little cost", "[system]") {
    const std::string proto = "\x80\x02";
    const std::string too_many = "more values than any checkpoint does";
    const auto pickle = [&](const std::string& body) { return pt_of(proto + body); };
    check_refused(pickle(repeated("]", too_large)), "its data.pkl is larger");
    for (const std::string& part : {"]"s, "]q\1"s, "X\0\0\0\0"s, "ctorch\nSize\n"s, "Nh\0q\0"s})
        check_refused(pickle("Nq\0"s + repeated(part, large)), too_many);
    std::string memo;
    for (std::uint64_t key = 0; memo.size() < large; key += 7919) memo += "r" + little(key, 4);
    check_refused(pickle("N" + memo), too_many);
    check_refused(pickle("]q\0("s + repeated("h\0"s, large) + "e."), too_many);
    check_refused(pickle("]q\0"s + repeated("h\0a"s, large) + "."), too_many);
    check_refused(pickle("X" + little(large - 100, 4) + std::string(large - 100, 'x') + "q\0](h\0h\0h\0h\0h\0h\0e."s), too_many);
    check_refused(pickle(repeated("(", 100'000)), "nested too deep");
    check_refused(pickle(repeated("(", 9'000) + repeated("t", 9'000) + "."), "nested deeper");
    check_refused(pickle(std::string(1000, ']') + std::string(999, 'a') + "."), "nested deeper");
    std::string bushy = "]q\0"s;  // each list holds the previous one twice
    for (char level = 1; level < 60; ++level)
        bushy += "](h"s + static_cast<char>(level - 1) + "h" + static_cast<char>(level - 1) + "eq" + level;
    check_refused(pickle(bushy + "."), too_many);
    const std::string storage = "(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0cpuK\1tq\0"s;
    check_refused(pickle(storage + repeated("h\0Q"s, large)), too_many);
    std::string keys = "}(";
    for (std::uint64_t key = 0; keys.size() < large; ++key) keys += "J" + little(key, 4) + "N";
    check_refused(pickle(keys + "u."), too_many);
}

TEST_CASE("os.system and fifty other classes and functions are refused by name at little cost") {
    const std::vector<std::string> globals{"os system",
                                           "posix system",
                                           "nt system",
                                           "os popen",
                                           "os execv",
                                           "os remove",
                                           "posix unlink",
                                           "subprocess Popen",
                                           "subprocess check_output",
                                           "builtins eval",
                                           "builtins exec",
                                           "builtins compile",
                                           "builtins getattr",
                                           "builtins open",
                                           "builtins __import__",
                                           "__builtin__ eval",
                                           "__builtin__ file",
                                           "importlib import_module",
                                           "runpy run_path",
                                           "pickle loads",
                                           "_pickle loads",
                                           "marshal loads",
                                           "types FunctionType",
                                           "types CodeType",
                                           "operator attrgetter",
                                           "operator methodcaller",
                                           "functools partial",
                                           "functools reduce",
                                           "shutil rmtree",
                                           "socket socket",
                                           "webbrowser open",
                                           "ctypes CDLL",
                                           "sys exit",
                                           "code interact",
                                           "pty spawn",
                                           "pdb run",
                                           "timeit timeit",
                                           "cProfile run",
                                           "copy_reg _reconstructor",
                                           "copyreg __newobj__",
                                           "numpy.core.multiarray _reconstruct",
                                           "numpy.core.multiarray scalar",
                                           "numpy dtype",
                                           "torch load",
                                           "torch.hub load",
                                           "torch.jit load",
                                           "torch.storage _load_from_bytes",
                                           "torch._utils _rebuild_sparse_tensor",
                                           "torch._utils _rebuild_qtensor",
                                           "torch.nn.modules.linear Linear",
                                           "torch.utils.data.dataloader DataLoader",
                                           "argparse Namespace",
                                           "collections defaultdict",
                                           "datetime datetime",
                                           "pathlib PosixPath",
                                           "transformers.training_args TrainingArguments",
                                           "deepspeed.runtime.fp16.loss_scaler LossScaler",
                                           "apex.amp.scaler LossScaler",
                                           "__main__ pretraining_dataset"};
    CHECK(globals.size() > 51);
    const TemporaryFolder folder;
    for (const std::string& global : globals) {
        const std::size_t blank = global.find(' ');
        const std::string module = global.substr(0, blank), name = global.substr(blank + 1);
        write_text(folder / "hostile.pt", pt_of("\x80\x02"s + "}X\1\0\0\0ac"s + module + "\n" + name + "\n)Rs."));
        CHECK_THAT(refusal(folder / "hostile.pt"), Says("the class " + module + "." + name + ","));
    }
    // Other ways to name or make an object.
    for (const std::string& way : {"(S'ls'\nios\nsystem\n."s, "X\2\0\0\0osX\6\0\0\0system\x93."s, "(cos\nsystem\nX\2\0\0\0lso."s,
                                   ")\x81."s, "\x82\1."s, "\x83\1\1."s, "\x84\1\1\1\1."s, "Pid\n."s, "\x92."s, "\x97."s})
        check_refused(pt_of("\x80\x02"s + way), way[0] == '(' && way[1] == 'c' ? "os.system" : "the pickle opcode");
}

}  // namespace bertpretrain
