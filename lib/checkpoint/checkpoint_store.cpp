#include "checkpoint/checkpoint_store.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "archive/mapped_file.h"
#include "checkpoint/checkpoint_files.h"
#include "core/error.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

void remove_folder(const fs::path& folder) {
    std::error_code failure;
    fs::remove_all(folder, failure);
    if (failure) throw CheckpointError(concat(folder.string(), ": cannot be removed (", failure.message(), ")"));
}

void move_folder(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    fs::rename(from, to, failure);
    if (failure)
        throw CheckpointError(
            concat(from.string(), ": cannot be renamed to ", to.filename().string(), " (", failure.message(), ")"));
}

fs::path partial_folder(const fs::path& store, std::int64_t step) { return store / (step_folder_name(step) + ".partial"); }

/// Puts a finished folder in place; a checkpoint of the same step from an earlier life of the run makes room.
void put_in_place(const fs::path& partial, const fs::path& place) {
    if (!exists_here(place)) return move_folder(partial, place);
    // Swapped in one step where the file system can, so that there is a complete checkpoint at every moment.
    if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0) {
        const fs::path old = place.string() + ".old.partial";
        move_folder(place, old);
        try {
            move_folder(partial, place);
        } catch (...) {
            move_folder(old, place);
            throw;
        }
        return remove_folder(old);
    }
    remove_folder(partial);
}

/// This rank's pieces of a set of tensors, whose storages have the key key_of(tensor).
template <class KeyOf>
void write_pieces(PtWriter& writer, const TensorSet& set, const KeyOf& key_of, std::vector<WrittenPiece>& receipt) {
    for (const TensorPiece& piece : set.pieces) {
        check(piece.tensor < set.tensors.size() && piece.first_element >= 0 && piece.elements >= 0,
              "a piece belongs to a tensor");
        const auto bytes = std::as_bytes(std::span(piece.data, static_cast<std::size_t>(piece.elements)));
        const std::uint64_t offset = static_cast<std::uint64_t>(piece.first_element) * sizeof(float);
        receipt.push_back(writer.write_piece(writer.layout().record_of(key_of(piece.tensor)), offset, bytes));
    }
}

std::string json_text(const nlohmann::json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<WrittenPiece> collected(const std::vector<SaveReceipt>& receipts, std::vector<WrittenPiece> SaveReceipt::*member) {
    std::vector<WrittenPiece> all;
    for (const SaveReceipt& receipt : receipts) all.insert(all.end(), (receipt.*member).begin(), (receipt.*member).end());
    return all;
}

}  // namespace

void CheckpointStore::begin(const TrainingState& state) const {
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) throw CheckpointError(concat(folder_.string(), ": cannot be made (", failure.message(), ")"));
    std::vector<fs::path> stale;
    for (const auto& entry : fs::directory_iterator(folder_, failure))
        if (entry.path().filename().string().starts_with("step_") && entry.path().extension() == ".partial")
            stale.push_back(entry.path());
    for (const fs::path& folder : stale) remove_folder(folder);
    const fs::path partial = partial_folder(folder_, state.step);
    try {
        if (!fs::create_directory(partial, failure))
            throw CheckpointError(concat(partial.string(), ": cannot be made (", failure.message(), ")"));
        PtWriter(partial / model_file, model_layout(state), PtWriter::Open::create);
        PtWriter(partial / optimizer_file, optimizer_layout(state), PtWriter::Open::create);
    } catch (...) {
        abandon(state.step);
        throw;
    }
}

SaveReceipt CheckpointStore::write(const TrainingState& state) const {
    const fs::path partial = partial_folder(folder_, state.step);
    SaveReceipt receipt;
    PtWriter model(partial / model_file, model_layout(state), PtWriter::Open::existing);
    write_pieces(
        model, state.parameters, [](std::size_t tensor) { return std::to_string(tensor); }, receipt.model);
    PtWriter optimizer(partial / optimizer_file, optimizer_layout(state), PtWriter::Open::existing);
    std::size_t moment = 0;
    for (const auto& [name, set] : state.moments) {
        const auto key_of = [&](std::size_t tensor) { return moment_storage(moment, tensor); };
        write_pieces(optimizer, set, key_of, receipt.optimizer);
        ++moment;
    }
    model.flush();
    optimizer.flush();
    return receipt;
}

fs::path CheckpointStore::complete(const TrainingState& state, const std::vector<SaveReceipt>& receipts) const {
    const fs::path partial = partial_folder(folder_, state.step), place = folder_ / step_folder_name(state.step);
    try {
        CompleteMark mark;
        mark.step = state.step;
        const auto list = [&](std::string_view name, FileSummary summary) { mark.files[std::string(name)] = summary; };
        list(model_file, PtWriter(partial / model_file, model_layout(state), PtWriter::Open::existing)
                             .finish(collected(receipts, &SaveReceipt::model)));
        list(optimizer_file, PtWriter(partial / optimizer_file, optimizer_layout(state), PtWriter::Open::existing)
                                 .finish(collected(receipts, &SaveReceipt::optimizer)));
        list(progress_file, write_flushed(partial / progress_file, json_text(state.progress)));
        list(settings_file, write_flushed(partial / settings_file, json_text(state.settings)));
        if (!state.vocabulary.empty()) {
            const MappedFile vocabulary(state.vocabulary);
            const auto bytes = vocabulary.bytes();
            list(vocabulary_file,
                 write_flushed(partial / vocabulary_file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
        }
        write_mark(partial, mark);
        flush_folder(partial);
        put_in_place(partial, place);
        flush_folder(folder_);
    } catch (...) {
        abandon(state.step);
        throw;
    }
    return place;
}

fs::path CheckpointStore::save(const TrainingState& state) const {
    begin(state);
    try {
        return complete(state, {write(state)});
    } catch (...) {
        abandon(state.step);
        throw;
    }
}

void CheckpointStore::abandon(std::int64_t step) const noexcept {
    std::error_code ignored;
    fs::remove_all(partial_folder(folder_, step), ignored);
}

void CheckpointStore::prune(std::int64_t keep_last, std::int64_t keep_every) const {
    const std::vector<fs::path> complete = all_complete();
    const auto newest = static_cast<std::size_t>(std::max<std::int64_t>(keep_last, 1));
    for (std::size_t i = 0; i + newest < complete.size(); ++i) {
        const std::int64_t step = *step_of_folder_name(complete[i].filename().string());
        if (keep_every > 0 && step % keep_every == 0) continue;
        const fs::path partial = complete[i].string() + ".partial";  // killed while removing, it must not look like a checkpoint
        move_folder(complete[i], partial);
        remove_folder(partial);
    }
}

}  // namespace bertpretrain
