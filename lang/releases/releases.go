// Package releases lists the releases of OpenStack that kolla deploys. The list is in
// releases.yaml. The catalogue says how services differ between releases.
package releases

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"sigs.k8s.io/yaml"
)

// Release is a release of OpenStack, with facts about Kolla's images of it.
type Release struct {
	Name string `json:"release"` // "YEAR.1" or "YEAR.2"
	// Distros are the distributions that images are published for, as in their tags. The first is
	// the default.
	Distros []string `json:"distros"`
}

//go:embed releases.yaml
var source []byte

// All returns the releases, the oldest first. The caller must not change them.
var All = sync.OnceValue(func() []Release {
	var all []Release
	if err := yaml.UnmarshalStrict(source, &all); err != nil {
		panic(fmt.Sprintf("releases.yaml: %v", err)) // the file is embedded
	}
	return all
})

// Names returns the names of all releases, the oldest first.
func Names() []string {
	var names []string
	for _, r := range All() {
		names = append(names, r.Name)
	}
	return names
}

// Named returns a release. It is zero if kolla does not deploy the release.
func Named(name string) Release {
	if i := slices.IndexFunc(All(), func(r Release) bool { return r.Name == name }); i >= 0 {
		return All()[i]
	}
	return Release{}
}

// Distro returns the default distribution of the images. It is empty for the zero Release.
func (r Release) Distro() string {
	if len(r.Distros) == 0 {
		return ""
	}
	return r.Distros[0]
}
