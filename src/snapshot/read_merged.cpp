// Implements the walk over the merged layers, one path component at a time.
#include "snapshot/read_merged.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <memory>

#include "base/files.hpp"
#include "base/try.hpp"
#include "layer/entry_path.hpp"
#include "layer/whiteouts.hpp"

namespace coracle::snapshot {

namespace {

constexpr int most_links = 40;  // as the kernel's MAXSYMLINKS

// One directory of the image: the directories of the layers that make it up, topmost first.
using Merged = std::vector<base::UniqueFd>;

// What a name is in a merged directory.
struct Found {
    enum class Kind { nothing, directory, link, file } kind = Kind::nothing;
    Merged directory;
    std::string target;                  // of a link
    const base::UniqueFd* in = nullptr;  // the directory that holds the file
};

bool is_opaque(const base::UniqueFd& dir) {
    for (const auto mark : {layer::OpaqueMark::trusted, layer::OpaqueMark::user}) {
        char value = 0;
        if (::fgetxattr(dir.get(), layer::xattr_name(mark), &value, 1) == 1 && value == 'y') return true;
    }
    return false;
}

Error failed(std::string_view act, const std::string& name) {
    return os_error(std::string(act) + " '" + layer::printable(name) + "'", errno);
}

Result<std::string> read_link(const base::UniqueFd& dir, const std::string& name) {
    std::array<char, 4097> target{};
    const ssize_t length = ::readlinkat(dir.get(), name.c_str(), target.data(), target.size());
    if (length < 0) return failed("read link", name);
    return std::string(target.data(), static_cast<std::size_t>(length));
}

// As overlayfs looks up: the topmost entry counts; directories merge downwards until something else, a whiteout or an
// opaque one ends it.
Result<Found> look_up(const Merged& merged, const std::string& name) {
    Found found;
    for (const base::UniqueFd& dir : merged) {
        struct stat status {};
        if (::fstatat(dir.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) continue;
            return failed("stat", name);
        }
        if (!S_ISDIR(status.st_mode)) {
            const bool whiteout = S_ISCHR(status.st_mode) && status.st_rdev == ::makedev(0, 0);
            if (whiteout || found.kind == Found::Kind::directory) break;
            found.in = &dir;
            found.kind = S_ISLNK(status.st_mode) ? Found::Kind::link : Found::Kind::file;
            if (found.kind == Found::Kind::link) {
                TRY(found.target, read_link(dir, name));
            }
            break;
        }
        found.kind = Found::Kind::directory;
        TRY(base::UniqueFd inner, base::open_file_at(dir.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        found.directory.push_back(std::move(inner));
        if (is_opaque(found.directory.back())) break;
    }
    return found;
}

Result<std::string> read_regular(const base::UniqueFd& dir, const std::string& name, Bytes bound) {
    TRY(const base::UniqueFd file, base::open_file_at(dir.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failed("stat", name);
    if (!S_ISREG(status.st_mode)) {
        return make_error(ErrorCode::corrupt, "'" + layer::printable(name) + "' is not a regular file");
    }
    return base::read_all(file.get(), bound, layer::printable(name));
}

std::deque<std::string> components_of(const std::string& path) {
    std::deque<std::string> parts;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t slash = std::min(path.find('/', at), path.size());
        if (slash > at) parts.push_back(path.substr(at, slash - at));
        at = slash + 1;
    }
    return parts;
}

class Walk {
public:
    explicit Walk(Merged root) { trail_.push_back(std::move(root)); }

    Result<std::optional<std::string>> read(const std::string& path, Bytes bound) {
        pending_ = components_of(path);
        while (!pending_.empty()) {
            const std::string name = std::move(pending_.front());
            pending_.pop_front();
            if (name == ".") continue;
            if (name == "..") {
                if (trail_.size() > 1) trail_.pop_back();  // the root's parent is the root
                continue;
            }
            TRY(Found found, look_up(trail_.back(), name));
            switch (found.kind) {
                case Found::Kind::nothing: return std::optional<std::string>();
                case Found::Kind::directory: trail_.push_back(std::move(found.directory)); break;
                case Found::Kind::link: TRY_OK(follow(found.target)); break;
                case Found::Kind::file: return at_file(*found.in, name, bound);
            }
        }
        return make_error(ErrorCode::corrupt, "it is a directory");
    }

private:
    Result<> follow(const std::string& target) {
        if (++links_ > most_links || pending_.size() > 4096) {
            return make_error(ErrorCode::corrupt, "too many symbolic links");
        }
        if (target.starts_with('/')) trail_.resize(1);
        auto parts = components_of(target);
        pending_.insert(pending_.begin(), parts.begin(), parts.end());
        return {};
    }

    Result<std::optional<std::string>> at_file(const base::UniqueFd& dir, const std::string& name, Bytes bound) const {
        if (!pending_.empty()) return std::optional<std::string>();  // a file where a directory would be needed
        TRY(std::string text, read_regular(dir, name, bound));
        return std::optional<std::string>(std::move(text));
    }

    std::vector<Merged> trail_;  // from the root to where the walk stands
    std::deque<std::string> pending_;
    int links_ = 0;
};

Result<Merged> open_layers(const std::vector<std::filesystem::path>& layers) {
    Merged root;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
        TRY(base::UniqueFd dir, base::open_dir(*layer));
        root.push_back(std::move(dir));
        if (is_opaque(root.back())) break;
    }
    return root;
}

}  // namespace

Result<std::optional<std::string>> read_merged(const std::vector<std::filesystem::path>& layers,
                                               const std::string& path, Bytes bound) {
    TRY(Merged root, open_layers(layers));
    return Walk(std::move(root)).read(path, bound).within("image file '" + layer::printable(path) + "'");
}

}  // namespace coracle::snapshot
