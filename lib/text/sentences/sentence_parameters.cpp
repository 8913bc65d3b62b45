#include "text/sentences/sentences.h"

namespace bertpretrain {

const SentenceParameters& SentenceParameters::english() {
    static const SentenceParameters english = {
        // Words that are written with a period and may end a sentence. Leaves out words that exist without one (ill, mass, sat).
        {"etc",   "al",   "jr",   "sr",   "esq",   "inc",  "ltd",  "corp", "co",   "bros", "plc", "llc",   "assn",   "dept",
         "univ",  "ave",  "blvd", "rd",   "sq",    "ft",   "lb",   "lbs",  "oz",   "hrs",  "hr",  "mi",    "yd",     "jan",
         "feb",   "mar",  "apr",  "jun",  "jul",   "aug",  "sep",  "sept", "oct",  "nov",  "dec", "tue",   "thu",    "fri",
         "ph.d",  "b.c",  "a.d",  "u.s",  "u.k",   "a.m",  "p.m",  "resp", "fl",   "r",    "b",   "d",     "m",      "est",
         "incl",  "excl", "abbr", "var",  "subsp", "syn",  "spp",  "sp",   "ssp",  "ed",   "eds", "trans", "transl", "repr",
         "calif", "conn", "penn", "tenn", "ariz",  "colo", "fla",  "okla", "minn", "wis",  "va",  "ky",    "md",     "d.c",
         "n.y",   "ala",  "ga",   "mo",   "neb",   "nev",  "tex",  "vt",   "cal",  "ger",  "gr",  "lat",   "heb",    "ibid",
         "seq",   "ff",   "tel",  "orig", "pl",    "fem",  "masc", "adj",  "adv",  "intl", "natl"},
        // Words that are always followed by a name or another word.
        {"mr",   "mrs",    "ms",  "dr",   "prof", "rev",  "fr",  "hon",  "st",   "ste",    "sts",    "mt",   "mts",
         "gen",  "lt",     "col", "maj",  "capt", "cmdr", "adm", "sgt",  "cpl",  "pvt",    "gov",    "sen",  "rep",
         "pres", "messrs", "mme", "mlle", "sra",  "dra",  "mgr", "msgr", "supt", "insp",   "lt.col", "brig", "ven",
         "abp",  "bp",     "amb", "vs",   "v",    "e.g",  "i.e", "cf",   "viz",  "approx", "ca",     "c"},
        // Words that are abbreviated only before a number.
        {"no", "nos", "nr",   "fig", "figs", "eq", "eqs", "vol", "vols", "pp",
         "p",  "ch",  "chap", "sec", "art",  "op", "opp", "pt",  "ref",  "refs"},
        {"a",     "an",        "the",       "this",         "that",     "these",       "those",  "it",        "its",
         "he",    "his",       "she",       "her",          "they",     "their",       "we",     "our",       "you",
         "i",     "in",        "on",        "at",           "from",     "after",       "before", "during",    "since",
         "until", "by",        "for",       "with",         "within",   "without",     "as",     "when",      "while",
         "where", "although",  "though",    "because",      "if",       "however",     "but",    "and",       "or",
         "nor",   "yet",       "so",        "then",         "there",    "here",        "also",   "other",     "others",
         "some",  "many",      "most",      "several",      "all",      "both",        "each",   "every",     "such",
         "among", "according", "another",   "additionally", "moreover", "furthermore", "thus",   "therefore", "instead",
         "later", "today",     "currently", "despite",      "to",       "under",       "unlike", "what",      "who",
         "why",   "how",       "which",     "one",          "two",      "three",       "no",     "not",       "following",
         "early", "about",     "over",      "per",          "through",  "throughout",  "only",   "once",      "using"}};
    return english;
}

}  // namespace bertpretrain
