#include "text/sentences/sentences.h"

#include "support/catch.h"
#include "text/sentences/sentence_rules.h"

using namespace bertpretrain;
using Sentences = std::vector<std::string>;

namespace {

Sentences split(std::string_view text) { return SentenceSplitter().split(text); }

}  // namespace

TEST_CASE("sentences end at periods, question and exclamation marks before a capital") {
    CHECK(split("It is. Is it? It is! 42 is a number.") == Sentences{"It is.", "Is it?", "It is!", "42 is a number."});
    CHECK(split("  One sentence without an end  ") == Sentences{"One sentence without an end"});
    CHECK(split("").empty());
    CHECK(split("   ").empty());
}

TEST_CASE("a word in lower case does not begin a sentence") {
    CHECK(split("The company Yahoo! was sold. It is gone.") == Sentences{"The company Yahoo! was sold.", "It is gone."});
    CHECK(split("In gen. the unknown abbr. stays; été. élan too.").size() == 1);
}

TEST_CASE("titles and initials never end a sentence, other abbreviations only before a word that begins one") {
    CHECK(split("Mr. Smith met J. R. R. Tolkien and Dr. Who.").size() == 1);
    CHECK(split("See No. 5 and Fig. 2 on p. 7 of Vol. IV, please.").size() == 1);
    CHECK(split("He said No. She left.").size() == 2);
    CHECK(split("It was sold by Foo Inc. The price was low.") == Sentences{"It was sold by Foo Inc.", "The price was low."});
    CHECK(split("In the U.S. Senate sat a Ph.D. student.").size() == 1);
    CHECK(split("He lived in the U.S. However, he left.") == Sentences{"He lived in the U.S.", "However, he left."});
    CHECK(split("It is vitamin C. A. Smith found it.").size() == 1);
}

TEST_CASE("numbers end sentences, except numbers of lists") {
    CHECK(split("It was 1990. Then came 1991.") == Sentences{"It was 1990.", "Then came 1991."});
    CHECK(split("1. Nouns are words.").size() == 1);
    CHECK(split("It cost 3.5 dollars.").size() == 1);
}

TEST_CASE("an ellipsis ends a sentence only before a word that begins one") {
    CHECK(split("He said ... Nothing more.").size() == 1);
    CHECK(split("He waited... The door opened.") == Sentences{"He waited...", "The door opened."});
}

TEST_CASE("closing marks stay with the sentence, and opening marks go with the next") {
    CHECK(split("He said \"No.\" She left. (It rained.) \"Go!\" was said.") ==
          Sentences{"He said \"No.\"", "She left.", "(It rained.)", "\"Go!\" was said."});
    CHECK(split("Er sagte „Nein.“ Sie ging.") == Sentences{"Er sagte „Nein.“ Sie ging."});
    CHECK(split("He said “No.” She left.") == Sentences{"He said “No.”", "She left."});
}

TEST_CASE("full-width stops end a sentence without a space") {
    CHECK(split("月は地球の衛星である。太陽は恒星である。") == Sentences{"月は地球の衛星である。", "太陽は恒星である。"});
}

TEST_CASE("the full stops of scripts that have their own end sentences, by our rules and by Punkt's") {
    TaskPool pool(1);
    const SplitSentences punkt = learned_splitter({}, pool);
    for (const Sentences& two : {Sentences{"چاند زمین کا سیارہ ہے۔", "سورج ایک ستارہ ہے۔"},  // Urdu
                                 Sentences{"Լուսինը արբանյակ է։", "Արևը աստղ է։"},           // Armenian
                                 Sentences{"လသည် ဂြိုဟ်ရံဖြစ်သည်။", "နေသည် ကြယ်ဖြစ်သည်။"},              // Burmese
                                 Sentences{"ጨረቃ ሳተላይት ናት።", "ፀሐይ ኮከብ ናት።"},                  // Amharic
                                 Sentences{"ព្រះចន្ទជាផ្កាយរណប។", "ព្រះអាទិត្យជាផ្កាយ។"},           // Khmer
                                 Sentences{"ཟླ་བ་ནི་རྒྱུ་སྐར་ཡིན།", "ཉི་མ་ནི་སྐར་མ་ཡིན།"},              // Tibetan
                                 Sentences{"चंद्रमा एक उपग्रह है।", "सूर्य एक तारा है।"},           // Hindi
                                 Sentences{"চাঁদ একটি উপগ্রহ।", "সূর্য একটি তারা।"},             // Bengali
                                 Sentences{"月亮是卫星。", "太阳是恒星。"}}) {               // Chinese
        const std::string paragraph = two[0] + " " + two[1];
        CAPTURE(paragraph);
        CHECK(split(paragraph) == two);
        CHECK(punkt(paragraph) == two);
    }
}

TEST_CASE("such a full stop ends no sentence inside a number or an abbreviation") {
    for (const char* sentence : {"قیمت 1۔5 روپے ہے۔", "وہ پی۔ایچ۔ڈی ہے۔", "༄༅། ཟླ་བ་ཡིན།"}) {
        CAPTURE(sentence);
        CHECK(split(sentence) == Sentences{sentence});
    }
    CHECK(split("សៀវភៅ ប៊ិច ។ល។ នៅទីនេះ។") == Sentences{"សៀវភៅ ប៊ិច ។ល។", "នៅទីនេះ។"});
}

TEST_CASE("the splitter's word lists can be replaced") {
    const SentenceSplitter splitter({{"foo"}, {"bar"}, {"baz"}, {"the"}});
    CHECK(splitter.split("A foo. Moon. Bar. The inc. The foo. The baz. 7.") ==
          Sentences{"A foo. Moon.", "Bar. The inc.", "The foo.", "The baz. 7."});
}

TEST_CASE("stops that end no sentence take linear time: quadratic time would be hours at this size") {
    const auto repeated = [](const std::string& part, const std::string& end) {
        std::string text;
        while (text.size() < std::size_t{2} << 20) text += part;
        return text + end;
    };
    for (const std::string& text : {repeated("\u061F", "5"), repeated("\u0964", "5"), repeated("\u0F0D ", ""),
                                    repeated("\u0F0D", "5"), repeated("\u061F\u1361", "5")}) {
        CAPTURE(text.substr(0, 6));
        CHECK(split(text).size() == 1);
    }
}

TEST_CASE("a wide stop among others ends a sentence before a digit, and letters before a Tibetan mark count once") {
    CHECK(split("\u0628\u061F\u061F\u3002\u061F5") == Sentences{"\u0628\u061F\u061F\u3002\u061F", "5"});
    CHECK(split("\u0F0D \u0F40\u0F0D\u0F0D \u0F40\u0F0D") == Sentences{"\u0F0D \u0F40\u0F0D\u0F0D", "\u0F40\u0F0D"});
}

TEST_CASE("a paragraph of stops is split in linear time") {
    for (const std::string piece : {".", ". ", "a.", "\"", ".\" ", "A. ", "...) ", "。"}) {
        std::string text;
        while (text.size() < 300'000) text += piece;
        std::size_t bytes = 0;
        for (const std::string& sentence : split(text)) bytes += sentence.size();
        CHECK(bytes <= text.size());
    }
}
