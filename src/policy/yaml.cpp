// Copies yaml-cpp's nodes into plain values.
#include "policy/yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/try.hpp"
#include "coracle/units.hpp"

namespace coracle::policy {

namespace {

Error wrong(int line, const std::string& what) {
    return make_error(ErrorCode::invalid_request, "line " + std::to_string(line) + ": " + what);
}

// Bounded, because an alias may stand for its anchor's whole tree, again and again.
class Copier {
public:
    Result<YamlValue> copy(const YAML::Node& node, int depth) {
        YamlValue value;
        value.line = node.Mark().line + 1;
        if (++values_ > 10'000) return wrong(value.line, "more than 10000 values");
        if (depth > 32) return wrong(value.line, "nested deeper than 32 levels");
        switch (node.Type()) {
            case YAML::NodeType::Undefined:
            case YAML::NodeType::Null: return value;
            case YAML::NodeType::Scalar: return copy_scalar(node, std::move(value));
            case YAML::NodeType::Sequence: return copy_list(node, std::move(value), depth);
            case YAML::NodeType::Map: return copy_map(node, std::move(value), depth);
        }
        return value;
    }

private:
    static Result<YamlValue> copy_scalar(const YAML::Node& node, YamlValue value) {
        value.kind = YamlValue::Kind::scalar;
        value.scalar = node.Scalar();
        return value;
    }

    Result<YamlValue> copy_list(const YAML::Node& node, YamlValue value, int depth) {
        value.kind = YamlValue::Kind::list;
        for (const YAML::Node& element : node) {
            TRY(YamlValue copied, copy(element, depth + 1));
            value.list.push_back(std::move(copied));
        }
        return value;
    }

    Result<YamlValue> copy_map(const YAML::Node& node, YamlValue value, int depth) {
        value.kind = YamlValue::Kind::map;
        for (const auto& member : node) {
            const int line = member.first.Mark().line + 1;
            if (!member.first.IsScalar()) return wrong(line, "a key that is not a word");
            const std::string& key = member.first.Scalar();
            const bool twice =
                std::any_of(value.map.begin(), value.map.end(), [&](const auto& m) { return m.key == key; });
            if (twice) return wrong(line, "'" + key + "' is there twice");
            TRY(YamlValue copied, copy(member.second, depth + 1));
            copied.line = line;
            value.map.push_back({key, std::move(copied)});
        }
        return value;
    }

    int values_ = 0;
};

}  // namespace

Result<YamlValue> parse_yaml(const std::string& text) {
    if (text.size() > (1_MiB).count) return make_error(ErrorCode::invalid_request, "larger than 1m");
    try {
        return Copier().copy(YAML::Load(text), 0);
    } catch (const YAML::Exception& exception) {
        return wrong(exception.mark.line + 1, exception.msg);
    } catch (const std::exception& exception) {
        return make_error(ErrorCode::invalid_request, std::string("not readable as YAML: ") + exception.what());
    }
}

}  // namespace coracle::policy
