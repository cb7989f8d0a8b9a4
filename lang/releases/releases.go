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

// facts are the content of releases.yaml.
var facts = sync.OnceValue(func() (f struct {
	Releases   []Release         `json:"releases"`
	Processors map[string]string `json:"processors"` // by distribution
},
) {
	if err := yaml.UnmarshalStrict(source, &f); err != nil {
		panic(fmt.Sprintf("releases.yaml: %v", err)) // the file is embedded
	}
	return f
})

// All returns the releases, the oldest first. The caller must not change them.
func All() []Release { return facts().Releases }

// Processors returns the x86-64 level that a distribution needs, such as "x86-64-v3". It is empty for the first level, and if
// the distribution is not known.
func Processors(distro string) string { return facts().Processors[distro] }

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
