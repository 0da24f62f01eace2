// Implements the reading of challenges as a walk over the header.
#include "registry/challenge.hpp"

#include <algorithm>

namespace coracle::registry {

namespace {

constexpr std::size_t longest_header = 8192;
constexpr std::string_view spaces = " \t";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_token_char(char c) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    const char small = lower(c);
    return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || marks.find(c) != std::string_view::npos;
}

class Walk {
public:
    explicit Walk(std::string_view text) : rest_(text) {}

    bool at_end() const { return rest_.empty(); }
    void skip(std::string_view chars) { rest_.remove_prefix(std::min(rest_.find_first_not_of(chars), rest_.size())); }
    bool take(char wanted) {
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    // A token in lower case; empty where there is none.
    std::string token() {
        std::string word;
        while (!rest_.empty() && is_token_char(rest_.front())) {
            word += lower(rest_.front());
            rest_.remove_prefix(1);
        }
        return word;
    }
    // After '=': a quoted string or what stands before the next comma or space.
    std::string value() {
        std::string text;
        if (!take('"')) {
            const std::size_t end = std::min(rest_.find_first_of(" \t,"), rest_.size());
            text = rest_.substr(0, end);
            rest_.remove_prefix(end);
            return text;
        }
        while (!rest_.empty() && !take('"')) {
            if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
            text += rest_.front();
            rest_.remove_prefix(1);
        }
        return text;
    }
    void drop() {
        if (!rest_.empty()) rest_.remove_prefix(1);
    }

private:
    std::string_view rest_;
};

// A challenge being read, its scheme known or not.
struct Draft {
    std::string scheme;
    Challenge challenge;
};

void set(Challenge& challenge, const std::string& name, std::string value) {
    if (name == "realm") challenge.realm = std::move(value);
    if (name == "service") challenge.service = std::move(value);
}

void finish(const Draft& draft, std::vector<Challenge>& found) {
    Challenge challenge = draft.challenge;
    if (draft.scheme == "basic") {
        challenge.scheme = Challenge::Scheme::basic;
        found.push_back(challenge);
    } else if (draft.scheme == "bearer" && !challenge.realm.empty()) {
        challenge.scheme = Challenge::Scheme::bearer;
        found.push_back(challenge);
    }
}

}  // namespace

std::vector<Challenge> parse_challenges(std::string_view header) {
    std::vector<Challenge> found;
    if (header.size() > longest_header) return found;
    Draft draft;
    for (Walk walk(header);;) {
        walk.skip(" \t,");
        if (walk.at_end()) break;
        std::string word = walk.token();
        walk.skip(spaces);
        if (word.empty()) {
            walk.drop();  // a stray character: the rest may still be readable
        } else if (walk.take('=')) {
            walk.skip(spaces);
            set(draft.challenge, word, walk.value());
        } else {
            finish(draft, found);
            draft = Draft{.scheme = std::move(word), .challenge = {}};
        }
    }
    finish(draft, found);
    return found;
}

std::optional<Challenge> choose_challenge(const std::vector<std::string>& headers) {
    std::optional<Challenge> best;
    for (const std::string& header : headers) {
        for (Challenge& challenge : parse_challenges(header)) {
            if (!best || (best->scheme == Challenge::Scheme::basic && challenge.scheme == Challenge::Scheme::bearer))
                best = std::move(challenge);
        }
    }
    return best;
}

}  // namespace coracle::registry
