#include "core/output/shared_failures.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/concat.h"
#include "core/environment.h"

namespace bertpretrain {
namespace {

constexpr const char* memory_name = "bertpretrain failures";
constexpr std::size_t most_messages = 64;
constexpr std::string_view end_of_kind = " error: ", rank_word = "rank ";

/// Returns the place and length of "rank 3: " in a message; an empty length: it names no rank.
std::pair<std::size_t, std::size_t> rank_in(std::string_view message) {
    const std::size_t kind = message.find(end_of_kind), begin = kind == message.npos ? 0 : kind + end_of_kind.size();
    if (!message.substr(begin).starts_with(rank_word)) return {begin, 0};
    const std::size_t end = message.find_first_not_of("0123456789", begin + rank_word.size());
    return {begin, end != message.npos && message.substr(end).starts_with(": ") ? end + 2 - begin : 0};
}

}  // namespace

struct SharedFailures::Slot {
    std::atomic<std::uint64_t> message;  ///< its hash; 0: the slot is free
    std::atomic<std::int64_t> count;
};

std::string with_rank(const std::string& message, const std::string& rank) {
    const auto [place, length] = rank_in(message);
    return length > 0 ? message : concat(message.substr(0, place), rank_word, rank, ": ", message.substr(place));
}

SharedFailures::SharedFailures() : descriptor_(::memfd_create(memory_name, 0)), is_own_(true) {
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, most_messages * sizeof(Slot)) == 0) map();
}

SharedFailures::SharedFailures(int descriptor) : descriptor_(descriptor) { map(); }

std::unique_ptr<SharedFailures> SharedFailures::of_parent() {
    const auto number = environment_variable(shared_failures_variable);
    if (!number) return nullptr;
    // In a program that a rank started, this may be the number of another file.
    std::error_code missing;
    const std::string file = std::filesystem::read_symlink("/proc/self/fd/" + *number, missing).string();
    if (missing || !file.starts_with(concat("/memfd:", memory_name))) return nullptr;
    const int descriptor = std::atoi(number->c_str());
    static_cast<void>(::fcntl(descriptor, F_SETFD, FD_CLOEXEC));
    return std::unique_ptr<SharedFailures>(new SharedFailures(descriptor));
}

void SharedFailures::map() {
    void* const memory = ::mmap(nullptr, most_messages * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory != MAP_FAILED) slots_ = static_cast<Slot*>(memory);  // zeros, which are free slots
}

SharedFailures::~SharedFailures() {
    if (slots_ != nullptr) ::munmap(slots_, most_messages * sizeof(Slot));
    if (is_own_ && descriptor_ >= 0) ::close(descriptor_);
}

std::int64_t SharedFailures::add(std::string_view message) {
    const auto [place, length] = rank_in(message);
    const std::uint64_t hash = std::hash<std::string>()(concat(message.substr(0, place), message.substr(place + length))) | 1U;
    for (std::size_t i = 0; slots_ != nullptr && i < most_messages; ++i) {
        std::uint64_t found = 0;
        if (slots_[i].message.compare_exchange_strong(found, hash) || found == hash) return ++slots_[i].count;
    }
    return 1;
}

std::int64_t SharedFailures::most() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; slots_ != nullptr && i < most_messages; ++i) most = std::max(most, slots_[i].count.load());
    return most;
}

}  // namespace bertpretrain
