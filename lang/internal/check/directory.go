package check

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// UnusedOverrides warns of files and folders of the config directory that override nothing.
func UnusedOverrides(whole *Whole, d *settings.Directory) {
	if d == nil || len(whole.Services) == 0 {
		return
	}
	first := firstByName(whole)
	for _, folder := range d.Folders {
		top, below, nested := strings.Cut(folder, "/")
		switch s := first[top]; {
		case s == nil && !nested:
			known := slices.Sorted(maps.Keys(first))
			unusedOverride(whole, d, folder, "%s", words.WithHint(words.DidYouMean(top, known), fmt.Sprintf("No service of this cloud, and no definition of one, is called %q. There are: %s.", top, words.Sorted(known))))
		case s != nil && nested:
			unusedOverride(whole, d, folder, "For kolla-ansible such a directory mostly holds what is other on one host, here %q. With kolla all pods of a service read the same files: put what is for all into %s/FILE. For nodes that need other values, declare a second service with the same definition and a role of its own.",
				below, path.Join(d.Given, top))
		}
	}
	for _, f := range d.Files {
		folder, name := path.Split(f.Path)
		switch s := first[strings.TrimSuffix(folder, "/")]; {
		case f.Used || folder != "" && s == nil:
		case folder != "":
			unusedServiceFile(whole, d, f, s, name)
		default:
			unusedRootFile(whole, d, f)
		}
	}
}

// unusedOverride warns of a file or folder of the config directory.
func unusedOverride(whole *Whole, d *settings.Directory, within, detail string, args ...any) {
	whole.Report.Warn(d.At, "Override without effect", "%s is not used. %s", path.Join(d.Given, within), fmt.Sprintf(detail, args...))
}

// firstByName finds the first service for each folder of the config directory.
func firstByName(whole *Whole) map[string]*Service {
	out := map[string]*Service{}
	for i := range whole.Services {
		s := &whole.Services[i]
		for _, name := range s.Folders {
			if out[name] == nil {
				out[name] = s
			}
		}
	}
	return out
}

// unusedServiceFile warns of a file in the folder of a service that has no such config file.
func unusedServiceFile(whole *Whole, d *settings.Directory, f *settings.File, s *Service, name string) {
	known := s.Definition.Labels("config")
	for _, workload := range s.Definition.Labels("workload") {
		stem := strings.TrimSuffix(name, ".conf")
		if stem != name && (stem == workload || stem == s.Config.Definition+"-"+workload || stem == s.Config.Name+"-"+workload) {
			unusedOverride(whole, d, f.Path, "For kolla-ansible it is for one container. Here all workloads of a service read the same files. The files of service %q are: %s.", s.Config.Name, words.Sorted(known))
			return
		}
	}
	unusedOverride(whole, d, f.Path, "%s", words.WithHint(words.DidYouMean(name, known), fmt.Sprintf("Service %q has no file %q. Its files are: %s.", s.Config.Name, name, words.Sorted(known))))
}

// unusedRootFile warns of a file outside of folders that no service has.
func unusedRootFile(whole *Whole, d *settings.Directory, f *settings.File) {
	known := []string{settings.GlobalFile}
	var raw []string // services that have it as a raw file
	for i := range whole.Services {
		s := &whole.Services[i]
		for _, folder := range s.Folders {
			known = append(known, folder+".conf")
		}
		for _, config := range s.Config.Configs {
			if config.Format != "raw" {
				known = append(known, config.Name)
			} else if config.Name == f.Path {
				raw = append(raw, s.Config.Name)
			}
		}
	}
	slices.Sort(known)
	switch {
	case len(raw) > 0:
		unusedOverride(whole, d, f.Path, "It would replace a whole file, and has to say of which service: put it into %s.", path.Join(d.Given, raw[0]))
	case slices.Contains(known, f.Path):
		unusedOverride(whole, d, f.Path, "No service that it is for has an ini file NAME.conf.")
	default:
		near := cmp.Or(words.DidYouMean(f.Path, slices.Compact(known)), " Files of one service stand in SERVICE/FILE.")
		unusedOverride(whole, d, f.Path, "%s", words.WithHint(near, "No service of this cloud has a file of that name."))
	}
}

// Images warns of patterns in the cloud's defaults that match no image of a service.
func Images(whole *Whole, cloud *source.Block) {
	patterns := whole.Config.Cloud.Images
	used := map[string]bool{}
	for name := range whole.Images {
		used[blocks.ImagePattern(patterns, name)] = true
	}
	for _, key := range slices.Sorted(maps.Keys(patterns)) {
		if !used[key] && len(whole.Images) > 0 && !whole.Incomplete {
			whole.Report.Warn(cloud.AttributeRange("images"), "Default without effect", "No service of this cloud runs an image whose name matches %q.%s", key, words.DidYouMean(key, slices.Sorted(maps.Keys(whole.Images))))
		}
	}
}
