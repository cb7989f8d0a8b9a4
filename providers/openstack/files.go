package openstack

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// file is a config file of a service as pods mount it: the public part as a
// ConfigMap, the secret part as a Secret, or only one of them.
type file struct {
	decl    configs.ConfigFile
	sources []mounted
}

// mounted is one key of a ConfigMap or Secret at a path.
type mounted struct {
	object   addrs.Object
	secret   bool
	key      string
	path     string
	mode     int      // permissions; 0: what is usual
	deferred []string // what has to be read before the object is known
}

// files renders the config files that something in the service reads. Versions
// of them are immutable, and their names carry a hash of the content: a change
// makes a new one, and exactly those that mount it roll.
func (s *service) files() {
	used := map[string]bool{}
	for pod := range pods(s.decl) {
		for _, name := range pod.Configs {
			used[name] = true
		}
		for _, init := range pod.Inits {
			for _, name := range init.Configs {
				used[name] = true
			}
		}
	}
	for _, decl := range s.decl.Configs {
		if used[decl.Name] {
			s.configs[decl.Name] = s.file(decl)
		}
	}
}

func (s *service) file(decl configs.ConfigFile) file {
	f := file{decl: decl}
	public, secret := split(decl)
	base := s.dashed(label(decl.Name, true))
	if secret == nil || decl.SecretPath != "" {
		o := s.configMap(base, decl, public)
		s.add(o)
		f.sources = append(f.sources, mounted{object: o.Address, key: decl.Name, path: decl.Path, mode: decl.Mode, deferred: o.Deferred})
	}
	if secret == nil {
		return f
	}
	key, at := decl.Name, decl.Path
	if decl.SecretPath != "" {
		key, at = path.Base(decl.SecretPath), decl.SecretPath
		base += "-secrets"
	}
	o := s.derived(base, map[string]configs.Text{key: secret}, intoFile(s.decl.Definition, decl))
	o.From(source(decl.Range))
	s.add(o)
	f.sources = append(f.sources, mounted{object: o.Address, secret: true, key: key, path: at, mode: decl.Mode, deferred: o.Deferred})
	return f
}

func (s *service) configMap(base string, decl configs.ConfigFile, text configs.Text) providers.Object {
	content, later := text.Masked(), text.Deferred()
	o := s.object(corev1.ConfigMap(versioned(base, later, decl.Name, content), "").
		WithData(map[string]string{decl.Name: content}).
		WithImmutable(true))
	o.Deferred = later
	o.Family = s.address("ConfigMap", base)
	o.From(source(decl.Range))
	o.Places = places(decl)
	return o
}

// places are where the values of a file stand in the user's own files.
func places(decl configs.ConfigFile) map[string]string {
	out := map[string]string{}
	for _, option := range decl.Options {
		name := option.Key
		if option.Section != "" {
			name = "[" + option.Section + "] " + option.Key
		}
		if at := option.Origin.Range; !strings.HasPrefix(at.Filename, configs.CatalogueDir) {
			out[name] = source(at)
		}
	}
	return out
}

// versioned is a name that carries a hash of the content. Of content that is not known
// yet there is no hash: what has to be read first says that.
func versioned(base string, deferred []string, content ...string) string {
	if len(deferred) > 0 {
		return base + "-" + providers.UnknownVersion
	}
	return base + "-" + providers.Hash(content...)
}

// split renders a file into its public and its secret part; secret is nil where
// nothing is secret. A file that cannot be split is secret as a whole.
func split(decl configs.ConfigFile) (public, secret configs.Text) {
	if decl.Format == "raw" {
		if decl.Content.Secret() {
			return nil, decl.Content
		}
		return decl.Content, nil
	}
	confidential := func(o configs.Option) bool { return slices.ContainsFunc(o.Values, configs.Text.Secret) }
	switch {
	case !slices.ContainsFunc(decl.Options, confidential):
		return ini(decl.Options), nil
	case decl.SecretPath == "":
		return nil, ini(decl.Options)
	}
	var open, hidden []configs.Option
	for _, option := range decl.Options {
		if confidential(option) {
			hidden = append(hidden, option)
		} else {
			open = append(open, option)
		}
	}
	return ini(open), ini(hidden)
}

// FilePart is a config file as a service reads it, or one of the two files that it is
// split into.
type FilePart struct {
	Path    string
	Content configs.Text
	Secret  bool // it is kept in a Secret
}

// FileParts renders a config file: the public part first, if there is one.
func FileParts(decl configs.ConfigFile) []FilePart {
	public, secret := split(decl)
	switch {
	case secret == nil:
		return []FilePart{{Path: decl.Path, Content: public}}
	case decl.SecretPath == "":
		return []FilePart{{Path: decl.Path, Content: secret, Secret: true}}
	}
	return []FilePart{{Path: decl.Path, Content: public}, {Path: decl.SecretPath, Content: secret, Secret: true}}
}

// ini writes options in the form that oslo.config and most others read. Options
// of one section follow each other; those without a section come first.
func ini(options []configs.Option) configs.Text {
	var out configs.Text
	var plain strings.Builder
	flush := func() {
		out = append(out, configs.Plain(plain.String())...)
		plain.Reset()
	}
	section := ""
	for i, option := range options {
		if option.Section != section {
			if i > 0 {
				plain.WriteString("\n")
			}
			plain.WriteString("[" + option.Section + "]\n")
			section = option.Section
		}
		for _, value := range option.Values {
			plain.WriteString(option.Key + " = ")
			for _, part := range value {
				if part.Public() {
					plain.WriteString(part.Literal)
					continue
				}
				flush()
				out = append(out, part)
			}
			plain.WriteString("\n")
		}
	}
	flush()
	return out
}
