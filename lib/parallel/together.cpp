#include "parallel/together.h"

#include <exception>
#include <string>

#include "core/error.h"
#include "core/output/guard.h"
#include "model/tensor_memory.h"

namespace bertpretrain {
namespace {

constexpr std::string_view kind_end = " error: ";

/// Encodes a rank's failure for the other ranks, as in "3 data error: FILE: ..."; an empty text means success.
std::string spoken(const Error& error) { return concat(static_cast<int>(error.code()), " ", error.what()); }

[[noreturn]] void throw_heard(std::size_t rank, const std::string& text) {
    const std::size_t kind = text.find(' ') + 1, message = text.find(kind_end, kind);
    throw Error(static_cast<ExitCode>(std::stoi(text)), text.substr(kind, message - kind),
                concat("rank ", rank, ": ", text.substr(message + kind_end.size())));
}

}  // namespace

void together(ControlGroup& ranks, const std::function<void()>& body) {
    std::exception_ptr own;
    std::string said;
    try {
        with_bad_alloc(body);
    } catch (const Error& error) {
        own = std::current_exception();
        said = spoken(error);
    } catch (const std::exception& error) {
        own = std::current_exception();
        said = spoken(known_error(error).value_or(Error(ExitCode::bug, "internal", error.what())));
    }
    const std::vector<std::string> all = ranks.all_gather_texts(said);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].empty()) continue;
        if (static_cast<std::int64_t>(rank) == ranks.rank()) std::rethrow_exception(own);
        throw_heard(rank, all[rank]);
    }
}

void run_at_first(ControlGroup& ranks, std::chrono::duration<double> between_signs,
                  const std::function<void(const std::function<void()>& sign_of_life)>& work) {
    using Clock = std::chrono::steady_clock;
    if (ranks.rank() != 0) {
        while (ranks.agree_on_largest(0) != 0) {}
        return;
    }
    std::exception_ptr lost;
    Clock::time_point last = Clock::now();
    work([&] {
        if (lost || Clock::now() - last < between_signs) return;
        try {
            ranks.agree_on_largest(1);
        } catch (const DistributedError&) { lost = std::current_exception(); }
        last = Clock::now();
    });
    if (lost) std::rethrow_exception(lost);
    ranks.agree_on_largest(0);
}

}  // namespace bertpretrain
