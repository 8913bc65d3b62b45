#pragma once
// How the documents of input files are read.

#include <string>

#include "text/sentences/sentence_rules.h"
#include "text/wiki/wiki_lines.h"

namespace bertpretrain {

struct InputSettings {
    std::string format = "auto";     ///< auto (by content), text, jsonl, csv, tsv, parquet, fasta or wikipedia
    std::string documents = "auto";  ///< what a document of plain text is: auto, files, empty-lines or lines
    std::string lines = "auto";  ///< what a line of a document is: auto, sentences, paragraphs or wrapped; as_written: records'
                                 ///< texts stay as they are, for readers that split nothing; kept: so do all texts, in the lines
                                 ///< of kept_lines.h
    std::string text_field = "text", id_field;  ///< of JSONL, CSV, TSV and Parquet; an empty id_field: documents have no ids
    std::string letters = "auto";               ///< apart: each letter is a word; together; auto: apart in FASTA
    std::string encoding;                       ///< iconv's name for it; empty: UTF-8
    bool warns_of_indentation = false;          ///< for a tokenizer to which white space matters
    double most_bad = 0.001;                    ///< share of the records that may be malformed
    ProseRules prose;                           ///< what is kept of dumps
    SentenceRules sentences;                    ///< how paragraphs are split
};

}  // namespace bertpretrain
