// Reads argument lists with CLI11; the only file that includes it and catches its exceptions.
#include "cli/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/did_you_mean.hpp"
#include "base/try.hpp"

namespace coracle::cli {

namespace {

// Prints our own usage line, as CLI11 would not know that options end at the image, and the groups without gaps.
class HelpFormatter : public CLI::Formatter {
public:
    explicit HelpFormatter(std::string_view usage) : usage_(usage) { column_width(34); }

    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
        std::string text = app->get_description() + "\n\nUsage: " + usage_ + "\n";
        for (const auto& group : app->get_groups()) {
            if (group != hidden_group) text += make_group(group, false, options_in(app, group));
        }
        return text + "\n" + app->get_footer();
    }

private:
    static std::vector<const CLI::Option*> options_in(const CLI::App* app, const std::string& group) {
        return app->get_options([&](const CLI::Option* option) { return option->get_group() == group; });
    }

    std::string usage_;
};

std::vector<std::string> split_names(std::string_view names) {
    std::vector<std::string> parts;
    while (!names.empty()) {
        const std::size_t comma = std::min(names.find(','), names.size());
        parts.emplace_back(names.substr(0, comma));
        names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return parts;
}

std::string long_name(const BoundOption& option) { return split_names(option.names).back(); }

bool has_name(const BoundOption& option, const std::string& word) {
    const auto names = split_names(option.names);
    return std::find(names.begin(), names.end(), word) != names.end();
}

bool looks_like_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

Error usage_error(std::string message, std::string hint) {
    return make_error(ErrorCode::invalid_request, std::move(message), std::move(hint)).at(Stage::request);
}

class ArgumentReader {
public:
    ArgumentReader(const CommandText& text, std::span<const BoundOption> options, OptionsEnd end)
        : options_(options), end_(end), app_(std::string(text.about)) {
        app_.formatter(std::make_shared<HelpFormatter>(text.usage));
        app_.footer(std::string(text.examples));
        end == OptionsEnd::at_first_word ? app_.prefix_command() : app_.allow_extras();
        for (const auto& option : options) declare(option);
        app_.set_help_flag("-h,--help", "Print this text")->group(std::string(global_group));
    }

    Result<ParsedWords> read(const std::vector<std::string>& args) {
        std::optional<Error> error = parse(args);
        if (wants_help_) return ParsedWords{.help = true, .help_text = app_.help(), .words = {}};
        auto rest = app_.remaining();
        // First: what an option without a value has swallowed makes no sense as its value.
        if (auto whole = refuse_empty_values(args, rest); !whole) error = std::move(whole).error();
        if (auto applied = apply_in_order(); !applied && !error) error = std::move(applied).error();
        if (error) return *std::move(error);
        TRY_OK(refuse_unknown_options(rest));
        const auto dashes = end_ == OptionsEnd::at_dashes ? find_dashes(rest) : rest.end();
        if (dashes != rest.end()) rest.erase(dashes);
        return ParsedWords{.help = false, .help_text = {}, .words = std::move(rest)};
    }

private:
    using Words = std::vector<std::string>;

    void declare(const BoundOption& option) {
        const std::string help(option.help);
        CLI::Option* made = nullptr;
        if (option.value.empty()) {
            made = app_.add_flag(std::string(option.names), help);
        } else {
            made = app_.add_option(std::string(option.names), CLI::callback_t(), help);
            made->type_size(1)->expected(1)->type_name(std::string(option.value));
        }
        made->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->group(std::string(option.group));
        rows_.emplace(made, &option);
    }

    std::optional<Error> parse(const Words& args) {
        try {
            app_.parse(Words(args.rbegin(), args.rend()));
        } catch (const CLI::CallForHelp&) {
            wants_help_ = true;
        } catch (const CLI::ParseError& error) {
            return usage_error(error.what(), "see --help");
        }
        return std::nullopt;
    }

    // CLI11 keeps one entry per value in the order of the command line.
    Result<> apply_in_order() {
        std::map<const CLI::Option*, std::size_t> used;
        Result<> first;
        for (const CLI::Option* made : app_.parse_order()) {
            const auto row = rows_.find(made);
            if (row == rows_.end()) continue;
            auto done = apply(*row->second, made->results().at(used[made]++));
            if (first && !done) first = std::move(done);
        }
        return first;
    }

    static Result<> apply(const BoundOption& option, const std::string& value) {
        return option.apply(value).within(long_name(option)).at(Stage::request);
    }

    // CLI11 takes the next word where a value is empty: "--entrypoint= busybox" would swallow the image.
    Result<> refuse_empty_values(const Words& args, const Words& rest) const {
        const auto own = args.begin() + static_cast<std::ptrdiff_t>(args.size() - rest.size());
        for (auto word = args.begin(); word != own; ++word) {
            if (!word->starts_with("--") || word->find('=') != word->size() - 1) continue;
            const std::string name = word->substr(0, word->size() - 1);
            return usage_error(name + ": no value after '='", "for an empty value write " + name + " ''");
        }
        return {};
    }

    static Words::iterator find_dashes(Words& rest) { return std::find(rest.begin(), rest.end(), "--"); }

    Result<> refuse_unknown_options(Words& rest) const {
        const auto last = end_ == OptionsEnd::at_dashes ? find_dashes(rest) : rest.begin() + (rest.empty() ? 0 : 1);
        const auto unknown = std::find_if(rest.begin(), last, looks_like_option);
        if (unknown == last) return {};
        apply_flags(unknown, rest.end());
        const std::string name = unknown->substr(0, unknown->find('='));
        return usage_error("unknown option '" + name + "'", base::did_you_mean(name, known_names(), "see --help"));
    }

    // The flags behind an unknown option: where its command begins cannot be told, so up to the first "--".
    void apply_flags(Words::iterator word, Words::iterator end) const {
        for (; word != end && *word != "--"; ++word) {
            for (const auto& option : options_) {
                if (option.value.empty() && has_name(option, *word)) (void)option.apply("true");
            }
        }
    }

    Words known_names() const {
        Words names{"--help"};
        for (const auto& option : options_) {
            for (auto& name : split_names(option.names)) names.push_back(std::move(name));
        }
        return names;
    }

    std::span<const BoundOption> options_;
    OptionsEnd end_;
    CLI::App app_;
    std::map<const CLI::Option*, const BoundOption*> rows_;
    bool wants_help_ = false;
};

}  // namespace

Result<ParsedWords> parse_words(const CommandText& text, std::span<const BoundOption> options, OptionsEnd end,
                                const std::vector<std::string>& args) {
    return ArgumentReader(text, options, end).read(args);
}

}  // namespace coracle::cli
