// Package patch applies the patches of services to the objects that kolla makes.
package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/security"
)

// Patches applies the patches of all services, and knows which of them matched an object.
type Patches struct {
	levels  security.Levels
	matched map[string]bool     // see key
	warned  map[string]bool     // fields whose patches have a warning
	names   map[string][]string // KIND/NAME of each object of a service, without hashes
}

// New returns Patches that have not been applied yet. levels limit the powers of pods.
func New(levels security.Levels) *Patches {
	return &Patches{levels: levels, matched: map[string]bool{}, warned: map[string]bool{}, names: map[string][]string{}}
}

// Inputs returns the patches of an object as JSON. They are inputs of a Job, so a changed patch
// starts the job again.
func Inputs(s *configs.Service, kind, name string) []string {
	var out []string
	for _, p := range s.Patches {
		if p.Matches(kind, name) {
			out = append(out, object.JSON(p.Object))
		}
	}
	return out
}

// key identifies a patch. A patch from the cloud block has one key for all services.
func key(s *configs.Service, p configs.Patch) string {
	if p.Layer == "cloud" {
		return p.Label.String()
	}
	return s.Name + " " + p.Label.String()
}

// Apply merges the patches of a service into one of its objects.
func (p *Patches) Apply(s *configs.Service, o *providers.Object) hcl.Diagnostics {
	kind, name := o.Address.Kind, cmp.Or(o.Family.Name, o.Address.Name)
	target := kind + "/" + name
	p.names[s.Name] = append(p.names[s.Name], target)
	var diags hcl.Diagnostics
	own := o.Manifest.Object
	for _, patch := range s.Patches {
		if !patch.Matches(kind, name) {
			continue
		}
		p.matched[key(s, patch)] = true
		typed, err := providers.BuiltinTypes().ObjectToTyped(o.Manifest)
		if err != nil {
			panic(err) // kolla makes objects of Kubernetes' own kinds
		}
		m := merging{patch: patch, target: target, types: typed.Schema(), undecided: s.Undecided, warned: p.warned}
		content, _ := m.merge(typed.TypeRef(), layers{own, o.Manifest.Object, patch.Object}, "").(map[string]any)
		patched := &unstructured.Unstructured{Object: content}
		diags = append(append(diags, m.diags...), p.levels.CheckPatch(patch, kind, name, o.Manifest, patched)...)
		o.Manifest = patched
	}
	return diags
}

// Check reports patches in the definition and in the service that match no object. All objects
// of the service must have been patched.
func (p *Patches) Check(s *configs.Service) hcl.Diagnostics {
	if s.Undecided {
		return nil
	}
	var diags hcl.Diagnostics
	names := p.names[s.Name]
	for _, patch := range s.Patches {
		if patch.Layer == "cloud" || p.matched[key(s, patch)] {
			continue
		}
		p.matched[key(s, patch)] = true
		wanted := patch.Kind + "/" + patch.Name
		diags = append(diags, object.Error(patch.Label, fmt.Sprintf("There is no object %q", wanted), strings.TrimSpace(fmt.Sprintf("%s Service %q has: %s.", words.DidYouMean(wanted, names), s.Name, listed(names)))))
	}
	return diags
}

// CheckDefaults warns about patches in the cloud block that match no object of any service. All
// objects of all services must have been patched.
func (p *Patches) CheckDefaults(services []configs.Service) hcl.Diagnostics {
	var names []string
	for _, s := range services {
		if s.Undecided {
			return nil
		}
		names = append(names, p.names[s.Name]...)
	}
	slices.Sort(names)
	var diags hcl.Diagnostics
	for i := range services {
		for _, patch := range services[i].Patches {
			if patch.Layer != "cloud" || p.matched[key(&services[i], patch)] {
				continue
			}
			p.matched[key(&services[i], patch)] = true
			wanted := patch.Kind + "/" + patch.Name
			diags = append(diags, object.Warning(patch.Label, "Default without effect", strings.TrimSpace(fmt.Sprintf("No service of this cloud has an object %q.%s", wanted, words.DidYouMean(wanted, names)))))
		}
	}
	return diags
}

// listed joins all names, sorted and without duplicates.
func listed(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}
