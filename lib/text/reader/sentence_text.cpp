#include "text/reader/sentence_text.h"

#include <algorithm>

#include "core/concat.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/task_pool.h"
#include "text/reader/extract.h"

namespace bertpretrain {

SentenceText::SentenceText(const std::vector<std::filesystem::path>& inputs, const InputSettings& settings, std::size_t threads,
                           const std::filesystem::path& folder) {
    TaskPool pool(std::min(threads, most_extract_threads));
    DocumentReader reader(inputs, settings, pool);
    if (reader.is_sentence_text()) {
        files_ = reader.files();
        return;
    }
    reader.digest_files();
    make_writable_folder(folder);
    extracted_.emplace(folder);
    const ExtractCounts counts =
        write_sentences(reader, 1, [this](std::string_view text) { extracted_->append(text.data(), text.size()); });
    extracted_->flush();
    log_info(concat("extracted ", with_thousands(counts.sentences), " sentences from ", with_thousands(counts.articles),
                    " documents in ", duration_text(counts.seconds)));
    files_ = {extracted_->path()};
    extracted_from_ = reader.digests();
}

}  // namespace bertpretrain
