#pragma once
// Reads documents in tests.

#include <string>
#include <vector>

#include "support/files.h"
#include "text/reader/document_reader.h"

namespace bertpretrain::testing {

/// The documents of the inputs, as "LINE|ID|first line|second line".
inline std::vector<std::string> documents_in(const std::vector<std::filesystem::path>& inputs, const InputSettings& settings = {},
                                             std::size_t threads = 2) {
    TaskPool pool(threads);
    DocumentReader reader(inputs, settings, pool);
    std::vector<std::string> documents;
    while (const std::optional<DocumentBatch> batch = reader.next())
        for (const Document& document : batch->documents) {
            std::string lines = std::to_string(document.line) + "|" + document.id + "|" + document.text;
            for (char& c : lines)
                if (c == '\n') c = '|';
            if (lines.ends_with('|')) lines.pop_back();
            documents.push_back(lines);
        }
    return documents;
}

inline std::vector<std::string> documents_of(const std::string& content, const InputSettings& settings = {}) {
    const TemporaryFolder folder;
    write_text(folder / "corpus", content);
    return documents_in({folder / "corpus"}, settings);
}

}  // namespace bertpretrain::testing
