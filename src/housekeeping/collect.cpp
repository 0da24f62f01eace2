// Implements the collection: names go first, then manifests that nobody leases, then what nobody needs any more.
#include "housekeeping/collect.hpp"

#include <algorithm>
#include <map>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "housekeeping/trash.hpp"
#include "image/image.hpp"
#include "oci/manifest.hpp"
#include "oci/reference.hpp"

namespace coracle::housekeeping {

namespace {

namespace paths = content::paths;

// How long an intake is waited for before gc gives up.
constexpr auto gc_patience = std::chrono::seconds(10);

// "blobs/sha256/<hex>" -> "sha256:<hex>".
Result<oci::Digest> digest_at(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return oci::Digest::parse(path.substr(paths::blobs.size() + 1, slash - paths::blobs.size() - 1) + ":" +
                              path.substr(slash + 1));
}

// The bytes that items of `holders` take together, each once; kept right while holders are dropped.
class Total {
public:
    Total(const std::vector<Item>& items, const std::vector<Holder>& holders) {
        for (const Item& item : items) sizes_[item.path] = item.bytes;
        for (const Holder& holder : holders) add(holder);
    }
    std::uint64_t bytes() const { return bytes_; }
    void drop(const Holder& holder) {
        for (const std::string& path : holder.needs) {
            if (--users_[path] == 0) bytes_ -= sizes_[path];
        }
    }

private:
    void add(const Holder& holder) {
        for (const std::string& path : holder.needs) {
            if (++users_[path] == 1) bytes_ += sizes_[path];
        }
    }
    std::map<std::string, std::uint64_t> sizes_;
    std::map<std::string, int> users_;
    std::uint64_t bytes_ = 0;
};

// Moves the holders that the request gives up out of `holders`. What a run uses now is used.
std::vector<Holder> give_up(const GcRequest& request, const std::vector<Item>& items, std::vector<Holder>& holders) {
    std::sort(holders.begin(), holders.end(),
              [](const Holder& a, const Holder& b) { return a.last_used < b.last_used; });
    Total total(items, holders);
    const std::time_t now = std::time(nullptr);
    const auto is_too_old = [&](const Holder& holder) {
        return request.older_than && std::chrono::seconds(now - holder.last_used) > *request.older_than;
    };
    std::vector<Holder> dropped;
    std::vector<Holder> kept;
    for (Holder& holder : holders) {
        const bool too_much = request.keep_size && total.bytes() > request.keep_size->count;
        if (holder.leased || (!is_too_old(holder) && !too_much)) {
            kept.push_back(std::move(holder));
            continue;
        }
        total.drop(holder);
        dropped.push_back(std::move(holder));
    }
    holders = std::move(kept);
    return dropped;
}

// One collection, step by step.
class Collector {
public:
    Collector(const content::Store& store, bool dry_run) : store_(store), dry_run_(dry_run) {}

    Result<RemovalReport> run(const Owner& owner, const GcRequest& request) {
        TRY(items_, take_inventory(store_));
        TRY_OK(measure(store_, owner, items_));
        TRY(holders_, named_holders(store_));
        for (const Holder& holder : holders_) {
            if (!holder.damage.empty())
                warn("image '" + name_of(holder.names.front()) + "' is damaged: " + holder.damage);
        }
        TRY_OK(drop_names(give_up(request, items_, holders_)));
        if (!dry_run_) TRY_OK(make_trash());
        TRY_OK(move_manifests());
        TRY_OK(move_rest());
        return std::move(report_);
    }
    // After the locks are gone.
    std::optional<Trash>& trash() { return trash_; }

private:
    void warn(std::string text) { report_.warnings.push_back(std::move(text)); }

    Result<> make_trash() {
        TRY(Trash trash, Trash::create(store_));
        trash_.emplace(std::move(trash));
        return {};
    }

    Result<> drop_names(const std::vector<Holder>& dropped) {
        std::vector<oci::Descriptor> entries;
        for (const Holder& holder : dropped) entries.insert(entries.end(), holder.names.begin(), holder.names.end());
        for (const oci::Descriptor& entry : entries) report_.removed.push_back({"name", name_of(entry), 0});
        return dry_run_ || entries.empty() ? Result<>() : store_.untag(entries);
    }

    // A manifest without a name goes first, and only where nobody leases it: from then on nobody can.
    Result<> move_manifests() {
        for (const Item& item : items_) {
            if (item.kind != Kind::blob || item.bytes > oci::max_document.count || is_needed(holders_, item.path))
                continue;
            TRY(oci::Digest digest, digest_at(item.path));
            const auto text = store_.read_blob(digest, item.bytes);
            if (!text || !oci::parse_manifest(text.value())) continue;
            TRY(const auto alone, content::Lease::take_alone(store_.dir(), digest));
            if (alone) {
                if (trash_) TRY_OK(trash_->take(item.path));
                continue;
            }
            report_.in_use.push_back(digest.str());
            TRY(Holder holder, holder_of(store_, {.media_type = {},
                                                  .digest = digest,
                                                  .size = item.bytes,
                                                  .platform = {},
                                                  .ref_name = {},
                                                  .full_name = {}}));
            holders_.push_back(std::move(holder));
        }
        return {};
    }

    Result<> move_rest() {
        for (const Item& item : items_) {
            if (is_needed(holders_, item.path)) continue;
            if (trash_) TRY_OK(trash_->take(item.path));
            report_.removed.push_back({std::string(to_string(item.kind)), item.path, item.bytes});
        }
        return {};
    }

    const content::Store& store_;
    bool dry_run_;
    std::vector<Item> items_;
    std::vector<Holder> holders_;
    std::optional<Trash> trash_;
    RemovalReport report_;
};

Result<RemovalReport> collect_within(const content::Store& store, const Owner& owner, const GcRequest& request,
                                     std::chrono::milliseconds patience) {
    Collector collector(store, request.dry_run);
    RemovalReport report;
    {
        TRY(const auto lock, store.begin_removal(patience));
        TRY(report, collector.run(owner, request));
    }
    if (!collector.trash()) return report;
    if (const auto gone = collector.trash()->empty(owner); !gone) report.warnings.push_back(gone.error().message);
    return report;
}

// The entries that a reference means: one name, or all names of a digest.
Result<std::vector<oci::Descriptor>> meant_by(const content::Store& store, const std::string& ref) {
    TRY(oci::Descriptor entry, image::find(store, ref));
    TRY(const oci::Reference reference, oci::parse_reference(ref));
    if (!reference.digest) return std::vector{std::move(entry)};
    TRY(auto entries, store.tags());
    std::erase_if(entries, [&](const oci::Descriptor& other) { return other.digest != entry.digest; });
    return entries;
}

}  // namespace

Result<RemovalReport> collect(const content::Store& store, const Owner& owner, const GcRequest& request) {
    return collect_within(store, owner, request, gc_patience).within("gc");
}

Result<RemovalReport> remove_names(const content::Store& store, const Owner& owner,
                                   const std::vector<std::string>& refs) {
    std::vector<oci::Descriptor> entries;
    std::vector<Removed> names;
    for (const std::string& ref : refs) {
        TRY(const auto meant, meant_by(store, ref));
        for (const oci::Descriptor& entry : meant) {
            entries.push_back(entry);
            names.push_back({"name", name_of(entry), 0});
        }
    }
    TRY_OK(store.untag(entries));
    auto collected = collect_within(store, owner, {}, std::chrono::milliseconds(0));
    RemovalReport report;
    if (collected) {
        report = std::move(collected).value();
    } else {
        report.warnings.push_back("the names are gone, their content stays: " + collected.error().message + "; " +
                                  collected.error().hint);
    }
    report.removed.insert(report.removed.begin(), names.begin(), names.end());
    return report;
}

}  // namespace coracle::housekeeping
