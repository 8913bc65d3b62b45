#include "train/start/restore_optimizer.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "archive/checksum.h"
#include "core/error.h"
#include "core/threads/threads.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t sent_at_once = std::int64_t{1} << 20, read_at_once = std::int64_t{1} << 22;  ///< elements

/// Copies elements of a parameter's tensor in the checkpoint.
using Read = std::function<void(const std::string& name, std::int64_t first, float* into, std::int64_t elements)>;

/// Returns the CRC-32 that the checkpoint records of a parameter's tensor, if it records one.
using Recorded = std::function<std::optional<std::uint32_t>(const ParameterSpec&)>;

/// One of the optimizer's slices. Only a rank with a reader may call the functions.
struct Slice {
    const char* name;
    at::Tensor& values;
    Read read;
    Recorded recorded;
};

std::vector<Slice> slices_of(OptimizerState& state, const CheckpointReader* reader) {
    const auto moment = [reader](const char* which, at::Tensor& values) -> Slice {
        return {which, values,
                [reader, which](const std::string& name, std::int64_t first, float* into, std::int64_t elements) {
                    reader->read_moment(which, name, first, into, elements);
                },
                [reader, which](const ParameterSpec& spec) { return reader->moment_crc32(which, spec.name, spec.elements()); }};
    };
    return {{"weights", state.master,
             [reader](const std::string& name, std::int64_t first, float* into, std::int64_t elements) {
                 reader->read_parameter(name, first, into, elements);
             },
             [reader](const ParameterSpec& spec) { return reader->parameter_crc32(spec.name, spec.elements()); }},
            moment("exp_avg", state.exp_avg),
            moment("exp_avg_sq", state.exp_avg_sq)};
}

/// Cuts a rank's runs into parts for several cores.
std::vector<OwnedRun> parts_of(const std::vector<OwnedRun>& owned) {
    std::vector<OwnedRun> parts;
    for (OwnedRun run : owned)
        for (const std::int64_t end = run.in_parameter + run.elements; run.in_parameter < end;) {
            run.elements = std::min(read_at_once, end - run.in_parameter);
            parts.push_back(run);
            run.in_parameter += run.elements;
            run.in_slice += run.elements;
        }
    return parts;
}

/// Reads this rank's parts on all cores: where the files were verified, they are already in the page cache.
void restore_own(const ParameterLayout& layout, const std::vector<OwnedRun>& parts, const Read& read, float* slice) {
    for_each_index(parts.size(), available_cores(), [&](std::size_t i) {
        const OwnedRun& part = parts[i];
        read(layout.parameters()[part.parameter].spec.name, part.in_parameter, slice + part.in_slice, part.elements);
    });
}

/// Copies the overlap of this rank's part of a parameter with elements [first, first + values.size()) into `slice`.
void take_overlap(const OwnedRun& run, std::int64_t first, std::span<const float> values, float* slice) {
    const std::int64_t begin = std::max(run.in_parameter, first);
    const std::int64_t end = std::min(run.in_parameter + run.elements, first + static_cast<std::int64_t>(values.size()));
    if (begin < end)
        std::copy(values.begin() + (begin - first), values.begin() + (end - first),
                  slice + run.in_slice + begin - run.in_parameter);
}

/// Rank 0 reads each parameter and broadcasts it. If reading fails, it still sends everything and throws afterwards, so that no
/// rank waits forever.
void restore_from_first(ControlGroup& ranks, const ParameterLayout& layout, const std::vector<OwnedRun>& owned, const Read& read,
                        float* slice) {
    std::vector<float> values;
    std::exception_ptr failure;
    auto run = owned.begin();
    for (std::size_t p = 0; p < layout.parameters().size(); ++p) {
        const ParameterSpec& spec = layout.parameters()[p].spec;
        while (run != owned.end() && run->parameter < p) ++run;
        for (std::int64_t first = 0; first < spec.elements(); first += sent_at_once) {
            const std::int64_t elements = std::min(sent_at_once, spec.elements() - first);
            values.resize(static_cast<std::size_t>(elements));
            try {
                if (ranks.rank() == 0 && !failure) read(spec.name, first, values.data(), elements);
            } catch (const Error&) { failure = std::current_exception(); }
            ranks.broadcast_from_first(std::as_writable_bytes(std::span(values)));
            if (run != owned.end() && run->parameter == p) take_overlap(*run, first, values, slice);
        }
    }
    together(ranks, [&] {
        if (failure) std::rethrow_exception(failure);
    });
}

/// The checksum of a part of a parameter, as the ranks send it.
struct PartChecksum {
    std::uint64_t parameter, first, elements, crc32;
};

/// Returns the checksums of this rank's parts, as bytes.
std::string checksums_of(const std::vector<OwnedRun>& parts, const float* slice) {
    std::vector<PartChecksum> sums(parts.size());
    for_each_index(parts.size(), available_cores(), [&](std::size_t i) {
        const OwnedRun& part = parts[i];
        const std::span values(slice + part.in_slice, static_cast<std::size_t>(part.elements));
        sums[i] = {part.parameter, static_cast<std::uint64_t>(part.in_parameter), static_cast<std::uint64_t>(part.elements),
                   crc32_of(std::as_bytes(values))};
    });
    return {reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(PartChecksum)};
}

/// A parameter's parts by their first elements, and the ranks that hold them.
struct Parts {
    std::map<std::uint64_t, PartChecksum> by_first;
    std::set<std::size_t> ranks;
};

/// @throws DistributedError if the parts, joined, do not have the recorded checksum
void check_parts(const std::map<std::uint64_t, PartChecksum>& parts, const std::string& what, const std::string& ranks,
                 std::uint32_t recorded) {
    std::uint32_t joined = crc32_of({});
    for (const auto& [first, part] : parts)
        joined = crc32_joined(joined, static_cast<std::uint32_t>(part.crc32), part.elements * sizeof(float));
    if (joined != recorded)
        throw DistributedError(
            concat("after loading, ", what, " on ", ranks, " differs from the checkpoint that rank 0 verified",
                   "\n  do: start the run again; if the error recurs, check these hosts' memory and network, and ",
                   "whether they read the same files as rank 0's host"));
}

/// Compares all ranks' parts of a slice with the checkpoint's checksums. Only rank 0 calls it.
void check_slice(const Slice& slice, const ParameterLayout& layout, const std::vector<std::string>& sums, bool is_sharded) {
    std::map<std::pair<std::uint64_t, std::size_t>, Parts> found;  // by parameter and rank
    for (std::size_t rank = 0; rank < sums.size(); ++rank)
        for (std::size_t at = 0; at + sizeof(PartChecksum) <= sums[rank].size(); at += sizeof(PartChecksum)) {
            PartChecksum part{};
            std::memcpy(&part, sums[rank].data() + at, sizeof part);
            Parts& parts = found[{part.parameter, is_sharded ? 0 : rank}];  // without ZeRO each rank has all parts
            parts.by_first.emplace(part.first, part);
            parts.ranks.insert(rank);
        }
    for (const auto& [key, parts] : found) {
        const ParameterSpec& spec = layout.parameters().at(key.first).spec;
        const auto recorded = slice.recorded(spec);
        const std::size_t first = *parts.ranks.begin(), last = *parts.ranks.rbegin();
        const std::string ranks = first == last ? concat("rank ", first) : concat("ranks ", first, " to ", last);
        if (recorded) check_parts(parts.by_first, concat(slice.name, " of parameter ", spec.name), ranks, *recorded);
    }
}

}  // namespace

void restore_optimizer(ControlGroup& ranks, const CheckpointReader* reader, const ParameterLayout& layout,
                       ShardedOptimizer& optimizer) {
    const bool all_see = ranks.agree_on_largest(reader == nullptr ? 1 : 0) == 0;
    const std::vector<OwnedRun>& owned = optimizer.owned_runs();
    const std::vector<OwnedRun> parts = parts_of(owned);
    const bool is_sharded = optimizer.state().master.numel() < layout.flat_elements();
    for (const Slice& slice : slices_of(optimizer.state(), reader)) {
        const at::Tensor on_host = slice.values.is_cpu() ? slice.values : at::zeros(slice.values.sizes(), at::kFloat);
        auto* into = on_host.mutable_data_ptr<float>();
        if (all_see) together(ranks, [&] { restore_own(layout, parts, slice.read, into); });
        else restore_from_first(ranks, layout, owned, slice.read, into);
        const std::vector<std::string> sums = ranks.all_gather_texts(checksums_of(parts, into));
        together(ranks, [&] {
            if (ranks.rank() == 0) check_slice(slice, layout, sums, is_sharded);
        });
        if (!on_host.is_same(slice.values)) slice.values.copy_(on_host);
    }
}

void refuse_different_weights(ControlGroup& ranks, const FlatParameters& parameters) {
    std::vector<std::uint32_t> own;
    const std::vector<PlacedParameter>& placed = parameters.layout().parameters();
    for (const PlacedParameter& parameter : placed) {
        const at::Tensor weight = parameters.weight(parameter.spec.name).cpu();
        own.push_back(crc32_of({static_cast<const std::byte*>(weight.const_data_ptr()), weight.nbytes()}));
    }
    const std::string said(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(std::uint32_t));
    const std::vector<std::string> all = ranks.all_gather(std::string_view(said));
    for (std::size_t p = 0; p < placed.size(); ++p)
        for (std::size_t rank = 1; rank < all.size(); ++rank)
            if (all[rank].compare(p * sizeof(std::uint32_t), sizeof(std::uint32_t), all[0], p * sizeof(std::uint32_t),
                                  sizeof(std::uint32_t)) != 0)
                throw DistributedError(concat("after loading, parameter ", placed[p].spec.name, " of rank ", rank,
                                              " differs from rank 0's\n  do: start the run again; if the error recurs, check ",
                                              "these hosts' memory and network"));
}

}  // namespace bertpretrain
