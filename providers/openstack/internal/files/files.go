// Package files makes the ConfigMaps and Secrets with the config files of a service.
package files

import (
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/secret"
)

// Mounted is one key of a ConfigMap or Secret at a path.
type Mounted struct {
	Object   addrs.Object
	Secret   bool
	Key      string
	Path     string
	Mode     int      // permissions; 0: the default
	Deferred []string // reads that must happen before the object is known
}

// Files has the config files of a service in the form that pods mount, by their names: a
// ConfigMap with the public part, a Secret with the secret part, or only one of the two.
type Files map[string][]Mounted

// Render makes the config files that a pod of the service mounts. Each version is immutable, and
// its name has a hash of the content. A change creates a new version, and only the pods that
// mount the file restart.
func Render(s object.Service, secrets *secret.Set) (Files, []providers.Object, hcl.Diagnostics) {
	used := map[string]bool{}
	for pod := range object.Pods(s.Decl) {
		for _, name := range pod.Configs {
			used[name] = true
		}
		for _, init := range pod.Inits {
			for _, name := range init.Configs {
				used[name] = true
			}
		}
	}
	files := Files{}
	var objects []providers.Object
	var diags hcl.Diagnostics
	for _, decl := range s.Decl.Configs {
		if !used[decl.Name] {
			continue
		}
		mounted, made, wrong := file(s, secrets, decl)
		files[decl.Name] = mounted
		objects, diags = append(objects, made...), append(diags, wrong...)
	}
	return files, objects, diags
}

// file makes one config file.
func file(s object.Service, secrets *secret.Set, decl configs.ConfigFile) (mounted []Mounted, objects []providers.Object, diags hcl.Diagnostics) {
	for _, part := range Parts(decl) {
		base := s.Dashed(object.Label(decl.Name, true))
		if !part.Secret {
			o := ConfigMap(s, base, decl, part.Content)
			objects = append(objects, o)
			mounted = append(mounted, Mounted{Object: o.Address, Key: decl.Name, Path: part.Path, Mode: decl.Mode, Deferred: o.Deferred})
			continue
		}
		key := decl.Name
		if decl.SecretPath != "" {
			key = path.Base(part.Path)
			base += "-secrets"
		}
		made, wrong := secrets.Derived(s, base, map[string]configs.Text{key: part.Content}, secret.IntoFile(s.Decl.Definition, decl))
		o := &made[len(made)-1]
		o.From(object.Source(decl.Range))
		mounted = append(mounted, Mounted{Object: o.Address, Secret: true, Key: key, Path: part.Path, Mode: decl.Mode, Deferred: o.Deferred})
		objects, diags = append(objects, made...), append(diags, wrong...)
	}
	return mounted, objects, diags
}

// ConfigMap returns a ConfigMap with the content of a config file. base is its name without the
// hash.
func ConfigMap(s object.Service, base string, decl configs.ConfigFile, text configs.Text) providers.Object {
	content, later := text.Masked(), text.Deferred()
	o := s.Object(corev1.ConfigMap(object.Versioned(base, later, decl.Name, content), "").
		WithData(map[string]string{decl.Name: content}).
		WithImmutable(true))
	o.Deferred = later
	o.Family = s.Address("ConfigMap", base)
	o.From(object.Source(decl.Range))
	o.Places = places(decl)
	return o
}

// places maps each option of a file to its place in the user's configuration. Options from the
// catalogue have no entry.
func places(decl configs.ConfigFile) map[string]string {
	out := map[string]string{}
	for _, option := range decl.Options {
		name := option.Key
		if option.Section != "" {
			name = "[" + option.Section + "] " + option.Key
		}
		if at := option.Origin.Range; !strings.HasPrefix(at.Filename, configs.CatalogueDir) {
			out[name] = object.Source(at)
		}
	}
	return out
}
