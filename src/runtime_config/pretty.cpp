// Prints a config.json for readers: what fits into a line stands in one line, long lists of words fill their lines.
#include <cstddef>
#include <string_view>

#include "runtime_config/parts.hpp"

namespace coracle::runtime_config {

namespace {

constexpr std::size_t width = 120;
constexpr std::size_t step = 2;

std::string inline_text(const Json& value) {
    if (!value.is_structured() || value.empty()) return value.dump();
    std::string text;
    for (const auto& [key, element] : value.items()) {
        if (!text.empty()) text += ", ";
        if (value.is_object()) text += Json(key).dump() + ": ";
        text += inline_text(element);
    }
    return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

class Printer {
public:
    // `lead` characters of the line are taken already: the key before the value.
    void print(const Json& value, std::size_t indent, std::size_t lead) {
        const std::string line = inline_text(value);
        if (!value.is_structured() || value.empty() || indent + lead + line.size() < width) {
            text_ += line;
        } else if (value.is_object()) {
            print_object(value, indent);
        } else if (is_plain(value)) {
            fill_lines(value, indent);
        } else {
            print_array(value, indent);
        }
    }
    std::string take() && { return std::move(text_); }

private:
    static bool is_plain(const Json& array) {
        for (const Json& element : array) {
            if (element.is_structured()) return false;
        }
        return true;
    }

    void new_line(std::size_t indent) { text_ += "\n" + std::string(indent, ' '); }

    void print_object(const Json& object, std::size_t indent) {
        std::string_view separator = "{";
        for (const auto& [key, value] : object.items()) {
            text_ += separator;
            separator = ",";
            new_line(indent + step);
            const std::string label = Json(key).dump() + ": ";
            text_ += label;
            print(value, indent + step, label.size());
        }
        new_line(indent);
        text_ += "}";
    }

    void print_array(const Json& array, std::size_t indent) {
        std::string_view separator = "[";
        for (const Json& element : array) {
            text_ += separator;
            separator = ",";
            new_line(indent + step);
            print(element, indent + step, 0);
        }
        new_line(indent);
        text_ += "]";
    }

    void fill_lines(const Json& array, std::size_t indent) {
        text_ += "[";
        std::size_t column = width;
        for (std::size_t i = 0; i < array.size(); ++i) {
            const std::string word = array[i].dump() + (i + 1 < array.size() ? "," : "");
            if (column + 1 + word.size() > width) {
                new_line(indent + step);
                column = indent + step;
            } else {
                text_ += " ";
                ++column;
            }
            text_ += word;
            column += word.size();
        }
        new_line(indent);
        text_ += "]";
    }

    std::string text_;
};

}  // namespace

std::string pretty_text(const Json& value) {
    Printer printer;
    printer.print(value, 0, 0);
    return std::move(printer).take() + "\n";
}

}  // namespace coracle::runtime_config
