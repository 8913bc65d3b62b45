#pragma once
// Opens a file by the compression that its first bytes show.

#include <filesystem>
#include <memory>

#include "core/task_pool.h"
#include "text/content.h"

namespace bertpretrain {

/// Opens a file or standard input. Recognises bzip2 and gzip by content, never by name, and reads concatenated streams as one.
/// @param pool decompresses ahead; must outlive the content
/// @throws DataError when the file is missing, empty, or compressed in an unsupported format
std::unique_ptr<Content> open_content(const std::filesystem::path& path, TaskPool& pool);

}  // namespace bertpretrain
